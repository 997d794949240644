//! Sources of a workload: recorded runs and distributions.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::payload::Weight;

/// A recorded run: times and sizes of the works on each block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Number of search threads per worker.
    pub threads: u32,
    /// Number of rounds of a block that has hits.
    pub rounds: u32,
    /// The blocks in the order of the input.
    pub blocks: Vec<TraceBlock>,
}

/// A block of a recorded run. Lists have one entry per partition of the recorded run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceBlock {
    /// Weight of the block.
    pub weight: Weight,
    /// Size of its queries in bytes, as sent.
    pub query_bytes: u64,
    /// Time to read the block, in seconds.
    pub read_seconds: f64,
    /// Time to prepare its queries for the search, in seconds.
    pub prepare_seconds: f64,
    /// Time to search each partition, in seconds.
    pub search_seconds: Vec<f64>,
    /// Time to answer all rounds for each partition, in seconds.
    pub answer_seconds: Vec<f64>,
    /// Size of the preliminary hits of each partition in bytes.
    pub hit_bytes: Vec<u64>,
    /// Size of the formatted pieces of each partition in bytes.
    pub piece_bytes: Vec<u64>,
    /// Size of the master's pieces in bytes.
    pub master_bytes: u64,
    /// Time of all works of the master, in seconds.
    pub master_seconds: f64,
}

/// Distributions from which queries are drawn. Sizes and times are log-normal. Three quantities are
/// independent: a query's residues, its time per residue, and the deviation of each task from the
/// time that these two give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of queries.
    pub queries: u32,
    /// Mean number of residues of a query.
    pub residues: f64,
    /// Standard deviation of the logarithm of a query's residues.
    pub residue_spread: f64,
    /// Mean time to search a query in all partitions once, in seconds.
    pub search_seconds: f64,
    /// Standard deviation of the logarithm of a query's time per residue. All tasks of a query
    /// share this deviation.
    pub query_spread: f64,
    /// Standard deviation of the logarithm of a task's time, given its block.
    pub task_spread: f64,
    /// Time of answering, as a fraction of the time of searching.
    pub answer_share: f64,
    /// Relative numbers of queries that need one pass, two, and so on. At least one of them is
    /// above 0.
    pub passes: Vec<f64>,
    /// Whether a pass is a prediction that the supermaster verifies. Then all passes of a block but
    /// the last are wrong, and have no results.
    pub predicted: bool,
    /// Number of rounds of a pass that has hits: two for alignment and formatting, or three if rows
    /// of a sorted table are made in between.
    pub rounds: u32,
    /// Mean number of subjects that a pass reports for a query.
    pub subjects: f64,
    /// Most formatted pieces of a partition that has hits. With more subjects, the pieces are
    /// longer.
    pub most_pieces: u32,
    /// Mean size of a subject's formatted piece in bytes.
    pub piece_bytes: f64,
    /// Standard deviation of the logarithm of a piece's size.
    pub piece_spread: f64,
    /// Size of a query's header and footer in bytes. The master makes them.
    pub master_bytes: u64,
    /// Size of a query's preliminary hits in bytes, in all partitions together, for one pass.
    pub hit_bytes: f64,
    /// Time of all works of a master on a query in one pass, in seconds.
    pub master_seconds: f64,
    /// Additional time of each work of a master, in seconds.
    pub work_seconds: f64,
    /// Time to read and send one residue of the queries, in seconds.
    pub read_seconds: f64,
    /// Time to prepare one residue of the queries for the search, in seconds.
    pub prepare_seconds: f64,
}

impl Distribution {
    /// Draws the number of passes that a query needs.
    pub(super) fn draw_passes(&self, rng: &mut impl Rng) -> usize {
        let mut left = rng.random::<f64>() * self.passes.iter().sum::<f64>();
        let is_reached = |share: &f64| {
            left -= share;
            left < 0.0
        };
        self.passes.iter().position(is_reached).unwrap_or(self.passes.len().saturating_sub(1)) + 1
    }
}

/// Source of the blocks of a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The blocks are drawn from distributions.
    Drawn(Distribution),
    /// The blocks come from a recorded run, repeated from its start until there are this many
    /// blocks.
    Recorded(Trace, u32),
}
