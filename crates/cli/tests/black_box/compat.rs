//! `-compat` and `FLEETBLAST_COMPAT`: which release applies, that it belongs to a job and to
//! metadata, and what is refused by name. The bytes are compared with the other releases by
//! `difftest --release`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use tempfile::TempDir;

const SEARCH: [&str; 7] = ["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1"];

fn inputs() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write(dir.path(), "db", &FOUR, &family(5, 12));
    fs::write(dir.path().join("q.fa"), queries(6, 20).concat()).expect("queries");
    dir
}

fn run(dir: &Path, variable: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(arguments).current_dir(dir).env_remove("BLASTDB").stdin(Stdio::null());
    match variable {
        Some(release) => command.env("FLEETBLAST_COMPAT", release),
        None => command.env_remove("FLEETBLAST_COMPAT"),
    };
    command.output().expect("the program runs")
}

fn first_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_option_goes_before_the_variable() {
    let dir = inputs();
    let search = |variable, more: &[&str]| run(dir.path(), variable, &[&SEARCH, more].concat());
    let banner = |variable, more: &[&str]| first_line(&search(variable, more));
    assert_eq!(banner(Some("2.12.0"), &[]), "BLASTP 2.12.0+");
    assert_eq!(banner(Some("2.16.0"), &[]), "BLASTP 2.16.0+");
    assert_eq!(banner(Some("2.16.0"), &["-compat", "2.17.0"]), "BLASTP 2.17.0+");
    assert_eq!(banner(Some("2.16.0"), &["-compat=2.12.0"]), "BLASTP 2.12.0+");
    assert_eq!(
        first_line(&run(dir.path(), Some("2.17.0"), &["blastp", "-version"])),
        "blastp: 2.17.0+"
    );
    let unknown = search(Some("2.13.0"), &[]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(message(&unknown).contains("'2.13.0' is no release"), "{}", message(&unknown));
}

#[test]
fn by_default_the_installed_release_applies() {
    let dir = inputs();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("a directory");
    let version = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.args(["blastp", "-version"]).env("PATH", &bin).env("HOME", dir.path());
        let output = command.env_remove("FLEETBLAST_COMPAT").output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let latest = version();
    assert!(latest.starts_with("blastp: 2.17.0+\n"), "{latest}");
    assert!(latest.ends_with(" (the latest known; no BLAST+ found)\n"), "{latest}");
    let blast = bin.join("blastn");
    let package = "echo ' Package: blast 2.16.0, build Jan 1 2025'";
    fs::write(&blast, format!("#!/bin/sh\necho blastn: 2.16.0+\n{package}\n")).expect("a script");
    fs::set_permissions(&blast, fs::Permissions::from_mode(0o755)).expect("permissions");
    let installed = version();
    assert!(installed.starts_with("blastp: 2.16.0+\n"), "{installed}");
    assert!(installed.ends_with(&format!(" (as {})\n", blast.display())), "{installed}");
}

#[test]
fn an_installed_blast_that_fails_is_named() {
    let dir = inputs();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("a directory");
    let blast = bin.join("blastn");
    fs::write(&blast, "#!/bin/sh\nexit 127\n").expect("a script");
    fs::set_permissions(&blast, fs::Permissions::from_mode(0o755)).expect("permissions");
    let search = |variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.args(SEARCH).current_dir(dir.path()).env("PATH", &bin).env("HOME", dir.path());
        command.env_remove("BLASTDB").env_remove("FLEETBLAST_COMPAT").stdin(Stdio::null());
        command.envs(variable.map(|release| ("FLEETBLAST_COMPAT", release)));
        command.output().expect("the program runs")
    };
    let output = search(None);
    assert!(output.status.success() && first_line(&output) == "BLASTP 2.17.0+");
    let expected = format!(
        "Warning: [blastp] {} does not state its release: it ended with exit status: 127. The \
         report is that of 2.17.0; -compat or FLEETBLAST_COMPAT names another release.\n",
        blast.display()
    );
    assert_eq!(message(&output), expected);
    assert_eq!(message(&search(Some("2.17.0"))), "");
}

