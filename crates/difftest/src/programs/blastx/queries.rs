//! Makes the query sets that the tables of blastx name.

use crate::bases::Bases;
use crate::fasta::{self, Record};
use crate::fixtures::{numbered, rng_for};
use crate::programs::genes::{
    changed_twice, coding, either_strand, gene, genes_of, shift_frame, with_intron,
};
use crate::rng::Draw;
use crate::synth::{self, BASES, PROTEIN};
use fastrand::Rng;

/// The name and the file contents of a query set.
type Set = (&'static str, Vec<u8>);

/// Names of blastp's query sets that become genes.
const GENES: [&str; 14] = [
    "one",
    "few",
    "ordinary",
    "hundred",
    "strange",
    "members",
    "repeats",
    "lowcomplex",
    "plain",
    "parent",
    "ambiguous",
    "relatives",
    "long",
    "titled",
];
/// Names of blastp's query sets whose letters become codons, without introns or other bases around
/// them, because the lengths, case or equality of the sequences matter.
const CODONS: [&str; 10] = [
    "short",
    "micro",
    "lower",
    "duplicates",
    "chimera",
    "chimera_lower",
    "chimera_mixed",
    "masked",
    "masked_first",
    "masked_last",
];
/// Names of blastp's query sets that are subjects of blastx, each with its name as a set of
/// subjects.
const SUBJECTS: [(&str, &str); 20] = [
    ("plain", "protein_plain"),
    ("relatives", "protein_relatives"),
    ("hundred", "protein_hundred"),
    ("members", "protein_members"),
    ("repeats", "protein_repeats"),
    ("lowcomplex", "protein_low"),
    ("lower", "protein_lower"),
    ("ambiguous", "protein_ambiguous"),
    ("short", "protein_short"),
    ("micro", "protein_micro"),
    ("chimera", "protein_chimera"),
    ("ids", "protein_ids"),
    ("titled", "protein_titled"),
    ("specials", "protein_specials"),
    ("titles", "protein_titles"),
    ("nine", "protein_nine"),
    ("empty", "protein_empty"),
    ("empty_record", "protein_empty_record"),
    ("only_empty", "protein_only_empty"),
    ("nucleotide", "protein_nucleotide"),
];

/// Returns every query set, and the sets of proteins that are subjects. `proteins` are the query
/// sets of blastp.
pub fn all(bases: &Bases, proteins: &[Set]) -> Vec<Set> {
    let records = |name: &str| -> Vec<Record> {
        let set = proteins.iter().find(|(other, _)| *other == name);
        set.map(|(_, text)| parse(text)).unwrap_or_default()
    };
    let mut sets: Vec<Set> = Vec::new();
    for name in GENES {
        let mut rng = rng_for(&format!("genes of {name}"));
        sets.push((name, fasta::to_bytes(&genes_of(&mut rng, &records(name)))));
    }
    for name in CODONS {
        let mut rng = rng_for(&format!("codons of {name}"));
        let codons =
            |record: &Record| Record::new(record.header.clone(), coding(&mut rng, &record.seq));
        sets.push((name, fasta::to_bytes(&records(name).iter().map(codons).collect::<Vec<_>>())));
    }
    let plain = records("plain");
    sets.extend(real(bases, &plain));
    sets.extend(spliced_sets(&plain));
    sets.extend(special(&plain));
    sets.extend(odd_files(&plain));
    sets.extend(nearly_identical(&plain));
    for (from, name) in SUBJECTS {
        let set = proteins.iter().find(|(other, _)| *other == from);
        sets.push((name, set.map(|(_, text)| text.clone()).unwrap_or_default()));
    }
    sets
}

/// Parses FASTA text that the tester made.
fn parse(text: &[u8]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        match (line.strip_prefix(b">"), records.last_mut()) {
            (Some(header), _) => {
                records.push(Record::new(String::from_utf8_lossy(header), Vec::new()));
            }
            (None, Some(last)) => last.seq.extend_from_slice(line),
            (None, None) => {}
        }
    }
    records
}

