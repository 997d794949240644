//! `difftest load`: measures how fast a database loads from a cold disk, and how this affects a
//! search.
//!
//! The database consists of the largest set of proteins and mutated copies of it. For each setting
//! of the device's read-ahead, with a cold cache, this module measures three things: `dd bs=16M` on
//! the files that a search needs; loading alone by each method; one short query by FleetBLAST and
//! BLAST+. It also measures the same query with a warm cache, and several queries with and without
//! huge pages. It drops only the database's own files from the cache. But the read-ahead applies to
//! the whole machine, so run this when nobody else uses it. Without the right to set the
//! read-ahead, it keeps the existing setting.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::full::prepare_big;
use crate::process::{Tool, Tools, must_run};
use crate::rng::{self, Draw};
use crate::workspace::{self, Source, Workspace};
use fastrand::Rng;

/// Settings of the read-ahead in kB.
const READ_AHEAD: [&str; 4] = ["0", "128", "1024", "8192"];
/// Required rate of loading, relative to dd.
const LOAD_BAR: f64 = 0.9;
/// Maximal time of a cold search, relative to the longer of loading and a warm search.
const SEARCH_BAR: f64 = 1.15;
/// Fraction of the residues that are replaced in a copy.
const REPLACED: f64 = 0.3;

/// Options of `difftest load`.
#[derive(Debug)]
pub struct LoadOptions {
    /// Number of copies of the largest set of proteins, including the original.
    pub copies: usize,
    /// Number of measurements of each kind, whose median counts.
    pub rounds: usize,
    /// The programs.
    pub tools: Tools,
}

/// Measures loading, and searches with a cold and a warm cache, and prints the times. Returns true
/// if loading and cold searches keep within their limits.
///
/// # Errors
/// If inputs cannot be made or a program fails.
pub fn run(workspace: &Workspace, source: &Source, options: &LoadOptions) -> Result<bool> {
    workspace::report_source(source);
    let dir = database(workspace, source, options.copies)?;
    let query = source.queries.iter().find(|q| (200..=400).contains(&q.seq.len()));
    let several: Vec<Record> = source.queries.iter().step_by(10).take(10).cloned().collect();
    write(&dir.join("one.fa"), fasta::to_bytes(query.map(std::slice::from_ref).unwrap_or(&[])))?;
    write(&dir.join("several.fa"), fasta::to_bytes(&several))?;
    let name = format!("load-{}", options.copies);
    let bench = Bench { dir, name, rounds: options.rounds, tools: &options.tools };
    let files = bench.files()?;
    let size: u64 = files.iter().map(|file| fs::metadata(file).map_or(0, |data| data.len())).sum();
    println!("database: {:.2} GB in index and sequence files", size as f64 / 1e9);
    let warm = bench.warm(&files)?;
    let knob = ReadAhead::find(&bench.dir)?;
    let mut all_reached = true;
    for setting in READ_AHEAD {
        if !knob.set(setting) {
            println!("\nread-ahead cannot be set here; as found: {} kB", knob.found.trim());
        } else {
            println!("\nread-ahead {setting} kB");
        }
        all_reached &= bench.cold(&files, size, warm)?;
        if !knob.settable {
            break;
        }
    }
    Ok(all_reached)
}

/// Makes the database `db/load-COPIES` of `copies` times the largest set of proteins. Each copy
/// except the first is mutated. Returns the directory.
fn database(workspace: &Workspace, source: &Source, copies: usize) -> Result<PathBuf> {
    let dir = prepare_big(workspace, source)?;
    let name = format!("load-{copies}");
    let done = dir.join(format!("{name}.done"));
    if !done.is_file() {
        let text = dir.join("load.fa");
        let records = fasta::read(&source.big, usize::MAX)?;
        let file = File::create(&text).map_err(io_error("create", &text))?;
        let mut out = BufWriter::new(file);
        for copy in 0..copies {
            let mut rng = rng::for_item(9, copy as u64);
            for record in &records {
                let header = format!("copy{copy}_{}", record.header);
                let record = Record::new(header, mutate(&record.seq, copy, &mut rng));
                let bytes = fasta::to_bytes(std::slice::from_ref(&record));
                out.write_all(&bytes).map_err(io_error("write", &text))?;
            }
        }
        out.flush().map_err(io_error("write", &text))?;
        let args =
            ["-in", "load.fa", "-dbtype", "prot", "-title", "load", "-out"].map(String::from);
        // By default there is one volume per gigabyte.
        must_run("makeblastdb", &[&args[..], &[format!("db/{name}")]].concat(), &dir)?;
        fs::remove_file(&text).map_err(io_error("remove", &text))?;
        write(&done, b"")?;
    }
    Ok(dir)
}

