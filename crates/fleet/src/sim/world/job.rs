//! A job to simulate, and what becomes of it.

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

/// A payload of the simulation: a size, and what it is about.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Its size.
    pub bytes: u64,
    /// Of prepared queries, cuts, hits, questions, and replies.
    pub pass: PassId,
    /// Of questions and replies.
    pub round: u32,
}

impl Parcel {
    /// About no pass.
    pub fn without_pass(bytes: u64) -> Parcel {
        Parcel::with_pass(bytes, PassId(0))
    }

    /// About a pass.
    pub fn with_pass(bytes: u64, pass: PassId) -> Parcel {
        Parcel { bytes, pass, round: 0 }
    }
}

impl Payload for Parcel {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// All ranks die.
    pub kill: Option<Time>,
    /// A rank falls silent.
    pub death: Option<(Rank, Time)>,
    /// The supermaster is told to drain.
    pub drain: Option<Time>,
    /// A rank's writes fail from then on.
    pub full_disk: Option<(Rank, Time)>,
}

/// A job to simulate.
#[derive(Clone, Debug)]
pub struct Job {
    /// Who is where.
    pub topology: Arc<Topology>,
    /// Settings.
    pub config: Arc<Config>,
    /// The machine.
    pub machine: Machine,
    /// The queries.
    pub workload: Workload,
    /// What goes wrong.
    pub faults: Faults,
    /// What an earlier run left.
    pub checkpoint: Checkpoint,
    /// What is done before the first block is searched; nothing if `None`.
    pub startup: Option<Startup>,
    /// Keep account of every byte. Takes memory for each task and block.
    pub audit: bool,
    /// Determines noise, jitter and stragglers.
    pub seed: u64,
}

impl Job {
    /// A job in which nothing goes wrong, from the beginning.
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

/// What became of a job.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: RunEnd,
    /// Its figures.
    pub report: Report,
    /// What is durable.
    pub checkpoint: Checkpoint,
    /// What was wrong; empty unless audited.
    pub violations: Vec<String>,
    /// When each block of the output was written, and all before it; empty unless audited.
    pub reached: Vec<Time>,
}