/// Makes sets of real transcripts, and of pieces of genomes with genes on both strands.
fn real(bases: &Bases, plain: &[Record]) -> Vec<Set> {
    let transcripts = bases.transcripts.as_ref().unwrap_or(&bases.queries);
    let some: Vec<Record> = transcripts.iter().take(8).cloned().collect();
    let mut rng = rng_for("genomic queries");
    let mut genomic = |length: usize| {
        let mut seq = Vec::new();
        while seq.len() < length {
            let genome = rng.pick(&bases.genomes);
            let size = rng.usize(100..=2_000);
            seq.extend(synth::fragment(&mut rng, &genome.seq, size));
            let protein = rng.pick(plain);
            seq.extend(gene(&mut rng, &protein.seq));
        }
        seq.truncate(length);
        seq
    };
    vec![
        ("transcript", fasta::to_bytes(&some[..1])),
        ("transcripts", fasta::to_bytes(&some)),
        ("all_transcripts", fasta::to_bytes(transcripts)),
        // BLAST+ cuts a query that is alone in its batch after 10,002 bases. It ends a batch with
        // the query that reaches this number.
        ("genomic", numbered("genomic", [genomic(26_000)])),
        ("batches", numbered("batch", [9_990, 9_999, 12, 10_002, 10_003, 400].map(&mut genomic))),
        ("chunks", numbered("chunk", [19_904, 20_004, 30_007].map(&mut genomic))),
    ]
}

/// Makes sets of genes with introns of many lengths, of several proteins, and in several frames.
fn spliced_sets(plain: &[Record]) -> Vec<Set> {
    let mut rng = rng_for("spliced");
    let lengths = [5, 30, 90, 110, 119, 121, 122, 123, 125, 130, 200, 400, 1_200];
    let introns: Vec<Vec<u8>> = lengths
        .into_iter()
        .enumerate()
        .map(|(i, length)| {
            let seq = coding(&mut rng, &plain[i % plain.len()].seq);
            let (first, second) = seq.split_at(seq.len() / 2 / 3 * 3);
            let first = with_intron(&mut rng, first, length);
            let second = with_intron(&mut rng, second, length);
            either_strand(&mut rng, [first, second].concat())
        })
        .collect();
    let frames: Vec<Vec<u8>> = plain
        .iter()
        .enumerate()
        .map(|(i, protein)| {
            let seq = coding(&mut rng, &protein.seq);
            (0..=i).fold(seq, |seq, _| shift_frame(&mut rng, &seq))
        })
        .collect();
    let mut strands = Vec::new();
    for pair in plain.windows(2).take(3) {
        let first = coding(&mut rng, &pair[0].seq);
        let second = synth::reverse_complement(&coding(&mut rng, &pair[1].seq));
        strands.push([&first[..], b"ACGTTGCAAG", &second, b"TT", &first[..150]].concat());
    }
    vec![
        ("introns", numbered("introns", introns)),
        ("frames", numbered("frames", frames)),
        ("strands", numbered("strands", strands)),
    ]
}

/// Makes a set of queries and a set of proteins with low-complexity runs. Far inside each query are
/// genes of a relative and of a near copy of a protein. Two runs of changes stop BLAST+'s
/// comparison from either end of the near copy, and it then looks for words between them.
fn nearly_identical(plain: &[Record]) -> Vec<Set> {
    let mut rng = rng_for("nearly identical genes");
    let (mut queries, mut proteins) = (Vec::new(), Vec::new());
    for i in 0..8 {
        let mut protein = Vec::new();
        for part in plain.iter().cycle().skip(i) {
            if protein.len() > 700 {
                break;
            }
            protein.extend_from_slice(&part.seq);
            protein.extend(PROTEIN.low_complexity(&mut rng, 30));
        }
        let copy = changed_twice(&protein, 8 + i % 3);
        let relative = PROTEIN.mutate(&mut rng, &protein, 0.3);
        let mut part = |length: usize| synth::random(&mut rng, BASES.usual, length);
        let (before, between, after) = (part(400 * i), part(60 + i), part(300));
        let genes = [relative, copy].map(|protein| coding(&mut rng, &protein));
        let query = [&before[..], &genes[0], &between, &genes[1], &after].concat();
        queries.push(either_strand(&mut rng, query));
        proteins.push(protein);
    }
    vec![("near", numbered("near", queries)), ("protein_near", numbered("protein", proteins))]
}