#[test]
fn databases_of_later_releases_have_metadata() {
    let dir = inputs();
    let make = |release, more: &[&str]| {
        let line = ["makeblastdb", "-dbtype", "prot", "-in", "q.fa", "-out", "made"];
        let made = run(dir.path(), Some(release), &[&line, more].concat());
        assert!(made.status.success(), "{}", message(&made));
        fs::read_to_string(dir.path().join("made.pjs"))
    };
    assert!(make("2.12.0", &[]).is_err());
    let first = make("2.17.0", &[]).expect("metadata");
    assert!(
        first.contains("\"number-of-sequences\": 20,") && !first.contains("made.pjs"),
        "{first}"
    );
    let again = make("2.17.0", &["-metadata_output_prefix", "gs://x"]).expect("metadata");
    assert!(again.contains("\"gs://x/made.pin\"") && !again.contains("made.pjs"), "{again}");
    // An existing database has metadata that list the file.
    let line = ["blastdbcmd", "-db", "made", "-metadata"];
    let printed = |release| run(dir.path(), Some(release), &line).stdout;
    assert!(String::from_utf8_lossy(&printed("2.17.0")).contains("\"made.pjs\""));
    assert!(!String::from_utf8_lossy(&printed("2.16.0")).contains("\"made.pjs\""));
    assert!(printed("2.12.0").is_empty());
}

#[test]
fn doubtful_input_is_read_by_later_releases() {
    let dir = inputs();
    fs::write(dir.path().join("doubtful"), "; comment\n\n>a\nACGT\n").expect("a file");
    let line = ["makeblastdb", "-dbtype", "prot", "-in", "doubtful", "-out", "made"];
    let made = |release| run(dir.path(), Some(release), &line);
    assert_eq!(made("2.12.0").status.code(), Some(1));
    let later = made("2.16.0");
    assert!(later.status.success() && message(&later).contains("does NOT appear to be FASTA"));
}

#[test]
fn a_missing_database_has_the_error_of_the_release() {
    let dir = inputs();
    let search =
        |release| run(dir.path(), Some(release), &["blastp", "-query", "q.fa", "-db", "x"]);
    assert_eq!(search("2.12.0").status.code(), Some(2));
    let unmapped = search("2.16.0");
    assert_eq!(unmapped.status.code(), Some(3));
    assert!(message(&unmapped).contains("memory map file error"));
    let advised = search("2.17.0");
    assert_eq!(advised.status.code(), Some(2));
    assert!(message(&advised).contains("Please verify the spelling"));
}

#[test]
fn a_missing_file_of_a_database_has_the_error_of_the_release() {
    let dir = inputs();
    let make = ["makeblastdb", "-dbtype", "prot", "-in", "q.fa", "-out", "made"];
    assert!(run(dir.path(), Some("2.12.0"), &make).status.success());
    fs::write(dir.path().join("listed.pal"), "DBLIST made\nOIDLIST nosuch\n").expect("an alias");
    let check = |database, texts: [(&str, i32, &str); 3]| {
        for (release, code, text) in texts {
            let line = ["blastp", "-query", "q.fa", "-db", database];
            let output = run(dir.path(), Some(release), &line);
            assert_eq!(output.status.code(), Some(code), "{}", message(&output));
            assert!(message(&output).contains(text), "{}", message(&output));
        }
    };
    let unmapped = "Database error: Database memory map file error\n";
    check(
        "listed",
        [
            ("2.12.0", 255, "the file must exist"),
            ("2.16.0", 3, unmapped),
            ("2.17.0", 2, "map file error - To be memory mapped the file must exist: '"),
        ],
    );
    fs::remove_file(dir.path().join("made.pdb")).expect("a file");
    check(
        "made",
        [
            ("2.12.0", 255, "mdb_env_open"),
            ("2.16.0", 3, unmapped),
            ("2.17.0", 2, "made.pdb not found. If you renamed any BLAST database files"),
        ],
    );
}

