//! Where the time went: measured per phase, written as JSON for `-timing`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fleetblast_engine::query::Query;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::standard::print;
use crate::threads::ThreadSource;

/// What this process used so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Processor time of all threads, user and system, in seconds.
    pub cpu_seconds: f64,
    /// Most memory resident at any time; nothing where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

impl Usage {
    /// Measures now.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_seconds = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self { cpu_seconds, peak_memory_bytes: peak_memory(&status) }
    }
}

/// `VmHWM:     1234 kB` of a process status.
fn peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The breakdown of one search. Seconds are the wall time of a phase, at which all threads of a
/// rank work together; of several ranks, the sum over the ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// Whole run, wall time.
    pub wall_seconds: f64,
    /// Processor time of all threads.
    pub cpu_seconds: f64,
    /// Reading queries and opening databases.
    pub input_seconds: f64,
    /// Preliminary search.
    pub search_seconds: f64,
    /// Gapped alignments with traceback.
    pub traceback_seconds: f64,
    /// Formatting and writing.
    pub output_seconds: f64,
    /// All that is none of these phases.
    pub other_seconds: f64,
    /// Most memory resident at any time.
    pub peak_memory_bytes: Option<u64>,
    /// Threads used.
    pub threads: usize,
    /// What decided that; on many ranks, on the first one.
    pub threads_source: ThreadSource,
    /// Queries searched.
    pub queries: u64,
    /// Residues of the queries.
    pub query_residues: u64,
    /// Sequences searched in.
    pub subjects: u64,
    /// Residues of these.
    pub subject_residues: u64,
    /// How the database came into memory.
    pub loading: Option<Loading>,
    /// Of a search whose report is made at another site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<EncodingCosts>,
    /// Of a search by many ranks: how it went on each. The phases above are sums over ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<OverRanks>,
}

/// How a search went on its ranks. Seconds are wall time of works, several of which may go on at
/// once on a rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverRanks {
    /// Ranks.
    pub ranks: u32,
    /// Groups of ranks.
    pub groups: u32,
    /// Partitions of the database.
    pub partitions: u32,
    /// Opening databases and reading queries.
    pub input_seconds: Spread,
    /// Preliminary search.
    pub search_seconds: Spread,
    /// Alignments with traceback.
    pub traceback_seconds: Spread,
    /// Merging the hits of tasks, choosing, and laying the output out: done by masters, beside the
    /// search.
    pub merge_seconds: Spread,
    /// Formatting, and, beside the search, sending and writing.
    pub output_seconds: Spread,
    /// Search threads without work.
    pub idle_seconds: Spread,
    /// Tasks searched: a block of queries in a partition.
    pub tasks: Spread,
    /// Messages sent to other ranks.
    pub messages: Spread,
    /// About how many bytes these had.
    pub message_bytes: Spread,
}

/// A figure over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Of the rank with least of it.
    pub min: f64,
    /// Of all ranks.
    pub mean: f64,
    /// Of the rank with most.
    pub max: f64,
}

impl Spread {
    /// Of these figures; zero for none.
    pub fn of(figures: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut sum, mut min, mut max) = (0_u32, 0.0, f64::MAX, 0.0_f64);
        for figure in figures {
            (count, sum) = (count + 1, sum + figure);
            (min, max) = (min.min(figure), max.max(figure));
        }
        if count == 0 { Self::default() } else { Self { min, mean: sum / f64::from(count), max } }
    }
}

/// How a database came into memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loading {
    /// `map`, `read`, `direct` or `broadcast`.
    pub method: &'static str,
    /// Why.
    pub reason: String,
    /// Bytes of the buffers, if it does not fit in memory.
    pub streamed_through_bytes: Option<u64>,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes that ranks got from other hosts instead.
    pub bytes_received: u64,
    /// The pages they are on.
    pub pages: String,
    /// Wall time of reading them, beside the search; with `broadcast`, of loading before it, in sum
    /// over the ranks that filled memory.
    pub read_seconds: f64,
    /// Time that searching threads waited for it, in sum.
    pub wait_seconds: f64,
}

impl Timing {
    /// Counts queries that were searched.
    pub fn add_queries(&mut self, queries: &[Query]) {
        self.queries += queries.len() as u64;
        self.query_residues += queries.iter().map(|query| u64::from(query.length)).sum::<u64>();
    }

    /// Fills in the figures of the whole process, and the wall time of all ranks that no phase
    /// took.
    pub fn close(&mut self, wall: Duration, ranks: usize) {
        let usage = Usage::now();
        self.wall_seconds = wall.as_secs_f64();
        self.cpu_seconds = usage.cpu_seconds;
        self.peak_memory_bytes = usage.peak_memory_bytes;
        let phases =
            self.input_seconds + self.search_seconds + self.traceback_seconds + self.output_seconds;
        self.other_seconds = (self.wall_seconds * ranks as f64 - phases).max(0.0);
    }

    /// Writes the breakdown to a file; `-` is standard output, as for every output file.
    ///
    /// # Errors
    /// Exit code 6 if the file cannot be written, or 141 for a closed standard output.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::output(format_args!("{error} (-timing {})", path.display()))
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(&error))? + "\n";
        if path == Path::new("-") {
            return print(&text);
        }
        fs::write(path, text).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_peak_memory() {
        assert_eq!(peak_memory("VmPeak:\t 9 kB\nVmHWM:\t   1234 kB\n"), Some(1234 * 1024));
        assert_eq!(peak_memory("nothing here"), None);
    }

    #[test]
    fn spreads_over_ranks() {
        let spread = Spread::of([2.0, 1.0, 6.0].into_iter());
        assert_eq!(spread, Spread { min: 1.0, mean: 3.0, max: 6.0 });
        assert_eq!(Spread::of(std::iter::empty()), Spread::default());
    }

    #[test]
    fn other_is_what_no_phase_took() {
        let mut timing = Timing { threads: 2, search_seconds: 3.0, ..Timing::default() };
        timing.close(Duration::from_secs(2), 2);
        assert_eq!(timing.other_seconds, 1.0);
        timing.close(Duration::from_secs(4), 1);
        assert_eq!(timing.other_seconds, 1.0);
        assert!(Usage::now().cpu_seconds >= timing.cpu_seconds);
    }
}
