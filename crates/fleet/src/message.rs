//! Messages between roles.

use serde::{Deserialize, Serialize};

use crate::end::{Exit, Failure};
use crate::ids::{BlockId, GroupId, PartitionId, PassId, WorkerId};
use crate::payload::{Payload, Queries};
use crate::work::{Run, Slice};

/// A message on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outgoing<P> {
    /// To the supermaster.
    Supermaster(ToSupermaster<P>),
    /// To a master.
    Master(GroupId, ToMaster<P>),
    /// To a worker.
    Worker(WorkerId, ToWorker<P>),
}

/// What the supermaster is told, by masters unless something else is said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToSupermaster<P> {
    /// The group wants more blocks.
    WantSegment,
    /// By the driver of a master's rank, now and then: tasks that were searched, and questions answered, since it told last. For who
    /// watches.
    Advanced {
        /// Blocks and numbers of these.
        blocks: Vec<(BlockId, u32)>,
    },
    /// What a pass of a block found, to be judged.
    Found {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// What there is to know of it.
        found: P,
    },
    /// The output of a block is laid out, and durable if there is a checkpoint.
    Finished {
        /// The block.
        block: BlockId,
        /// Bytes of its output.
        size: u64,
        /// Bytes that the group holds until it is written, in memory and files.
        held: u64,
    },
    /// The output of a block stands in the file.
    Placed {
        /// The block.
        block: BlockId,
    },
    /// By a worker: bytes in a grain of the file that is not all of one block, for the supermaster to write. They count as
    /// standing in the file when the block is told to be placed.
    End {
        /// Where they go.
        offset: u64,
        /// The bytes.
        bytes: P,
    },
    /// What can still be finished after a drain is durable.
    Drained,
    /// Something failed in the group.
    Failed(Failure),
    /// By the driver of any rank: it was told that the job is to end soon ([`Event::Drain`](crate::role::Event::Drain)).
    Drain,
    /// A sign of life.
    Ping,
}

/// What a master is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToMaster<P> {
    /// By the supermaster: blocks to search, in this order.
    Segment {
        /// Their queries.
        blocks: Vec<(BlockId, Queries<P>)>,
    },
    /// By the supermaster: nothing is left to be handed out.
    NoMore,
    /// By the supermaster: what it says of a block's pass ([`ToSupermaster::Found`]).
    Judged {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// Its verdict.
        verdict: P,
    },
    /// By the supermaster: where blocks begin in the output.
    Bases {
        /// Block and offset.
        bases: Vec<(BlockId, u64)>,
    },
    /// By the supermaster: have a block that an earlier run finished copied from the checkpoint into the output.
    Restore {
        /// The block.
        block: BlockId,
        /// Its offset in the output.
        base: u64,
        /// Bytes of its output.
        size: u64,
    },
    /// By the supermaster: finish what is under way only.
    Drain,
    /// By the supermaster: the job is over.
    Stop(Exit),
    /// By a worker: ready to take tasks.
    Ready,
    /// By a worker: a task is searched.
    Result {
        /// The task's block.
        block: BlockId,
        /// The task's pass.
        pass: PassId,
        /// The task's partition.
        partition: PartitionId,
        /// Preliminary hits.
        hits: P,
    },
    /// By a worker: a task was dropped because of a drain.
    Dropped {
        /// The task's block.
        block: BlockId,
        /// The task's pass.
        pass: PassId,
    },
    /// By a worker: the answer to [`ToWorker::Ask`].
    Reply {
        /// The block.
        block: BlockId,
        /// The pass whose round it is of.
        pass: PassId,
        /// The answer.
        reply: P,
    },
    /// By a worker: send these bytes of yours, all in one payload.
    Fetch(Fetch),
    /// By a worker: its portion of a block's output is durable in the checkpoint.
    Stored {
        /// The block.
        block: BlockId,
    },
    /// By a worker: its portion of a block's output stands in the file.
    Written {
        /// The block.
        block: BlockId,
    },
    /// By a worker: the collective write is done.
    CollectiveWritten,
    /// By a worker: something failed.
    Failed(Failure),
    /// By anyone: a sign of life.
    Ping,
}

