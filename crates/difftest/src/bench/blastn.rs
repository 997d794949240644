//! `difftest bench --blastn`: measures kinds of nucleotide searches, each compared with the fastest
//! way to run BLAST+.

use std::fs;
use std::path::{Path, PathBuf};

use super::bar::{Requirement, measure_interleaved, print_head};
use super::growth::{self, PARTS, Search, residues};
use super::{BenchOptions, Sample, data, genomes, hash_file, make_database, programs, words};
use crate::error::{Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::process::{Tool, must_run};
use crate::rng::Draw;
use crate::workspace::{Source, Workspace};
use fastrand::Rng;

/// Number of genomes from which queries are made. More of them would show in the measured peak
/// memory, because a child starts out with the tester's memory.
const RECORDS: usize = 1;
/// Maximal number of bases of the genome that is a query.
const GENOME: usize = 4_500_000;
/// Number and length in bases of reads, of primers, and of short queries.
const READS: (usize, usize) = (100_000, 150);
const PRIMERS: (usize, usize) = (1_000, 20);
const SHORT: (usize, usize) = (1, 1_000);
/// Name by which `--filter` selects the searches whose size grows.
const GROWTH: &str = "growth";
/// Name by which `--filter` selects the searches of growing numbers of genomes.
const GENOMES: &str = "genomes growth";
/// Tasks of the searches whose size grows, and the number of reads in the largest search.
const GROWING: [(&str, usize); 2] = [("megablast", READS.0), ("blastn", READS.0 / 10)];
/// Number of bases in a range of a genome. Growing searches use growing numbers of these ranges.
const STRETCH: usize = 50_000;
/// In reads, one in this many bases is replaced.
const ERRORS: usize = 100;

/// A row of the table: a kind of search and its requirement.
struct Row {
    bar: Requirement,
    query: &'static str,
    task: &'static str,
    threads: u32,
    rounds: usize,
}

const ROWS: [Row; 10] = [
    row("megablast, 1 thread", "all", "megablast", 1, 3, (3.0, 6.0)),
    row("dc-megablast, 1 thread", "all", "dc-megablast", 1, 3, (4.0, 8.0)),
    row("blastn, 1 thread", "all", "blastn", 1, 3, (4.0, 8.0)),
    row("megablast, 2 threads", "all", "megablast", 2, 3, (3.0, 6.0)),
    row("dc-megablast, 2 threads", "all", "dc-megablast", 2, 3, (4.0, 8.0)),
    row("blastn, 2 threads", "all", "blastn", 2, 3, (4.0, 8.0)),
    row("100,000 reads, megablast", "reads", "megablast", 2, 1, (3.0, 8.0)),
    row("1,000 primers, blastn-short", "primers", "blastn-short", 1, 3, (3.0, 6.0)),
    row("a genome, megablast", "genome", "megablast", 2, 1, (2.0, 5.0)),
    row("one query of 1,000 bases", "short", "megablast", 2, 5, (1.5, 3.0)),
];

const fn row(
    name: &'static str,
    query: &'static str,
    task: &'static str,
    threads: u32,
    rounds: usize,
    (must, goal): (f64, f64),
) -> Row {
    Row { bar: Requirement { name, must, goal, memory: 1.0 }, query, task, threads, rounds }
}

/// Measures and prints the rows. Returns true if all outputs of a row were the same, and if the
/// time per HSP does not grow too much with the number of genomes.
pub(super) fn run(workspace: &Workspace, source: &Source, options: &BenchOptions) -> Result<bool> {
    let BenchOptions { filter, tools, .. } = options;
    let filter = filter.as_deref().unwrap_or_default();
    let dir = prepare(workspace, source)?;
    let (oracle, tested) = programs(tools, "blastn");
    print_head();
    let mut same = true;
    for row in ROWS.iter().filter(|row| row.bar.name.contains(filter)) {
        let (theirs, ours) = row.measure(&dir, &tested, &oracle)?;
        same &= row.bar.print(&theirs, &ours);
    }
    if GROWTH.contains(filter) {
        growth::print_head();
        for (task, reads) in GROWING {
            let (queries, database) = (more_reads(reads, &dir)?, more_bases(&dir)?);
            let task_args = ["-task", task];
            for (what, searches) in [("reads", queries), ("database", database)] {
                let name = format!("{task}, {what}");
                same &= growth::measure_growth(&name, &searches, &task_args, &dir, &tested)?;
            }
        }
    }
    if GENOMES.contains(filter) {
        same &= genomes::run(&dir, &tested)?;
    }
    Ok(same)
}

/// Makes searches of growing numbers of reads, up to `count`, against all genomes.
fn more_reads(count: usize, dir: &Path) -> Result<Vec<Search>> {
    let all = fasta::read(&dir.join("q/reads.fa"), count)?;
    let search = |(number, part)| {
        let reads = &all[..(all.len() as f64 * part) as usize];
        let query = format!("q/growth-{number}.fa");
        write(&dir.join(&query), fasta::to_bytes(reads))?;
        Ok(Search { query, database: "db/genomes".to_owned(), cells: residues(reads) })
    };
    PARTS.into_iter().enumerate().map(search).collect()
}

/// Makes searches of all usual queries against growing parts of the genomes: every fourth range,
/// every second one, or all. Related sequences can be anywhere in the genomes.
fn more_bases(dir: &Path) -> Result<Vec<Search>> {
    let all = fasta::read(&dir.join("genomes.fa"), usize::MAX)?;
    let stretches: Vec<&[u8]> = all.iter().flat_map(|record| record.seq.chunks(STRETCH)).collect();
    let search = |(number, part)| {
        let taken = stretches.iter().step_by((1.0 / part) as usize).enumerate();
        let records: Vec<Record> =
            taken.map(|(number, bases)| Record::new(format!("stretch_{number}"), *bases)).collect();
        let (input, database) = ("growth.fa", format!("db/growth-{number}"));
        write(&dir.join(input), fasta::to_bytes(&records))?;
        make_database(dir, Molecule::Nucleotide, input, &database)?;
        Ok(Search { query: "q/all.fa".to_owned(), database, cells: residues(&records) })
    };
    PARTS.into_iter().enumerate().map(search).collect()
}

impl Row {
    /// Measures the search. Returns BLAST+'s samples, and FleetBLAST's.
    fn measure(
        &self,
        dir: &Path,
        tested: &Tool,
        oracle: &Tool,
    ) -> Result<(Vec<Sample>, Vec<Sample>)> {
        let query = format!("q/{}.fa", self.query);
        let args = ["-task", self.task, "-query", &query, "-db", "db/genomes", "-outfmt", "6"];
        let effort = (self.threads, self.rounds);
        measure_interleaved(self.bar.name, (oracle, tested), &args, effort, dir)
    }
}

/// Makes the database of all genomes and the queries of all rows, and reads the database once.
/// Returns the directory.
fn prepare(workspace: &Workspace, source: &Source) -> Result<PathBuf> {
    let [genomes, queries] =
        ["genomes.fa.gz", "queries_nt.fa"].map(|name| data(source, name, "blastn"));
    let (genomes, queries) = (genomes?, queries?);
    let dir = workspace.target.join("difftest-blastn");
    for sub in ["q", "db"] {
        let sub = dir.join(sub);
        fs::create_dir_all(&sub).map_err(io_error("create", &sub))?;
    }
    let text = dir.join("genomes.fa");
    fasta::unpack(&genomes, &text)?;
    let args = ["-in", "genomes.fa", "-dbtype", "nucl", "-parse_seqids", "-out", "db/genomes"];
    must_run("makeblastdb", &words(&args), &dir)?;
    let all = fs::read(&queries).map_err(io_error("read", &queries))?;
    write(&dir.join("q/all.fa"), all)?;
    write_queries(&dir, &fasta::read(&text, RECORDS)?)?;
    hash_file(&dir.join("db/genomes.nsq"))?;
    Ok(dir)
}

/// Writes the queries, which are made of the genomes `records`: a genome, reads, primers, and a
/// short query.
fn write_queries(dir: &Path, records: &[Record]) -> Result<()> {
    let mut rng = Rng::with_seed(1);
    let mut genome: Vec<Record> = records.to_vec();
    genome.iter_mut().for_each(|record| record.seq.truncate(GENOME));
    let mut stretches = |(count, length): (usize, usize), errors| -> Vec<Record> {
        (0..count).map(|number| stretch(&mut rng, records, number, length, errors)).collect()
    };
    for (name, queries) in [
        ("genome", genome),
        ("reads", stretches(READS, true)),
        ("primers", stretches(PRIMERS, false)),
        ("short", stretches(SHORT, true)),
    ] {
        write(&dir.join(format!("q/{name}.fa")), fasta::to_bytes(&queries))?;
    }
    Ok(())
}

/// Returns a random range of one of the records, with sequencing errors if `errors` is true.
fn stretch(
    rng: &mut Rng,
    records: &[Record],
    number: usize,
    length: usize,
    errors: bool,
) -> Record {
    loop {
        let seq = &rng.pick(records).seq;
        if seq.len() < length {
            continue;
        }
        let from = rng.usize(..=seq.len() - length);
        let mut bases = seq[from..from + length].to_vec();
        for base in bases.iter_mut().filter(|_| errors) {
            if rng.usize(..ERRORS) == 0 {
                *base = *rng.pick(b"ACGT");
            }
        }
        return Record::new(format!("stretch_{number}"), bases);
    }
}
