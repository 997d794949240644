//! Messages between roles.

use serde::{Deserialize, Serialize};

use crate::end::{Failure, JobEnd};
use crate::ids::{BlockId, GroupId, PartitionId, PassId, WorkerId};
use crate::payload::{Payload, Queries};
use crate::work::{OutputRun, Slice};

/// A message with its receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outgoing<P> {
    /// To the supermaster.
    Supermaster(ToSupermaster<P>),
    /// To a master.
    Master(GroupId, ToMaster<P>),
    /// To a worker.
    Worker(WorkerId, ToWorker<P>),
}

/// Messages to the supermaster. They come from a master unless stated otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToSupermaster<P> {
    /// The group wants more blocks.
    RequestBlocks,
    /// From the driver of a master's rank, from time to time: the progress since its last message,
    /// for displays.
    Advanced {
        /// Each block with the number of tasks searched and questions answered.
        blocks: Vec<(BlockId, u32)>,
    },
    /// Asks the supermaster to verify the results of a pass of a block.
    Verify {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The results to verify, as the master's works encoded them.
        found: P,
    },
    /// The output of a block is laid out, and durable if there is a checkpoint.
    Finished {
        /// The block.
        block: BlockId,
        /// Bytes of its output.
        size: u64,
        /// Bytes that the group holds until the output is written, in memory and files.
        held: u64,
    },
    /// The output of a block is in the file.
    Placed {
        /// The block.
        block: BlockId,
    },
    /// From a worker: bytes of a grain of the file that also contains output of other blocks. The
    /// supermaster writes them. They are a part of the block that the master reports as placed.
    PartialGrain {
        /// Offset of the bytes in the file.
        offset: u64,
        /// The bytes.
        bytes: P,
    },
    /// The reply to a drain: all blocks that can still be finished are durable, and no write is
    /// under way.
    Drained,
    /// An error occurred in the group.
    Failed(Failure),
    /// From the driver of any rank: it received a request to end the job early
    /// ([`Event::Drain`](crate::role::Event::Drain)).
    Drain,
    /// Shows that the sender is alive.
    Ping,
}

/// Messages to a master.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToMaster<P> {
    /// From the supermaster: blocks to search, in this order.
    AssignBlocks {
        /// The blocks with their queries.
        blocks: Vec<(BlockId, Queries<P>)>,
    },
    /// From the supermaster: no blocks are left.
    NoMore,
    /// From the supermaster: the verdict on a block's pass (see [`ToSupermaster::Verify`]).
    Verified {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The verdict.
        verdict: P,
    },
    /// From the supermaster: the offsets of blocks in the output.
    BlockOffsets {
        /// Block and offset.
        offsets: Vec<(BlockId, u64)>,
    },
    /// From the supermaster: have a worker copy a block from the checkpoint into the output,
    /// because an earlier run finished it.
    Restore {
        /// The block.
        block: BlockId,
        /// Offset of the block in the output.
        base: u64,
        /// Bytes of its output.
        size: u64,
    },
    /// From the supermaster: assign no further tasks, and finish the blocks whose tasks are all
    /// assigned.
    Drain,
    /// From the supermaster: the job is over.
    Stop(JobEnd),
    /// From a worker: it is ready for tasks.
    Ready,
    /// From a worker: the result of a task that it searched.
    Result {
        /// The task's block.
        block: BlockId,
        /// The task's pass.
        pass: PassId,
        /// The task's partition.
        partition: PartitionId,
        /// Preliminary hits of the task.
        hits: P,
    },
    /// From a worker: it dropped this task because of a drain.
    Dropped {
        /// The task's block.
        block: BlockId,
        /// The task's pass.
        pass: PassId,
    },
    /// From a worker: the reply to [`ToWorker::AnswerRound`].
    Reply {
        /// The block.
        block: BlockId,
        /// The pass to which the round belongs.
        pass: PassId,
        /// The reply.
        reply: P,
    },
    /// From a worker: send it these bytes of the master's pieces, all in one payload.
    OutputRequest(OutputRequest),
    /// From a worker: its portion of a block's output is durable in the checkpoint.
    Stored {
        /// The block.
        block: BlockId,
    },
    /// From a worker: its portion of a block's output is in the file.
    Written {
        /// The block.
        block: BlockId,
    },
    /// From a worker: its part in the collective write is done.
    CollectiveWritten,
    /// From a worker: an error occurred.
    Failed(Failure),
    /// From any peer: shows that the sender is alive.
    Ping,
}

