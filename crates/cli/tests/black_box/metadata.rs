//! Reports made from metadata at another site. They have the bytes of the report that the search
//! would have written, or there is a clear error.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fleetblast_metadata::records::{RecordChain, RecordKind, Records};
use fleetblast_oracle::sample;
use tempfile::TempDir;

use crate::family::{family, queries};

pub(crate) const KINDS: [&str; 3] = ["oids", "hits", "report"];

pub(crate) fn run(dir: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fleetblast")).current_dir(dir).args(words).output().unwrap()
}

pub(crate) fn must(dir: &Path, words: &[&str]) -> Vec<u8> {
    let run = run(dir, words);
    assert!(run.status.success(), "{words:?}: {}", stderr_text(&run));
    run.stdout
}

pub(crate) fn stderr_text(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

fn fasta(sequences: &[(String, Vec<u8>)]) -> String {
    let text = |(title, letters): &(String, Vec<u8>)| {
        format!(">{title}\n{}\n", String::from_utf8_lossy(letters))
    };
    sequences.iter().map(text).collect()
}

fn make_database(dir: &Path, name: &str, sequences: &[(String, Vec<u8>)]) {
    let file = format!("{name}.fa");
    fs::write(dir.join(&file), fasta(sequences)).unwrap();
    must(dir, &["makeblastdb", "-in", &file, "-dbtype", "prot", "-out", name, "-title", name]);
}

/// Makes a directory with the queries `q.fa` and the database `db`, in which many sequences are
/// equal.
pub(crate) fn site() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("q.fa"), queries(5, 20).concat()).unwrap();
    make_database(dir.path(), "db", &subjects());
    dir
}

fn subjects() -> Vec<(String, Vec<u8>)> {
    let mut all = family(1, 120);
    for number in (0..120).step_by(3) {
        all[number].1 = all[number % 6].1.clone();
    }
    all
}

/// Writes the metadata `m` of a search with small blocks.
pub(crate) fn search(dir: &Path, kind: &str, options: &[&str]) {
    let words = ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
    let more = ["-metadata_out", "m", "-metadata", kind];
    let run = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .current_dir(dir)
        .env("BATCH_SIZE", "400")
        .args(words.iter().chain(options).chain(&more))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    assert!(run.stdout.is_empty());
}

fn direct(dir: &Path, options: &[&str]) -> Vec<u8> {
    let words = ["blastp", "-query", "q.fa", "-db", "db"];
    let run = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .current_dir(dir)
        .env("BATCH_SIZE", "400")
        .args(words.iter().chain(options))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    run.stdout
}

#[test]
fn the_format_is_chosen_where_the_report_is_made() {
    let dir = site();
    let dir = dir.path();
    for kind in ["oids", "hits"] {
        search(dir, kind, &[]);
        for format in ["0", "5", "6", "7", "10", "6 qseqid btop evalue"] {
            let expanded = must(dir, &["expand", "m", "-db", "db", "-outfmt", format]);
            assert!(expanded == direct(dir, &["-outfmt", format]), "{kind} in format {format}");
        }
    }
}

/// The options make subjects depend on each other: short hit lists among ties, filters, other
/// orders of HSPs.
#[test]
fn every_kind_gives_the_bytes_of_the_search() {
    let dir = site();
    let dir = dir.path();
    let lines: [&[&str]; 9] = [
        &["-outfmt", "6", "-max_target_seqs", "7"],
        &["-outfmt", "6", "-max_target_seqs", "5", "-max_hsps", "1", "-evalue", "1000"],
        &["-outfmt", "6", "-max_target_seqs", "3", "-comp_based_stats", "0"],
        &["-outfmt", "0", "-num_alignments", "2", "-num_descriptions", "9", "-sorthits", "3"],
        &["-outfmt", "6", "-culling_limit", "2"],
        &["-outfmt", "6", "-best_hit_overhang", "0.1", "-best_hit_score_edge", "0.1"],
        &["-outfmt", "6", "-use_sw_tback", "-max_target_seqs", "10"],
        &["-outfmt", "6", "-use_sw_tback", "-comp_based_stats", "0", "-max_target_seqs", "4"],
        &["-outfmt", "7", "-ungapped", "-comp_based_stats", "F", "-max_target_seqs", "20"],
    ];
    for line in sample(2, lines) {
        let wanted = direct(dir, line);
        assert!(wanted.len() > 500, "{line:?} finds something");
        for kind in KINDS {
            search(dir, kind, line);
            let expanded = must(dir, &["expand", "-metadata", "m", "-db", "db"]);
            assert!(expanded == wanted, "{kind}: {line:?}");
        }
    }
}

