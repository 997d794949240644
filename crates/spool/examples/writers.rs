//! Measures the rate at which many writers bring a report to disk, and the variation of their
//! waiting times. Two methods are compared. Each result is either written directly to its place in
//! one file, or passes through the two buffers of records.
//!
//! Usage: `writers DIRECTORY REPORT WRITERS TIMES`. The results are the parts of REPORT that begin
//! with `# BLAST` (a report with `-outfmt 7`). Each writer writes each result TIMES times.

use std::error::Error;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use fleetblast_spool::{Checkpoint, Codec, ResultKey, ResultKind, ShareRange, StartMode, Writer};

type Failure = Box<dyn Error + Send + Sync>;

/// Number of bytes that a writer of records writes at once, as set by `-write_buffer`.
const BUFFER: usize = 4 << 20;

/// Measurements of one method of writing.
struct Measurements {
    name: &'static str,
    /// Seconds that each result waits until it is accepted.
    waits: Vec<f64>,
    /// Seconds until all results are on disk.
    seconds: f64,
    /// Number of bytes of all results, and number of their bytes on disk.
    bytes: u64,
    stored: u64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, report, writers, times] = &arguments[..] else {
        return Err("writers DIRECTORY REPORT WRITERS TIMES".into());
    };
    let (writers, times): (u32, usize) = (writers.parse()?, times.parse()?);
    let report = fs::read(report)?;
    let results = results(&report);
    let directory = Path::new(directory);
    println!("way, writers, results, MB, MB on disk, MB/s, write ms: mean, deviation, most");
    for round in 0..3 {
        let on_demand = on_demand(&directory.join("report"), &results, writers, times)?;
        let zstd = records(&directory.join("zstd"), &results, writers, times, Codec::Zstd)?;
        let gzip = records(&directory.join("gzip"), &results, writers, times, Codec::Gzip)?;
        for measured in [on_demand, zstd, gzip] {
            measured.print(round, writers);
        }
    }
    Ok(())
}

/// Splits a report into its results.
fn results(report: &[u8]) -> Vec<&[u8]> {
    let starts = report.windows(9).enumerate().filter(|(_, window)| *window == b"\n# BLASTP");
    let mut starts: Vec<usize> = starts.map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([report.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &report[start..end]).collect()
}

fn in_threads<T: Send>(
    writers: u32,
    work: impl Fn(u32) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || work(writer))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a writer panicked")?).collect()
    })
}

fn on_demand(
    path: &Path,
    results: &[&[u8]],
    writers: u32,
    times: usize,
) -> Result<Measurements, Failure> {
    let (start, end) = (Instant::now(), AtomicU64::new(0));
    drop(File::create(path)?);
    let waits = in_threads(writers, |_| {
        // Each writer opens the file itself, like a rank.
        let file = File::options().write(true).open(path)?;
        let mut waits = Vec::with_capacity(results.len() * times);
        for result in results.iter().cycle().take(results.len() * times) {
            let begun = Instant::now();
            let place = end.fetch_add(result.len() as u64, Ordering::Relaxed);
            file.write_all_at(result, place)?;
            waits.push(begun.elapsed().as_secs_f64());
        }
        file.sync_all()?;
        Ok(waits)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes = fs::metadata(path)?.len();
    fs::remove_file(path)?;
    Ok(Measurements { name: "on demand", waits: waits.concat(), seconds, bytes, stored: bytes })
}

fn records(
    path: &Path,
    results: &[&[u8]],
    writers: u32,
    times: usize,
    codec: Codec,
) -> Result<Measurements, Failure> {
    let start = Instant::now();
    let job = Checkpoint::open_with_codec(path, None, StartMode::New, codec)?;
    let written = in_threads(writers, |number| {
        let mut writer = Writer::new(job.run(), number, BUFFER)?;
        let mut waits = Vec::with_capacity(results.len() * times);
        for (block, result) in (0..).zip(results.iter().cycle().take(results.len() * times)) {
            let begun = Instant::now();
            let key = ResultKey { block, kind: ResultKind::RESULT };
            writer.append(key, ShareRange::whole(result.len() as u64), result)?;
            waits.push(begun.elapsed().as_secs_f64());
        }
        writer.sync()?;
        Ok((waits, writer.written()))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    job.remove()?;
    let each: usize = results.iter().map(|result| result.len()).sum();
    let (waits, stored): (Vec<Vec<f64>>, Vec<u64>) = written.into_iter().unzip();
    Ok(Measurements {
        name: if codec == Codec::Gzip { "records, gzip" } else { "records, zstd" },
        waits: waits.concat(),
        seconds,
        bytes: (each * times) as u64 * u64::from(writers),
        stored: stored.iter().sum(),
    })
}

impl Measurements {
    fn print(&self, round: usize, writers: u32) {
        let count = self.waits.len() as f64;
        let mean = self.waits.iter().sum::<f64>() / count;
        let variance = self.waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / count;
        let most = self.waits.iter().copied().fold(0.0, f64::max);
        println!(
            "{round}: {}, {writers}, {}, {:.0}, {:.0}, {:.0}, {:.4}, {:.4}, {:.2}",
            self.name,
            self.waits.len(),
            self.bytes as f64 / 1e6,
            self.stored as f64 / 1e6,
            self.bytes as f64 / 1e6 / self.seconds,
            mean * 1e3,
            variance.sqrt() * 1e3,
            most * 1e3,
        );
    }
}
