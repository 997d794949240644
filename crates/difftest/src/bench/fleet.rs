//! `difftest bench --fleet`: measures costs and gains of ranks on the cores of one machine.

use std::fs;
use std::path::Path;

use super::{Sample, hash_file, measure, median, members, memory, pool, small_database, words};
use crate::error::{Result, io_error, write};
use crate::fasta;
use crate::fleet::{ParallelMode, Shape, launcher};
use crate::process::{Tool, Tools};
use crate::workspace::Source;
use fastrand::Rng;

/// Number of rounds of each comparison. A round takes minutes.
const ROUNDS: usize = 2;
/// Number of database sequences that are queries, and number of these that are the queries of the
/// output-heavy search.
const MEMBERS: usize = 3_000;
const HEAVY_QUERIES: usize = 900;
/// Number of database sequences that are added to all queries for the search on many ranks. The
/// search is long enough to outweigh the start of the processes, which takes 6 s of CPU for 64
/// processes of Open MPI.
const MANY_QUERIES: usize = 200;
/// Least size in bytes of the report of the output-heavy search.
const HEAVY_BYTES: u64 = 300_000_000;
/// Options of the output-heavy search, which reports hundreds of alignments for each query.
const HEAVY: [&str; 6] =
    ["-evalue", "1500", "-num_descriptions", "6000", "-num_alignments", "6000"];

/// FleetBLAST and BLAST+, the directory in which they run, and the way to start ranks.
struct Fleet<'a> {
    dir: &'a Path,
    tools: &'a Tools,
    parallel_mode: ParallelMode,
}

/// Wall-clock seconds of one round of the compute-bound search.
struct Round {
    threads: f64,
    ranks: f64,
    single: f64,
    pool: f64,
    oracle: f64,
}

impl Round {
    /// Returns FleetBLAST's speed relative to BLAST+'s on one core.
    fn gain(&self) -> f64 {
        self.oracle / self.single
    }

    fn gain_of_ranks(&self) -> f64 {
        self.pool / self.ranks
    }
}

/// Measures and prints the tables. Returns true if all outputs of a kind were the same and memory
/// does not grow.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    let parallel_mode = match Tool::plain(launcher()).version() {
        Ok(_) => ParallelMode::Processes,
        Err(_) => ParallelMode::Ranks,
    };
    println!(
        "ranks: {}\n",
        if parallel_mode == ParallelMode::Processes { "mpirun" } else { "threads" }
    );
    let fleet = Fleet { dir, tools, parallel_mode };
    small_database(dir, source)?;
    let members = members(&mut Rng::with_seed(1), source, MEMBERS);
    write(&dir.join("q/members.fa"), fasta::to_bytes(&members))?;
    write(&dir.join("q/heavy.fa"), fasta::to_bytes(&members[..HEAVY_QUERIES]))?;
    let many = [&source.queries[..], &members[..MANY_QUERIES]].concat();
    write(&dir.join("q/many.fa"), fasta::to_bytes(&many))?;
    let compute = fleet.compute()?;
    let many = fleet.many()?;
    let heavy = fleet.heavy()?;
    Ok(memory::run(dir, source, &tools.tested)? && compute && many && heavy)
}

