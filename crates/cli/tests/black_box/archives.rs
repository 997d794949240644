//! `-outfmt 11` (BLAST archives): a job writes the same archives, one for each batch of queries,
//! with any number of ranks, groups and partitions. `blast_formatter` makes the reports of the
//! search from them. Options that archives do not support are refused by name. The tables of
//! `difftest` compare the bytes with BLAST+.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use tempfile::TempDir;

/// Number of queries: they fill several batches and several blocks.
const QUERIES: usize = 400;

fn inputs() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write(dir.path(), "db", &FOUR, &family(5, 12));
    fs::write(dir.path().join("q.fa"), queries(6, QUERIES).concat()).expect("queries");
    dir
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(arguments)
        .current_dir(dir)
        .env_remove("BLASTDB")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn search(dir: &Path, arguments: &[&str]) -> Output {
    let common = ["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1"];
    run(dir, &[&common[..], &["-comp_based_stats", "0", "-outfmt", "11"], arguments].concat())
}

#[test]
fn every_shape_writes_the_same_archives() {
    let dir = inputs();
    let whole = search(dir.path(), &[]);
    assert!(whole.status.success());
    let count = String::from_utf8_lossy(&whole.stdout).matches("Blast4-archive ::= {").count();
    assert!(count > 2, "{count} archives");
    let shapes: [&[&str]; 3] = [
        &["-ranks", "3", "-partitions", "4"],
        &["-ranks", "4", "-groups", "2", "-partitions", "3", "-block_residues", "12000"],
        &["-ranks", "2", "-partitions", "2", "-write_buffer", "5000", "-checkpoint", "run"],
    ];
    for shape in shapes {
        let output = search(dir.path(), shape);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == whole.stdout, "{shape:?}");
    }
    let records = search(dir.path(), &["-ranks", "3", "-output", "records", "-out", "records"]);
    assert!(records.status.success(), "{}", String::from_utf8_lossy(&records.stderr));
    let joined = run(dir.path(), &["cat", "records"]);
    assert!(joined.stdout == whole.stdout, "the records differ");
}

#[test]
fn an_error_leaves_the_archives_of_the_batches_before_it() {
    let dir = inputs();
    let all = fs::read_to_string(dir.path().join("q.fa")).expect("queries");
    fs::write(dir.path().join("q.fa"), all + ">bad\n%%%%%%%%%%%%%%\n").expect("queries");
    let alone = search(dir.path(), &[]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(alone.stdout.ends_with(b"\n}\n"));
    for shape in [&["-ranks", "3"][..], &["-ranks", "2", "-block_residues", "9000"]] {
        let ranks = search(dir.path(), shape);
        assert_eq!(ranks.status.code(), Some(1));
        assert!(ranks.stdout == alone.stdout, "{shape:?}");
    }
}

#[test]
fn what_archives_do_not_support_is_refused_by_name() {
    let dir = inputs();
    let refused: [(&[&str], &str); 2] = [
        (&["blastp", "-metadata_out", "m"], "-metadata_out with -outfmt 11"),
        (
            &["psiblast", "-parse_deflines", "-num_iterations", "2"],
            "-parse_deflines with -outfmt 11",
        ),
    ];
    for (words, name) in refused {
        let words = [words, &["-query", "q.fa", "-db", "db", "-outfmt", "11"]].concat();
        let output = run(dir.path(), &words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("does not support {name} yet")), "{message}");
        assert!(output.stdout.is_empty());
    }
}

/// Writes archives to a file, and has `blast_formatter` report it.
fn run_formatter(dir: &Path, archives: &[u8], arguments: &[&str]) -> Output {
    fs::write(dir.join("archives"), archives).expect("archives");
    run(dir, &[&["blast_formatter", "-archive", "archives"], arguments].concat())
}

#[test]
fn blast_formatter_makes_the_reports_of_the_search() {
    let dir = inputs();
    let archives = search(dir.path(), &[]).stdout;
    let common = ["blastp", "-query", "q.fa", "-db", "db", "-comp_based_stats", "0"];
    let formats = [
        "6",
        "10",
        "6 std qlen slen qcovs qcovhsp positive ppos btop stitle qseq sseq",
        "15",
        "16",
    ];
    for format in formats {
        let direct = run(dir.path(), &[&common[..], &["-outfmt", format]].concat());
        let formatted =
            run_formatter(dir.path(), &archives, &["-outfmt", format, "-out", "report"]);
        assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stderr));
        assert!(formatted.stdout.is_empty());
        let written = fs::read(dir.path().join("report")).expect("a report");
        if format.starts_with("15") || format.starts_with("16") {
            // Their statistics are those of the first query of the archive, as in BLAST+.
            let hits = |report: &[u8]| String::from_utf8_lossy(report).matches("bit_score").count();
            assert_eq!(hits(&written), hits(&direct.stdout), "{format}");
        } else {
            assert!(written.len() > 1000 && written == direct.stdout, "{format}");
        }
    }
}

