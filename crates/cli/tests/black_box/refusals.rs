//! Command lines that end before a search: standard output, standard error and exit code equal the
//! oracle's byte for byte.

use fleetblast_cli::options::search::threads::DEFAULT;
use fleetblast_cli::options::wrapping::lines;
use fleetblast_oracle::sample;

use crate::common::{Fixture, complaint};

/// Options that the parser refuses or answers; `|` separates words.
const PARSER: &[&str] = &[
    "-h",
    "-html|-h|-nosuch",
    "-evalue|abc|-h",
    "-evalue|abc",
    "-evalue|1x",
    "-evalue|",
    "-evalue=",
    "-evalue=abc",
    "-evalue|nan",
    "-evalue| 5",
    "-evalue|5 ",
    "-evalue|1,5",
    "-evalue|1e+",
    "-evalue|-",
    "-evalue|.",
    "-evalue|1.2.3",
    "-evalue|0x",
    "-evalue|5\u{e9}",
    "-evalue|5\"a\\b'\t\n7",
    "-word_size|abc",
    "-word_size|",
    "-word_size|3.5",
    "-word_size|1",
    "-word_size|-3",
    "-word_size|99999999999",
    "-word_size|99999999999999999999",
    "-word_size| 3",
    "-word_size|0x",
    "-word_size|0xzz",
    "-word_size|-0x5",
    "-word_size|--",
    "-dbsize|9223372036854775808",
    "-dbsize|-9223372036854775809",
    "-searchsp|-1",
    "-threshold|-1",
    "-threshold|1e",
    "-soft_masking|maybe",
    "-soft_masking|",
    "-task|foo",
    "-task|",
    "-qcov_hsp_perc|101",
    "-qcov_hsp_perc|-1",
    "-sorthits|5",
    "-sorthsps|-1",
    "-best_hit_overhang|0.5",
    "-best_hit_score_edge|0",
    "-mt_mode|2",
    "-num_threads|0",
    "-max_hsps|0",
    "-line_length|0",
    "-max_target_seqs|0",
    "-window_size|-1",
    "-nosuch",
    "--query|q.fa",
    "-eval|5",
    "-a-b",
    "---x",
    "-#1",
    "-db ",
    "-db =x",
    "-\u{e9}",
    "-foo/bar",
    "-=3",
    "=",
    "-",
    "",
    "junk",
    "-html|junk",
    "--|junk",
    "--|-html",
    "--|--",
    "junk|-help",
    "-db",
    "-query",
    "-evalue|5|-evalue",
    "-html|-html",
    "-evalue|1|-evalue|2",
    "-db|x|-subject|s.fa",
    "-subject|s.fa|-db|x",
    "-subject_loc|1-3|-db|x|-subject|y",
    "-db|x|-subject|y|-db_soft_mask|2|-db_hard_mask|3",
    "-gilist|a|-seqidlist|b|-taxids|3",
    "-gilist=|-seqidlist=",
    "-taxids|3|-subject_loc|1-3|-subject|x",
    "-max_target_seqs|5|-num_alignments|3",
    "-num_descriptions|3|-num_alignments|4|-max_target_seqs|5",
    "-culling_limit|1|-best_hit_overhang|0.1|-best_hit_score_edge|0.1",
    "-import_search_strategy|x|-export_search_strategy|y",
    "-remote|-num_threads|2",
    "-remote|-num_threads|2|-gilist|x",
    "-remote|-subject_loc|1-4",
    "-entrez_query|x",
    "-mt_mode|1",
    "-mt_mode|0|-entrez_query|x",
    "-mt_mode|1|-remote",
];

