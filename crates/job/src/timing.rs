//! The times of the phases, written as JSON for `-timing`.

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

/// Resources that this process has used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Processor time of all threads, user and system, in seconds.
    pub cpu_seconds: f64,
    /// Peak resident memory in bytes; `None` where the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

impl Usage {
    /// Measures the resources used so far.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_seconds = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self { cpu_seconds, peak_memory_bytes: peak_memory(&status) }
    }
}

/// Parses a line such as `VmHWM:     1234 kB` in the text of `/proc/self/status`. Returns bytes.
fn peak_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The times of one search. Seconds are the wall time of a phase, in which all threads of a rank
/// work together. With several ranks, they are sums over the ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// Wall time of the whole run.
    pub wall_seconds: f64,
    /// Processor time of all threads.
    pub cpu_seconds: f64,
    /// Time of reading queries and opening databases.
    pub input_seconds: f64,
    /// Time of the preliminary search.
    pub search_seconds: f64,
    /// Time of gapped alignments with traceback.
    pub traceback_seconds: f64,
    /// Time of formatting and writing.
    pub output_seconds: f64,
    /// Wall time that belongs to no phase: neither input nor search, traceback or output.
    pub other_seconds: f64,
    /// Peak resident memory in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// The source of the number of threads; on several ranks, that of the first rank.
    pub threads_source: ThreadSource,
    /// Number of queries searched.
    pub queries: u64,
    /// Residues of the queries.
    pub query_residues: u64,
    /// Number of subjects searched.
    pub subjects: u64,
    /// Residues of the subjects.
    pub subject_residues: u64,
    /// The loading of the database into memory.
    pub loading: Option<Loading>,
    /// Costs of metadata, if the report is made at another site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<EncodingCosts>,
    /// Statistics over the ranks; `None` without ranks. The other times are then sums over the
    /// ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetTiming>,
}

/// Times over the ranks of a search. Seconds are wall time of activities, which may overlap on a
/// rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetTiming {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of groups of ranks.
    pub groups: u32,
    /// Number of partitions of the database.
    pub partitions: u32,
    /// Time of opening databases and reading queries.
    pub input_seconds: Spread,
    /// Time of the preliminary search.
    pub search_seconds: Spread,
    /// Time of alignments with traceback.
    pub traceback_seconds: Spread,
    /// Time in which masters merge the hits of tasks, select among them and lay out the output,
    /// concurrently with the search.
    pub merge_seconds: Spread,
    /// Time of formatting, and of sending and writing concurrently with the search.
    pub output_seconds: Spread,
    /// Time in which search threads have no task.
    pub idle_seconds: Spread,
    /// Number of tasks searched.
    pub tasks: Spread,
    /// Number of messages sent to other ranks.
    pub messages: Spread,
    /// Approximate bytes of the messages sent to other ranks.
    pub message_bytes: Spread,
}

/// The smallest, mean and largest value of a measurement on all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest value.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

impl Spread {
    /// Computes the smallest, mean and largest of these values; all are zero without values.
    pub fn from_values(values: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut sum, mut min, mut max) = (0_u32, 0.0, f64::MAX, 0.0_f64);
        for value in values {
            (count, sum) = (count + 1, sum + value);
            (min, max) = (min.min(value), max.max(value));
        }
        if count == 0 { Self::default() } else { Self { min, mean: sum / f64::from(count), max } }
    }
}

/// The loading of a database into memory: method, reason and costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loading {
    /// Name of the loader: `map`, `read`, `direct` or `broadcast`.
    pub method: &'static str,
    /// Reason for the method.
    pub reason: String,
    /// Bytes of the buffers through which the database is read; `None` if it fits in memory.
    pub streamed_through_bytes: Option<u64>,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes that ranks received from other hosts instead of reading them.
    pub bytes_received: u64,
    /// Kind of the memory pages.
    pub pages: String,
    /// Wall time of reading, concurrently with the search. With `broadcast`, the time of loading
    /// before the search, summed over the ranks that filled memory.
    pub read_seconds: f64,
    /// Time that searching threads waited for the database, in total.
    pub wait_seconds: f64,
}

impl Timing {
    /// Counts queries that were searched.
    pub fn add_queries(&mut self, queries: &[Query]) {
        self.queries += queries.len() as u64;
        self.query_residues += queries.iter().map(|query| u64::from(query.length)).sum::<u64>();
    }

    /// Sets the totals of the process, and the wall time of all ranks that belongs to no phase.
    pub fn close(&mut self, wall: Duration, ranks: usize) {
        let usage = Usage::now();
        self.wall_seconds = wall.as_secs_f64();
        self.cpu_seconds = usage.cpu_seconds;
        self.peak_memory_bytes = usage.peak_memory_bytes;
        let phases =
            self.input_seconds + self.search_seconds + self.traceback_seconds + self.output_seconds;
        self.other_seconds = (self.wall_seconds * ranks as f64 - phases).max(0.0);
    }

    /// Writes the times to a file; `-` is standard output, as for every output file.
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
        let spread = Spread::from_values([2.0, 1.0, 6.0].into_iter());
        assert_eq!(spread, Spread { min: 1.0, mean: 3.0, max: 6.0 });
        assert_eq!(Spread::from_values(std::iter::empty()), Spread::default());
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