#[test]
fn archives_have_the_subjects_of_fasta_files() {
    let dir = inputs();
    fs::write(dir.path().join("s.fa"), queries(6, 3).concat()).expect("subjects");
    let search = ["blastp", "-query", "q.fa", "-subject", "s.fa", "-comp_based_stats", "0"];
    for more in [&[][..], &["-parse_deflines"]] {
        let words = |format| [&search[..], more, &["-outfmt", format]].concat();
        let archives = run(dir.path(), &words("11")).stdout;
        let direct = run(dir.path(), &words("6 std qcovs stitle slen sseq")).stdout;
        let of_report = [more, &["-outfmt", "6 std qcovs stitle slen sseq"]].concat();
        let formatted = run_formatter(dir.path(), &archives, &of_report);
        assert!(direct.len() > 1000 && formatted.stdout == direct, "{more:?}");
    }
}

#[test]
fn reports_show_the_numbers_of_the_archive() {
    let dir = inputs();
    let text = String::from_utf8(search(dir.path(), &[]).stdout).expect("text");
    let coverage = text.find("hsp_percent_coverage").expect("a score");
    let value = coverage + text[coverage..].find("real {").expect("its value");
    let end = value + text[value..].find('}').expect("its end");
    let other = format!("{}real {{ 7, 10, 0 {}", &text[..value], &text[end..]);
    let formatted = run_formatter(dir.path(), other.as_bytes(), &["-outfmt", "6 qcovhsp"]);
    assert!(formatted.stdout.starts_with(b"7\n"), "{formatted:?}");
    let formatted = run_formatter(dir.path(), other.as_bytes(), &["-outfmt", "8"]);
    assert!(String::from_utf8_lossy(&formatted.stdout).contains("value real { 7, 10, 0 }"));
}

