//! Settings of the scheduling and the output. They are the same on all ranks.

use serde::{Deserialize, Serialize};

use crate::ids::Time;
use crate::payload::Weight;
use crate::seams::GRAIN;

/// Method by which the output gets into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// WorkerMerge: the worker with most of a block's bytes collects the rest and writes the block
    /// contiguously.
    #[default]
    Merge,
    /// WorkerIndividual: each worker writes its own pieces at their offsets.
    Individual,
    /// WorkerCollective: the workers of a group write together.
    Collective,
    /// No single output file. The worker with most of a block's bytes stores the block as a record,
    /// and the stored records are the output.
    Records,
}

/// Method by which blocks get to the groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The supermaster hands blocks to a group whenever the group runs short of tasks.
    #[default]
    Dynamic,
    /// The supermaster hands out all blocks at once, in consecutive shares of equal residues
    /// (LengthSplit, Rangwala et al.).
    Length,
    /// The supermaster hands out all blocks at once, in consecutive shares of equal weight:
    /// residues + 225 × sequences (WeightSplit, ScalaBLAST).
    Weight,
}

/// Order in which the supermaster hands out blocks of queries, if the user chose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryOrder {
    /// The order of the input.
    Given,
    /// The longest block among those that have been read comes first. Until the first block of the
    /// input is finished, no output can be written.
    Longest,
}

impl QueryOrder {
    /// Returns the value of [`Config::longest_first`] for an order, or the default value for
    /// `None`.
    pub fn longest_first(order: Option<QueryOrder>) -> f64 {
        match order {
            None => Config::default().longest_first,
            Some(QueryOrder::Given) => 0.0,
            Some(QueryOrder::Longest) => f64::MAX,
        }
    }
}

/// Weight of a sequence in residues, in addition to its own residues (ScalaBLAST).
pub const SEQUENCE_WEIGHT: u64 = 225;

/// Time limits for the messages by which ranks recognise that other ranks are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// A role that has sent a peer nothing for this long sends it a ping.
    pub interval: Time,
    /// A peer that has sent nothing for longer than this counts as dead.
    pub limit: Time,
}

/// Settings of the scheduling and the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Method by which the output gets into the file.
    pub strategy: Strategy,
    /// Method by which blocks get to the groups.
    pub schedule: Schedule,
    /// Whether the search of a block depends on the results of the blocks before it. Such a block
    /// is searched under a prediction. The supermaster verifies one block after the other, and a
    /// block with a wrong prediction is searched again. Blocks are handed out one by one in their
    /// order, so that some group always searches the next block to verify.
    pub verifies_blocks: bool,
    /// Whether finished blocks outlive the job in a checkpoint, so that a drain can save them.
    pub checkpoint: bool,
    /// Most bytes that a worker writes, collects or sends at once.
    pub write_buffer: u64,
    /// Size of a grain of the output in bytes, at least 1. Only one rank writes each grain (see
    /// [`crate::seams`]).
    pub grain: u64,
    /// Most bytes of output that a worker may hold; at least [`Config::least_result_memory`].
    pub result_memory: u64,
    /// Most bytes of output that may wait for their offset, in memory and spools of all workers.
    /// While more bytes wait, groups get no further blocks, except a block for which other blocks
    /// wait.
    pub waiting_limit: u64,
    /// Most tasks that may wait at a worker in addition to the task that it searches. Applies while
    /// tasks are shorter than [`Config::prefetch_below`].
    pub prefetch: u32,
    /// Tasks wait at a worker only while the mean time of a task is shorter than this.
    pub prefetch_below: Time,
    /// A master asks for blocks when it has fewer unassigned tasks per worker than this.
    pub look_ahead: f64,
    /// Most unfinished blocks of a master, at least 1.
    pub most_unfinished_blocks: u32,
    /// Most queries in a master's unfinished blocks, at least 1. Only the last block may exceed it.
    /// A rank holds some kilobytes for each query, however short the query is.
    pub most_unfinished_queries: u64,
    /// Most queries in a query segment: the whole blocks, at least one, that a group gets at once.
    pub segment_queries: u64,
    /// Most residues in a query segment, which consists of at least one whole block. While the
    /// number of all residues is unknown, query segments have this size.
    pub segment_residues: u64,
    /// Weight of all queries, if known. If so, query segments become smaller towards the end of the
    /// input.
    pub total: Option<Weight>,
    /// Divisor that bounds a query segment: it has at most the remaining residues / (number of
    /// groups × `segment_divisor`).
    pub segment_divisor: f64,
    /// Factor by which a block may take longer than its residues suggest. The supermaster hands out
    /// the longest block early, as soon as all workers together might finish the other blocks
    /// before it. With 0 it hands no block out early.
    pub longest_first: f64,
    /// The supermaster reads queries ahead until this many bytes of them wait to be handed out.
    pub read_ahead: u64,
    /// Interval of pings, and silence after which a rank counts as dead. `None` disables both.
    pub heartbeat: Option<Heartbeat>,
    /// Most time after a drain for running tasks to end and for finished blocks to become durable.
    pub drain_limit: Time,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            strategy: Strategy::Merge,
            schedule: Schedule::Dynamic,
            verifies_blocks: false,
            checkpoint: false,
            write_buffer: 4 << 20,
            grain: GRAIN,
            result_memory: 256 << 20,
            waiting_limit: 4 << 30,
            prefetch: 1,
            prefetch_below: Time(300_000_000),
            look_ahead: 1.0,
            most_unfinished_blocks: 64,
            most_unfinished_queries: 10_000,
            segment_queries: 2_000,
            segment_residues: 100_000,
            total: None,
            segment_divisor: 4.0,
            longest_first: 8.0,
            read_ahead: 16 << 20,
            heartbeat: Some(Heartbeat {
                interval: Time(2_000_000_000),
                limit: Time(20_000_000_000),
            }),
            drain_limit: Time(20_000_000_000),
        }
    }
}

