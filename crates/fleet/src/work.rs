//! Works: what a role has its driver do.

use serde::{Deserialize, Serialize};

use crate::ids::{Address, BlockId, PartitionId, PassId, WorkerId};
use crate::payload::{Payload, Queries};

/// Which works exclude each other: a role has at most one of a lane under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Uses the rank's search threads.
    Compute,
    /// Reads, writes or copies; goes on beside a search.
    Io,
}

/// Works of the supermaster, all on [`Lane::Io`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupermasterWork<P> {
    /// Create the output and write what comes before the first block.
    Open,
    /// Read the next block of queries.
    Read {
        /// Its number.
        block: BlockId,
        /// An earlier run finished it: the queries themselves are not needed.
        skip: bool,
    },
    /// Judge what a pass of a block found: all blocks before it are judged, and found right.
    Judge {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// What its master tells of it.
        found: P,
    },
    /// Write bytes that workers handed over, each at its place in the output.
    Write(Vec<(u64, P)>),
    /// Write what comes after the last block. The driver gives the file its name when all ranks have closed it.
    Close {
        /// Where the last block's output ends.
        offset: u64,
    },
}

/// What comes of the supermaster's works.
#[derive(Clone, Debug)]
pub enum SupermasterOutcome<P> {
    /// Of `Open`: where the first block's output begins.
    Opened {
        /// The offset.
        base: u64,
    },
    /// Of `Read`: a block, or the end of the input.
    Read(Option<Queries<P>>),
    /// Of `Judge`.
    Judged {
        /// The block is right, and the next one may be judged; otherwise it is searched again.
        right: bool,
        /// For its master.
        verdict: P,
    },
    /// Of `Write`.
    Wrote,
    /// Of `Close`.
    Closed,
}

/// Works of a master, all on [`Lane::Compute`]: short ones, on one thread beside the search.
#[derive(Clone, Debug)]
pub enum MasterWork<P> {
    /// Prepare a block's queries for the search, once for all who search them.
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
    /// All hits of a pass are there, or all replies of its last round: decide what comes next.
    Round {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// Rounds of the pass before this one.
        round: u32,
        /// Replies of the last round, one per worker asked.
        replies: Vec<P>,
    },
    /// What a pass found was judged: decide what comes next.
    Judged {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// What the supermaster says of it.
        verdict: P,
    },
    /// Put together bytes of the master's own pieces, for a worker that writes them.
    Gather {
        /// The slices among these with [`Holder::Master`], in their order; offsets do not matter.
        runs: Vec<Run>,
    },
}

/// What comes of a master's works.
#[derive(Clone, Debug)]
pub enum MasterOutcome<P> {
    /// Of `Prepare`: the queries with what was found of them.
    Prepared {
        /// For those who search.
        queries: P,
        /// The pass that these are for, with which the block begins here: 0, or the one after the last that an earlier run
        /// finished and that the works have kept.
        pass: PassId,
    },
    /// Of `Absorb`: the new cut, if it rose.
    Absorbed {
        /// The cut.
        cut: Option<P>,
    },
    /// Of a `Round`: the supermaster is to judge what was found. Of the first of a pass, where blocks are searched in the light of those
    /// before ([`Config::consults`](crate::config::Config::consults)); of the last of all, where only their output depends on those.
    Consult {
        /// What it is to know.
        found: P,
    },
    /// Of `Round` and `Judged`: another round. Only partitions of the database that were searched in this pass may be asked; at least
    /// one.
    Ask(Vec<(PartitionId, P)>),
    /// Of `Round` and `Judged`: the pass is over, and the block is searched once more, in all partitions. What of the pass is to
    /// outlive this run must be durable already: a drain drops the block here.
    Again {
        /// For those who search, in place of those before.
        queries: P,
    },
    /// Of `Round` and `Judged`: the end; the block's output, in its order, from the pieces of all passes searched here.
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
    /// Answer the master's round (compute): align, or format into memory.
    Answer {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// What is wanted of each partition.
        parts: Vec<(PartitionId, P)>,
        /// Bytes of formatted pieces that may stay in memory; what does not fit goes to the spool.
        budget: u64,
    },
    /// Take part in a collective write (io): it waits for the others of the group, whose io lanes it does not need
    /// otherwise. May hold a write buffer full.
    Collective {
        /// The worker's portion; offsets count from the start of the file.
        runs: Vec<Run>,
        /// The master's bytes in it, in the order of the slices.
        master: Option<P>,
    },
    /// Put together bytes of own pieces for a worker that writes them (io).
    Gather {
        /// The block.
        block: BlockId,
        /// The bytes, in this order.
        slices: Vec<Slice>,
    },
    /// Write to the output (io).
    Write(Window<P>),
    /// Put the bytes of a window, which is one run, together for the supermaster, which writes them (io).
    HandOver(Window<P>),
    /// Append to the checkpoint and make durable (io). Offsets count from the start of the block's output. A block is in
    /// the checkpoint when what was stored of it, by whomever, is all of its output, which may be empty.
    Persist {
        /// The bytes.
        window: Window<P>,
        /// Bytes of the block's whole output: with how much stored the block is finished.
        size: u64,
        /// The worker's portion of the block is complete with this.
        last: bool,
    },
}