fn mutate(seq: &[u8], copy: usize, rng: &mut Rng) -> Vec<u8> {
    let mut seq = seq.to_vec();
    if copy > 0 {
        for letter in &mut seq {
            if rng.chance(REPLACED) {
                *letter = *rng.pick(b"ACDEFGHIKLMNPQRSTVWY");
            }
        }
    }
    seq
}

/// The database and the programs.
struct Bench<'a> {
    dir: PathBuf,
    /// Name of the database.
    name: String,
    rounds: usize,
    tools: &'a Tools,
}

impl Bench<'_> {
    /// Returns the database's files that a search reads completely.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let db = self.dir.join("db");
        let mut files = Vec::new();
        for entry in fs::read_dir(&db).map_err(io_error("list", &db))? {
            let path = entry.map_err(io_error("list", &db))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let ours = name.starts_with(&format!("{}.", self.name));
            if ours && (name.ends_with(".psq") || name.ends_with(".pin")) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Measures searches with a warm cache and prints the times. Returns FleetBLAST's median
    /// seconds for one query.
    fn warm(&self, files: &[PathBuf]) -> Result<f64> {
        let fleet = || self.search(&self.tools.tested, "one.fa", &[]);
        dd(files)?;
        let ours = self.median(fleet, || Ok(()))?;
        let theirs = self.median(|| self.search(&self.tools.oracle, "one.fa", &[]), || Ok(()))?;
        println!("warm, one query: FleetBLAST {ours:.2} s, BLAST+ {theirs:.2} s");
        let phase = |loader: &str| self.search_phase(loader);
        let small = self.median(|| phase("map"), || Ok(()))?;
        let huge = self.median(|| phase("read"), || Ok(()))?;
        println!(
            "warm, ten queries, preliminary search: page cache {small:.2} s, -loader read (huge pages where there are \
             any) {huge:.2} s: {:+.1} %",
            100.0 * (small / huge - 1.0)
        );
        Ok(ours)
    }

    /// Measures dd, loading by each method, and searches with a cold cache, at the current
    /// read-ahead, and prints the times. `size` is the size of `files` in bytes, `warm` the seconds
    /// of a warm search. Returns true if the limits are met.
    fn cold(&self, files: &[PathBuf], size: u64, warm: f64) -> Result<bool> {
        let drop = || evict(&self.dir.join("db").join(&self.name));
        let dd = self.median(|| dd(files), drop)?;
        let rate = |seconds: f64| size as f64 / seconds / 1e6;
        println!("  dd bs=16M          {dd:>7.2} s {:>7.0} MB/s", rate(dd));
        let mut reached = true;
        let mut load = f64::INFINITY;
        for method in ["map", "read", "direct"] {
            let seconds = self.median(|| self.load(method), drop)?;
            let ok = dd / seconds >= LOAD_BAR;
            reached &= ok;
            load = load.min(seconds);
            let (rate, share) = (rate(seconds), 100.0 * dd / seconds);
            println!(
                "  load {method:<13} {seconds:>7.2} s {rate:>7.0} MB/s  {share:.0} % of dd{}",
                mark(ok)
            );
        }
        let bar = load.max(warm);
        for more in [&[][..], &["-loader", "direct"]] {
            let search = || self.search(&self.tools.tested, "one.fa", more);
            let seconds = self.median(search, drop)?;
            let ok = seconds <= SEARCH_BAR * bar;
            // Only the default loader must meet the limit.
            reached &= ok || !more.is_empty();
            let name = format!("search {}", more.last().unwrap_or(&"(default)"));
            println!(
                "  {name:<18} {seconds:>7.2} s, {:.2} of load or warm search{}",
                seconds / bar,
                mark(ok)
            );
        }
        let theirs = self.median(|| self.search(&self.tools.oracle, "one.fa", &[]), drop)?;
        println!("  search BLAST+      {theirs:>7.2} s");
        Ok(reached)
    }

    /// Returns the median of the seconds that `work` returns. Runs `before` before each
    /// measurement.
    fn median(
        &self,
        work: impl Fn() -> Result<f64>,
        before: impl Fn() -> Result<()>,
    ) -> Result<f64> {
        let mut all = Vec::new();
        for _ in 0..self.rounds {
            before()?;
            all.push(work()?);
        }
        all.sort_by(f64::total_cmp);
        Ok(all[all.len() / 2])
    }

    fn search(&self, tool: &Tool, queries: &str, more: &[&str]) -> Result<f64> {
        let db = format!("db/{}", self.name);
        let fixed = ["-query", queries, "-db", &db, "-outfmt", "6", "-out", "load.out"];
        let args: Vec<String> = fixed.iter().chain(more).map(|word| word.to_string()).collect();
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).to_string();
        measure_seconds(
            tool.command(&[args, vec!["-num_threads".into(), threads]].concat(), &self.dir),
        )
    }

    /// Returns the seconds of the preliminary search of several queries.
    fn search_phase(&self, loader: &str) -> Result<f64> {
        let more = ["-loader", loader, "-timing", "load.json"];
        self.search(&self.tools.tested, "several.fa", &more)?;
        let path = self.dir.join("load.json");
        let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        let value =
            text.split("\"search_seconds\":").nth(1).and_then(|rest| rest.split(',').next());
        value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| Error::Tool {
            program: "fleetblast".into(),
            reason: "no search_seconds in its timing".into(),
        })
    }

    fn load(&self, method: &str) -> Result<f64> {
        let mut command = Command::new(&self.tools.tested.program);
        let db = format!("db/{}", self.name);
        command.args(["doctor", "-db", &db, "-loader", method]).current_dir(&self.dir);
        measure_seconds(command)
    }
}

