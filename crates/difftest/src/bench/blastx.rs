//! `difftest bench --translated`: searches of translated sequences, each compared with the fastest
//! way to run BLAST+. Each row also compares the peak memory.

use std::path::Path;

use super::bar::{Requirement, interleaved, print_head};
use super::{BenchOptions, small_database, warm_up};
use crate::error::{Error, Result, write};
use crate::fasta;
use crate::process::Tool;
use crate::workspace::Source;

/// Bases of the genome that is a query.
const GENOME: usize = 4_000_000;

/// A kind of search in the table.
struct Row {
    bar: Requirement,
    query: &'static str,
    database: &'static str,
    threads: u32,
    rounds: usize,
}

const ROWS: [Row; 3] = [
    row("transcripts, 1 thread", ("transcripts", "big"), (1, 3), (3.0, 5.0)),
    row("transcripts, 2 threads", ("transcripts", "big"), (2, 3), (3.0, 5.0)),
    row("a genome of 4 Mb, 2 threads", ("genome", "small"), (2, 1), (3.0, 5.0)),
];

const fn row(
    name: &'static str,
    (query, database): (&'static str, &'static str),
    (threads, rounds): (u32, usize),
    (must, goal): (f64, f64),
) -> Row {
    Row { bar: Requirement { name, must, goal, memory: 1.0 }, query, database, threads, rounds }
}

/// Measures and prints the rows; returns true if all outputs of a kind were the same.
pub(super) fn run(dir: &Path, source: &Source, options: &BenchOptions) -> Result<bool> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let oracle = Tool::plain(options.tools.oracle.program.with_file_name("blastx"));
    let tested = Tool { prefix: vec!["blastx".to_owned()], ..options.tools.tested.clone() };
    prepare(dir, source)?;
    print_head();
    let mut same = true;
    for row in ROWS.iter().filter(|row| row.bar.name.contains(filter)) {
        let query = format!("q/{}.fa", row.query);
        let database = format!("db/{}", row.database);
        let args = ["-query", &query, "-db", &database, "-outfmt", "6"];
        let effort = (row.threads, row.rounds);
        let (theirs, ours) = interleaved(row.bar.name, (&oracle, &tested), &args, effort, dir)?;
        same &= row.bar.print(&theirs, &ours);
    }
    Ok(same)
}

/// Makes the queries and the smaller database, and reads the databases once.
fn prepare(dir: &Path, source: &Source) -> Result<()> {
    let data = source.big.with_file_name("transcripts.fa");
    let genomes = source.big.with_file_name("genomes.fa.gz");
    for path in [&data, &genomes] {
        if !path.is_file() {
            return Err(Error::Usage(format!("bench --translated needs {}", path.display())));
        }
    }
    let transcripts = fasta::read(&data, usize::MAX)?;
    write(&dir.join("q/transcripts.fa"), fasta::to_bytes(&transcripts))?;
    let mut genome = fasta::read(&genomes, 1)?;
    genome.iter_mut().for_each(|record| record.seq.truncate(GENOME));
    write(&dir.join("q/genome.fa"), fasta::to_bytes(&genome))?;
    small_database(dir, source)?;
    warm_up(&dir.join("db"))
}
