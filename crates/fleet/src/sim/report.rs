//! What a simulated run tells.

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
    /// Of that, what passes before the first block is searched.
    pub startup: f64,
    /// The parts of that.
    pub phases: Vec<Phase>,
    /// Searching, in sum.
    pub search: f64,
    /// Answering rounds (traceback, formatting), in sum.
    pub answer: f64,
    /// Search lanes kept by output: spooling, in sum.
    pub blocked: f64,
    /// Writing and sending output beside the search, in sum.
    pub output: f64,
    /// Search lanes without work, in sum.
    pub idle: f64,
    /// Mean over workers of the time between their last work and the end.
    pub tail: f64,
    /// (search + answer) / (workers × makespan).
    pub worker_efficiency: f64,
    /// (search + answer) / (ranks × makespan).
    pub efficiency: f64,
    /// blocked / (workers × makespan).
    pub output_share: f64,
    /// Sent by the supermaster.
    pub supermaster: Traffic,
    /// Sent by masters.
    pub masters: Traffic,
    /// Sent by workers.
    pub worker_traffic: Traffic,
    /// The supermaster's share of the makespan in which it worked.
    pub supermaster_load: f64,
    /// The share of it in which it read queries, or opened or closed the output, beside that.
    pub reading_load: f64,
    /// Of the busiest master.
    pub master_load: f64,
    /// Messages that the busiest master sent.
    pub master_messages: u64,
    /// Microseconds of a master per task.
    pub master_per_task: f64,
    /// Most bytes of output that a worker held.
    pub peak_memory: u64,
    /// Most bytes of finished output, of all workers, that waited for an earlier block.
    pub waiting: u64,
    /// Bytes of formatted pieces that went to spools.
    pub spooled: u64,
    /// Bytes written to the output and the checkpoint.
    pub written: u64,
    /// The share of the makespan that the file system needs for that at its full rate.
    pub file_load: f64,
    /// Events simulated.
    pub events: u64,
}
