//! `difftest bench --fleet`: what ranks cost and gain, on the cores of one machine.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use super::{Contender, Sample, hash_file, measure, median, write_queries};
use crate::cli::Tools;
use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fleet::{Shape, Spread};
use crate::process::{Tool, exit_code, must_run};
use crate::workspace::Source;

/// Rounds of what is compared.
const ROUNDS: usize = 3;
/// The report of the output-heavy search has at least so many bytes.
const HEAVY_BYTES: u64 = 300_000_000;
/// Options of the output-heavy search: thousands of alignments for each query.
const HEAVY: [&str; 6] =
    ["-evalue", "1000", "-num_descriptions", "5000", "-num_alignments", "5000"];

/// The programs, where they run, and how ranks are started.
struct Fleet<'a> {
    dir: &'a Path,
    tools: &'a Tools,
    spread: Spread,
}

/// Measures and prints the tables; true if all outputs of a kind were the same.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    let spread = match Tool::oracle("mpirun".into()).version() {
        Ok(_) => Spread::Processes,
        Err(_) => Spread::Ranks,
    };
    println!("ranks: {}\n", if spread == Spread::Processes { "mpirun" } else { "threads" });
    let fleet = Fleet { dir, tools, spread };
    write_queries(source, super::Size::Fleet, dir)?;
    let compute = fleet.compute()?;
    small_database(dir, source)?;
    let heavy = fleet.heavy(source)?;
    Ok(compute && heavy && fleet.many()?)
}

impl Fleet<'_> {
    /// A search by so many ranks, each with so many threads.
    fn ranks(&self, ranks: u32, threads: u32, args: &[&str]) -> (Tool, Vec<String>) {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        Shape::of(ranks, threads).spread(&self.tools.tested, self.spread, &args)
    }

    fn sample(&self, name: &'static str, (tool, args): (Tool, Vec<String>)) -> Result<Sample> {
        measure(&Contender { name, tool: &tool, args, samples: Vec::new() }, self.dir)
    }

    /// Searching is all there is to do: ranks against threads, and against a pool of BLAST+'s processes.
    fn compute(&self) -> Result<bool> {
        let args = ["-query", "q/bench.fa", "-db", "db/big", "-outfmt", "6"];
        let serial = |tool: &Tool, threads: &str| {
            let args = [&args[..], &["-num_threads", threads]].concat();
            (tool.clone(), args.into_iter().map(String::from).collect())
        };
        let halves = halves(self.dir)?;
        let (mut threads, mut ranks, mut pool) = (Vec::new(), Vec::new(), Vec::new());
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let mut outputs = Vec::new();
        for _ in 0..ROUNDS {
            let rounds = [
                (&mut threads, self.sample("1 rank", self.ranks(1, 2, &args))?),
                (&mut ranks, self.sample("2 ranks", self.ranks(2, 1, &args))?),
                (&mut pool, self.pool(&halves)?),
                (&mut theirs, self.sample("BLAST+", serial(&self.tools.oracle, "1"))?),
                (&mut ours, self.sample("FleetBLAST", serial(&self.tools.tested, "1"))?),
            ];
            for (walls, sample) in rounds {
                walls.push(sample.wall);
                outputs.push(sample.output);
            }
        }
        let [threads, ranks, pool, theirs, ours] = [threads, ranks, pool, theirs, ours].map(median);
        println!("compute-bound, {ROUNDS} rounds (medians)");
        println!("  1 rank x 2 threads         {threads:>8.2} s");
        println!("  2 ranks x 1 thread         {ranks:>8.2} s");
        println!("  2 processes of BLAST+      {pool:>8.2} s (split queries, then cat)");
        println!("  BLAST+, 1 thread           {theirs:>8.2} s");
        println!("  FleetBLAST, 1 thread       {ours:>8.2} s");
        println!("  ranks against threads      {:>8.3} (bar: 0.97)", threads / ranks);
        let (gain, kept) = (theirs / ours, pool / ranks);
        println!("  gain on one core           {gain:>8.2}, against the pool {kept:.2}");
        println!("  of it kept                 {:>8.3} (bar: 0.95)\n", kept / gain);
        Ok(all_equal(&outputs))
    }

    /// BLAST+ on both halves of the queries at once, and their outputs put together.
    fn pool(&self, halves: &[&str]) -> Result<Sample> {
        let started = Instant::now();
        let mut children = Vec::new();
        for (number, half) in halves.iter().enumerate() {
            let out = format!("pool-{number}.out");
            let args = ["-query", half, "-db", "db/big", "-outfmt", "6", "-out", &out];
            let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
            let mut command = self.tools.oracle.command(&args, self.dir);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            children.push(command.spawn().map_err(|error| failed("pool", &error.to_string()))?);
        }
        for mut child in children {
            let status = child.wait().map_err(|error| failed("pool", &error.to_string()))?;
            if !status.success() {
                return Err(failed("pool", &format!("exit code {}", exit_code(status))));
            }
        }
        let mut whole = Vec::new();
        for number in 0..halves.len() {
            let path = self.dir.join(format!("pool-{number}.out"));
            whole.extend(fs::read(&path).map_err(io_error("read", &path))?);
        }
        let path = self.dir.join("pool.out");
        write(&path, &whole)?;
        let wall = started.elapsed().as_secs_f64();
        Ok(Sample { wall, cpu: 0.0, memory: 0, output: hash_file(&path)? })
    }

    /// A report of hundreds of megabytes by each strategy.
    fn heavy(&self, source: &Source) -> Result<bool> {
        let path = self.dir.join("q/heavy.fa");
        write(&path, fasta::to_bytes(&source.queries))?;
        println!("output-heavy, one round");
        let mut outputs = Vec::new();
        for ranks in [4, 8] {
            for strategy in ["merge", "individual", "collective"] {
                let fixed = ["-query", "q/heavy.fa", "-db", "db/small", "-output", strategy];
                let more = ["-timing", "heavy.json", "-out", "heavy.out"];
                let args = [&fixed[..], &more, &HEAVY].concat();
                let sample = self.sample("heavy", self.ranks(ranks, 1, &args))?;
                let path = self.dir.join("heavy.out");
                let size = fs::metadata(&path).map_err(io_error("look at", &path))?.len();
                outputs.push(hash_file(&path)?);
                let path = self.dir.join("heavy.json");
                let timing = fs::read_to_string(&path).map_err(io_error("read", &path))?;
                let busy = number(&timing, "search_seconds") + number(&timing, "traceback_seconds");
                let spent = number(&timing, "cpu_seconds");
                println!(
                    "  {ranks} ranks, {strategy:<11} {:>8.2} s wall, {spent:>7.2} s CPU, {:.1} % of it not in search or \
                     traceback (bar: 5 %); {:.0} MB{}",
                    sample.wall,
                    100.0 * (1.0 - busy / spent),
                    size as f64 / 1e6,
                    if size < HEAVY_BYTES { ", TOO LITTLE" } else { "" }
                );
            }
        }
        println!();
        Ok(all_equal(&outputs))
    }

    /// Many more ranks than cores.
    fn many(&self) -> Result<bool> {
        println!("many ranks on the same cores, one round");
        let args = ["-query", "q/heavy.fa", "-db", "db/small", "-outfmt", "6"];
        let (mut outputs, mut least) = (Vec::new(), None);
        for ranks in [2, 32, 64] {
            let sample = self.sample("many", self.ranks(ranks, 1, &args))?;
            let least = *least.get_or_insert(sample.cpu);
            println!(
                "  {ranks:>2} ranks {:>8.2} s wall, {:>8.2} s CPU: {:.2} of that of 2 ranks (bar: 1.15)",
                sample.wall,
                sample.cpu,
                sample.cpu / least
            );
            outputs.push(sample.output);
        }
        Ok(all_equal(&outputs))
    }
}

