//! A job to simulate, and its outcome.

use std::sync::Arc;

use crate::config::Config;
use crate::end::{Exit, Failure};
use crate::ids::{PassId, Rank, Time};
use crate::payload::Payload;
use crate::sim::ledger::Checkpoint;
use crate::sim::machine::Machine;
use crate::sim::report::Report;
use crate::sim::startup::Startup;
use crate::sim::workload::Workload;
use crate::topology::Topology;

/// A payload of the simulation: its size, and the pass and round that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Its size.
    pub bytes: u64,
    /// Pass of prepared queries, cuts, hits, questions, and replies.
    pub pass: PassId,
    /// Round of questions and replies.
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

/// Faults of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// When all ranks die.
    pub kill: Option<Time>,
    /// A rank that falls silent, and when.
    pub death: Option<(Rank, Time)>,
    /// When the supermaster receives a drain.
    pub drain: Option<Time>,
    /// A rank whose writes fail from this time on.
    pub full_disk: Option<(Rank, Time)>,
}

/// A job to simulate.
#[derive(Clone, Debug)]
pub struct Job {
    /// Roles and ranks.
    pub topology: Arc<Topology>,
    /// Settings.
    pub config: Arc<Config>,
    /// The machine.
    pub machine: Machine,
    /// The queries.
    pub workload: Workload,
    /// Faults that occur.
    pub faults: Faults,
    /// Checkpoint that an earlier run left.
    pub checkpoint: Checkpoint,
    /// Phases before the first block is searched; none if `None`.
    pub startup: Option<Startup>,
    /// Whether to check every byte, which takes memory for each task and block.
    pub audit: bool,
    /// Determines random times and slow ranks.
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

/// How a simulated job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All roles exited.
    Exited(Exit),
    /// Ended by [`Faults::kill`].
    Killed,
    /// A role ended the job.
    Failed(Failure),
    /// Nothing more would happen: a deadlock.
    Stuck,
}

/// Outcome of a job.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: RunEnd,
    /// Its figures.
    pub report: Report,
    /// The checkpoint afterwards.
    pub checkpoint: Checkpoint,
    /// Violations; empty unless audited.
    pub violations: Vec<String>,
    /// For each block, when it and all blocks before it were written; empty unless audited.
    pub reached: Vec<Time>,
}
