//! `difftest bench`: measures time and memory of both programs in interleaved runs.
//!
//! Every round runs each contender once, so that slow phases of the machine affect all of them.
//! Speeds are compared within a round. Each database file is read once before the first round. Both
//! programs write to a file, and the outputs are compared as well.

mod bar;
mod blastn;
mod fleet;
mod genomes;
mod growth;
mod memory;
mod peers;
mod pool;
mod psiblast;
mod rows;
mod translated;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use wait4::Wait4;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::full::prepare_big;
use crate::process::{Tool, Tools, exit_code, must_run};
use crate::rng::Draw;
use crate::workspace::{self, Source, Workspace};
use fastrand::Rng;

/// The file to which [`measure`] redirects standard output.
const OUTPUT: &str = "bench.out";

/// The kind of measurements that `difftest bench` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// 20 queries, up to five rounds within about three minutes.
    Quick,
    /// All kinds of protein searches (see [`rows`]), and the growth of time with size (see
    /// [`growth`]).
    Full,
    /// One query, up to five rounds.
    Single,
    /// Searches on many ranks, see [`fleet`].
    Fleet,
    /// Comparison with DIAMOND and MMseqs2, see [`peers`].
    Peers,
    /// Nucleotide searches, see [`blastn`].
    Blastn,
    /// Searches with psiblast, see [`psiblast`].
    Psiblast,
    /// Searches of translated sequences, see [`translated`].
    Translated,
}

impl Size {
    /// Whether the user can select rows of the table by their names.
    pub fn has_rows(self) -> bool {
        matches!(self, Size::Blastn | Size::Psiblast | Size::Translated)
    }
}

/// Options of `difftest bench`.
#[derive(Debug)]
pub struct BenchOptions {
    /// The kind of measurements to make.
    pub size: Size,
    /// Measure only rows whose names contain this text, for a size [with rows](Size::has_rows).
    pub filter: Option<String>,
    /// The programs.
    pub tools: Tools,
}

/// Time, peak memory and output of one run.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Wall-clock seconds.
    wall: f64,
    /// User and system seconds of all threads.
    cpu: f64,
    /// Largest resident set in bytes.
    memory: u64,
    /// Hash of the output.
    output: u64,
}

/// One program with one set of options.
struct Contender<'a> {
    name: &'static str,
    tool: &'a Tool,
    args: Vec<String>,
    samples: Vec<Sample>,
}

/// Measures and prints the table. Returns true if all outputs were the same.
///
/// # Errors
/// If inputs cannot be made or a program fails.
pub fn run(workspace: &Workspace, source: &Source, options: &BenchOptions) -> Result<bool> {
    workspace::report_source(source);
    describe_machine(&options.tools)?;
    if options.size == Size::Blastn {
        return blastn::run(workspace, source, options);
    }
    let dir = prepare_big(workspace, source)?;
    let (rounds, budget) = match options.size {
        Size::Full => {
            let same = rows::run(&dir, source, &options.tools)?;
            return Ok(growth::run(&dir, source, &options.tools)? && same);
        }
        Size::Fleet => return fleet::run(&dir, source, &options.tools),
        Size::Peers => return peers::run(&dir, source, &options.tools),
        Size::Psiblast => return psiblast::run(&dir, source, options),
        Size::Translated => return translated::run(&dir, source, options),
        Size::Quick | Size::Single | Size::Blastn => (5, 180.0),
    };
    let residues = write_queries(source, options.size == Size::Single, &dir)?;
    warm_up(&dir.join("db"))?;
    let mut contenders = contenders(&options.tools);
    let started = Instant::now();
    for round in 0..rounds {
        for contender in &mut contenders {
            let sample = measure(contender.name, contender.tool, &contender.args, &dir)?;
            contender.samples.push(sample);
        }
        let elapsed = started.elapsed().as_secs_f64();
        let next = elapsed + elapsed / (round + 1) as f64;
        if next > budget {
            break;
        }
    }
    println!("queries: {residues} residues; {} rounds\n", contenders[0].samples.len());
    print!("{}", table(&contenders));
    let first = contenders[0].samples[0].output;
    let same = contenders.iter().flat_map(|c| &c.samples).all(|s| s.output == first);
    println!("\noutputs: {}", if same { "all equal" } else { "DIFFERENT" });
    Ok(same)
}

