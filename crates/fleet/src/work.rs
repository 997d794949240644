//! Works that a role starts on its driver.

use serde::{Deserialize, Serialize};

use crate::ids::{Address, BlockId, PartitionId, PassId, WorkerId};
use crate::payload::{Payload, Queries};

/// Works of a role on the same lane exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Uses the rank's search threads.
    Compute,
    /// Reads, writes or copies while a search goes on.
    Io,
}

/// Works of the supermaster, all on [`Lane::Io`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupermasterWork<P> {
    /// Create the output and write the bytes before the first block.
    Open,
    /// Read the next block of queries.
    Read {
        /// Its number.
        block: BlockId,
        /// Whether an earlier run finished the block, so that its queries are not needed.
        skip: bool,
    },
    /// Verify the results of a pass of a block. All blocks before it are verified and right.
    Verify {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The results, as its master sent them.
        found: P,
    },
    /// Write bytes of partial grains at these offsets of the output.
    Write(Vec<(u64, P)>),
    /// Write the bytes after the last block. The driver renames the file to its final name when all
    /// ranks have closed it.
    Close {
        /// End of the last block's output.
        offset: u64,
    },
}

/// Outcomes of the supermaster's works.
#[derive(Clone, Debug)]
pub enum SupermasterOutcome<P> {
    /// Of `Open`: the offset of the first block's output.
    Opened {
        /// The offset.
        base: u64,
    },
    /// Of `Read`: a block, or the end of the input.
    Read(Option<Queries<P>>),
    /// Of `Verify`.
    Verified {
        /// Whether the block is right and the next one may be verified; otherwise it is searched
        /// again.
        right: bool,
        /// The verdict for the block's master.
        verdict: P,
    },
    /// Of `Write`.
    Written,
    /// Of `Close`.
    Closed,
}

/// Works of a master, all on [`Lane::Compute`]: short ones, on one thread while the search goes on.
#[derive(Clone, Debug)]
pub enum MasterWork<P> {
    /// Prepare a block's queries for the search, once for all workers.
    Prepare {
        /// The block.
        block: BlockId,
        /// Its queries, as they were read.
        queries: P,
    },
    /// Merge the hits of a task into the list of its pass.
    Absorb {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The partition.
        partition: PartitionId,
        /// The hits.
        hits: P,
    },
    /// Decide the next step of a pass: all its hits are merged, or all replies of its last round
    /// have arrived.
    Round {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// Number of earlier rounds of the pass.
        round: u32,
        /// Replies of the last round, one per worker asked.
        replies: Vec<P>,
    },
    /// Decide the next step after the supermaster's verdict on a pass.
    Verified {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The verdict.
        verdict: P,
    },
    /// Collect bytes of the master's own pieces for a worker that writes them.
    Gather {
        /// Only slices with [`Holder::Master`] count, in their order; offsets do not matter.
        runs: Vec<Run>,
    },
}

/// Outcomes of a master's works.
#[derive(Clone, Debug)]
pub enum MasterOutcome<P> {
    /// Of `Prepare`: the queries with their masks and statistics.
    Prepared {
        /// Queries for the workers.
        queries: P,
        /// First pass of the block in this run: 0, or the pass after the last one that an earlier
        /// run finished and the works have kept.
        pass: PassId,
    },
    /// Of `Absorb`: the new cut, if it rose.
    Absorbed {
        /// The cut.
        cut: Option<P>,
    },
    /// Of `Round`: have the supermaster verify the results. This is the outcome of the first round
    /// of a pass if the search of blocks depends on earlier blocks
    /// ([`Config::verifies_blocks`](crate::config::Config::verifies_blocks)). It is the outcome of
    /// the last round of all if only their output does.
    Verify {
        /// The results to verify.
        found: P,
    },
    /// Of `Round` and `Verified`: another round. It may only ask about partitions that were
    /// searched in this pass, and about at least one.
    Ask(Vec<(PartitionId, P)>),
    /// Of `Round` and `Verified`: the pass is over, and the block is searched again in all
    /// partitions. Data of the pass that is to outlive this run must be durable already, because a
    /// drain drops the block here.
    NextPass {
        /// Queries for the workers, instead of those before.
        queries: P,
    },
    /// Of `Round` and `Verified`: the block is finished. Its output, in order, consists of pieces
    /// of all passes searched here.
    Layout(Vec<Extent>),
    /// Of `Gather`.
    Gathered(P),
}

