//! `blastn`: refusals, parsing of sequences and reports equal the oracle's byte for byte.

use std::fs;
use std::process::Output;

use crate::common::{Fixture, complaint};
use fastrand::Rng;
use fleetblast_oracle::sample;

/// Options that the parser refuses or answers; `|` separates words.
const PARSER: &[&str] = &[
    "-h",
    "-word_size|3",
    "-penalty|1",
    "-penalty|x",
    "-reward|-1",
    "-strand|up",
    "-task|blastp",
    "-perc_identity|101",
    "-template_type|x|-template_length|18",
    "-template_type|coding",
    "-template_length|18",
    "-template_length|17|-template_type|coding",
    "-off_diagonal_range|-1",
    "-use_index|maybe",
    "-seg|yes",
    "-ipglist|x",
    "-gilist|x|-subject|s.fa",
    "-db|db|-subject|s.fa",
    "-sum_stats|2",
];

/// Invalid values and combinations. A line with several errors shows the order of the checks.
const VALUES: &[&str] = &[
    "-dust|20 64",
    "-dust|20 64 x",
    "-dust|x",
    "-dust|x|-query_loc|5-1",
    "-query_loc|5-1|-outfmt|19",
    "-outfmt|19",
    "-outfmt|20",
    "-penalty|0",
    "-penalty|0|-gapopen|5",
    "-gapopen|5",
    "-gapopen|5|-template_type|coding|-template_length|18",
    "-template_type|coding|-template_length|18",
    "-task|dc-megablast|-word_size|10",
    "-task|dc-megablast|-word_size|13|-off_diagonal_range|3",
    "-task|blastn|-template_type|coding|-template_length|18",
    "-task|blastn-short|-template_type|coding|-template_length|18",
    "-off_diagonal_range|5",
    "-off_diagonal_range|5|-evalue|0",
    "-evalue|0",
    "-evalue|0|-no_greedy",
    "-no_greedy",
    "-ungapped|-no_greedy",
    "-task|blastn|-gapopen|0|-gapextend|0",
    "-task|dc-megablast|-gapopen|0|-gapextend|0",
    // BLAST+ finds these errors only when it searches.
    "-reward|1|-penalty|-6",
    "-reward|1|-penalty|-6|-outfmt|0",
    "-reward|1|-penalty|-6|-outfmt|5",
    "-reward|1|-penalty|-6|-outfmt|7",
    "-task|blastn|-gapopen|1|-gapextend|1",
    "-reward|3|-penalty|-4",
    "-reward|7|-penalty|-1",
    "-reward|7|-penalty|-1|-outfmt|0",
    "-reward|7|-penalty|-1|-outfmt|5",
    "-reward|7|-penalty|-1|-outfmt|17",
    "-reward|7|-penalty|-1|-ungapped",
    "-reward|2|-penalty|-1|-ungapped|-outfmt|7",
    "-reward|1|-penalty|-6|-ungapped|-outfmt|0",
    "-gapopen|-1",
];

/// FASTA files with other text than plain sequences. Each is tried as queries and as subjects.
const SEQUENCES: &[&str] = &[
    ">d digits\n12ACGTTGC5AAGGCTTAACCGGATATCGCG TAGC\n60 TTAACCGG--TACGATCGATCGG\n",
    ">l letters\nACGTTGCXAAGGCTTAACEGGATATCGCGTAGC*TTAJACCGGOTACGATCGATCGG\n",
    ">p protein\nMKVLAAGIVGLCAKAYLEWMKVLAAGIVGLCAKAYLEWPQRST\n",
    ">u rna\nACGUUGCAAGGCUUAACCGGAUAUCGCGUAGCUUAACCGGUACGAUCGAUCGG\n",
    ">g gap\nACGTTGCAAGGCTTAACCGGATATCGCG\n>?5\nTAGCTTAACCGGTACGATCGATCGG\n",
    ">i iupac\nACGTTGCAAGGCTTAACCGGATATCGCGRYMKWSBDHVNTAGCTTAACCGGTACGATCGATCGG\n",
    ">n\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n",
    ">e empty\n",
    ">e empty\n>q\nACGTTGCAAGGCTTAACCGGATATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    "ACGTTGCAAGGCTTAACCGGATATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    ">t title ACGTACGTACGTACGTACGTACGT\nACGTTGCAAGGCTTAACCGGATATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    ">idACGTACGTACGTACGTACGTACGTA\nACGTTGCAAGGCTTAACCGGATATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    ">L00738\nACGTTGCAAGGCTTAACCGGAEFILTATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    ">P69905.2\nACGTTGCAAGGCTTAACCGGAEF*XTATCGCGTAGCTTAACCGGTACGATCGATCGG\n",
    ">q\n%%%%%%%%%%%%%%\n",
    "",
];