fn contenders(tools: &Tools) -> Vec<Contender<'_>> {
    let search = |name, tool, more: &[&str]| {
        let fixed = ["-query", "q/bench.fa", "-db", "db/big", "-outfmt", "6", "-num_threads"];
        Contender { name, tool, args: words(&[&fixed, more].concat()), samples: Vec::new() }
    };
    vec![
        search("BLAST+, 1 thread", &tools.oracle, &["1"]),
        search("FleetBLAST, 1 thread", &tools.tested, &["1"]),
        search("BLAST+, 2 threads, -mt_mode 0", &tools.oracle, &["2", "-mt_mode", "0"]),
        search("BLAST+, 2 threads, -mt_mode 1", &tools.oracle, &["2", "-mt_mode", "1"]),
        search("FleetBLAST, 2 threads", &tools.tested, &["2"]),
    ]
}

/// Writes one query or about twenty to `q/bench.fa`. Returns the number of their residues.
fn write_queries(source: &Source, single: bool, dir: &Path) -> Result<usize> {
    let ordinary = |length: usize| (200..=400).contains(&length);
    let all = source.queries.iter();
    let step = (source.queries.len() / 20).max(1);
    let chosen: Vec<_> = if single {
        all.filter(|q| ordinary(q.seq.len())).take(1).cloned().collect()
    } else {
        all.skip(step / 2).step_by(step).take(20).cloned().collect()
    };
    let path = dir.join("q/bench.fa");
    write(&path, fasta::to_bytes(&chosen))?;
    Ok(chosen.iter().map(|q| q.seq.len()).sum())
}

/// Makes the database `db/small` of the smaller set of proteins.
fn small_database(dir: &Path, source: &Source) -> Result<()> {
    write(&dir.join("small.fa"), fasta::to_bytes(&source.proteins))?;
    make_database(dir, Molecule::Protein, "small.fa", "db/small")
}

fn make_database(dir: &Path, molecule: Molecule, input: &str, name: &str) -> Result<()> {
    let args = ["-in", input, "-dbtype", molecule.name(), "-out", name];
    must_run("makeblastdb", &words(&args), dir)
}

/// Returns BLAST+'s and FleetBLAST's search program of this name.
fn programs(tools: &Tools, name: &str) -> (Tool, Tool) {
    let tested = Tool { prefix: vec![name.to_owned()], ..tools.tested.clone() };
    (Tool::plain(tools.oracle.program.with_file_name(name)), tested)
}

/// Returns the path of a file that a benchmark needs, in the directory of the real sequences.
fn data(source: &Source, name: &str, benchmark: &str) -> Result<PathBuf> {
    let path = source.big.with_file_name(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::Usage(format!("bench --{benchmark} needs {}", path.display()))),
    }
}

/// Copies arguments to owned strings.
fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string()).collect()
}

/// Returns `count` random sequences of the smaller database.
fn members(rng: &mut Rng, source: &Source, count: usize) -> Vec<Record> {
    (0..count).map(|_| rng.pick(&source.proteins).clone()).collect()
}

/// Reads all files of a directory of databases, so that no contender pays for the disk.
fn warm_up(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(io_error("list", dir))? {
        let path = entry.map_err(io_error("list", dir))?.path();
        hash_file(&path)?;
    }
    Ok(())
}

fn hash_file(path: &Path) -> Result<u64> {
    let mut file = File::open(path).map_err(io_error("open", path))?;
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 1 << 18]);
    loop {
        let count = file.read(&mut buffer).map_err(io_error("read", path))?;
        if count == 0 {
            return Ok(hash.digest());
        }
        hash.update(&buffer[..count]);
    }
}

