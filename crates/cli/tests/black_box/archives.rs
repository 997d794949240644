//! `-outfmt 11` (BLAST archives): every shape of a job writes the same archives, one for each batch
//! of queries, and what is not supported is refused by name. The bytes themselves are compared with
//! BLAST+ by the tables.

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
fn what_archives_do_not_support_is_refused_by_name() {
    let dir = inputs();
    fs::write(dir.path().join("gis"), "1\n").expect("a list");
    let refused: [(&[&str], &str); 4] = [
        (&["blastp", "-taxids", "9606"], "-taxids with -outfmt 11"),
        (&["blastp", "-negative_gilist", "gis"], "-negative_gilist with -outfmt 11"),
        (&["blastp", "-metadata_out", "m"], "-metadata_out with -outfmt 11"),
        (&["psiblast"], "-outfmt 11"),
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