impl Fleet<'_> {
    /// Returns the program and the arguments of a search by `ranks` ranks with `threads` threads
    /// each.
    fn ranks(&self, ranks: u32, threads: u32, args: &[&str]) -> (Tool, Vec<String>) {
        Shape::new(ranks, threads).command(&self.tools.tested, self.parallel_mode, &words(args))
    }

    fn sample(&self, name: &'static str, (tool, args): (Tool, Vec<String>)) -> Result<Sample> {
        measure(name, &tool, &args, self.dir)
    }

    /// Measures the compute-bound search: ranks against threads, and against a pool of BLAST+
    /// processes. Returns true if all outputs were the same.
    fn compute(&self) -> Result<bool> {
        pool::split(self.dir, "q/members.fa", 2)?;
        let (mut rounds, mut outputs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            rounds.push(self.round(&mut outputs)?);
        }
        println!("compute-bound, {ROUNDS} rounds; medians, and all");
        let shown = |name: &str, value: &dyn Fn(&Round) -> f64, unit: &str| {
            let values: Vec<f64> = rounds.iter().map(value).collect();
            println!(
                "  {name:<48}{:>8.3} {unit:<14}{}",
                median(values.clone()),
                format_values(&values)
            );
        };
        shown("1 rank x 2 threads (twice)", &|round| round.threads, "s");
        shown("2 ranks x 1 thread (twice)", &|round| round.ranks, "s");
        shown("FleetBLAST, 1 thread", &|round| round.single, "s");
        shown("2 processes of BLAST+ (split queries, then cat)", &|round| round.pool, "s");
        shown("BLAST+, 1 thread", &|round| round.oracle, "s");
        shown("ranks against threads", &|round| round.threads / round.ranks, "(bar: 0.97)");
        shown("gain on one core", &Round::gain, "");
        shown("gain of ranks against the pool", &Round::gain_of_ranks, "");
        let kept = |round: &Round| round.gain_of_ranks() / round.gain();
        shown("of the gain on one core kept", &kept, "(bar: 0.95)");
        println!();
        Ok(all_equal(&outputs))
    }

    fn round(&self, outputs: &mut Vec<u64>) -> Result<Round> {
        let args = ["-query", "q/members.fa", "-db", "db/small", "-outfmt", "6"];
        let serial =
            |tool: &Tool| (tool.clone(), words(&[&args[..], &["-num_threads", "1"]].concat()));
        let [threads, ranks] = [(1, 2), (2, 1)].map(|(ranks, threads)| {
            move || self.sample("ranks", self.ranks(ranks, threads, &args))
        });
        // The second half runs in reverse order, because the speed of the machine may change.
        let ours = [threads()?, ranks()?, ranks()?, threads()?];
        let single = self.sample("FleetBLAST", serial(&self.tools.tested))?;
        let pool = pool::run(self.dir, &self.tools.oracle, &args[2..], 2)?;
        let oracle = self.sample("BLAST+", serial(&self.tools.oracle))?;
        outputs.extend(ours.iter().chain([&single, &pool, &oracle]).map(|sample| sample.output));
        Ok(Round {
            threads: (ours[0].wall + ours[3].wall) / 2.0,
            ranks: (ours[1].wall + ours[2].wall) / 2.0,
            single: single.wall,
            pool: pool.wall,
            oracle: oracle.wall,
        })
    }

    /// Measures searches on many more ranks than cores. Returns true if all outputs were the same.
    fn many(&self) -> Result<bool> {
        println!("many ranks on the same cores, one round");
        let (mut outputs, mut least) = (Vec::new(), None);
        for ranks in [2, 32, 64] {
            let args = ["-query", "q/many.fa", "-db", "db/big", "-outfmt", "6"];
            let args = [&args[..], &["-timing", "many.json"]].concat();
            let sample = self.sample("many", self.ranks(ranks, 1, &args))?;
            // This measures the start of the processes, without a search.
            let args = ["-query", "q/many.fa", "-db", "db/big", "-plan"];
            let start = self.sample("start", self.ranks(ranks, 1, &args))?.cpu;
            let (least, least_start) = *least.get_or_insert((sample.cpu, start));
            println!(
                "  {ranks:>2} ranks {:>8.2} s wall, {:>8.2} s CPU: {:.2} of that of 2 ranks (bar: 1.15); starting them {start:.2} s, \
                 {:.2} without",
                sample.wall,
                sample.cpu,
                sample.cpu / least,
                (sample.cpu - start) / (least - least_start)
            );
            let timing = self.timing("many.json")?;
            let tasks = f64::from(ranks) * timing.statistic("tasks", "mean");
            println!(
                "    of the master, per task of {:.1} ms: {:.3} ms, {:.1} messages sent by all; {:.1} kB of messages per \
                 query",
                1e3 * timing.number("search_seconds") / tasks,
                1e3 * timing.statistic("merge_seconds", "max") / tasks,
                f64::from(ranks) * timing.statistic("messages", "mean") / tasks,
                f64::from(ranks) * timing.statistic("message_bytes", "mean")
                    / 1e3
                    / timing.number("queries"),
            );
            outputs.push(sample.output);
        }
        println!();
        Ok(all_equal(&outputs))
    }

    /// Measures a report of hundreds of megabytes with each value of `-output`. Returns true if all
    /// outputs were the same.
    fn heavy(&self) -> Result<bool> {
        println!("output-heavy");
        let mut outputs = Vec::new();
        self.heavy_run(2, "merge", &mut outputs)?;
        let path = self.dir.join("heavy.out");
        let size = fs::metadata(&path).map_err(io_error("look at", &path))?.len();
        let timing = self.timing("heavy.json")?;
        let busy = timing.number("search_seconds") + timing.number("traceback_seconds");
        let wall = timing.number("wall_seconds");
        println!(
            "  2 ranks: {wall:.2} s, {:.1} % of it not in search or traceback (bar: 5 %); {:.0} MB{}",
            100.0 * (1.0 - busy / (2.0 * wall)),
            size as f64 / 1e6,
            if size < HEAVY_BYTES { ", TOO LITTLE" } else { "" }
        );
        println!("  one round            merge  individual  collective");
        for ranks in [4, 8] {
            let mut walls = Vec::new();
            for strategy in ["merge", "individual", "collective"] {
                walls.push(format!("{:>9.2} s", self.heavy_run(ranks, strategy, &mut outputs)?));
            }
            println!("  {ranks} ranks        {}", walls.join(" "));
        }
        Ok(all_equal(&outputs))
    }

    fn heavy_run(&self, ranks: u32, strategy: &str, outputs: &mut Vec<u64>) -> Result<f64> {
        let fixed = ["-query", "q/heavy.fa", "-db", "db/small", "-output", strategy];
        let more = ["-timing", "heavy.json", "-out", "heavy.out"];
        let args = [&fixed[..], &more, &HEAVY].concat();
        let sample = self.sample("heavy", self.ranks(ranks, 1, &args))?;
        outputs.push(hash_file(&self.dir.join("heavy.out"))?);
        Ok(sample.wall)
    }

    fn timing(&self, name: &str) -> Result<Timing> {
        let path = self.dir.join(name);
        fs::read_to_string(&path).map(Timing).map_err(io_error("read", &path))
    }
}