#[test]
fn sam_is_for_archives_of_blastn() {
    let dir = inputs();
    let archives = search(dir.path(), &[]).stdout;
    let output = run_formatter(dir.path(), &archives, &["-outfmt", "17"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("SAM format is only applicable to blastn results"), "{error}");
}

#[test]
fn archives_in_ber_are_recognized_by_their_first_byte() {
    let dir = inputs();
    // The archive of a failed search, with a warning.
    let request =
        b"\xa0\x80\x30\x80\xa1\x80\xa9\x80\x30\x80\xa0\x80\x1a\x01E\0\0\0\0\0\0\0\0\0\0\0\0";
    let results = b"\xa1\x80\x30\x80\0\0\0\0";
    let message = b"\x30\x80\xa0\x80\x02\x01\x01\0\0\xa1\x80\x1a\x0bsaid before\0\0\0\0";
    let messages = [&b"\xa2\x80\x30\x80"[..], message, b"\0\0\0\0"].concat();
    let archive = [&b"\x30\x80"[..], request, results, &messages, b"\0\0"].concat();
    let output = run_formatter(dir.path(), &archive, &["-outfmt", "6"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "said before\n");
    let output = run_formatter(dir.path(), &archive[..20], &["-outfmt", "6"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("byte "));
}

#[test]
fn blast_formatter_refuses_what_is_no_whole_archive_of_the_database() {
    let dir = inputs();
    let archives = search(dir.path(), &[]).stdout;
    let text = String::from_utf8(archives.clone()).expect("text");
    let fails = |archives: &[u8], code: i32, message: &str| {
        let output = run_formatter(dir.path(), archives, &["-outfmt", "6", "-out", "report"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(message), "{error}");
        let report = fs::read(dir.path().join("report")).unwrap_or_default();
        assert!(report.is_empty(), "a part of a report");
    };
    fails(b"", 1, "Invalid input format for BLAST Archive");
    fails(b">q\nMKV\n", 1, "line 1");
    fails(&archives[..archives.len() / 2], 1, "Invalid input format for BLAST Archive");
    fails(text.replace("database \"db\"", "database \"none\"").as_bytes(), 2, "none");
    fails(text.replace("tag id 3", "tag id 300000").as_bytes(), 2, "300000");
    fails(text.replace("program \"blastp\"", "program \"blastq\"").as_bytes(), 1, "blastq");

    let option = r#"algorithm-options {
        { name "GiList", value big-integer-list { 1 } },"#;
    let listed = text.replace("algorithm-options {", option);
    fails(listed.as_bytes(), 3, "Error processing option [GiList] type [13]");
    let output = run(dir.path(), &["blast_formatter", "-rid", "X", "-outfmt", "6"]);
    assert_eq!(output.status.code(), Some(1));
    let mut parts = text.split("local str \"");
    let mut public = parts.next().expect("a text").to_owned();
    for (id, rest) in parts.filter_map(|part| part.split_once('"')) {
        public += &format!("swissprot {{ accession \"{id}\" }}{rest}");
    }
    let output = run_formatter(dir.path(), public.as_bytes(), &["-outfmt", "11"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("identifiers of public databases only with -outfmt 11"), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn archives_of_different_searches_are_not_joined() {
    let dir = inputs();
    write(dir.path(), "other", &FOUR, &family(7, 12));
    let first = search(dir.path(), &[]).stdout;
    let mut both = first.clone();
    both.extend(search(dir.path(), &["-evalue", "3"]).stdout);
    let text = String::from_utf8(first.clone()).expect("text");
    let of_other =
        [&first, text.replace("database \"db\"", "database \"other\"").as_bytes()].concat();
    for (archives, difference) in [(&both, "option EvalueThreshold"), (&of_other, "subjects")] {
        for format in ["5", "15", "16"] {
            let output =
                run_formatter(dir.path(), archives, &["-outfmt", format, "-out", "report"]);
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{error}");
            assert!(
                error.contains(&format!("the {difference} is not that of the first")),
                "{error}"
            );
        }
    }
    // Formats that are not joined report each search.
    let output = run_formatter(dir.path(), &both, &["-outfmt", "6"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn damaged_alignments_are_refused() {
    let dir = inputs();
    let text = String::from_utf8(search(dir.path(), &[]).stdout).expect("text");
    let score = text.find("id str \"score\"").expect("a score");
    let line = score + text[score..].find("value int").expect("its value");
    let gapped = text.find("numseg 3").expect("an alignment with gaps");
    let starts = gapped + text[gapped..].find("starts {").expect("starts") + "starts {".len();
    let end = starts + text[starts..].find('}').expect("their end");
    let mut numbers: Vec<i64> = text[starts..end]
        .split(',')
        .map(|number| number.trim().parse().expect("a number"))
        .collect();
    // The first letters of the last segment are those of another place.
    numbers[4] += 1;
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    let moved = [&text[..starts], &numbers.join(","), &text[end..]].concat();
    let real =
        [&text[..line], "value real { 7, 10, 0 } }, { id str \"x\", ", &text[line..]].concat();
    let unscored = text.replacen("id str \"e_value\"", "id str \"e_valu\"", 1);
    for (archives, code, problem) in [
        (moved, 2, "has an alignment that does not fit subject"),
        (real, 1, "an integer belongs here"),
        (unscored, 1, "an alignment without bit score or e-value"),
    ] {
        let output = run_formatter(dir.path(), archives.as_bytes(), &["-outfmt", "6"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn strategies_are_imported_or_refused() {
    let dir = inputs();
    let path = dir.path();
    let common = ["-query", "q.fa", "-db", "db", "-out", "r", "-export_search_strategy", "s"];
    let written = run(path, &[&["blastp"], &common[..]].concat());
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    fs::write(path.join("bad"), "garbage").expect("a file");
    let import = |program: &str, more: &[&str]| {
        let output = run(path, &[&[program, "-import_search_strategy"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let warning = "Warning: [blastp] mt_mode cannot be overridden when using a search strategy\n";
    assert_eq!(import("blastp", &["s", "-outfmt", "6"]), (Some(0), warning.to_owned()));
    for (program, more, message) in [
        ("blastp", &["bad"][..], "BLAST query/options error: Failed to read search strategy"),
        ("blastp", &["none"], "Argument \"import_search_strategy\". File is not accessible"),
        ("blastn", &["s"], "does not support a search strategy of blastp (plain)"),
        ("blastp", &["s", "-ranks", "3"], "-ranks with -import_search_strategy"),
        ("blastp", &["s", "-outfmt", "11"], "-outfmt 11 with -import_search_strategy"),
    ] {
        let (code, text) = import(program, more);
        assert!(code == Some(1) && text.contains(message), "{program} {more:?}: {text}");
    }
}
