//! Settings of the scheduling and the output; the same on all ranks.

use serde::{Deserialize, Serialize};

use crate::ids::Time;
use crate::payload::Weight;
use crate::seams::GRAIN;

/// How the output gets into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// WorkerMerge: the worker with most of a block's bytes collects the rest and writes contiguously.
    #[default]
    Merge,
    /// WorkerIndividual: each worker writes its own pieces where they belong.
    Individual,
    /// WorkerCollective: the workers of a group write together.
    Collective,
    /// There is no one file: what is stored of a block, by the worker with most of it, is its output.
    Records,
}

/// How blocks get to the groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Whenever a group runs short of tasks.
    #[default]
    Dynamic,
    /// Once, in consecutive shares of equal residues (LengthSplit, Rangwala et al.).
    Length,
    /// Once, in consecutive shares of equal weight: residues + 225 × sequences (WeightSplit, ScalaBLAST).
    Weight,
}

/// In which order blocks of queries are handed out, if it is wished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryOrder {
    /// In that of the input.
    Given,
    /// The longest of those that were read comes first; all output waits for that of the first block.
    Longest,
}

impl QueryOrder {
    /// [`Config::longest_first`] for an order, or the usual one.
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

/// Signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Who has sent nothing for this long sends a ping.
    pub interval: Time,
    /// Who was not heard of for longer than this is taken for dead.
    pub limit: Time,
}

/// Settings of the scheduling and the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// How the output gets into the file.
    pub strategy: Strategy,
    /// How blocks get to the groups.
    pub schedule: Schedule,
    /// How a block is searched depends on what those before it found. It is searched as is foretold, and once more where the
    /// supermaster, which judges one block after the other, finds that the forecast was wrong. Blocks are handed out one by one, in
    /// their order, so that the next one to be judged is always under way.
    pub consults: bool,
    /// Each block that counts as finished outlives the job, so that a drain is worth while.
    pub checkpoint: bool,
    /// Bytes written, collected or sent at once, at most.
    pub write_buffer: u64,
    /// The output is cut into grains of so many bytes, each of which one rank alone writes (see [`crate::seams`]); at
    /// least 1.
    pub grain: u64,
    /// Bytes of output that a worker may hold; at least [`Config::least_result_memory`].
    pub result_memory: u64,
    /// Bytes of output of all workers, in memory and spools, that may wait for their offset before groups get no more
    /// blocks.
    pub waiting_limit: u64,
    /// Tasks that a worker may have waiting beside the one under way ...
    pub prefetch: u32,
    /// ... while they take less than this, on average.
    pub prefetch_below: Time,
    /// A master asks for blocks when fewer than this many tasks per worker are unassigned.
    pub look_ahead: f64,
    /// Blocks that a master may have unfinished at most; at least 1.
    pub window: u32,
    /// Queries of these blocks at most, but for the block that exceeds the limit; at least 1. A rank holds
    /// some kilobytes for each query, however short it is.
    pub window_queries: u64,
    /// Queries of a segment at most (whole blocks, at least one).
    pub segment_queries: u64,
    /// Residues of a segment at most, and exactly as long as the total is unknown (whole blocks, at least one).
    pub segment_residues: u64,
    /// All queries, if known: segments shrink as the rest does.
    pub total: Option<Weight>,
    /// A segment is at most what remains divided by this and by the number of groups.
    pub shrink: f64,
    /// A block goes before its turn as soon as all workers together might need less for what remains than it does. For that,
    /// it is taken to need this many times what its residues tell; 0 for never.
    pub longest_first: f64,
    /// Bytes of queries that are read before they are wanted.
    pub read_ahead: u64,
    /// Signs of life; none if `None`.
    pub heartbeat: Option<Heartbeat>,
    /// Time after a drain in which running tasks may end and what is finished is made durable.
    pub drain_limit: Time,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            strategy: Strategy::Merge,
            schedule: Schedule::Dynamic,
            consults: false,
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

/// Write buffers for which a worker sets memory aside: two windows being collected or written, one part being sent,
/// one portion of a collective write.
pub const RESERVED_BUFFERS: u64 = 4;

/// The smallest write buffer that makes sense, in bytes: each one that is sent or written costs a
/// message and a call of the system.
pub const LEAST_WRITE_BUFFER: u64 = 64;

/// The largest write buffer, in bytes. Several of them are held in memory.
pub const MOST_WRITE_BUFFER: u64 = 64 << 30;

/// A setting that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Too little memory for results.
    #[error(
        "result memory of {given} bytes per worker is too little: {least} bytes are needed for write buffers of {buffer} bytes; raise -result_memory or lower -write_buffer"
    )]
    ResultMemory {
        /// What was asked for.
        given: u64,
        /// What is needed.
        least: u64,
        /// The write buffer.
        buffer: u64,
    },
    /// A write buffer that no memory could hold several times.
    #[error("-write_buffer of {given} bytes is too large: it may have {MOST_WRITE_BUFFER} bytes")]
    WriteBuffer {
        /// The size in bytes.
        given: u64,
    },
    /// A number that must be greater.
    #[error("{name} must be greater than 0")]
    Zero {
        /// The setting.
        name: &'static str,
    },
}

impl Config {
    /// Least [`Config::result_memory`] for the write buffer.
    pub fn least_result_memory(&self) -> u64 {
        (RESERVED_BUFFERS + 1).saturating_mul(self.write_buffer)
    }

    /// Bytes of the grains that one rank alone writes. With other strategies than merging, whose pieces lie between each
    /// other's, MPI-IO sees to that where a file system needs it.
    pub fn seams(&self) -> Option<u64> {
        (self.strategy == Strategy::Merge).then_some(self.grain)
    }

    /// Whether each block is stored before it counts as finished.
    pub fn stores(&self) -> bool {
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
        if self.write_buffer > MOST_WRITE_BUFFER {
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
    fn write_buffers_that_no_memory_holds_are_refused() {
        for given in [MOST_WRITE_BUFFER + 1, 18_000_000_000_000_000_000, u64::MAX] {
            let result_memory = u64::MAX;
            let config = Config { write_buffer: given, result_memory, ..Config::default() };
            assert_eq!(config.validate(), Err(ConfigError::WriteBuffer { given }));
        }
        let write_buffer = MOST_WRITE_BUFFER;
        let config = Config { write_buffer, result_memory: u64::MAX, ..Config::default() };
        assert_eq!(config.validate(), Ok(()));
    }
}
