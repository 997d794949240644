//! Works that a role has its driver carry out.

use serde::{Deserialize, Serialize};

use crate::ids::{Address, BlockId, PartitionId, PassId, WorkerId};
use crate::payload::{Payload, Queries};

/// Class of a work. A role runs at most one work of each class at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkClass {
    /// The work uses the rank's search threads.
    Compute,
    /// The work reads, writes or copies while a search goes on.
    Io,
}

/// Works of the supermaster. All of them are of [`WorkClass::Io`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupermasterWork<P> {
    /// Create the output and write the bytes that come before the first block.
    Open,
    /// Read the next block of queries.
    Read {
        /// Number of the block.
        block: BlockId,
        /// Whether an earlier run finished the block, so that its queries are not needed.
        skip: bool,
    },
    /// Verify the results of a pass of a block. All earlier blocks are verified and confirmed.
    Verify {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The results, as the block's master sent them.
        results: P,
    },
    /// Write the bytes of grains (aligned units of the file) that no worker fills alone. Each
    /// element is an offset in the output and its bytes.
    Write(Vec<(u64, P)>),
    /// Write the bytes that come after the last block. The driver gives the file its final name
    /// when all ranks have closed it.
    Close {
        /// Offset in the output at which the last block ends.
        offset: u64,
    },
}

/// Outcomes of the supermaster's works.
#[derive(Clone, Debug)]
pub enum SupermasterOutcome<P> {
    /// Outcome of `Open`: the offset of the first block's output.
    Opened {
        /// The offset.
        base: u64,
    },
    /// Outcome of `Read`: a block, or `None` at the end of the input.
    Read(Option<Queries<P>>),
    /// Outcome of `Verify`.
    Verified {
        /// Whether the results are confirmed, so that the next block can be verified. Otherwise the
        /// block is searched again.
        is_confirmed: bool,
        /// The verdict for the block's master.
        verdict: P,
    },
    /// Outcome of `Write`.
    Written,
    /// Outcome of `Close`.
    Closed,
}

/// Works of a master. All of them are of [`WorkClass::Compute`]: they are short, and run on one
/// thread while the search goes on.
#[derive(Clone, Debug)]
pub enum MasterWork<P> {
    /// Prepare a block's queries for the search, once for all workers.
    Prepare {
        /// The block.
        block: BlockId,
        /// Queries of the block, as the supermaster read them.
        queries: P,
    },
    /// Merge the hits of a task into the hit lists of its pass.
    MergeHits {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The partition.
        partition: PartitionId,
        /// The hits.
        hits: P,
    },
    /// Decide the next step of a pass. Either all its hits are merged, or all replies of its last
    /// round have arrived.
    DecideNextStep {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// Number of earlier rounds of the pass.
        round: u32,
        /// Replies of the last round, one from each worker that the master asked.
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
        /// The bytes to collect: the slices with [`PieceLocation::Master`], in their order. Other
        /// slices and all offsets are ignored.
        runs: Vec<OutputRun>,
    },
}

/// Outcomes of a master's works.
#[derive(Clone, Debug)]
pub enum MasterOutcome<P> {
    /// Outcome of `Prepare`: the queries with their masks and statistics.
    Prepared {
        /// Queries for the workers.
        queries: P,
        /// First pass of the block in this run. It is 0, or the pass after the last one whose data
        /// an earlier run kept.
        pass: PassId,
    },
    /// Outcome of `MergeHits`: the new cut, if it rose.
    Absorbed {
        /// The cut: hits worse than it cannot be chosen.
        cut: Option<P>,
    },
    /// Outcome of `DecideNextStep`: have the supermaster verify the results. If the search of
    /// blocks depends on earlier blocks
    /// ([`Config::verifies_blocks`](crate::config::Config::verifies_blocks)), it is the outcome of
    /// the first round of a pass. If only their output depends on earlier blocks, it is the outcome
    /// of the last round of all.
    Verify {
        /// The results to verify.
        found: P,
    },
    /// Outcome of `DecideNextStep` and `Verified`: another round, with a question for each of these
    /// partitions. There is at least one, and all of them were searched in this pass.
    Ask(Vec<(PartitionId, P)>),
    /// Outcome of `DecideNextStep` and `Verified`: the pass is over, and the block is searched
    /// again in all partitions. Data of the pass that a later run needs must be durable already,
    /// because a drain drops the block here.
    NextPass {
        /// Queries for the workers; they replace the earlier queries.
        queries: P,
    },
    /// Outcome of `DecideNextStep` and `Verified`: the block is finished. Its output consists of
    /// these pieces, in this order, from all passes that this run searched.
    Layout(Vec<Extent>),
    /// Outcome of `Gather`: the collected bytes.
    Gathered(P),
}

