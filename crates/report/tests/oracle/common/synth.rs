//! Makes synthetic sequences.

use fastrand::Rng;

use super::Entry;

const RESIDUES: &[u8] = b"ARNDCQEGHILKMFPSTWYV";

/// Draws random sequences.
pub trait RandomSequences {
    /// Returns a random protein.
    fn protein(&mut self, length: usize) -> String;

    /// Returns a relative of a protein: `rate` per cent of the residues are exchanged, and some
    /// gaps are made.
    fn relative(&mut self, sequence: &str, rate: u64) -> String;

    /// Returns random bases.
    fn bases(&mut self, length: usize) -> String;

    /// Returns a relative of bases: `rate` per cent of them are exchanged, and some gaps are made.
    fn related_bases(&mut self, sequence: &str, rate: u64) -> String;

    /// Returns random codons that translate to `protein`.
    fn coding(&mut self, protein: &str) -> String;
}

impl RandomSequences for Rng {
    fn protein(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(RESIDUES[self.usize(..20)])).collect()
    }

    fn relative(&mut self, sequence: &str, rate: u64) -> String {
        let mut relative = String::new();
        for c in sequence.chars() {
            match self.u64(..100) {
                0..2 => {}
                2..4 => {
                    let insert = self.usize(1..=5);
                    relative.push(c);
                    relative += &self.protein(insert);
                }
                n if n < 4 + rate => relative += &self.protein(1),
                _ => relative.push(c),
            }
        }
        relative
    }

    fn related_bases(&mut self, sequence: &str, rate: u64) -> String {
        let mut relative = String::new();
        for c in sequence.chars() {
            match self.u64(..100) {
                0 => {}
                1 => {
                    let insert = self.usize(1..=4);
                    relative.push(c);
                    relative += &self.bases(insert);
                }
                n if n < 2 + rate => relative += &self.bases(1),
                _ => relative.push(c),
            }
        }
        relative
    }

    fn bases(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(BASES[self.usize(..4)])).collect()
    }

    fn coding(&mut self, protein: &str) -> String {
        let mut coding = String::new();
        for residue in protein.bytes() {
            let codons: Vec<usize> = (0..64).filter(|&i| CODE[i] == residue).collect();
            let codon = codons[self.usize(..codons.len())];
            coding.extend([codon / 16, codon / 4 % 4, codon % 4].map(|i| char::from(BASES[i])));
        }
        coding
    }
}

/// The standard genetic code. The positions of a codon's bases in `BASES` are the digits of the
/// index.
const CODE: &[u8; 64] = b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";
const BASES: &[u8; 4] = b"TCAG";

/// Translates bases to a protein, from the first base on.
pub fn translation(bases: &str) -> String {
    let place = |&base: &u8| BASES.iter().position(|&known| known == base).unwrap();
    let codons = bases.as_bytes().chunks_exact(3);
    let residue = |codon: &[u8]| codon.iter().map(place).fold(0, |index, place| 4 * index + place);
    codons.map(|codon| char::from(CODE[residue(codon)])).collect()
}