/// The JSON text that FleetBLAST writes with `-timing`.
struct Timing(String);

impl Timing {
    /// Returns the number after the first occurrence of a name; NaN if there is none.
    fn number(&self, name: &str) -> f64 {
        number(self.0.split(&format!("\"{name}\":")).nth(1))
    }

    /// Returns one of the statistics over all ranks (`min`, `mean`, `max`); NaN if there is none.
    fn statistic(&self, name: &str, which: &str) -> f64 {
        let fleet = self.0.split("\"fleet\":").nth(1).unwrap_or_default();
        let all = fleet.split(&format!("\"{name}\":")).nth(1).unwrap_or_default();
        number(all.split(&format!("\"{which}\":")).nth(1))
    }
}

/// Returns the number at the start of a text; NaN if there is none.
fn number(text: Option<&str>) -> f64 {
    let text = text.and_then(|text| text.split([',', '}']).next());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(f64::NAN)
}

fn format_values(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
    texts.join(", ")
}

fn all_equal(outputs: &[u64]) -> bool {
    let same = outputs.iter().all(|output| *output == outputs[0]);
    if !same {
        println!("outputs: DIFFERENT");
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name() {
        let text =
            "{\n  \"tasks\": 12.5,\n \"fleet\": {\"tasks\": {\n\"min\": 3.0,\n \"max\": 4\n } } }";
        let timing = Timing(text.to_owned());
        assert_eq!((timing.number("tasks"), timing.statistic("tasks", "max")), (12.5, 4.0));
        assert!(
            timing.number("wall_seconds").is_nan() && timing.statistic("tasks", "mean").is_nan()
        );
    }
}
