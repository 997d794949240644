//! Figures of a simulated run.

use serde::{Deserialize, Serialize};

use super::startup::Phase;
use crate::traffic::Traffic;

/// Figures of a simulated run. Times are in seconds. "In sum" means the sum over all workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of ranks that search.
    pub workers: u32,
    /// Number of groups.
    pub groups: u32,
    /// Number of tasks searched.
    pub tasks: u64,
    /// Time from the start to the end of the job.
    pub makespan: f64,
    /// Time before the first block is searched; a part of the makespan.
    pub startup: f64,
    /// Phases of the startup.
    pub phases: Vec<Phase>,
    /// Time for searching tasks, in sum.
    pub search: f64,
    /// Time for answering the questions of rounds (traceback, formatting), in sum.
    pub answer: f64,
    /// Time in which search threads wait because pieces are written to the spool, in sum.
    pub blocked: f64,
    /// Time for writing and sending output while searches go on, in sum.
    pub output: f64,
    /// Time in which search threads have no work, in sum.
    pub idle: f64,
    /// Mean time between a worker's last work and the end of the job.
    pub tail: f64,
    /// (search + answer) / (workers × makespan).
    pub worker_efficiency: f64,
    /// (search + answer) / (ranks × makespan).
    pub efficiency: f64,
    /// Share of the workers' time in which they waited for output: blocked / (workers × makespan).
    pub output_share: f64,
    /// Messages that the supermaster sent.
    pub supermaster: Traffic,
    /// Messages that masters sent.
    pub masters: Traffic,
    /// Messages that workers sent.
    pub worker_traffic: Traffic,
    /// Share of the makespan in which the supermaster handled messages.
    pub supermaster_load: f64,
    /// Fraction of the makespan in which the supermaster carried out works: it read queries, opened
    /// and closed the output, verified blocks, or wrote partial grains. It handles messages at the
    /// same time.
    pub reading_load: f64,
    /// Fraction of the makespan in which the busiest master was busy.
    pub master_load: f64,
    /// Number of messages that the busiest master sent.
    pub master_messages: u64,
    /// Time of all masters per task, in microseconds.
    pub master_per_task: f64,
    /// Most bytes of output that any worker held at a time.
    pub peak_memory: u64,
    /// Largest number of bytes of finished output that waited at once for an earlier block.
    pub waiting: u64,
    /// Bytes of formatted pieces written to spools.
    pub spooled: u64,
    /// Bytes written to the output and the checkpoint.
    pub written: u64,
    /// Share of the makespan that the file system needs to write these bytes at its full rate.
    pub file_load: f64,
    /// Number of simulated events.
    pub events: u64,
}