/// Options of searches of a database or of the subjects in `s.fa`.
const SEARCHES: &[&str] = &[
    "-db|db",
    "-subject|s.fa",
    "-subject|s.fa|-lcase_masking|-task|blastn",
    "-subject|s.fa|-subject_loc|11-900|-query_loc|21-400",
    "-db|db|-query_loc|21-400",
    "-db|db|-strand|plus",
    "-db|db|-strand|minus|-task|blastn",
    "-db|db|-task|blastn",
    "-db|db|-task|dc-megablast",
    "-db|db|-task|blastn-short",
    "-db|db|-task|dc-megablast|-template_type|coding_and_optimal|-template_length|21|-word_size|12",
    "-db|db|-word_size|11|-template_type|optimal|-template_length|16|-window_size|40",
    "-db|db|-gapopen|5|-gapextend|2|-no_greedy",
    "-db|db|-gapopen|5|-gapextend|2",
    "-db|db|-reward|2|-penalty|-3|-word_size|16",
    "-db|db|-task|blastn|-ungapped",
    "-db|db|-task|blastn|-ungapped|-gapopen|1|-gapextend|1",
    "-db|db|-task|blastn|-dust|no",
    "-db|db|-task|blastn|-dust|yes|-soft_masking|false",
    "-db|db|-task|blastn|-lcase_masking",
    "-db|db|-task|blastn|-perc_identity|95",
    "-db|db|-task|blastn|-min_raw_gapped_score|100",
    "-db|db|-evalue|1e-30|-max_target_seqs|2",
    "-db|db|-max_hsps|1|-qcov_hsp_perc|20",
    "-db|db|-dbsize|1000000|-task|blastn",
    "-db|db|-searchsp|1000000|-task|blastn",
    "-db|db|-xdrop_ungap|10|-xdrop_gap|20|-xdrop_gap_final|50|-task|blastn",
    "-db|db|-culling_limit|1",
    "-db|db|-best_hit_overhang|0.1|-best_hit_score_edge|0.1",
    "-db|db|-subject_besthit",
    "-db|db|-use_index|false|-index_name|x|-sum_stats|false",
    "-db|nosuch",
    "-db|proteins",
];

/// The `-outfmt` of the reports that are compared.
pub const COLUMNS: &str =
    "6 qseqid sseqid evalue bitscore score qstart qend sstart send length nident gaps btop";

/// A generator of random sequences.
pub struct Bases(pub Rng);

impl Bases {
    /// Returns random bases.
    pub fn sequence(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| b"ACGT"[self.0.usize(..4)]).collect()
    }

    /// Returns a copy of a sequence with random changes: other bases, insertions, deletions,
    /// ambiguity codes and lower case.
    pub fn mutant(&mut self, sequence: &[u8]) -> Vec<u8> {
        let mut mutant = Vec::new();
        for &base in sequence {
            match self.0.u64(..60) {
                0..=2 => mutant.push(b"ACGT"[self.0.usize(..4)]),
                3 => mutant.extend([base, b'A']),
                4 => {}
                5 => mutant.push(b"NRYacgt"[self.0.usize(..7)]),
                _ => mutant.push(base),
            }
        }
        mutant
    }
}

/// Returns the reverse complement of a sequence; letters that are no bases in upper case stay.
pub fn opposite(sequence: &[u8]) -> Vec<u8> {
    let complement = |base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => *other,
    };
    sequence.iter().rev().map(complement).collect()
}

