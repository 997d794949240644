//! Measures whether a search of twice the size takes at most twice as long. These measurements are
//! the last ones of `difftest bench --full` (proteins) and `difftest bench --blastn` (nucleotides).

use std::path::Path;

use super::{make_database, measure, median, members, small_database, words, write_queries};
use crate::error::{Result, write};
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::process::{Tool, Tools};
use crate::workspace::Source;
use fastrand::Rng;

/// Number of rounds of each search.
const ROUNDS: usize = 3;
/// Fractions of the queries or the database that are searched, ascending.
pub(super) const PARTS: [f64; 3] = [0.25, 0.5, 1.0];
/// Number of database sequences that together are the queries.
const MEMBERS: usize = 2_000;
/// Maximal time of a search of twice the size, relative to twice the time.
const BAR: f64 = 1.05;

/// A search: its queries, its database, and its size in pairs of residues.
pub(super) struct Search {
    pub(super) query: String,
    pub(super) database: String,
    pub(super) cells: f64,
}

/// Measures protein searches of growing size and prints their times. Returns true if all outputs of
/// each search were the same.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    print_head();
    let queries = measure_growth("queries", &more_queries(dir, source)?, &[], dir, &tools.tested)?;
    let database =
        measure_growth("database", &more_subjects(dir, source)?, &[], dir, &tools.tested)?;
    Ok(queries && database)
}

/// Prints a line that explains the rows of [`measure_growth`].
pub(super) fn print_head() {
    println!("\ngrowth, 1 thread, {ROUNDS} rounds (medians); a doubling: time / cells, bar: {BAR}");
}

/// Makes searches of growing numbers of sequences of the smaller database against that database.
fn more_queries(dir: &Path, source: &Source) -> Result<Vec<Search>> {
    small_database(dir, source)?;
    let all = members(&mut Rng::with_seed(1), source, MEMBERS);
    let subjects = residues(&source.proteins);
    let search = |(number, part)| {
        let records = &all[..(MEMBERS as f64 * part) as usize];
        let query = format!("q/growth-{number}.fa");
        write(&dir.join(&query), fasta::to_bytes(records))?;
        let cells = residues(records) * subjects;
        Ok(Search { query, database: "db/small".to_owned(), cells })
    };
    PARTS.into_iter().enumerate().map(search).collect()
}

/// Makes searches of a few queries against growing parts of the larger database.
fn more_subjects(dir: &Path, source: &Source) -> Result<Vec<Search>> {
    let queries = write_queries(source, false, dir)? as f64;
    let all = fasta::read(&dir.join("big.fa"), usize::MAX)?;
    let search = |(number, part)| {
        let records = &all[..(all.len() as f64 * part) as usize];
        let (input, database) = ("growth.fa", format!("db/growth-{number}"));
        write(&dir.join(input), fasta::to_bytes(records))?;
        make_database(dir, Molecule::Protein, input, &database)?;
        let cells = queries * residues(records);
        Ok(Search { query: "q/bench.fa".to_owned(), database, cells })
    };
    PARTS.into_iter().enumerate().map(search).collect()
}

/// Measures searches of growing size and prints the row. Returns true if all outputs of each search
/// were the same.
pub(super) fn measure_growth(
    name: &str,
    searches: &[Search],
    more: &[&str],
    dir: &Path,
    tested: &Tool,
) -> Result<bool> {
    let mut walls = vec![Vec::new(); searches.len()];
    let mut outputs = vec![Vec::new(); searches.len()];
    for _ in 0..ROUNDS {
        for (number, Search { query, database, .. }) in searches.iter().enumerate() {
            let fixed = ["-query", query, "-db", database, "-outfmt", "6", "-num_threads", "1"];
            let sample = measure(name, tested, &words(&[&fixed[..], more].concat()), dir)?;
            walls[number].push(sample.wall);
            outputs[number].push(sample.output);
        }
    }
    let walls: Vec<f64> = walls.into_iter().map(median).collect();
    print!("{name:<28}");
    for (search, wall) in searches.iter().zip(&walls) {
        print!("{:>6.1}x {wall:>7.2} s", search.cells / searches[0].cells);
    }
    for (searches, walls) in searches.windows(2).zip(walls.windows(2)) {
        let growth = (walls[1] / walls[0]) / (searches[1].cells / searches[0].cells);
        print!("{growth:>8.3}{}", if growth > BAR { "  TOO MUCH" } else { "" });
    }
    println!();
    Ok(outputs.iter().all(|outputs| outputs.iter().all(|output| *output == outputs[0])))
}

pub(super) fn residues(records: &[Record]) -> f64 {
    records.iter().map(|record| record.seq.len()).sum::<usize>() as f64
}