/// Makes sets with odd letters, without known letters, with stop codons, and with lengths around
/// those of a codon and a word.
fn special(plain: &[Record]) -> Vec<Set> {
    let mut rng = rng_for("special genes");
    let code = |rng: &mut Rng, at: usize| coding(rng, &plain[at % plain.len()].seq);
    let mut odd = |rate: f64| -> Vec<Vec<u8>> {
        let odd = |at| {
            let seq = code(&mut rng, at);
            BASES.odd_letters(&mut rng, &seq, rate)
        };
        (0..4).map(odd).collect()
    };
    let (iupac, very) = (odd(0.02), odd(0.15));
    let rich = (0..3).map(|i| {
        let seq = code(&mut rng, i);
        let run = b"N".repeat(25);
        (0..4).fold(seq, |seq, _| synth::insert(&mut rng, &seq, &run))
    });
    let rich: Vec<_> = rich.collect();
    let whole = code(&mut rng, 0);
    let lengths = (1..=24).map(|length| whole[..length].to_vec());
    let bare = [
        b"TAATAGTGA".repeat(20),
        b"TTATCACTA".repeat(20),
        b"N".repeat(90),
        b"NNNTAA".repeat(20),
        b"A".repeat(120),
        b"CAGCAGCAG".repeat(15),
        [&b"N".repeat(61)[..], &whole].concat(),
        [&b"TAATAATAA"[..], &whole[..200], &b"TGATGATGA"[..], &whole[200..]].concat(),
    ];
    let nothing = [40, 90, 300].map(|n| synth::random(&mut rng, b"AACGT", n));
    let lower = [whole.to_ascii_lowercase(), synth::lower_case_runs(&mut rng, &whole)];
    vec![
        ("iupac", numbered("iupac", iupac)),
        ("very_odd", numbered("odd", very)),
        ("n_rich", numbered("rich", rich)),
        ("lengths", numbered("length", lengths)),
        ("bare_codons", numbered("bare", bare)),
        ("nothing", numbered("nothing", nothing)),
        ("cases", numbered("case", lower)),
    ]
}

/// Makes sets whose files have unusual formatting.
fn odd_files(plain: &[Record]) -> Vec<Set> {
    let mut rng = rng_for("odd files of genes");
    let mut text = |at: usize| {
        let protein = &plain[at % plain.len()].seq;
        String::from_utf8_lossy(&coding(&mut rng, &protein[..100])).into_owned()
    };
    let (seq, other) = (text(0), text(1));
    let words = "a very long title that goes on and on ".repeat(12);
    let ids = format!(
        ">gi|129296|gb|AF054321.1| a gene\n{seq}\n>lcl|local1 mine\n{other}\n\
         >gnl|thedb|tag7 general\n{seq}\n>ref|NM_000001.1| reference\n{other}\n"
    );
    let rna = seq.replace('T', "U");
    vec![
        ("bare", format!("{seq}\n").into_bytes()),
        ("empty", Vec::new()),
        ("empty_record", format!(">nothing\n>full\n{seq}\n>\n{other}\n").into_bytes()),
        ("only_empty", b">nothing\n>again\n".to_vec()),
        ("crlf", format!(">q1 dos\r\n{seq}\r\n>q2\r\n\r\n{other}\r\n").into_bytes()),
        ("titles", format!(">q {words}\n{seq}\n>{}\n{other}\n", "word".repeat(60)).into_bytes()),
        ("specials", format!(">a<b> & \"c\" 'd'\te\n{seq}\n>x|y|z end  \n{other}\n").into_bytes()),
        ("no_end", format!(">q no line end at the end\n{seq}").into_bytes()),
        ("ids", ids.into_bytes()),
        ("digits", format!(">q numbered\n1 {seq} 60\n61 {other}\n").into_bytes()),
        ("invalid", format!(">q\nACG1T@TIA!G{seq}\n>r\n{other}-{seq}\n").into_bytes()),
        ("rna", format!(">u\n{rna}\n>x\n{}XX{other}\n", &seq[..40]).into_bytes()),
        ("protein", format!(">p\n{}\n", "MKVLAATREWQHGFDSPINYC".repeat(9)).into_bytes()),
        ("untitled", format!(">\n{seq}\n>\n{other}\n").into_bytes()),
    ]
}