/// Makes a directory with `q.fa` and `s.fa` of related bases, the database `db` of `s.fa`, and the
/// database `proteins`.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(11));
    let family = bases.sequence(900);
    let mut queries = String::new();
    let mut subjects = String::new();
    for number in 0..6 {
        let one = bases.mutant(&family[100 * number..][..400]);
        let (left, right) = (bases.sequence(150), bases.sequence(200));
        let two = bases.mutant(&family);
        let two = if number % 2 == 0 { two } else { opposite(&two) };
        let text = |parts: &[&[u8]]| String::from_utf8(parts.concat()).expect("letters");
        queries += &format!(">q{number} query\n{}\n", text(&[&one, &left[..number * 20]]));
        subjects += &format!(">s{number} subject\n{}\n", text(&[&left, &two, &right]));
    }
    queries += &format!(">low\n{}{}\n", "AC".repeat(60), "A".repeat(70));
    subjects += &format!(">low\n{}{}\n", "AC".repeat(90), "A".repeat(90));
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text);
    write("q.fa", &queries).and_then(|()| write("s.fa", &subjects)).expect("files");
    make_database(&fixture, "s.fa", "nucl", "db");
    make_database(&fixture, "one.fa", "prot", "proteins");
    fixture
}

/// Makes a database with the oracle, if that is installed.
pub fn make_database(fixture: &Fixture, input: &str, kind: &str, out: &str) {
    let Some(oracle) = fixture.oracle else { return };
    let mut command = oracle.command("makeblastdb");
    command.args(["-in", input, "-dbtype", kind, "-out", out]);
    let made = command.current_dir(fixture.path()).output().expect("makeblastdb");
    assert!(made.status.success(), "{}", complaint(&made));
}

/// Returns the report without the path of the program, which SAM contains.
fn without_path(output: &Output) -> Vec<u8> {
    let is_command = |line: &&[u8]| line.starts_with(b"@PG");
    let path = |line: &[u8]| {
        let at = line.windows(4).position(|part| part == b"\tCL:").map_or(0, |at| at + 4);
        let path = line[at..].iter().position(|&byte| byte == b' ').unwrap_or(0);
        [&line[..at], &line[at + path..]].concat()
    };
    let lines = output.stdout.split_inclusive(|&byte| byte == b'\n');
    lines.flat_map(|line| if is_command(&line) { path(line) } else { line.to_vec() }).collect()
}

/// Returns standard error and exit code, without FleetBLAST's own line about file and place.
fn without_place(output: &Output) -> String {
    let messages = complaint(output);
    let own = |line: &&str| line.starts_with('(') && line.ends_with(')');
    messages.split_inclusive('\n').filter(|line| !own(&line.trim_end())).collect()
}

/// Fails if the report or the messages of a line differ from the oracle's.
pub fn compare(fixture: &Fixture, lines: impl IntoIterator<Item = String>) {
    compare_as("blastn", fixture, lines);
}

