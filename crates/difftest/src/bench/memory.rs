//! Checks that memory does not grow with the number of queries. It is part of `difftest bench
//! --fleet`.

use std::fs;
use std::path::Path;

use super::{make_database, measure, words};
use crate::error::{Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::process::Tool;
use crate::rng::Draw;
use crate::workspace::Source;
use fastrand::Rng;

/// Numbers of queries, ascending.
const QUERIES: [usize; 3] = [20_000, 100_000, 1_000_000];
/// Number of residues of each query. Queries are short so that memory per query would show.
const RESIDUES: usize = 12;
/// Number of sequences of the database.
const SUBJECTS: usize = 50;
/// Maximal memory of a search relative to the search before it.
const BAR: f64 = 1.25;
/// Name of the directory with the checkpoint.
const CHECKPOINT: &str = "growth.checkpoint";

/// Measures the memory of searches with growing numbers of queries, and prints it. Returns true if
/// it does not grow, with and without a checkpoint.
pub(super) fn run(dir: &Path, source: &Source, tested: &Tool) -> Result<bool> {
    println!("memory, queries of {RESIDUES} residues, 2 ranks of 1 thread, one round; bar: {BAR}");
    let subjects = &source.proteins[..SUBJECTS.min(source.proteins.len())];
    write(&dir.join("tiny.fa"), fasta::to_bytes(subjects))?;
    make_database(dir, Molecule::Protein, "tiny.fa", "db/tiny")?;
    for count in QUERIES {
        write(&dir.join(make_query(count)), fasta::to_bytes(&pieces(subjects, count)))?;
    }
    let plain = row(dir, tested, "without a checkpoint", &[])?;
    let kept = row(dir, tested, "with a checkpoint", &["-checkpoint", CHECKPOINT])?;
    Ok(plain && kept)
}

fn make_query(count: usize) -> String {
    format!("q/tiny-{count}.fa")
}

/// Returns random pieces of the subjects as queries.
fn pieces(subjects: &[Record], count: usize) -> Vec<Record> {
    let mut rng = Rng::with_seed(1);
    let mut piece = |number| {
        let letters = &rng.pick(subjects).seq;
        let from = rng.usize(..=letters.len().saturating_sub(RESIDUES));
        let end = (from + RESIDUES).min(letters.len());
        Record::new(format!("piece_{number}"), letters[from..end].to_vec())
    };
    (0..count).map(&mut piece).collect()
}

/// Measures searches with growing numbers of queries and prints the row. Returns true if memory
/// does not grow.
fn row(dir: &Path, tested: &Tool, name: &str, more: &[&str]) -> Result<bool> {
    print!("  {name:<22}");
    let (mut before, mut bounded) = (None, true);
    for count in QUERIES {
        let query = make_query(count);
        let fixed = ["-query", &query, "-db", "db/tiny", "-outfmt", "6", "-ranks", "2"];
        let args = words(&[&fixed[..], &["-num_threads", "1"], more].concat());
        let memory = measure("memory", tested, &args, dir)?.memory as f64;
        let growth = memory / before.unwrap_or(memory);
        let is_too_much = growth > BAR;
        print!(
            "{count:>9}: {:>5.0} MB{}",
            memory / 1e6,
            if is_too_much { " TOO MUCH" } else { "" }
        );
        (before, bounded) = (Some(memory), bounded && !is_too_much);
        remove(&dir.join(CHECKPOINT))?;
    }
    println!();
    Ok(bounded)
}

fn remove(checkpoint: &Path) -> Result<()> {
    match checkpoint.exists() {
        true => fs::remove_dir_all(checkpoint).map_err(io_error("remove", checkpoint)),
        false => Ok(()),
    }
}
