//! Figures of a simulated run.

use serde::{Deserialize, Serialize};

use super::startup::Phase;
use crate::traffic::Traffic;

/// Figures of a run. Times are in seconds; sums are over all workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Ranks.
    pub ranks: u32,
    /// Ranks that search.
    pub workers: u32,
    /// Groups.
    pub groups: u32,
    /// Tasks searched.
    pub tasks: u64,
    /// From the start to the end of the job.
    pub makespan: f64,
    /// Part of the makespan before the first block is searched.
    pub startup: f64,
    /// Phases of that part.
    pub phases: Vec<Phase>,
    /// Time of searching, in sum.
    pub search: f64,
    /// Time of answering rounds (traceback, formatting), in sum.
    pub answer: f64,
    /// Time in which output blocks search lanes by spooling, in sum.
    pub blocked: f64,
    /// Time of writing and sending output while searches go on, in sum.
    pub output: f64,
    /// Time of search lanes without work, in sum.
    pub idle: f64,
    /// Mean over workers of the time between their last work and the end.
    pub tail: f64,
    /// (search + answer) / (workers × makespan).
    pub worker_efficiency: f64,
    /// (search + answer) / (ranks × makespan).
    pub efficiency: f64,
    /// blocked / (workers × makespan).
    pub output_share: f64,
    /// Messages that the supermaster sent.
    pub supermaster: Traffic,
    /// Messages that masters sent.
    pub masters: Traffic,
    /// Messages that workers sent.
    pub worker_traffic: Traffic,
    /// Share of the makespan in which the supermaster handled messages.
    pub supermaster_load: f64,
    /// Share of the makespan in which the supermaster read queries, or opened or closed the output,
    /// at the same time.
    pub reading_load: f64,
    /// Load of the busiest master.
    pub master_load: f64,
    /// Number of messages that the busiest master sent.
    pub master_messages: u64,
    /// Microseconds of a master per task.
    pub master_per_task: f64,
    /// Most bytes of output that a worker held.
    pub peak_memory: u64,
    /// Most bytes of finished output of all workers that waited for an earlier block.
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