/// Fails if the report or the messages of a line differ from the oracle's; `program` runs the line.
pub fn compare_as(program: &str, fixture: &Fixture, lines: impl IntoIterator<Item = String>) {
    let Some(blast) = fixture.oracle else { return };
    let ours = fixture.called(program);
    let mut differences = Vec::new();
    for line in lines {
        let arguments = Fixture::words(&line);
        let ours = fixture.run(&ours, &arguments, &[]);
        let oracle = fixture.run(&blast.program(program), &arguments, &[]);
        if without_path(&ours) != without_path(&oracle)
            || without_place(&ours) != complaint(&oracle)
        {
            let both = [("ours", ours), ("oracle", oracle)].map(|(who, output)| {
                let lines = String::from_utf8_lossy(&output.stdout).into_owned();
                format!("{who}: {}\n{lines}", complaint(&output))
            });
            differences.push(format!("{program} {line}\n{}", both.concat()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn parser_answers_as_the_oracle() {
    compare(&fixture(), PARSER.iter().map(|&line| line.to_owned()));
}

#[test]
fn values_are_validated_as_by_the_oracle() {
    let files = "-query|q.fa|-subject|s.fa|-outfmt|6";
    let whole = |line: &&str| match line.contains("-outfmt") {
        true => format!("{}|{line}", files.trim_end_matches("|-outfmt|6")),
        false => format!("{files}|{line}"),
    };
    compare(&fixture(), sample(2, VALUES).into_iter().map(whole));
}

#[test]
fn sequences_are_read_as_by_the_oracle() {
    let fixture = fixture();
    let mut lines = Vec::new();
    for (number, text) in SEQUENCES.iter().enumerate() {
        let name = format!("odd{number}.fa");
        fs::write(fixture.path().join(&name), text).expect("a file");
        for files in
            [format!("-query|{name}|-subject|s.fa"), format!("-query|q.fa|-subject|{name}")]
        {
            lines.push(format!("{files}|-word_size|7|-outfmt|{COLUMNS} qlen slen"));
            lines.push(format!("{files}|-word_size|7|-outfmt|{COLUMNS}|-parse_deflines"));
        }
    }
    compare(&fixture, sample(3, lines));
}

#[test]
fn reports_are_the_oracles() {
    let line = |line: &&str| format!("-query|q.fa|{line}|-outfmt|{COLUMNS}");
    compare(&fixture(), sample(2, SEARCHES).into_iter().map(line));
}

#[test]
fn formats_are_the_oracles() {
    let formats = sample(2, ["0", "5", "6", "7", "10", "17", "17 SQ", "17 SR"]);
    let tasks = ["megablast", "blastn"];
    let fixture = fixture();
    fs::write(fixture.path().join("few.fa"), ">lone\nACGTACGGTCAAGCTTGCAGGTCA\n").expect("a query");
    let lines = formats.iter().flat_map(|format| {
        tasks.iter().flat_map(move |task| {
            ["q.fa", "few.fa"]
                .map(|query| format!("-query|{query}|-db|db|-task|{task}|-outfmt|{format}"))
        })
    });
    compare(&fixture, lines);
}

#[test]
fn batches_are_the_oracles() {
    let fixture = fixture();
    let queries = fs::read_to_string(fixture.path().join("q.fa")).expect("queries");
    fs::write(fixture.path().join("many.fa"), queries.repeat(12)).expect("queries");
    let line = |task: &str| format!("-query|many.fa|-db|db|-task|{task}|-outfmt|{COLUMNS}");
    compare(&fixture, ["megablast", "blastn", "dc-megablast"].map(line));
}

/// After a batch with hardly any hits, BLAST+ makes the smallest batch. This decides whether a
/// query that ends before `-query_loc` starts is alone in its batch, which is an error.
#[test]
fn batches_after_one_without_extensions_are_the_oracles() {
    let fixture = fixture();
    let mut random = Rng::with_seed(31);
    let mut letters = |length: usize| {
        let base = |_| char::from(b"ACGT"[random.usize(..4)]);
        (0..length).map(base).collect::<String>()
    };
    let lengths: [&[usize]; 5] =
        [&[6000, 600, 50], &[9000, 20, 5], &[9000, 600, 50, 600], &[4900, 50], &[5100, 90, 5, 5]];
    for (number, lengths) in lengths.into_iter().enumerate() {
        let queries = lengths.iter().map(|&length| format!(">q{length}\n{}\n", letters(length)));
        let queries: String = queries.collect();
        fs::write(fixture.path().join(format!("odd{number}.fa")), queries).expect("queries");
    }
    let line = |(number, place): (usize, &str)| {
        format!("-query|odd{number}.fa|-db|db|-query_loc|{place}|-outfmt|7")
    };
    let places = (0..5).flat_map(|number| ["10-20", "500-560"].map(|place| (number, place)));
    compare(&fixture, places.map(line));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let fixture = fixture();
    let lines = [
        ("-remote", "-remote"),
        ("-filtering_db|db|-metadata_out|m", "-filtering_db with -metadata_out"),
        ("-task|rmblastn", "-task rmblastn"),
        ("-use_index|true", "-use_index true"),
        ("-reward|0|-penalty|-65536", "-reward 0 with -penalty -65536"),
        ("-xdrop_ungap|3e9", "-xdrop_ungap 3000000000.0"),
        ("-xdrop_ungap|1e8|-reward|100", "-xdrop_ungap 100000000.0"),
        ("-xdrop_ungap|-2", "-xdrop_ungap -2.0"),
        ("-xdrop_gap|-inf", "-xdrop_gap -inf"),
        ("-gapopen|2147483647|-gapextend|1000000000", "-gapopen 2147483647"),
        ("-task|blastn|-gapopen|9|-gapextend|16777217", "-gapextend 16777217"),
        ("-ungapped|-gapopen|16777217|-gapextend|5", "-gapopen 16777217"),
    ];
    for (line, name) in lines {
        let line = Fixture::words(&format!("-query|q.fa|-db|db|{line}"));
        let output = fixture.run(&fixture.called("blastn"), &line, &[]);
        let messages = complaint(&output);
        let expected = format!("does not support {name} yet; run NCBI blastn instead");
        assert!(output.status.code() == Some(1) && messages.contains(&expected), "{messages}");
    }
}