/// Runs a program once. The operating system reports the peak memory of this child alone. The
/// tester itself must stay small, because a child starts out with its parent's memory.
fn measure(name: &str, tool: &Tool, args: &[String], dir: &Path) -> Result<Sample> {
    let failed = |reason: String| Error::Tool { program: name.to_string(), reason };
    let out = dir.join(OUTPUT);
    let file = File::create(&out).map_err(io_error("create", &out))?;
    let mut command = tool.command(args, dir);
    // Standard error is discarded: BLAST+ warns in each run that -mt_mode 1 suits larger sets.
    // Failures show in the exit code.
    command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
    let started = Instant::now();
    let child = command.spawn().map_err(|e| failed(e.to_string()))?;
    let ended = child.wait4().map_err(|e| failed(e.to_string()))?;
    let wall = started.elapsed().as_secs_f64();
    if !ended.status.success() {
        return Err(failed(format!("exit code {}", exit_code(ended.status))));
    }
    let used = ended.rusage;
    let cpu = (used.utime + used.stime).as_secs_f64();
    Ok(Sample { wall, cpu, memory: used.maxrss, output: hash_file(&out)? })
}

/// Formats the results: medians, ranges, and FleetBLAST's speed relative to BLAST+.
fn table(contenders: &[Contender]) -> String {
    let mut text = format!(
        "{:<32}{:>9}{:>9}{:>9}{:>9}{:>10}\n",
        "", "wall s", "min", "max", "CPU s", "peak MB"
    );
    for c in contenders {
        let wall = |c: &Contender| c.samples.iter().map(|s| s.wall).collect::<Vec<_>>();
        let walls = wall(c);
        let cpu = median(c.samples.iter().map(|s| s.cpu).collect());
        let memory = c.samples.iter().map(|s| s.memory).max().unwrap_or(0);
        text += &format!(
            "{:<32}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>10.0}\n",
            c.name,
            median(walls.clone()),
            walls.iter().copied().fold(f64::INFINITY, f64::min),
            walls.iter().copied().fold(0.0, f64::max),
            cpu,
            memory as f64 / 1e6
        );
    }
    let [one, fleet_one, zero, batch, fleet_two] = contenders else { return text };
    // BLAST+ counts with the mode that is faster over all rounds, not with the faster one of each
    // round.
    let wall = |c: &Contender| median(c.samples.iter().map(|s| s.wall).collect());
    let two = if wall(zero) <= wall(batch) { zero } else { batch };
    text += "\nFleetBLAST against BLAST+ (median of the rounds' ratios, range):\n";
    text += &speed_line("1 thread", one, fleet_one);
    text += &speed_line("2 threads", two, fleet_two);
    text + &speed_line("FleetBLAST, 2 against 1", fleet_one, fleet_two)
}

fn speed_line(label: &str, base: &Contender, new: &Contender) -> String {
    let pairs = base.samples.iter().zip(&new.samples);
    let ratios: Vec<f64> = pairs.map(|(base, new)| base.wall / new.wall).collect();
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    format!("  {label:<30}{:>6.2} times as fast ({low:.2} to {high:.2})\n", median(ratios))
}

/// Returns the middle value, or the mean of the middle two; NaN for no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => values[n / 2],
        _ => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// Prints the processor and the versions of the programs.
fn describe_machine(tools: &Tools) -> Result<()> {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("machine: {} ({cores} cores)", model.map_or("unknown processor", |m| m.1));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load before: {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    println!("oracle: {}", tools.oracle.version()?);
    println!("tested: {}", tools.tested.version()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn the_ratio_is_taken_within_rounds() {
        let tool = Tool::plain("x".into());
        let contender = |walls: [f64; 3]| Contender {
            name: "c",
            tool: &tool,
            args: Vec::new(),
            samples: walls.map(|wall| Sample { wall, cpu: wall, memory: 1, output: 0 }).to_vec(),
        };
        // In the second round both were twice as slow.
        let line = speed_line("x", &contender([10.0, 20.0, 10.0]), &contender([5.0, 10.0, 2.5]));
        assert!(line.contains("2.00 times as fast (2.00 to 4.00)"), "{line}");
    }
}