/// Returns the bases of the other strand.
pub fn reverse_complement(bases: &str) -> String {
    let complement = |base| match base {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    bases.chars().rev().map(complement).collect()
}

/// Makes three relatives of a protein: `core` itself, one with an insertion, and one with another
/// start and a deletion.
pub fn related_proteins(core: &str, random: &mut Rng) -> Vec<Entry> {
    let inserted = [&core[..30], "GLAEN", &core[30..]].concat();
    let lacking = [&random.protein(11), &core[..50], &core[53..]].concat();
    vec![("whole".into(), core.into()), ("ins".into(), inserted), ("del".into(), lacking)]
}

/// Makes relatives of `coding` on both strands and in different frames, one with a deletion.
pub fn related_bases(coding: &str, random: &mut Rng) -> Vec<Entry> {
    let lacking = [&coding[..120], &coding[126..]].concat();
    let mut entries = Vec::new();
    for (i, bases) in [coding, &lacking, coding].into_iter().enumerate() {
        let before = random.bases(30 + i);
        let bases = [&before[..], bases, &random.bases(20 + i)].concat();
        entries.push((format!("plus{i}"), bases.clone()));
        entries.push((format!("minus{i}"), reverse_complement(&bases)));
    }
    entries
}

/// Pads the sequences so that no two have the same length.
pub fn distinct_lengths(entries: &mut [Entry], mut letter: impl FnMut() -> String) {
    let mut lengths: Vec<usize> = Vec::new();
    for (_, letters) in entries {
        while lengths.contains(&letters.len()) {
            letters.push_str(&letter());
        }
        lengths.push(letters.len());
    }
}

/// Makes protein queries: with low complexity, with rare letters, in lower case, and one unrelated
/// to any subject.
pub fn queries(random: &mut Rng) -> Vec<Entry> {
    let core = random.protein(150);
    let long = format!("{}SSSSSSSSSSSSSSSSPPPPPPPPPPPPPP{}", &core[..50], &core[50..]);
    let rare = format!("{}OOUU*XBZJ{}", &core[..40], &core[40..]);
    vec![
        (
            "Q1 first query, with  a title that is longer than one line of the report can hold, so"
                .into(),
            long.clone(),
        ),
        ("sp|P12345.1|AB_CD a ; b ( c ) , d.".into(), random.relative(&long, 30)),
        ("low lower case".into(), format!("{}{}", long[..60].to_lowercase(), &long[60..])),
        ("nothing".into(), random.protein(25)),
        (format!("{} a,b-c d,e <f> & \"g\"", "verylongword".repeat(4)), rare),
    ]
}

/// Titles with identifiers of all kinds.
const TITLES: [&str; 16] = [
    // This title is first because makeblastdb fails if a gi without accession comes later.
    "gi|888",
    "d1 one two three with a long title that goes on and on, past the sixtieth column and further; it is cut in the table.",
    "sp|P69905.2|HBA_HUMAN Hemoglobin_and_a_word_that_is_far_too_long_for_a_line_of_sixty_columns_or_even_more_than_that end",
    "gi|999|gb|AAA12345.1| genbank <thing> & \"q\" 'r'",
    "loc1",
    "gnl|mydb|tag1 general , id",
    "pdb|1ABC|A",
    "12345 numeric",
    "e1 merged one\u{1}sp|Q12345|X_Y merged two\u{1}gi|777|ref|NP_000549.1| TPA: merged three.",
    "ref|NP_000001.1| a ( b ) ;c, , d.",
    "tr|Q9XXX1|Q9XXX1_HUMAN unreviewed",
    "pir||S12345 pir",
    "prf||1234567B prf",
    "pat|US|RE33188|1",
    "gnl|ti|12345 trace",
    "emb|CAA12345.1|LOC two  blanks",
];

/// Makes proteins related to the first query, with identifiers of all kinds, and unrelated ones.
pub fn subjects(queries: &[Entry], random: &mut Rng) -> Vec<Entry> {
    let base = &queries[0].1;
    let mut subjects: Vec<Entry> = Vec::new();
    for (i, title) in TITLES.iter().enumerate() {
        let mut letters = random.relative(base, 5 + 4 * i as u64);
        if i % 4 == 1 {
            letters += &random.protein(30);
            letters += &random.relative(base, 40);
        }
        if i % 5 == 2 {
            letters = format!("{}U*XBZJO{}", &letters[..45], &letters[45..].replace('C', "U"));
        }
        subjects.push(((*title).to_string(), letters));
    }
    for i in 0..10 {
        subjects.push((format!("rnd{i} unrelated"), random.protein(120)));
    }
    distinct_lengths(&mut subjects, || random.protein(1));
    subjects
}

/// Makes queries of bases: with low complexity, ambiguous codes, lower case, without title, and one
/// unrelated to any subject.
pub fn base_queries(random: &mut Rng) -> Vec<Entry> {
    let core = random.bases(400);
    let low = [&core[..150], &"A".repeat(30), &"CA".repeat(12), &core[150..]].concat();
    let lower = core[120..200].to_lowercase();
    let mixed = [&core[..80], "NNNNRYKM", &core[88..120], &lower, &core[200..]].concat();
    let title =
        "Q1 first query, with  a title that is longer than one line of the report can hold, so";
    vec![
        (title.into(), low),
        ("gb|AAC88888.2| a ; b ( c ) , d.".into(), mixed),
        ("nothing".into(), random.bases(60)),
        (String::new(), core[..90].into()),
        ("other strand, <f> & \"g\"".into(), reverse_complement(&core[50..350])),
    ]
}

/// Makes subjects related to the first query on both strands, with ambiguous codes, identifiers of
/// all kinds and without title. Some are unrelated.
pub fn base_subjects(queries: &[Entry], random: &mut Rng) -> Vec<Entry> {
    let base = &queries[0].1;
    let mut subjects: Vec<Entry> = Vec::new();
    for (i, title) in TITLES.iter().enumerate() {
        let mut letters = random.related_bases(base, 1 + i as u64 % 9);
        if i % 3 == 1 {
            letters = reverse_complement(&letters);
        }
        if i % 5 == 2 {
            letters = [&letters[..200], "NNRYSN", &letters[206..]].concat();
        }
        if i % 4 == 1 {
            let more = random.related_bases(&base[..260], 3);
            letters += &random.bases(30);
            letters += &reverse_complement(&more);
        }
        subjects.push(((*title).to_string(), letters));
    }
    for i in 0..5 {
        subjects.push((format!("rnd{i} unrelated"), random.bases(120)));
    }
    subjects.push(("ref|NM_000009.1|".into(), random.related_bases(base, 2)));
    // Overlapping ranges of the query, in another order.
    let repeats = [&base[260..330], &base[60..160], &base[280..400], &base[100..190]];
    let repeats = repeats.map(|stretch| random.related_bases(stretch, 2));
    subjects.push(("repeats".into(), repeats.concat()));
    distinct_lengths(&mut subjects, || random.bases(1));
    subjects
}