fn mark(ok: bool) -> &'static str {
    if ok { "" } else { "  BELOW THE BAR" }
}

/// Runs a command and returns its seconds. It is an error if the command fails.
fn measure_seconds(mut command: Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let seconds = start.elapsed().as_secs_f64();
    let reason = match status {
        Ok(status) if status.success() => return Ok(seconds),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Error::Tool { program: format!("{command:?}"), reason })
}

/// Reads files with dd, one after the other. Returns the seconds.
fn dd(files: &[PathBuf]) -> Result<f64> {
    let mut seconds = 0.0;
    for file in files {
        let mut command = Command::new("dd");
        command.arg(format!("if={}", file.display())).args(["of=/dev/null", "bs=16M"]);
        seconds += measure_seconds(command)?;
    }
    Ok(seconds)
}

/// Drops all files of a database from the page cache, and no others.
fn evict(stem: &Path) -> Result<()> {
    let dir = stem.parent().unwrap_or(Path::new("."));
    let name = format!("{}.", stem.file_name().unwrap_or_default().to_string_lossy());
    for entry in fs::read_dir(dir).map_err(io_error("list", dir))? {
        let path = entry.map_err(io_error("list", dir))?.path();
        if path.file_name().unwrap_or_default().to_string_lossy().starts_with(&name) {
            let mut command = Command::new("dd");
            command.arg(format!("if={}", path.display())).args(["iflag=nocache", "count=0"]);
            measure_seconds(command)?;
        }
    }
    Ok(())
}

/// The read-ahead of the device that holds a directory. Dropping it restores the setting that was
/// found.
struct ReadAhead {
    path: PathBuf,
    found: String,
    settable: bool,
}

impl ReadAhead {
    fn find(dir: &Path) -> Result<Self> {
        let device = fs::metadata(dir).map_err(io_error("look at", dir))?.dev();
        // Major and minor numbers, as makedev(3) encodes them.
        let major = (device >> 8 & 0xfff) | (device >> 32 & 0xffff_f000);
        let minor = (device & 0xff) | (device >> 12 & 0xffff_ff00);
        let path = PathBuf::from(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"));
        let found = fs::read_to_string(&path).unwrap_or_else(|_| "unknown".into());
        let settable = fs::write(&path, &found).is_ok();
        Ok(Self { path, found, settable })
    }

    fn set(&self, kilobytes: &str) -> bool {
        self.settable && fs::write(&self.path, kilobytes).is_ok()
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if self.settable {
            // If the system does not accept its own setting, nothing can be done.
            let _ = fs::write(&self.path, &self.found);
        }
    }
}