/// Invalid values and combinations. A line with several errors shows the order of the checks.
const VALUES: &[&str] = &[
    "-html=1",
    "-h=5",
    "-help=",
    "--",
    "-evalue|1e",
    "-evalue|0x1p3",
    "-word_size|0X5",
    "-qcov_hsp_perc|1e",
    "-soft_masking|tRuE",
    "-query|nosuch.fa|-evalue|0",
    "-subject_loc|1-5|-query|q.fa",
    "-out|/nosuch/x|-outfmt|17",
    "-outfmt|abc",
    "-outfmt|",
    "-outfmt|99",
    "-outfmt|-1",
    "-outfmt|6 delim",
    "-outfmt|0 delim",
    "-outfmt|19|-db|nosuch|-query|q.fa",
    "-outfmt|20|-db|nosuch|-query|q.fa",
    "-outfmt|17 SQ|-db|nosuch|-query|q.fa",
    "-outfmt|10 delim=; staxids|-db|nosuch|-query|q.fa",
    "-outfmt|6 delim=/ qframes|-db|nosuch|-query|q.fa",
    "-outfmt|6 delim=<> salltitles|-db|nosuch|-query|q.fa",
    "-query|nosuch.fa|-db|x",
    "-query|nosuch.fa|-subject|nosuch2.fa",
    "-query||-subject|s.fa",
    "-subject|",
    "-query|q.fa|-subject|s.fa|-out|/nosuch/x",
    "-query|q.fa|-subject|s.fa|-out|",
    "-query|q.fa|-subject|s.fa|-subject_loc|3",
    "-query|nosuch.fa|-subject|s.fa|-subject_loc|9-4",
    "-query|q.fa|-subject|s.fa|-subject_loc|1-x",
    "-query|q.fa|-subject|s.fa|-query_loc|3-",
    "-query|q.fa|-subject|s.fa|-query_loc|",
    "-query|q.fa|-subject|s.fa|-query_loc|4-4",
    "-query|q.fa|-subject|s.fa|-query_loc|0-4",
    "-query|q.fa|-subject|s.fa|-query_loc|9-4",
    "-query|q.fa|-subject|s.fa|-query_loc|1-5-7",
    "-query|q.fa|-subject|s.fa|-query_loc| 1-5",
    "-query|q.fa|-subject|s.fa|-query_loc|1-5x",
    "-query|q.fa|-subject|s.fa|-query_loc|1-99999999999",
    "-query|q.fa|-subject|s.fa|-query_loc|1-99999999999999999999",
    "-query|q.fa|-subject|s.fa|-seg|x",
    "-query|q.fa|-subject|s.fa|-seg|",
    "-query|q.fa|-subject|s.fa|-seg|12 2.2 2.5 ",
    "-query|q.fa|-subject|s.fa|-seg|12 2.2 x|-query_loc|3",
    "-query|q.fa|-subject|s.fa|-query_loc|3|-ungapped|-outfmt|19",
    "-query|q.fa|-subject|s.fa|-ungapped|-outfmt|19",
    "-query|q.fa|-subject|s.fa|-ungapped",
    // BLAST+ prints this error once for each query, and only after the head of a pairwise report.
    // FleetBLAST prints it once, before the report.
    "-query|one.fa|-subject|s.fa|-ungapped|-comp_based_stats|0|-matrix|FOO|-outfmt|6",
    "-query|q.fa|-subject|s.fa|-ungapped|-comp_based_stats|0|-matrix|FOO|-evalue|0",
    "-query|q.fa|-subject|s.fa|-matrix|FOO|-evalue|0",
    "-query|q.fa|-subject|s.fa|-matrix|",
    "-query|q.fa|-subject|s.fa|-gapopen|3|-threshold|0",
    "-query|q.fa|-subject|s.fa|-matrix|pam30|-gapopen|3",
    "-query|q.fa|-subject|s.fa|-task|blastp-short|-gapopen|11",
    "-query|q.fa|-subject|s.fa|-threshold|0|-word_size|9",
    "-query|q.fa|-subject|s.fa|-word_size|9|-xdrop_ungap|0",
    "-query|q.fa|-subject|s.fa|-xdrop_ungap|0|-evalue|0",
    "-query|q.fa|-subject|s.fa|-num_alignments|0|-evalue|0|-num_descriptions|0",
    "-query|q.fa|-subject|s.fa|-num_alignments|0|-outfmt|6|-num_descriptions|7|-sorthsps|1",
    "-query|q.fa|-subject|s.fa|-evalue|0|-num_threads|9999|-max_target_seqs|4",
    "-query|q.fa|-db||-evalue|-1",
    "-query|q.fa|-db|",
    "-query|q.fa|-subject|s.fa|-matrix|IDENTITY|-word_size|6|-evalue|0",
    "-query|q.fa|-subject|s.fa|-matrix|identity|-word_size|6",
    "-query|q.fa|-subject|s.fa|-task|blastp-fast|-matrix|IDENTITY",
    "-query|q.fa|-subject|s.fa|-use_sw_tback|-matrix|IDENTITY|-outfmt|6",
];

