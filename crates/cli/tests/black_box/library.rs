//! Searches through the library, and the example of such a search.

#[path = "../../../job/examples/search.rs"]
#[allow(dead_code, reason = "the test calls `search`, not `main`")]
mod search;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use fleetblast_job::plan::Plan;
use fleetblast_job::visit_hits;

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

fn files(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries.map(|entry| name(entry.expect("an entry"))).collect()
}

/// A search through the library writes these files and no others.
#[test]
fn hits_come_with_the_timing_and_the_trace_that_the_plan_asks_for() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    let words = ["makeblastdb", "-in", "s.fa", "-dbtype", "prot", "-out", "own"];
    let made = command.args(words).current_dir(fixture.path()).output().expect("it runs");
    assert!(made.status.success(), "{}", complaint(&made));
    let before = files(fixture.path());
    let database = path("own").display().to_string();
    let mut plan = Plan::blastp(database, path("q.fa"));
    let mut queries = 0;
    let mut visit = |plan: &Plan| {
        visit_hits(plan, |_| {
            queries += 1;
            Ok(())
        })
        .expect("a search");
    };
    visit(&plan);
    assert_eq!(files(fixture.path()), before);
    plan.timing = Some(path("times.json"));
    plan.fleet.trace = Some(path("trace.json"));
    visit(&plan);
    let more: Vec<String> = files(fixture.path()).difference(&before).cloned().collect();
    assert_eq!(more, ["times.json", "trace.json"]);
    assert!(fs::read_to_string(path("times.json")).expect("times").contains("wall_seconds"));
    assert!(fs::read_to_string(path("trace.json")).expect("a trace").contains("traceEvents"));
    assert!(queries >= 4, "{queries}");
}

#[test]
fn a_missing_database_is_an_error_of_the_example() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.path().join(name).display().to_string();
    let error = search::search(&path("none"), &path("q.fa"), Vec::new()).expect_err("no database");
    assert!(error.to_string().contains("none"), "{error}");
}
