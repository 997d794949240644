//! `difftest bench --psiblast`: measures searches with several iterations, each compared with the
//! fastest way to run BLAST+.

use std::path::Path;

use super::bar::{Requirement, print_head};
use super::{
    BenchOptions, Sample, measure, members, pool, programs, small_database, warm_up, words,
    write_queries,
};
use crate::error::{Result, write};
use crate::fasta;
use crate::process::{Tool, must_run};
use crate::workspace::Source;
use fastrand::Rng;

/// Number of queries of the job on ranks.
const MEMBERS: usize = 200;
const RANKS: usize = 2;

/// A row of the table: a kind of search and its requirement.
struct Row {
    bar: Requirement,
    args: &'static [&'static str],
    how: Execution,
}

/// The threads or ranks of a row.
enum Execution {
    Threads(u32),
    /// Ranks in one process, compared with the same number of BLAST+ processes. Each process
    /// searches a part of the queries, which are in this file.
    Ranks(&'static str),
}

const ROWS: [Row; 4] = [
    Row {
        bar: bar("20 queries, 3 iterations, 1 thread", 4.0, 8.0),
        args: &["-query", "q/bench.fa", "-db", "db/big", "-num_iterations", "3"],
        how: Execution::Threads(1),
    },
    Row {
        bar: bar("the same, 2 threads", 5.0, 10.0),
        args: &["-query", "q/bench.fa", "-db", "db/big", "-num_iterations", "3"],
        how: Execution::Threads(2),
    },
    Row {
        bar: bar("-in_pssm, 1 thread", 4.0, 8.0),
        args: &["-in_pssm", "q/one.pssm", "-db", "db/big"],
        how: Execution::Threads(1),
    },
    Row {
        bar: bar("200 queries, 5 iterations, 2 ranks", 4.0, 8.0),
        args: &["-db", "db/small", "-num_iterations", "5"],
        how: Execution::Ranks("q/many.fa"),
    },
];

const fn bar(name: &'static str, must: f64, goal: f64) -> Requirement {
    Requirement { name, must, goal, memory: 1.0 }
}

/// Measures and prints the rows. Returns true if all outputs of a row were the same.
pub(super) fn run(dir: &Path, source: &Source, options: &BenchOptions) -> Result<bool> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let (oracle, tested) = programs(&options.tools, "psiblast");
    prepare(dir, source, &oracle)?;
    print_head();
    let mut same = true;
    for row in ROWS.iter().filter(|row| row.bar.name.contains(filter)) {
        let theirs = row.oracle(&oracle, dir)?;
        let ours = row.measure_tested(&tested, dir)?;
        same &= row.bar.print(&[theirs], &[ours]);
    }
    Ok(same)
}

impl Row {
    fn oracle(&self, oracle: &Tool, dir: &Path) -> Result<Sample> {
        let args = [self.args, &["-outfmt", "6"]].concat();
        match self.how {
            Execution::Threads(threads) => self.measure(oracle, &args, threads as usize, dir),
            Execution::Ranks(query) => {
                pool::split(dir, query, RANKS)?;
                pool::run(dir, oracle, &args, RANKS)
            }
        }
    }

    fn measure_tested(&self, tested: &Tool, dir: &Path) -> Result<Sample> {
        let args = [self.args, &["-outfmt", "6"]].concat();
        match self.how {
            Execution::Threads(threads) => self.measure(tested, &args, threads as usize, dir),
            Execution::Ranks(query) => {
                let ranks = RANKS.to_string();
                let args = [&args[..], &["-query", query, "-ranks", &ranks]].concat();
                self.measure(tested, &args, 1, dir)
            }
        }
    }

    fn measure(&self, tool: &Tool, args: &[&str], threads: usize, dir: &Path) -> Result<Sample> {
        let threads = threads.to_string();
        let args = words(&[args, &["-num_threads", &threads]].concat());
        measure(self.bar.name, tool, &args, dir)
    }
}

/// Makes the queries, the smaller database and a PSSM, and reads the databases once.
fn prepare(dir: &Path, source: &Source, oracle: &Tool) -> Result<()> {
    write_queries(source, false, dir)?;
    let many = members(&mut Rng::with_seed(1), source, MEMBERS);
    write(&dir.join("q/many.fa"), fasta::to_bytes(&many))?;
    write(&dir.join("q/one.fa"), fasta::to_bytes(&source.queries[..1]))?;
    small_database(dir, source)?;
    let args = ["-query", "q/one.fa", "-db", "db/small", "-num_iterations", "2"];
    let args = words(&[&args[..], &["-out_pssm", "q/one.pssm", "-out", "q/one.out"]].concat());
    must_run(&oracle.program.display().to_string(), &args, dir)?;
    warm_up(&dir.join("db"))
}
