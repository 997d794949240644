//! A job to simulate, and its outcome.

use std::sync::Arc;

use crate::config::Config;
use crate::end::{Failure, JobEnd};
use crate::ids::{PassId, Rank, Time};
use crate::payload::Payload;
use crate::sim::ledger::Checkpoint;
use crate::sim::machine::Machine;
use crate::sim::report::Report;
use crate::sim::startup::Startup;
use crate::sim::workload::Workload;
use crate::topology::Topology;

/// A payload of the simulation. It has no contents, only a size, and the pass and round to which it
/// belongs.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Size in bytes.
    pub bytes: u64,
    /// Pass to which prepared queries, cuts, hits, questions and replies belong.
    pub pass: PassId,
    /// Round to which questions and replies belong.
    pub round: u32,
}

impl Parcel {
    /// Creates a payload that belongs to no pass.
    pub fn without_pass(bytes: u64) -> Parcel {
        Parcel::with_pass(bytes, PassId(0))
    }

    /// Creates a payload of a pass.
    pub fn with_pass(bytes: u64, pass: PassId) -> Parcel {
        Parcel { bytes, pass, round: 0 }
    }
}

impl Payload for Parcel {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Faults that occur in a simulated run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Time when all ranks die.
    pub kill: Option<Time>,
    /// A rank that falls silent, and the time when it does.
    pub death: Option<(Rank, Time)>,
    /// Time when the supermaster receives a request to end the job early.
    pub drain: Option<Time>,
    /// A rank whose writes fail, and the time from which they do.
    pub full_disk: Option<(Rank, Time)>,
}

/// A job to simulate.
#[derive(Clone, Debug)]
pub struct Job {
    /// The roles of the ranks.
    pub topology: Arc<Topology>,
    /// Settings of scheduling and output.
    pub config: Arc<Config>,
    /// Properties of the machine.
    pub machine: Machine,
    /// The queries, and the times and sizes of all works on them.
    pub workload: Workload,
    /// Faults that occur.
    pub faults: Faults,
    /// The checkpoint that an earlier run left.
    pub checkpoint: Checkpoint,
    /// Phases before the first block is searched; `None` for a start that takes no time.
    pub startup: Option<Startup>,
    /// Whether to check every byte. The checks take memory for each task and block.
    pub audit: bool,
    /// Seed of random times, and of the choice of slow ranks.
    pub seed: u64,
}

impl Job {
    /// Creates a job without faults or checkpoint.
    pub fn new(
        topology: Topology,
        config: Config,
        machine: Machine,
        workload: Workload,
        seed: u64,
    ) -> Job {
        Job {
            topology: Arc::new(topology),
            config: Arc::new(config),
            machine,
            workload,
            faults: Faults::default(),
            checkpoint: Checkpoint::default(),
            startup: None,
            audit: false,
            seed,
        }
    }
}

/// The way in which a simulated run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All roles exited, with this result.
    Exited(JobEnd),
    /// [`Faults::kill`] ended the run.
    Killed,
    /// A role ended the job with this error.
    Failed(Failure),
    /// No event that could continue the run was left: a deadlock.
    Stuck,
}

/// Outcome of a simulated run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The way in which the run ended.
    pub end: RunEnd,
    /// Figures of the run.
    pub report: Report,
    /// The checkpoint after the run; empty unless the job is audited.
    pub checkpoint: Checkpoint,
    /// Descriptions of violations; empty unless the job is audited.
    pub violations: Vec<String>,
    /// For each block, the time when it and all earlier blocks were written; empty unless audited.
    pub written_at: Vec<Time>,
}
