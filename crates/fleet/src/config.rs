//! Settings of the scheduling and the output; the same on all ranks.

use serde::{Deserialize, Serialize};

use crate::ids::Time;
use crate::payload::Weight;
use crate::seams::GRAIN;

/// How the output gets into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// WorkerMerge: the worker with most of a block's bytes collects the rest and writes
    /// contiguously.
    #[default]
    Merge,
    /// WorkerIndividual: each worker writes its own pieces where they belong.
    Individual,
    /// WorkerCollective: the workers of a group write together.
    Collective,
    /// No single output file: the worker with most of a block's bytes stores them, and the stored
    /// blocks are the output.
    Records,
}

/// How blocks get to the groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Blocks are handed out whenever a group runs short of tasks.
    #[default]
    Dynamic,
    /// Blocks are handed out once, in consecutive shares of equal residues (LengthSplit, Rangwala
    /// et al.).
    Length,
    /// Blocks are handed out once, in consecutive shares of equal weight: residues + 225 ×
    /// sequences (WeightSplit, ScalaBLAST).
    Weight,
}

/// Order in which blocks of queries are handed out, if the user chose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryOrder {
    /// The order of the input.
    Given,
    /// The longest of the blocks that were read comes first. All output waits for the first block.
    Longest,
}

impl QueryOrder {
    /// Returns [`Config::longest_first`] for an order; the default if there is none.
    pub fn longest_first(order: Option<QueryOrder>) -> f64 {
        match order {
            None => Config::default().longest_first,
            Some(QueryOrder::Given) => 0.0,
            Some(QueryOrder::Longest) => f64::MAX,
        }
    }
}

/// ScalaBLAST's weight of a sequence, in residues.
pub const SEQUENCE_WEIGHT: u64 = 225;

/// Limits for messages that show that a rank is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// A role that has sent nothing for this long sends a ping.
    pub interval: Time,
    /// A role that has sent nothing for longer than this counts as dead.
    pub limit: Time,
}

/// Settings of the scheduling and the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// How the output gets into the file.
    pub strategy: Strategy,
    /// How blocks get to the groups.
    pub schedule: Schedule,
    /// Whether the search of a block depends on the results of the blocks before it. Such a block
    /// is searched under a prediction. The supermaster verifies one block after the other, and a
    /// block whose prediction was wrong is searched again. Blocks are handed out one by one, in
    /// their order, so that the next block to verify is always being searched.
    pub verifies_blocks: bool,
    /// Whether finished blocks outlive the job, so that a drain can save them.
    pub checkpoint: bool,
    /// Most bytes that are written, collected or sent at once.
    pub write_buffer: u64,
    /// Bytes of a grain of the output, at least 1. Only one rank writes each grain (see
    /// [`crate::seams`]).
    pub grain: u64,
    /// Most bytes of output that a worker may hold; at least [`Config::least_result_memory`].
    pub result_memory: u64,
    /// Most bytes of output that may wait for their offset, of all workers, in memory and spools.
    /// With more, groups get no further blocks.
    pub waiting_limit: u64,
    /// Number of tasks that may wait at a worker besides the task that it searches. Applies while
    /// tasks are shorter than [`Config::prefetch_below`].
    pub prefetch: u32,
    /// Tasks wait at a worker only while their mean time is shorter than this.
    pub prefetch_below: Time,
    /// A master asks for blocks when fewer than this many tasks per worker are unassigned.
    pub look_ahead: f64,
    /// Most blocks that a master may have unfinished; at least 1.
    pub window: u32,
    /// Most queries of a master's unfinished blocks, at least 1; only the last block may exceed it.
    /// A rank holds some kilobytes for each query, however short it is.
    pub window_queries: u64,
    /// Most queries of a segment (whole blocks, at least one).
    pub segment_queries: u64,
    /// Most residues of a segment (whole blocks, at least one). While the total is unknown,
    /// segments have this size.
    pub segment_residues: u64,
    /// Weight of all queries, if known. Then segments become smaller towards the end of the input.
    pub total: Option<Weight>,
    /// Divisor of the largest segment: the remaining residues, divided by this number and by the
    /// number of groups.
    pub shrink: f64,
    /// Factor by which a block may take longer than its residues suggest. The supermaster hands a
    /// block out early once all workers together might finish the remaining blocks before it.
    /// With 0 no block is handed out early.
    pub longest_first: f64,
    /// Bytes of queries to read before a group asks for them.
    pub read_ahead: u64,
    /// Interval of pings, and the silence after which a rank counts as dead; `None` for no limit.
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
            window: 64,
            window_queries: 10_000,
            segment_queries: 2_000,
            segment_residues: 100_000,
            total: None,
            shrink: 4.0,
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

/// Number of write buffers for which a worker reserves memory: two windows being collected or
/// written, one part being sent, one portion of a collective write.
pub const RESERVED_WRITE_BUFFERS: u64 = 4;

/// Smallest size of the write buffer in bytes. Each buffer that is sent costs a message, and each
/// one that is written costs a system call.
pub const MIN_WRITE_BUFFER: u64 = 64;

/// Largest size of the write buffer in bytes. A worker holds several buffers in memory.
pub const MAX_WRITE_BUFFER: u64 = 64 << 30;

/// A setting with which the job cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Too little memory for results.
    #[error(
        "result memory of {given} bytes per worker is too little: {least} bytes are needed for write buffers of {buffer} bytes; raise -result_memory or lower -write_buffer"
    )]
    ResultMemory {
        /// Bytes that the user allowed.
        given: u64,
        /// Bytes needed.
        least: u64,
        /// Bytes of the write buffer.
        buffer: u64,
    },
    /// A write buffer too large for memory to hold several of them.
    #[error("-write_buffer of {given} bytes is too large: it may have {MAX_WRITE_BUFFER} bytes")]
    WriteBuffer {
        /// The size in bytes.
        given: u64,
    },
    /// A setting that must be greater than 0.
    #[error("{name} must be greater than 0")]
    Zero {
        /// The setting.
        name: &'static str,
    },
}

impl Config {
    /// Returns the least [`Config::result_memory`] for the write buffer.
    pub fn least_result_memory(&self) -> u64 {
        (RESERVED_WRITE_BUFFERS + 1).saturating_mul(self.write_buffer)
    }

    /// Returns the bytes of a grain if only one rank may write each grain, else `None`. Only the
    /// merge strategy needs exclusive grains. With the other strategies, pieces of several workers
    /// interleave, and MPI-IO coordinates them where a file system needs it.
    pub fn exclusive_grain(&self) -> Option<u64> {
        (self.strategy == Strategy::Merge).then_some(self.grain)
    }

    /// Whether each block is stored before it counts as finished.
    pub fn stores_blocks(&self) -> bool {
        self.checkpoint || self.strategy == Strategy::Records
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Names the setting with which the job could not run.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (name, is_zero) in [
            ("-write_buffer", self.write_buffer == 0),
            ("grain", self.grain == 0),
            ("-segment_size", self.segment_residues == 0),
            ("window", self.window == 0),
            ("window_queries", self.window_queries == 0),
            ("shrink", self.shrink.is_nan() || self.shrink <= 0.0),
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