/// Runs both programs. Returns descriptions of the differences.
fn differences(fixture: &Fixture, lines: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let Some(blast) = fixture.oracle else { return Vec::new() };
    let differs = |line: &&str| {
        let arguments = if line.is_empty() { vec!["".into()] } else { Fixture::words(line) };
        let ours = fixture.run(&fixture.ours(), &arguments, variables);
        let oracle = fixture.run(&blast.program("blastp"), &arguments, variables);
        (ours.stdout != oracle.stdout || complaint(&ours) != complaint(&oracle)).then(|| {
            format!("blastp {line}\nours: {}\noracle: {}", complaint(&ours), complaint(&oracle))
        })
    };
    lines.iter().filter_map(differs).collect()
}

fn compare(lines: &[&str], variables: &[(&str, &str)]) {
    let fixture = Fixture::new();
    let differences = differences(&fixture, lines, variables);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn parser_answers_as_the_oracle() {
    compare(&sample(3, PARSER.iter().copied()), &[]);
}

#[test]
fn values_are_validated_as_by_the_oracle() {
    compare(&sample(3, VALUES.iter().copied()), &[]);
}

#[test]
fn batch_size_is_validated_as_by_the_oracle() {
    for size in ["0", "abc", "", "7x", "99999999999"] {
        let lines = [
            "-query|q.fa|-subject|s.fa|-outfmt|6",
            "-query|q.fa|-db|nosuch",
            "-query|q.fa|-subject|s.fa",
        ];
        compare(&lines, &[("BATCH_SIZE", size)]);
    }
}

#[test]
fn xml_wants_the_matrix_in_capitals() {
    compare(
        &[
            "-query|q.fa|-subject|s.fa|-outfmt|5|-matrix|blosum62",
            "-query|q.fa|-db|db|-outfmt|5|-matrix|Pam30",
        ],
        &[],
    );
}

#[test]
fn warnings_are_the_oracles() {
    let fixture = Fixture::new();
    let odd = ">o\nOOOO\n>x\nMKVOLAADTGHIWQERTYPAS\n";
    std::fs::write(fixture.path().join("odd.fa"), odd).expect("queries");
    let lines = [
        "-query|odd.fa|-db|db|-outfmt|6",
        "-query|odd.fa|-db|db|-outfmt|6|-matrix|IDENTITY",
        "-query|q.fa|-db|db|-outfmt|6|-mt_mode|1|-num_threads|2",
    ];
    let differences = differences(&fixture, &lines, &[]);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// The help text equals the oracle's, except for the default of `-num_threads` and the last section
/// with FleetBLAST's own options.
#[test]
fn help_is_the_oracles() {
    let fixture = Fixture::new();
    let Some(blast) = fixture.oracle else { return };
    for name in ["blastp", "blastn", "blastx", "tblastn", "tblastx"] {
        let arguments = Fixture::words("-help");
        let ours = fixture.run(&fixture.called(name), &arguments, &[]);
        let oracle = fixture.run(&blast.program(name), &arguments, &[]);
        let ours = String::from_utf8(ours.stdout).expect("text");
        let (blast, own) = ours.split_once(" *** FleetBLAST options\n").expect("own options");
        let threads = "   Number of threads (CPUs) to use in the BLAST search\n";
        let all: String = lines(&[DEFAULT]).iter().map(|line| format!("   {line}\n")).collect();
        let all = format!("{threads}{all}");
        let one = format!("{threads}   Default = `1'\n");
        let expected = String::from_utf8(oracle.stdout).expect("text");
        assert_eq!(blast.replace(&all, &one), expected);
        assert!(own.contains(" -timing <File_Out>\n"), "{own}");
    }
}