#[test]
fn a_report_needs_no_database_and_a_list_crosses() {
    let dir = site();
    let dir = dir.path();
    search(dir, "report", &["-outfmt", "5"]);
    assert!(must(dir, &["expand", "m"]) == direct(dir, &["-outfmt", "5"]));
    let refused = run(dir, &["expand", "m", "-outfmt", "6"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr_text(&refused)
            .contains("m holds the report as it is, so that -outfmt cannot change it")
    );

    let parsed = ["-in", "db.fa", "-dbtype", "prot", "-out", "db", "-title", "db", "-parse_seqids"];
    must(dir, &[&["makeblastdb"][..], &parsed].concat());
    fs::write(dir.join("ids"), (0..60).map(|n| format!("s{n}\n")).collect::<String>()).unwrap();
    let wanted = direct(dir, &["-seqidlist", "ids"]);
    for kind in ["oids", "hits"] {
        search(dir, kind, &["-seqidlist", "ids"]);
        let list = fs::read(dir.join("ids")).unwrap();
        fs::remove_file(dir.join("ids")).unwrap();
        assert!(must(dir, &["expand", "m", "-db", "db"]) == wanted, "{kind}");
        fs::write(dir.join("ids"), list).unwrap();
    }
}

#[test]
fn the_same_database_has_any_name_and_another_is_refused() {
    let dir = site();
    let dir = dir.path();
    let wanted = direct(dir, &[]);
    let mut turned = subjects();
    turned.swap(3, 4);
    let mut renamed = subjects();
    renamed[7].0 = "s7 of another family".to_owned();
    let fewer = subjects().into_iter().skip(1).collect::<Vec<_>>();
    let others = [
        ("same", subjects(), ""),
        ("turned", turned, "its sequences are others, or in another order"),
        ("renamed", renamed, "its headers differ"),
        ("fewer", fewer, "it holds 119 sequences of 19040 letters instead of 120 sequences"),
    ];
    for (name, sequences, _) in &others {
        make_database(dir, name, sequences);
    }
    for kind in KINDS {
        search(dir, kind, &[]);
        for (name, _, difference) in &others {
            let run = run(dir, &["expand", "m", "-db", name, "-out", "r"]);
            if difference.is_empty() {
                assert!(run.status.success(), "{}", stderr_text(&run));
                assert!(fs::read(dir.join("r")).unwrap() == wanted, "{kind}");
                fs::remove_file(dir.join("r")).unwrap();
                continue;
            }
            assert_eq!(run.status.code(), Some(2), "{kind} {name}");
            assert!(stderr_text(&run).contains(difference), "{kind} {name}: {}", stderr_text(&run));
            assert!(!dir.join("r").exists());
        }
    }
}

#[test]
fn damage_is_refused_and_metadata_cut_off_gives_a_partial_report() {
    let dir = site();
    let dir = dir.path();
    for kind in KINDS {
        search(dir, kind, &["-outfmt", "6"]);
        let whole = must(dir, &["expand", "m", "-db", "db"]);
        let bytes = fs::read(dir.join("m")).unwrap();
        let expand = |bytes: &[u8]| {
            fs::write(dir.join("broken"), bytes).unwrap();
            run(dir, &["expand", "broken", "-db", "db", "-out", "r"])
        };
        for at in (0..bytes.len()).step_by(bytes.len() / 12) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            let run = expand(&bytes);
            assert_eq!(run.status.code(), Some(1), "{kind}, byte {at}");
            let message = stderr_text(&run);
            assert!(message.starts_with("broken "), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(at < 12 || message.contains("at offset"), "{message}");
            assert!(!dir.join("r").exists());
        }
        let cut = expand(&bytes[..bytes.len() * 2 / 3]);
        assert_eq!(cut.status.code(), Some(1), "{kind}");
        let message = stderr_text(&cut);
        assert!(message.contains("is cut off: nothing is whole from offset"), "{message}");
        let part = fs::read(dir.join("r")).unwrap();
        assert!(!part.is_empty() && part.len() < whole.len() && whole.starts_with(&part), "{kind}");
        fs::remove_file(dir.join("r")).unwrap();
        assert!(expand(&bytes[..20]).status.code() == Some(1) && !dir.join("r").exists());
        let named = |names: &str| {
            let words = ["expand", "broken", "-db", "db", "-out", "r", "-query", names];
            fs::write(dir.join("broken"), &bytes[..bytes.len() * 2 / 3]).unwrap();
            let run = run(dir, &words);
            assert_eq!(run.status.code(), Some(1), "{kind}, {names}");
            assert!(
                stderr_text(&run).contains("there is no query q99 in broken as far as"),
                "{}",
                stderr_text(&run)
            );
            fs::remove_file(dir.join("r")).is_ok()
        };
        // If only some of the names exist, there is a partial report; if none exists, there is no
        // file.
        assert!(named("q1,q99") && !named("q99"), "{kind}");
    }
}

#[test]
fn some_queries_are_a_part_of_the_report() {
    let dir = site();
    let dir = dir.path();
    let whole = String::from_utf8(direct(dir, &["-outfmt", "6"])).unwrap();
    let own = |line: &&str| line.starts_with("q3\t") || line.starts_with("q17\t");
    let wanted: String = whole.split_inclusive('\n').filter(own).collect();
    assert!(wanted.lines().count() > 10);
    for kind in KINDS {
        search(dir, kind, &["-outfmt", "6"]);
        let expanded = must(dir, &["expand", "m", "-db", "db", "-query", "q17,q3"]);
        assert_eq!(String::from_utf8(expanded).unwrap(), wanted, "{kind}");
    }
    let none = run(dir, &["expand", "m", "-db", "db", "-query", "q99"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr_text(&none).contains("there is no query q99"), "{}", stderr_text(&none));
    for empty in ["", ","] {
        let none = run(dir, &["expand", "m", "-db", "db", "-query", empty]);
        assert_eq!(none.status.code(), Some(1));
        assert!(
            stderr_text(&none).contains("-query has no names of queries"),
            "{}",
            stderr_text(&none)
        );
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let dir = site();
    let dir = dir.path();
    search(dir, "hits", &["-outfmt", "0", "-num_descriptions", "9", "-num_alignments", "3"]);
    let kept = run(dir, &["expand", "m", "-db", "db", "-outfmt", "6"]);
    assert_eq!(kept.status.code(), Some(1));
    let refusal = "the search kept 9 subjects of each query, and a report of this format with these options shows 3";
    assert!(stderr_text(&kept).contains(refusal), "{}", stderr_text(&kept));
    let nowhere = run(dir, &["expand", "m"]);
    assert!(
        stderr_text(&nowhere).contains("name the searched database or file with -db: it was db")
    );
    for odd in [["-out", "x"], ["-output", "records"]] {
        let words =
            ["blastp", "-query", "q.fa", "-db", "db", "-metadata_out", "m2", odd[0], odd[1]];
        let run = run(dir, &words);
        assert_eq!(run.status.code(), Some(1), "{odd:?}");
        assert!(!dir.join("m2").exists());
    }
    let query = fs::read(dir.join("q.fa")).unwrap();
    for (option, other) in [("-query", ["-db", "db"]), ("-subject", ["-query", "q2.fa"])] {
        fs::write(dir.join("q2.fa"), &query).unwrap();
        let words = ["blastp", option, "q.fa", other[0], other[1], "-metadata_out", "./q.fa"];
        let replaced = run(dir, &words);
        assert_eq!(replaced.status.code(), Some(1));
        let both = format!("-metadata_out and {option} both name ./q.fa");
        assert!(stderr_text(&replaced).contains(&both), "{}", stderr_text(&replaced));
        assert!(fs::read(dir.join("q.fa")).unwrap() == query);
    }
    let no_metadata = run(dir, &["expand", "q.fa", "-db", "db"]);
    assert_eq!(stderr_text(&no_metadata), "q.fa is no metadata of a search\n");
    let before = fs::read(dir.join("m")).unwrap();
    let replaced = run(dir, &["expand", "m", "-db", "db", "-out", "./m"]);
    assert_eq!(replaced.status.code(), Some(1));
    assert!(stderr_text(&replaced).contains("both name"), "{}", stderr_text(&replaced));
    assert!(fs::read(dir.join("m")).unwrap() == before);
}

/// Returns the records of metadata: the first is the header, the last is the end.
pub(crate) fn records(bytes: &[u8]) -> Vec<(RecordKind, Vec<u8>)> {
    let mut records = Records::open(bytes).unwrap();
    std::iter::from_fn(|| records.next_record().unwrap())
        .map(|record| (record.kind, record.body))
        .collect()
}

/// Some blocks of a search are encoded as reports, and the others in another encoding.
#[test]
fn blocks_of_any_kinds_are_one_report() {
    let dir = site();
    let dir = dir.path();
    for format in ["5", "0", "6", "7", "10"] {
        let limited = |limit| {
            search(dir, "auto", &["-outfmt", format, "-metadata_limit", limit]);
            records(&fs::read(dir.join("m")).unwrap())
        };
        let (reports, others) = (limited("0"), limited("1"));
        assert!(reports.len() > 5 && reports.len() == others.len() && reports != others);
        assert!(reports[0] == others[0]);
        let wanted = direct(dir, &["-outfmt", format]);
        let part = |file: &str| must(dir, &["expand", file, "-db", "db", "-query", "q1,q8,q17"]);
        search(dir, "hits", &["-outfmt", format]);
        let wanted_part = part("m");
        for pattern in sample(2, [0b0101, 0b1010, 0b0011, 0b1100, 0b0001, 0b1110, 0b0000, 0b1111]) {
            let (mut chain, mut bytes) = (RecordChain::default(), RecordChain::start());
            for (number, (report, other)) in reports.iter().zip(&others).enumerate() {
                let (kind, body) = if pattern >> (number % 4) & 1 == 1 { report } else { other };
                bytes.extend(chain.record(*kind, body).unwrap());
            }
            fs::write(dir.join("mixed"), bytes).unwrap();
            let made = must(dir, &["expand", "mixed", "-db", "db"]);
            assert!(made == wanted, "{pattern:b} in format {format}");
            assert!(part("mixed") == wanted_part, "queries of {pattern:b} in format {format}");
        }
    }
    let refused = run(dir, &["expand", "mixed", "-db", "db", "-outfmt", "6"]);
    assert!(
        stderr_text(&refused).contains("holds parts of the report as it is"),
        "{}",
        stderr_text(&refused)
    );
    let nowhere = run(dir, &["expand", "mixed"]);
    assert!(
        stderr_text(&nowhere).contains("name the searched database or file with -db"),
        "{}",
        stderr_text(&nowhere)
    );
}

#[test]
fn timing_has_the_chosen_encoding_and_the_reason() {
    let dir = site();
    let dir = dir.path();
    let timing = |options: &[&str]| -> serde_json::Value {
        search(dir, "auto", &[&["-timing", "t"], options].concat());
        serde_json::from_slice(&fs::read(dir.join("t")).unwrap()).unwrap()
    };
    let timed = timing(&["-metadata_limit", "1"]);
    let choice = &timed["metadata"]["choices"][0];
    assert_eq!((&choice["kind"], &choice["why"]), (&"oids".into(), &"least_bytes".into()));
    let timed = timing(&["-metadata_limit", "0"]);
    let choice = &timed["metadata"]["choices"][0];
    assert_eq!((&choice["kind"], &choice["why"]), (&"report".into(), &"limit".into()));
    let blocks = timed["metadata"]["kinds"][2]["blocks"].as_u64().unwrap();
    assert_eq!(choice["blocks"].as_u64(), Some(blocks));
    // With this filter, hits depend on several subjects, so a search of single subjects cannot
    // repeat them.
    let timed = timing(&["-metadata_limit", "1", "-culling_limit", "2"]);
    assert_eq!(timed["metadata"]["choices"][0]["kind"], "hits");
    for odd in [
        &["-metadata", "auto", "-outfmt", "17"][..],
        &["-metadata", "hits", "-metadata_limit", "0.5"],
        &["-metadata", "auto", "-metadata_limit", "1.5"],
    ] {
        let words = ["blastp", "-query", "q.fa", "-db", "db", "-metadata_out", "m2"];
        let refused = run(dir, &[&words, odd].concat());
        assert_eq!(refused.status.code(), Some(1), "{odd:?}: {}", stderr_text(&refused));
        assert!(!dir.join("m2").exists());
    }
}