/// Works of a worker.
#[derive(Clone, Debug)]
pub enum WorkerWork<P> {
    /// Search a task (compute).
    Search {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The partition.
        partition: PartitionId,
        /// The pass's queries, with the first task of it.
        queries: Option<P>,
        /// The highest cut of the pass that is known.
        cut: Option<P>,
    },
    /// Answer the master's questions of a round (compute): align, or format into memory.
    Answer {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The question for each partition.
        parts: Vec<(PartitionId, P)>,
        /// Bytes of formatted pieces that may stay in memory; the others go to the spool.
        budget: u64,
    },
    /// Take part in a collective write (io). It waits for the other workers of the group, but does
    /// not need their io lanes otherwise. It may hold a full write buffer.
    Collective {
        /// The worker's portion; offsets count from the start of the file.
        runs: Vec<Run>,
        /// The master's bytes in it, in the order of the slices.
        master: Option<P>,
    },
    /// Collect bytes of own pieces for a worker that writes them (io).
    Gather {
        /// The block.
        block: BlockId,
        /// The bytes, in this order.
        slices: Vec<Slice>,
    },
    /// Write to the output (io).
    Write(Window<P>),
    /// Collect the bytes of a window, which is one run, for the supermaster to write (io).
    HandOver(Window<P>),
    /// Append to the checkpoint and make durable (io). Offsets count from the start of the block's
    /// output. A block is in the checkpoint once all of its output, which may be empty, is stored
    /// there, by whichever workers.
    Persist {
        /// The bytes.
        window: Window<P>,
        /// Bytes of the block's whole output: the block is finished when this many are stored.
        size: u64,
        /// Whether this completes the worker's portion of the block.
        last: bool,
    },
}

impl<P> WorkerWork<P> {
    /// Returns the work's lane.
    pub fn lane(&self) -> Lane {
        match self {
            WorkerWork::Search { .. } | WorkerWork::Answer { .. } => Lane::Compute,
            WorkerWork::Collective { .. }
            | WorkerWork::Gather { .. }
            | WorkerWork::HandOver(_)
            | WorkerWork::Write(_)
            | WorkerWork::Persist { .. } => Lane::Io,
        }
    }
}

/// Outcomes of a worker's works. `freed` counts the bytes of formatted pieces that are no longer in
/// memory. `Gather`, `Write`, `Persist` or `Collective` takes every byte of a piece once.
#[derive(Clone, Debug)]
pub enum WorkerOutcome<P> {
    /// Of `Search`: preliminary hits.
    Searched(P),
    /// Of `Answer`.
    Answered {
        /// The reply.
        reply: P,
        /// Bytes of formatted pieces that it keeps in memory, at most the budget.
        kept: u64,
    },
    /// Of `Gather` and `HandOver`.
    Gathered {
        /// The bytes.
        bytes: P,
        /// Memory freed, without counting the payload.
        freed: u64,
    },
    /// Of `Write`, `Persist` and `Collective`.
    Written {
        /// Memory freed.
        freed: u64,
    },
}

/// The holder of formatted bytes, in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Owner {
    /// The master: headers, tables, footers.
    Master,
    /// The worker that answered for this partition in this pass of the block.
    Partition(PassId, PartitionId),
}

/// Consecutive bytes of a block's output, from one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The role that formatted it.
    pub owner: Owner,
    /// Number of the piece among the owner's pieces of the block (and pass and partition).
    pub piece: u32,
    /// Bytes.
    pub length: u64,
}

/// The place of a slice's piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holder {
    /// The group's master.
    Master,
    /// A worker of the group, which formatted the piece for this partition in this pass.
    Worker(WorkerId, PassId, PartitionId),
    /// The checkpoint. The piece is everything that is stored of the block, by whichever rank, in
    /// this run or an earlier one. [`Slice::start`] counts from the start of the block's output.
    Record,
}

/// Consecutive bytes of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The place of the piece.
    pub holder: Holder,
    /// Number of this piece among the pieces of the same block, pass and partition that the holder
    /// has.
    pub piece: u32,
    /// Offset in the piece.
    pub start: u64,
    /// Bytes of the slice.
    pub length: u64,
}

/// Consecutive bytes of one block's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The block.
    pub block: BlockId,
    /// Offset of the first byte.
    pub offset: u64,
    /// The slices that form the run, in their order.
    pub slices: Vec<Slice>,
}

impl Run {
    /// Returns the bytes of all slices.
    pub fn length(&self) -> u64 {
        self.slices.iter().map(|slice| slice.length).sum()
    }
}

/// Bytes of one block to write at once, at most a full write buffer.
#[derive(Clone, Debug)]
pub struct Window<P> {
    /// The block.
    pub block: BlockId,
    /// The bytes and their offsets. A slice comes from this worker's own pieces, from the
    /// checkpoint, or from the part that its holder sent, which has its slices in order.
    pub runs: Vec<Run>,
    /// Bytes that other holders sent.
    pub parts: Vec<(Address, P)>,
}

impl<P: Payload> Window<P> {
    /// Returns the bytes to write.
    pub fn length(&self) -> u64 {
        self.runs.iter().map(Run::length).sum()
    }
}
