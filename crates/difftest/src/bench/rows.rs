//! `difftest bench --full`: measures kinds of protein searches, each compared with the fastest way
//! to run BLAST+.

use std::path::Path;

use super::bar::{Requirement, fastest, print_head};
use super::{Sample, measure, members, pool, small_database, words};
use crate::error::{Result, write};
use crate::fasta::{self, Record};
use crate::process::{Tool, Tools};
use crate::rng::Draw;
use crate::workspace::Source;
use fastrand::Rng;

/// Number of database sequences that are the queries of one row.
const MEMBERS: usize = 2_000;
/// Number of peptides that are the queries of a row, and the range of their lengths in residues.
const PEPTIDES: usize = 500;
const PEPTIDE_RESIDUES: (usize, usize) = (8, 20);
/// Approximate number of residues of an ordinary query.
const ORDINARY: usize = 300;
/// Maximal memory relative to BLAST+.
const MEMORY: f64 = 2.0;

/// A row of the table: a kind of search and its requirement.
struct Row {
    bar: Requirement,
    query: &'static str,
    database: &'static str,
    more: &'static [&'static str],
    threads: u32,
    /// Name of the kernel, if it is not the best one that the machine has.
    kernel: Option<&'static str>,
    /// Whether BLAST+ is also run as several processes that divide the queries.
    pool: bool,
    rounds: usize,
}

const ROWS: [Row; 8] = [
    row("all queries, 1 thread", "q/all.fa", "db/big", 1, 1, (7.0, 4.0)),
    Row { kernel: Some("avx2"), ..row("  with AVX2", "q/all.fa", "db/big", 1, 1, (5.0, 3.0)) },
    Row { kernel: Some("portable"), ..row("  portable", "q/all.fa", "db/big", 1, 1, (2.0, 1.0)) },
    row("all queries, 2 threads", "q/all.fa", "db/big", 2, 1, (10.0, 6.0)),
    row("one query of 300, 2 threads", "q/one.fa", "db/big", 2, 5, (6.0, 4.0)),
    Row {
        pool: true,
        ..row("2,000 queries, 2 threads", "q/members.fa", "db/small", 2, 1, (8.0, 5.0))
    },
    row("the longest query, 1 thread", "q/longest.fa", "db/big", 1, 1, (5.0, 3.0)),
    Row {
        more: &["-task", "blastp-short"],
        ..row("500 peptides, blastp-short", "q/peptides.fa", "db/small", 1, 2, (3.0, 2.0))
    },
];

const fn row(
    name: &'static str,
    query: &'static str,
    database: &'static str,
    threads: u32,
    rounds: usize,
    (goal, must): (f64, f64),
) -> Row {
    let bar = Requirement { name, must, goal, memory: MEMORY };
    Row { bar, query, database, more: &[], threads, kernel: None, pool: false, rounds }
}

/// The samples of a row, by program.
struct Figures {
    theirs: Vec<Sample>,
    ours: Vec<Sample>,
}

/// Measures and prints the rows. Returns true if all outputs of a row were the same.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    write_inputs(dir, source)?;
    super::warm_up(&dir.join("db"))?;
    print_head();
    let mut same = true;
    let mut known: Vec<(&Row, Vec<Sample>)> = Vec::new();
    for row in &ROWS {
        // A row that differs from an earlier one only in FleetBLAST's kernel reuses BLAST+'s times.
        let earlier = known.iter().find(|(other, _)| row.kernel.is_some() && other.is_like(row));
        let figures = row.measure(dir, tools, earlier.map(|(_, theirs)| theirs.as_slice()))?;
        same &= row.bar.print(&figures.theirs, &figures.ours);
        known.push((row, figures.theirs));
    }
    Ok(same)
}

impl Row {
    fn is_like(&self, other: &Row) -> bool {
        (self.query, self.database, self.threads) == (other.query, other.database, other.threads)
    }

    fn args(&self, more: &[&str]) -> Vec<String> {
        let fixed = ["-query", self.query, "-db", self.database, "-outfmt", "6"];
        words(&[&fixed[..], self.more, more].concat())
    }

    /// Measures the search in rounds. Each round runs BLAST+ in all ways that may be the fastest,
    /// unless `earlier` has its samples.
    fn measure(&self, dir: &Path, tools: &Tools, earlier: Option<&[Sample]>) -> Result<Figures> {
        let threads = self.threads.to_string();
        let tested = match self.kernel {
            Some(kernel) => limit_kernel(&tools.tested, kernel),
            None => tools.tested.clone(),
        };
        let sample = |tool: &Tool, more: &[&str]| {
            let args = self.args(&[&["-num_threads", &threads], more].concat());
            measure(self.bar.name, tool, &args, dir)
        };
        // This has one list for each way to run BLAST+.
        let mut theirs: Vec<Vec<Sample>> = vec![Vec::new(); 3];
        let mut ours = Vec::new();
        if self.pool {
            pool::split(dir, self.query, self.threads as usize)?;
        }
        for _ in 0..self.rounds {
            if earlier.is_none() {
                theirs[0].push(sample(&tools.oracle, &[])?);
                if self.threads > 1 {
                    theirs[1].push(sample(&tools.oracle, &["-mt_mode", "1"])?);
                }
                if self.pool {
                    let args = self.args(&[]);
                    let args: Vec<&str> = args[2..].iter().map(String::as_str).collect();
                    theirs[2].push(pool::run(dir, &tools.oracle, &args, self.threads as usize)?);
                }
            }
            ours.push(sample(&tested, &[])?);
        }
        let theirs = earlier.map_or_else(|| fastest(theirs), <[Sample]>::to_vec);
        Ok(Figures { theirs, ours })
    }
}

/// Returns FleetBLAST restricted to a kernel.
pub(super) fn limit_kernel(tested: &Tool, kernel: &str) -> Tool {
    tested.with_environment(&[format!("FLEETBLAST_KERNEL={kernel}")])
}

/// Writes the queries of all rows, and makes the smaller database.
fn write_inputs(dir: &Path, source: &Source) -> Result<()> {
    let mut rng = Rng::with_seed(1);
    let members = members(&mut rng, source, MEMBERS);
    let peptides: Vec<Record> = (0..PEPTIDES).map(|n| peptide(&mut rng, source, n)).collect();
    let near = |query: &&Record| query.seq.len().abs_diff(ORDINARY);
    let one = source.queries.iter().min_by_key(near).cloned();
    let longest = source.queries.iter().max_by_key(|query| query.seq.len()).cloned();
    for (name, records) in [
        ("members", members),
        ("peptides", peptides),
        ("one", one.into_iter().collect()),
        ("longest", longest.into_iter().collect()),
    ] {
        write(&dir.join(format!("q/{name}.fa")), fasta::to_bytes(&records))?;
    }
    small_database(dir, source)
}

/// Returns a random range of a protein of the smaller database.
fn peptide(rng: &mut Rng, source: &Source, number: usize) -> Record {
    loop {
        let (least, most) = PEPTIDE_RESIDUES;
        let len = rng.usize(least..=most);
        let seq = &rng.pick(&source.proteins).seq;
        if seq.len() >= len {
            let from = rng.usize(..=seq.len() - len);
            return Record::new(format!("peptide_{number}"), seq[from..from + len].to_vec());
        }
    }
}
