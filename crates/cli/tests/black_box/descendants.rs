//! Taxa with their descendants (file `taxonomy4blast.sqlite3`), in the releases whose taxids
//! include descendants.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::family::queries;

const FILE: &str = "taxonomy4blast.sqlite3";

/// Makes a database of taxon 562.
fn database() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("q.fa"), queries(6, 12).concat()).expect("sequences");
    let made = run(dir.path(), "2.12.0", "makeblastdb -dbtype prot -in q.fa -out coli -taxid 562");
    assert!(made.status.success(), "{}", message(&made));
    dir
}

fn run(dir: &Path, release: &str, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(line.split(' ')).current_dir(dir).env("FLEETBLAST_COMPAT", release);
    command.env_remove("BLASTDB").stdin(Stdio::null());
    command.output().expect("the program runs")
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes a taxonomy in which 2 is the parent of 562.
fn write_taxonomy(dir: &Path) {
    let statements = "CREATE TABLE TaxidInfo (taxid INTEGER PRIMARY KEY, parent INTEGER);
        CREATE INDEX TaxidInfoCompositeIdx_parent ON TaxidInfo (parent, taxid);
        INSERT INTO TaxidInfo VALUES (2, 1), (562, 2);";
    let file = Connection::open(dir.join(FILE)).expect("a file");
    file.execute_batch(statements).expect("a taxonomy");
}

#[test]
fn taxa_have_descendants_in_later_releases() {
    let dir = database();
    let dir = dir.path();
    let found = |release, words| {
        let line = format!("blastdbcmd -db coli -outfmt %o -taxids {words}");
        let output = run(dir, release, &line);
        (output.stdout.iter().filter(|&&byte| byte == b'\n').count(), message(&output))
    };
    let without = found("2.17.0", "2");
    assert!(without.0 == 0 && without.1.contains("requires additional data files"), "{without:?}");
    write_taxonomy(dir);
    assert_eq!(found("2.17.0", "2"), (12, String::new()));
    assert_eq!(found("2.16.0", "2 -no_taxid_expansion").0, 0);
    assert_eq!(found("2.12.0", "2").0, 0);
    fs::write(dir.join(FILE), "no database").expect("a file");
    let (_, damaged) = found("2.17.0", "2");
    assert!(damaged.contains("taxonomy4blast.sqlite3): file is not a database"), "{damaged}");
}

#[test]
fn a_job_is_not_resumed_with_another_taxonomy() {
    let dir = database();
    let search = |more: &str| {
        let line = "blastp -query q.fa -db coli -taxids 2 -ranks 2 -num_threads 1 \
                    -checkpoint kept -output records -out kept";
        run(dir.path(), "2.17.0", &format!("{line}{more}"))
    };
    write_taxonomy(dir.path());
    let first = search("");
    assert!(first.status.success(), "{}", message(&first));
    fs::remove_file(dir.path().join(FILE)).expect("the file");
    let other = search(" -resume");
    assert_eq!(other.status.code(), Some(1), "{}", message(&other));
    assert!(message(&other).contains("-taxids (with descendants)"), "{}", message(&other));
}