#[test]
fn later_releases_leave_frames_unset_without_a_column_that_needs_the_alignment() {
    let dir = inputs();
    let row = |release, format| {
        first_line(&run(dir.path(), Some(release), &[&SEARCH[..], &["-outfmt", format]].concat()))
    };
    for release in ["2.16.0", "2.17.0"] {
        assert_eq!(row(release, "6 frames sframe"), "0/0\t0");
        assert_eq!(row(release, "6 frames sframe qframe"), "1/1\t1\t1");
    }
    assert_eq!(row("2.12.0", "6 frames sframe"), "1/1\t1");
}

#[test]
fn the_strategy_comes_before_the_report_in_the_same_stream() {
    let dir = inputs();
    let line = [&SEARCH[..], &["-outfmt", "7", "-export_search_strategy", "-"]].concat();
    let output = run(dir.path(), Some("2.12.0"), &line);
    assert!(first_line(&output).starts_with("Blast4-request"), "{}", first_line(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().last().is_some_and(|line| line.starts_with("# BLAST processed")));
}

#[test]
fn programs_for_databases_and_masks_follow_the_release() {
    let dir = inputs();
    let first = |release, line: &[&str]| first_line(&run(dir.path(), Some(release), line));
    for name in ["blastdb_aliastool", "blastdbcheck", "convert2blastmask"] {
        assert_eq!(first("2.17.0", &[name, "-version"]), format!("{name}: 2.17.0+"));
    }
    assert_eq!(first("2.17.0", &["dustmasker", "-version"]), "dustmasker: 1.0.0");
    fs::write(dir.path().join("n.fa"), format!(">a TLS: x\nACGT{}\n", "A".repeat(40)))
        .expect("a sequence");
    let mask = ["dustmasker", "-in", "n.fa", "-outfmt", "fasta", "-hard_masking"];
    assert_eq!(run(dir.path(), Some("2.12.0"), &mask).status.code(), Some(1));
    let masked = run(dir.path(), Some("2.16.0"), &mask);
    let text = String::from_utf8_lossy(&masked.stdout).into_owned();
    assert!(text.contains(&format!("ACGT{}", "N".repeat(40))), "{text}");
}

#[test]
fn a_job_of_one_release_is_not_resumed_with_another() {
    let dir = inputs();
    let search = |release, more: &[&str]| {
        let ranks = ["-ranks", "2", "-checkpoint", "kept", "-output", "records", "-out", "kept"];
        run(dir.path(), Some(release), &[&SEARCH[..], &ranks, more].concat())
    };
    let first = search("2.16.0", &[]);
    assert!(first.status.success(), "{}", message(&first));
    let other = search("2.17.0", &["-resume"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(message(&other).contains("-compat"), "{}", message(&other));
}

#[test]
fn metadata_carry_the_release_to_the_other_site() {
    let dir = inputs();
    let whole = run(dir.path(), Some("2.17.0"), &[&SEARCH[..], &["-outfmt", "5"]].concat());
    let sent = [&SEARCH[..], &["-outfmt", "5", "-metadata_out", "m"]].concat();
    let sent = run(dir.path(), Some("2.17.0"), &sent);
    assert!(sent.status.success(), "{}", message(&sent));
    let there = run(dir.path(), None, &["expand", "-metadata", "m", "-db", "db"]);
    assert!(there.status.success(), "{}", message(&there));
    assert!(
        there.stdout == whole.stdout && whole.stdout.starts_with(b"<?xml version=\"1.0\" encoding")
    );
}

/// Makes a database of one protein with this definition line, and returns its identifier and title.
fn store_defline(dir: &Path, release: &str, line: &str) -> Option<String> {
    let text = format!(">{line}\nMKVLAWYHSSMEDKRIPTAEGLNQWERTYPLKHG\n");
    fs::write(dir.join("odd.fa"), text).expect("a sequence");
    let make = ["makeblastdb", "-in", "odd.fa", "-dbtype", "prot", "-parse_seqids", "-out", "odd"];
    if !run(dir, Some(release), &make).status.success() {
        return None;
    }
    let read = ["blastdbcmd", "-db", "odd", "-entry", "all", "-outfmt", "%i %t"];
    Some(first_line(&run(dir, Some(release), &read)))
}

#[test]
fn later_releases_store_what_their_fasta_reader_reads() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (line, expected) in [
        ("a\"b some title", "lcl|a\"b some title"),
        ("x>y t", "lcl|x>y t"),
        ("<a> t", "lcl|<a> t"),
        (" a b", "lcl|a b"),
        ("a[k=v] t", "lcl|a[k=v] t"),
    ] {
        assert_eq!(store_defline(dir.path(), "2.12.0", line), None, "{line}");
        for release in ["2.16.0", "2.17.0"] {
            assert_eq!(
                store_defline(dir.path(), release, line).as_deref(),
                Some(expected),
                "{line}"
            );
        }
    }
}

#[test]
fn ranges_of_known_sequences_are_numbered() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (line, expected) in [
        ("NP_000001.1:1-9  a title", "lcl|1 a title"),
        ("P12345:c9-1 t", "lcl|1 t"),
        ("AB123456.1:0-9 t", "lcl|1 t"),
        ("foo:1-9  t", "lcl|foo:1-9  t"),
        ("NP_000001.1:9-1 t", "lcl|NP_000001.1:9-1 t"),
        ("gb|AAA12345.1|:1-20 t", "gb|AAA12345.1|:1-20 t"),
    ] {
        for release in ["2.12.0", "2.16.0", "2.17.0"] {
            assert_eq!(
                store_defline(dir.path(), release, line).as_deref(),
                Some(expected),
                "{line}"
            );
        }
    }
}

#[test]
fn later_releases_ignore_blanks_around_databases() {
    let dir = inputs();
    let search = ["blastp", "-query", "q.fa", "-db", " db ", "-outfmt", "7", "-num_threads", "1"];
    for (release, line) in [("2.12.0", "# Database:  db "), ("2.16.0", "# Database: db")] {
        let found = run(dir.path(), Some(release), &search);
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(text.lines().any(|found| found == line), "{text} {}", message(&found));
    }
    let blank = ["blastp", "-query", "q.fa", "-db", " "];
    for (release, text) in [
        ("2.12.0", "No database names were passed to CSeqDB::CSeqDB()."),
        ("2.17.0", "Database name is required."),
    ] {
        let found = message(&run(dir.path(), Some(release), &blank));
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn lookup_errors_name_a_file_only_in_2_12() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    store_defline(dir.path(), "2.12.0", "a t");
    let look_up = ["blastdbcmd", "-db", "odd", "-entry", ""];
    for (release, name) in [("2.12.0", "odd.pdb\n"), ("2.16.0", "odd\n"), ("2.17.0", "odd\n")] {
        let found = message(&run(dir.path(), Some(release), &look_up));
        assert!(found.contains(&format!("lookup error in {name}")), "{found}");
    }
    fs::write(dir.path().join("taxa"), "9606 562\n").expect("a list");
    let taxa = ["blastdbcmd", "-db", "odd", "-taxidlist", "taxa"];
    let found = message(&run(dir.path(), Some("2.12.0"), &taxa));
    assert!(found.contains("'9606 562' to Int8 (m_Pos = 5)"), "{found}");
}

#[test]
fn long_headers_depend_on_the_release() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    store_defline(dir.path(), "2.12.0", "ref|WP_000002.1| TLS: a\u{1}gb|AAA10001.1| b");
    let read = [
        "blastdbcmd",
        "-db",
        "odd",
        "-entry",
        "all",
        "-long_seqids",
        "-ctrl_a",
        "-line_length",
        "9",
    ];
    for (release, expected) in [
        ("2.12.0", ">ref|WP_000002.1| TLS: a >gb|AAA10001.1| b"),
        ("2.16.0", ">ref|WP_000002.1| a >gb|AAA10001.1| b"),
        ("2.17.0", ">ref|WP_000002.1| a\u{1}gb|AAA10001.1| b"),
    ] {
        assert_eq!(first_line(&run(dir.path(), Some(release), &read)), expected);
    }
}
