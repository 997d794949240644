//! The example of a search through the library.

#[path = "../../../job/examples/search.rs"]
#[allow(dead_code, reason = "the test calls `search`, not `main`")]
mod search;

use std::fs;
use std::process::Command;

use crate::common::{Fixture, complaint};

/// The example prints the report of the program, with the default options of both.
#[test]
fn the_example_prints_what_the_program_prints() {
    let fixture = Fixture::new();
    let queries = fs::read_to_string(fixture.path().join("q.fa")).expect("queries");
    let more =
        format!("{queries}>q3 nothing like it\nWWWWCCCCWWWWCCCC\n>q4\nGGHIWQERTYPASDFGHKL\n");
    fs::write(fixture.path().join("q.fa"), more).expect("queries");
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        let command = command.args(line.split('|')).current_dir(fixture.path());
        let output = command.output().expect("the program runs");
        assert!(output.status.success(), "{line}: {}", complaint(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    run("makeblastdb|-in|s.fa|-dbtype|prot|-out|own");
    let expected = run("blastp|-db|own|-query|q.fa|-outfmt|6 qseqid sseqid evalue bitscore");
    assert!(expected.lines().count() >= 6, "{expected}");
    let path = |name: &str| fixture.path().join(name).display().to_string();
    let mut printed = Vec::new();
    search::search(&path("own"), &path("q.fa"), &mut printed).expect("a search");
    assert_eq!(String::from_utf8_lossy(&printed), expected);
}

#[test]
fn a_missing_database_is_an_error_of_the_example() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.path().join(name).display().to_string();
    let error = search::search(&path("none"), &path("q.fa"), Vec::new()).expect_err("no database");
    assert!(error.to_string().contains("none"), "{error}");
}