/// Messages to a worker.
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
        /// Queries of the pass; only with the worker's first task of the pass.
        queries: Option<P>,
        /// The current cut of the pass: hits worse than it cannot be chosen.
        cut: Option<P>,
        /// Finished passes: the worker drops their data.
        forget: Vec<(BlockId, PassId)>,
    },
    /// Drop the data of finished passes. [`ToWorker::Assign`] carries the same list if the master
    /// assigns the worker a task soon enough.
    Forget {
        /// The passes.
        passes: Vec<(BlockId, PassId)>,
    },
    /// The cut of a pass has risen while this worker searches tasks of the pass.
    RaiseCut {
        /// The block.
        block: BlockId,
        /// The pass. The cut does not apply to other passes.
        pass: PassId,
        /// The cut.
        cut: P,
    },
    /// Answer the questions of a round.
    AnswerRound {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
        /// The question for each partition. This worker holds the partition and has searched tasks
        /// of the pass.
        questions: Vec<(PartitionId, P)>,
    },
    /// Make (a portion of) a block's output durable in the checkpoint.
    Store {
        /// The block.
        block: BlockId,
        /// Bytes of the portion; offsets count from the start of the block's output.
        runs: Vec<OutputRun>,
        /// Bytes of the block's whole output.
        size: u64,
    },
    /// Write a portion of a block's output to the file.
    WriteOutput {
        /// The block.
        block: BlockId,
        /// Bytes of the portion; offsets count from the start of the file.
        runs: Vec<OutputRun>,
    },
    /// From a worker: send it these bytes of your pieces, all in one payload.
    OutputRequest(OutputRequest),
    /// The bytes that this worker requested with an [`OutputRequest`].
    OutputBytes {
        /// Number of the window in the request.
        window: u64,
        /// The bytes.
        bytes: P,
    },
    /// Take part in a collective write, while the search goes on. Every worker of the group gets
    /// this message once for each write, even without a portion. The next write begins when all
    /// workers have reported the end of this one.
    Collective {
        /// The worker's portion; offsets count from the start of the file.
        runs: Vec<OutputRun>,
        /// The bytes of the portion's slices that the master holds, in their order; `None` if it
        /// holds none.
        master: Option<P>,
    },
    /// Drop the tasks whose search has not begun.
    Drain,
    /// The job is over.
    Stop(JobEnd),
    /// Shows that the sender is alive.
    Ping,
}

/// A request for bytes of a block's output, which a worker collects in a window and writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutputRequest {
    /// Number of the requester's window; returned with the bytes.
    pub window: u64,
    /// The block.
    pub block: BlockId,
    /// The requested bytes, at most a full write buffer.
    pub slices: Vec<Slice>,
}

/// Approximate size of a message on the wire in bytes, without its payloads.
const ENVELOPE: u64 = 32;
/// Approximate size of a slice on the wire in bytes.
const SLICE: u64 = 32;
/// Approximate size of a pass on the wire in bytes.
const PASS: u64 = 4;

fn slices_bytes(slices: &[Slice]) -> u64 {
    SLICE * slices.len() as u64
}

fn runs_bytes(runs: &[OutputRun]) -> u64 {
    runs.iter().map(|run| 16 + slices_bytes(&run.slices)).sum()
}

impl<P: Payload> Outgoing<P> {
    /// Returns the approximate size of the message on the wire in bytes.
    pub fn bytes(&self) -> u64 {
        ENVELOPE
            + match self {
                Outgoing::Supermaster(ToSupermaster::Advanced { blocks }) => {
                    std::mem::size_of_val(&blocks[..]) as u64
                }
                Outgoing::Supermaster(
                    ToSupermaster::PartialGrain { bytes, .. }
                    | ToSupermaster::Verify { found: bytes, .. },
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
            ToMaster::AssignBlocks { blocks } => {
                blocks.iter().map(|(_, queries)| 24 + queries.payload.bytes()).sum()
            }
            ToMaster::BlockOffsets { offsets } => 12 * offsets.len() as u64,
            ToMaster::Result { hits: payload, .. }
            | ToMaster::Reply { reply: payload, .. }
            | ToMaster::Verified { verdict: payload, .. } => payload.bytes(),
            ToMaster::OutputRequest(fetch) => slices_bytes(&fetch.slices),
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
            ToWorker::AnswerRound { questions, .. } => {
                questions.iter().map(|(_, part)| 4 + part.bytes()).sum()
            }
            ToWorker::Store { runs, .. } | ToWorker::WriteOutput { runs, .. } => runs_bytes(runs),
            ToWorker::OutputRequest(fetch) => slices_bytes(&fetch.slices),
            ToWorker::OutputBytes { bytes, .. } => bytes.bytes(),
            ToWorker::Collective { runs, master } => runs_bytes(runs) + size(master),
            _ => 0,
        }
    }
}