/// What a worker is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToWorker<P> {
    /// Search a task.
    Assign {
        /// The task's block.
        block: BlockId,
        /// The task's pass.
        pass: PassId,
        /// The task's partition.
        partition: PartitionId,
        /// The pass's queries, with the worker's first task of the pass.
        queries: Option<P>,
        /// The pass's cut so far.
        cut: Option<P>,
        /// Passes of which no further round comes.
        forget: Vec<(BlockId, PassId)>,
    },
    /// Drop what is kept for passes of which no further round comes. [`ToWorker::Assign`] carries the same
    /// where a task is assigned in time.
    Forget {
        /// The passes.
        passes: Vec<(BlockId, PassId)>,
    },
    /// The cut of a pass that is still searched here has risen.
    RaiseCut {
        /// The block.
        block: BlockId,
        /// The pass: in another one the cut means nothing.
        pass: PassId,
        /// The cut.
        cut: P,
    },
    /// Answer a round.
    Ask {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// What is wanted of each partition: it is held here, and some of the pass was searched here.
        parts: Vec<(PartitionId, P)>,
    },
    /// Make (a portion of) a block's output durable in the checkpoint.
    Store {
        /// The block.
        block: BlockId,
        /// The bytes; offsets count from the start of the block's output.
        runs: Vec<Run>,
        /// Bytes of the block's whole output.
        size: u64,
    },
    /// Write (a portion of) a block's output.
    Place {
        /// The block.
        block: BlockId,
        /// The bytes; offsets count from the start of the file.
        runs: Vec<Run>,
    },
    /// By a worker: send these bytes of yours, all in one payload.
    Fetch(Fetch),
    /// By whoever was asked to [`Fetch`].
    Part {
        /// The request's number.
        window: u64,
        /// The bytes.
        bytes: P,
    },
    /// Take part in a collective write, beside the search. Every worker of the group is told so once for each write, also
    /// those without a portion, and the next write begins when all have said that this one is done.
    Collective {
        /// The worker's portion; offsets count from the start of the file.
        runs: Vec<Run>,
        /// The master's bytes in it, in the order of the slices.
        master: Option<P>,
    },
    /// Drop the tasks that have not begun.
    Drain,
    /// The job is over.
    Stop(Exit),
    /// A sign of life.
    Ping,
}

/// A request for bytes of a block's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fetch {
    /// Goes back with the bytes.
    pub window: u64,
    /// The block.
    pub block: BlockId,
    /// Which bytes, at most a write buffer full.
    pub slices: Vec<Slice>,
}

/// About what a message takes on the wire besides its payloads, in bytes.
const ENVELOPE: u64 = 32;
/// About what a slice takes.
const SLICE: u64 = 32;
/// About what the name of a pass takes.
const PASS: u64 = 4;

fn slices_bytes(slices: &[Slice]) -> u64 {
    SLICE * slices.len() as u64
}

fn runs_bytes(runs: &[Run]) -> u64 {
    runs.iter().map(|run| 16 + slices_bytes(&run.slices)).sum()
}

impl<P: Payload> Outgoing<P> {
    /// About how many bytes the message takes on the wire.
    pub fn bytes(&self) -> u64 {
        ENVELOPE
            + match self {
                Outgoing::Supermaster(ToSupermaster::Advanced { blocks }) => {
                    std::mem::size_of_val(&blocks[..]) as u64
                }
                Outgoing::Supermaster(
                    ToSupermaster::End { bytes, .. } | ToSupermaster::Found { found: bytes, .. },
                ) => bytes.bytes(),
                Outgoing::Supermaster(_) => 0,
                Outgoing::Master(_, message) => message.content_bytes(),
                Outgoing::Worker(_, message) => message.content_bytes(),
            }
    }
}

impl<P: Payload> ToMaster<P> {
    fn content_bytes(&self) -> u64 {
        match self {
            ToMaster::Segment { blocks } => {
                blocks.iter().map(|(_, queries)| 24 + queries.payload.bytes()).sum()
            }
            ToMaster::Bases { bases } => 12 * bases.len() as u64,
            ToMaster::Result { hits: payload, .. }
            | ToMaster::Reply { reply: payload, .. }
            | ToMaster::Judged { verdict: payload, .. } => payload.bytes(),
            ToMaster::Fetch(fetch) => slices_bytes(&fetch.slices),
            _ => 0,
        }
    }
}

impl<P: Payload> ToWorker<P> {
    fn content_bytes(&self) -> u64 {
        let size = |payload: &Option<P>| payload.as_ref().map_or(0, Payload::bytes);
        match self {
            ToWorker::Assign { queries, cut, forget, .. } => {
                size(queries) + size(cut) + PASS * forget.len() as u64
            }
            ToWorker::Forget { passes } => PASS * passes.len() as u64,
            ToWorker::RaiseCut { cut, .. } => cut.bytes(),
            ToWorker::Ask { parts, .. } => parts.iter().map(|(_, part)| 4 + part.bytes()).sum(),
            ToWorker::Store { runs, .. } | ToWorker::Place { runs, .. } => runs_bytes(runs),
            ToWorker::Fetch(fetch) => slices_bytes(&fetch.slices),
            ToWorker::Part { bytes, .. } => bytes.bytes(),
            ToWorker::Collective { runs, master } => runs_bytes(runs) + size(master),
            _ => 0,
        }
    }
}