/// Parts the queries in two files of about equal residues; their names.
fn halves(dir: &Path) -> Result<[&'static str; 2]> {
    let all = fasta::read(&dir.join("q/bench.fa"), usize::MAX)?;
    let residues =
        |records: &[Record]| records.iter().map(|record| record.seq.len()).sum::<usize>();
    let total = residues(&all);
    let middle = (0..all.len()).find(|&n| 2 * residues(&all[..n]) >= total).unwrap_or(0);
    let names = ["q/first.fa", "q/second.fa"];
    let (first, second) = all.split_at(middle);
    for (name, records) in names.iter().zip([first, second]) {
        write(&dir.join(name), fasta::to_bytes(records))?;
    }
    Ok(names)
}

/// The database of the smaller set of proteins.
fn small_database(dir: &Path, source: &Source) -> Result<()> {
    write(&dir.join("small.fa"), fasta::to_bytes(&source.proteins))?;
    let args = ["-in", "small.fa", "-dbtype", "prot", "-out", "db/small"].map(String::from);
    must_run("makeblastdb", &args, dir)
}

/// The number behind a name in FleetBLAST's timing, the first time that it stands there.
fn number(timing: &str, name: &str) -> f64 {
    let rest = timing.split(&format!("\"{name}\":")).nth(1);
    let text = rest.and_then(|rest| rest.split([',', '}']).next());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(f64::NAN)
}

fn all_equal(outputs: &[u64]) -> bool {
    let same = outputs.iter().all(|output| *output == outputs[0]);
    if !same {
        println!("outputs: DIFFERENT");
    }
    same
}

fn failed(program: &str, reason: &str) -> Error {
    Error::Tool { program: program.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name() {
        let timing = "{\n  \"cpu_seconds\": 12.5,\n  \"queries\": 3\n}";
        assert_eq!((number(timing, "cpu_seconds"), number(timing, "queries")), (12.5, 3.0));
        assert!(number(timing, "wall_seconds").is_nan());
    }
}