impl<P> WorkerWork<P> {
    /// The work's lane.
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

/// What comes of a worker's works. `freed` counts the bytes of formatted pieces that are no longer in memory: every
/// byte of a piece is taken once, by `Gather`, `Write`, `Persist` or `Collective`.
#[derive(Clone, Debug)]
pub enum WorkerOutcome<P> {
    /// Of `Search`: preliminary hits.
    Found(P),
    /// Of `Answer`.
    Answered {
        /// The answer.
        reply: P,
        /// Bytes of formatted pieces now in memory because of it, at most the budget.
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

/// Who holds formatted bytes, as a layout says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Owner {
    /// The master: headers, tables, footers.
    Master,
    /// The worker that answered for this partition in this pass of the block.
    Partition(PassId, PartitionId),
}

/// A stretch of a block's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Who formatted it.
    pub owner: Owner,
    /// Its number among the owner's pieces of the block (and pass and partition).
    pub piece: u32,
    /// Bytes.
    pub length: u64,
}

/// Where a slice's piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holder {
    /// With the group's master.
    Master,
    /// With a worker of the group, which made it of this partition in this pass.
    Worker(WorkerId, PassId, PartitionId),
    /// In the checkpoint: the piece is all that is stored of the block, whichever rank stored it in this run or an
    /// earlier one; [`Slice::start`] counts from the start of the block's output.
    Record,
}

/// Bytes of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Who has the piece.
    pub holder: Holder,
    /// Its number among the holder's pieces of the block (and pass and partition).
    pub piece: u32,
    /// Where in the piece the bytes begin.
    pub start: u64,
    /// How many.
    pub length: u64,
}

/// Consecutive bytes of one block's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The block.
    pub block: BlockId,
    /// Where they go.
    pub offset: u64,
    /// Where they come from, in their order.
    pub slices: Vec<Slice>,
}

impl Run {
    /// Bytes.
    pub fn length(&self) -> u64 {
        self.slices.iter().map(|slice| slice.length).sum()
    }
}

/// Bytes to write at once, at most a write buffer full, all of one block.
#[derive(Clone, Debug)]
pub struct Window<P> {
    /// The block.
    pub block: BlockId,
    /// What goes where. A slice is found among this worker's own pieces, in the checkpoint, or, in the order of the
    /// slices, in the part that its holder sent.
    pub runs: Vec<Run>,
    /// What others sent, by holder.
    pub parts: Vec<(Address, P)>,
}

impl<P: Payload> Window<P> {
    /// Bytes to write.
    pub fn length(&self) -> u64 {
        self.runs.iter().map(Run::length).sum()
    }
}