/// Number of write buffers for which a worker reserves memory. Two are for windows that it collects
/// or writes, one for a part that it sends, one for its portion of a collective write.
pub const RESERVED_WRITE_BUFFERS: u64 = 4;

/// Smallest useful size of the write buffer in bytes; the command line raises smaller sizes to it.
/// Each buffer costs a message when it is sent, and a system call when it is written.
pub const MIN_WRITE_BUFFER: u64 = 64;

/// Largest size of the write buffer in bytes. It is bounded because a worker holds several buffers
/// in memory.
pub const MAX_WRITE_BUFFER: u64 = 64 << 30;

/// Error for a setting with which the job cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The memory for results is too small for the write buffers.
    #[error(
        "result memory of {given} bytes per worker is too little: {least} bytes are needed for write buffers of {buffer} bytes; raise -result_memory or lower -write_buffer"
    )]
    ResultMemory {
        /// Bytes that the user allowed.
        given: u64,
        /// Bytes needed.
        least: u64,
        /// Size of the write buffer in bytes.
        buffer: u64,
    },
    /// The write buffer is so large that memory cannot hold several of them.
    #[error("-write_buffer of {given} bytes is too large: it may have {MAX_WRITE_BUFFER} bytes")]
    WriteBuffer {
        /// The requested size in bytes.
        given: u64,
    },
    /// A setting is 0 (or not a number), and must be greater than 0.
    #[error("{name} must be greater than 0")]
    Zero {
        /// Name of the setting or option.
        name: &'static str,
    },
}

impl Config {
    /// Returns the least [`Config::result_memory`] in bytes that suffices for the write buffers.
    pub fn least_result_memory(&self) -> u64 {
        (RESERVED_WRITE_BUFFERS + 1).saturating_mul(self.write_buffer)
    }

    /// Returns the size of a grain in bytes if only one rank may write each grain; otherwise
    /// `None`. Only the merge strategy needs exclusive grains. With the other strategies, pieces of
    /// several workers interleave, and MPI-IO coordinates them where a file system needs it.
    pub fn exclusive_grain(&self) -> Option<u64> {
        (self.strategy == Strategy::Merge).then_some(self.grain)
    }

    /// Whether each block is stored before it counts as finished.
    pub fn stores_blocks(&self) -> bool {
        self.checkpoint || self.strategy == Strategy::Records
    }

    /// Checks that the job can run with these settings.
    ///
    /// # Errors
    /// Returns the first setting with which the job cannot run.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (name, is_zero) in [
            ("-write_buffer", self.write_buffer == 0),
            ("grain", self.grain == 0),
            ("-segment_size", self.segment_residues == 0),
            ("most_unfinished_blocks", self.most_unfinished_blocks == 0),
            ("most_unfinished_queries", self.most_unfinished_queries == 0),
            ("segment_divisor", self.segment_divisor.is_nan() || self.segment_divisor <= 0.0),
        ] {
            if is_zero {
                return Err(ConfigError::Zero { name });
            }
        }
        if self.write_buffer > MAX_WRITE_BUFFER {
            return Err(ConfigError::WriteBuffer { given: self.write_buffer });
        }
        let least = self.least_result_memory();
        if self.result_memory < least {
            let (given, buffer) = (self.result_memory, self.write_buffer);
            return Err(ConfigError::ResultMemory { given, least, buffer });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_buffers_too_large_for_memory_are_refused() {
        for given in [MAX_WRITE_BUFFER + 1, 18_000_000_000_000_000_000, u64::MAX] {
            let result_memory = u64::MAX;
            let config = Config { write_buffer: given, result_memory, ..Config::default() };
            assert_eq!(config.validate(), Err(ConfigError::WriteBuffer { given }));
        }
        let write_buffer = MAX_WRITE_BUFFER;
        let config = Config { write_buffer, result_memory: u64::MAX, ..Config::default() };
        assert_eq!(config.validate(), Ok(()));
    }
}