/// Works of a worker. [`WorkerWork::class`] returns the class of each.
#[derive(Clone, Debug)]
pub enum WorkerWork<P> {
    /// Search a task (class `Compute`).
    Search {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The partition.
        partition: PartitionId,
        /// Queries of the pass; only with the worker's first task of the pass.
        queries: Option<P>,
        /// The highest cut of the pass that the worker knows.
        cut: Option<P>,
    },
    /// Answer the master's questions of a round (class `Compute`): align, or format into memory.
    Answer {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// Each partition with the master's encoded question about its hits.
        parts: Vec<(PartitionId, P)>,
        /// Bytes of formatted pieces that may stay in memory. Pieces beyond this go to the spool.
        budget: u64,
    },
    /// Take part in a collective write (class `Io`). It waits for the other workers of the group,
    /// but their other works of this class do not matter. It may hold a full write buffer.
    Collective {
        /// The worker's portion; offsets count from the start of the file.
        runs: Vec<OutputRun>,
        /// The bytes of the portion's slices that the master holds, in their order; `None` if it
        /// holds none.
        master: Option<P>,
    },
    /// Collect bytes of this worker's pieces for another worker that writes them (class `Io`).
    Gather {
        /// The block.
        block: BlockId,
        /// The bytes to collect, in this order.
        slices: Vec<Slice>,
    },
    /// Write a window to the output (class `Io`).
    Write(Window<P>),
    /// Collect the bytes of a window, which is one run, so that the supermaster can write them
    /// (class `Io`).
    HandOver(Window<P>),
    /// Append a window to the checkpoint and make it durable (class `Io`). Offsets count from the
    /// start of the block's output. A block is in the checkpoint once all of its output is stored,
    /// by any workers. The output may be empty.
    Persist {
        /// The bytes to append.
        window: Window<P>,
        /// Bytes of the block's whole output. The block is finished when all of them are stored.
        size: u64,
        /// Whether this window completes the worker's portion of the block.
        last: bool,
    },
}

impl<P> WorkerWork<P> {
    /// Returns the class of the work.
    pub fn class(&self) -> WorkClass {
        match self {
            WorkerWork::Search { .. } | WorkerWork::Answer { .. } => WorkClass::Compute,
            WorkerWork::Collective { .. }
            | WorkerWork::Gather { .. }
            | WorkerWork::HandOver(_)
            | WorkerWork::Write(_)
            | WorkerWork::Persist { .. } => WorkClass::Io,
        }
    }
}

/// Outcomes of a worker's works. `freed` counts bytes of formatted pieces that are no longer in
/// memory. Exactly one work takes each byte of a piece: `Gather`, `HandOver`, `Write`, `Persist` or
/// `Collective`.
#[derive(Clone, Debug)]
pub enum WorkerOutcome<P> {
    /// Outcome of `Search`: preliminary hits.
    Searched(P),
    /// Outcome of `Answer`.
    Answered {
        /// The reply.
        reply: P,
        /// Bytes of formatted pieces that the worker now keeps in memory, at most the budget.
        kept: u64,
    },
    /// Outcome of `Gather` and `HandOver`.
    Gathered {
        /// The bytes.
        bytes: P,
        /// Bytes of pieces that are no longer in memory, without the payload of this outcome.
        freed: u64,
    },
    /// Outcome of `Write`, `Persist` and `Collective`.
    Written {
        /// Bytes of pieces that are no longer in memory.
        freed: u64,
    },
}

/// The role that formatted a piece, as the layout of a block names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PieceOwner {
    /// The master, which formats headers, tables and footers.
    Master,
    /// The worker that answered for this partition in this pass of the block.
    Partition(PassId, PartitionId),
}

/// One piece of a block's output, in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The role that formatted the piece.
    pub owner: PieceOwner,
    /// Number of the piece among the owner's pieces of the block (and pass and partition).
    pub piece: u32,
    /// Bytes of the piece.
    pub length: u64,
}

/// The place where a piece is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceLocation {
    /// The memory of the group's master.
    Master,
    /// The memory or spool of a worker of the group, which formatted the piece for this partition
    /// in this pass.
    Worker(WorkerId, PassId, PartitionId),
    /// The checkpoint. The piece consists of all stored bytes of the block, from any rank, in this
    /// run or an earlier one. [`Slice::start`] counts from the start of the block's output.
    Checkpoint,
}

/// Consecutive bytes of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The place of the piece.
    pub location: PieceLocation,
    /// Number of the piece among the holder's pieces of the same block, pass and partition.
    pub piece: u32,
    /// Offset of the slice in the piece, in bytes.
    pub start: u64,
    /// Bytes of the slice.
    pub length: u64,
}

/// Consecutive bytes of one block's output, from one or more pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRun {
    /// The block.
    pub block: BlockId,
    /// Offset of the first byte, from the start of the block's output or of the file.
    pub offset: u64,
    /// The slices that form the run, in their order.
    pub slices: Vec<Slice>,
}

impl OutputRun {
    /// Returns the number of bytes of all slices.
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
    /// checkpoint, or from the part that its holder sent. A part has the bytes of its holder's
    /// slices in their order.
    pub runs: Vec<OutputRun>,
    /// Parts: the bytes that other holders sent, each with its sender.
    pub parts: Vec<(Address, P)>,
}

impl<P: Payload> Window<P> {
    /// Returns the number of bytes to write.
    pub fn length(&self) -> u64 {
        self.runs.iter().map(OutputRun::length).sum()
    }
}
