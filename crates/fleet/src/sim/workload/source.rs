//! Sources of a workload: recorded runs and distributions.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::payload::Weight;

/// A recorded run: times and sizes of the works on each block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Search threads per worker.
    pub threads: u32,
    /// Rounds of a block that has hits.
    pub rounds: u32,
    /// The blocks in order.
    pub blocks: Vec<TraceBlock>,
}

/// A recorded block; lists have an entry per partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceBlock {
    /// Its weight.
    pub weight: Weight,
    /// Bytes of its queries, as sent.
    pub query_bytes: u64,
    /// Seconds to read it.
    pub read_seconds: f64,
    /// Seconds to prepare its queries for the search.
    pub prepare_seconds: f64,
    /// Seconds to search a partition.
    pub search_seconds: Vec<f64>,
    /// Seconds to answer all rounds for a partition.
    pub answer_seconds: Vec<f64>,
    /// Bytes of preliminary hits.
    pub hit_bytes: Vec<u64>,
    /// Bytes of formatted pieces.
    pub piece_bytes: Vec<u64>,
    /// Bytes of the master's pieces.
    pub master_bytes: u64,
    /// Seconds of the master's works.
    pub master_seconds: f64,
}

/// Distributions from which queries are drawn. Sizes and times are log-normal. Three quantities are
/// independent: a query's residues, its time per residue, and each task's deviation from that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of queries.
    pub queries: u32,
    /// Mean residues of a query.
    pub residues: f64,
    /// Standard deviation of the logarithm of a query's residues.
    pub residue_spread: f64,
    /// Mean seconds to search all partitions once for a query of mean size.
    pub search_seconds: f64,
    /// Standard deviation of the logarithm of a query's time per residue; all tasks of a query
    /// share this deviation.
    pub query_spread: f64,
    /// Standard deviation of the logarithm of a task's time, given its block.
    pub task_spread: f64,
    /// Seconds of answering, relative to those of searching.
    pub answer_share: f64,
    /// Relative numbers of queries that need one pass, two, and so on; at least one number above 0.
    pub passes: Vec<f64>,
    /// Whether a pass is a prediction that the supermaster verifies. Then all but the last pass of
    /// a block are wrong, and have no results.
    pub predicted: bool,
    /// Rounds of a pass that has hits: alignment and formatting; three if rows of a sorted table
    /// are made in between.
    pub rounds: u32,
    /// Mean number of subjects that a pass reports for a query.
    pub subjects: f64,
    /// Most formatted pieces of a partition that has hits; further subjects make these longer.
    pub most_pieces: u32,
    /// Mean bytes of a subject's formatted piece.
    pub piece_bytes: f64,
    /// Standard deviation of the logarithm of a piece's bytes.
    pub piece_spread: f64,
    /// Bytes of a query's header and footer, which the master makes.
    pub master_bytes: u64,
    /// Bytes of a query's preliminary hits of all partitions in a pass.
    pub hit_bytes: f64,
    /// Seconds of all of a master's works on a query in a pass.
    pub master_seconds: f64,
    /// Further seconds of each of a master's works.
    pub work_seconds: f64,
    /// Seconds to read and send a residue of the queries.
    pub read_seconds: f64,
    /// Seconds to prepare a residue of the queries for the search.
    pub prepare_seconds: f64,
}

impl Distribution {
    /// Draws the number of passes of a query.
    pub(super) fn draw_passes(&self, rng: &mut impl Rng) -> usize {
        let mut left = rng.random::<f64>() * self.passes.iter().sum::<f64>();
        let is_reached = |share: &f64| {
            left -= share;
            left < 0.0
        };
        self.passes.iter().position(is_reached).unwrap_or(self.passes.len().saturating_sub(1)) + 1
    }
}

/// Source of the blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Drawn from distributions.
    Drawn(Distribution),
    /// Recorded; repeated from the start until there are this many blocks.
    Recorded(Trace, u32),
}
