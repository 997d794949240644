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
