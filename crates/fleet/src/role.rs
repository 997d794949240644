//! Events and actions that a driver and a role exchange.

use crate::end::{Failure, JobEnd};
use crate::ids::{Address, BlockId, PassId, Ticket, Time};
use crate::message::Outgoing;

/// A state machine that a driver runs.
///
/// The driver calls [`Role::handle`] with one event at a time and carries out the actions in their
/// order. It may carry out works of different [classes](crate::work::WorkClass) at once. A role
/// never has more than one work per class running.
pub trait Role<P> {
    /// Type of the messages that the role receives.
    type Message;
    /// Type of the works that the role starts.
    type Work;
    /// Type of the outcomes of these works.
    type Outcome;

    /// Handles `event` and appends the resulting actions to `actions`. `now` never goes back.
    fn handle(
        &mut self,
        now: Time,
        event: Event<Self::Message, Self::Outcome>,
        actions: &mut Vec<Action<P, Self::Work>>,
    );
}

/// An event for a role.
#[derive(Clone, Debug)]
pub enum Event<M, O> {
    /// The rank is ready. For a worker, its partitions are in memory. This is the first event and
    /// occurs once.
    Start,
    /// A message arrived. Messages between the same two roles arrive in the order in which they
    /// were sent.
    Message {
        /// The role that sent the message.
        from: Address,
        /// The message.
        message: M,
    },
    /// The driver carried out a work.
    Done {
        /// The work.
        ticket: Ticket,
        /// The outcome.
        outcome: O,
    },
    /// A work failed, which ends the job.
    Failed {
        /// The work.
        ticket: Ticket,
        /// Exit code of the program.
        code: u8,
        /// Description of the failure, with the file if there is one.
        cause: String,
    },
    /// A message with a receipt has left, so its payload no longer takes memory on this rank.
    Sent {
        /// The receipt, from [`Action::Send`].
        ticket: Ticket,
    },
    /// Time has passed. Occurs about every
    /// [`Heartbeat::interval`](crate::config::Heartbeat::interval).
    Tick,
    /// A request to end the job early and orderly (SIGTERM). Only the supermaster receives this
    /// event.
    Drain,
}

/// An instruction to the driver.
#[derive(Clone, Debug)]
pub enum Action<P, W> {
    /// Send a message.
    Send {
        /// The message and its receiver.
        message: Outgoing<P>,
        /// Report [`Event::Sent`] with this ticket as soon as the payload no longer takes memory.
        receipt: Option<Ticket>,
    },
    /// Carry out a work.
    Run {
        /// Identifies the work in the event that reports its end.
        ticket: Ticket,
        /// The work.
        work: W,
    },
    /// Raise the cut of this pass in the running search of this role's rank: hits worse than the
    /// cut cannot be chosen.
    RaiseCut {
        /// The block.
        block: BlockId,
        /// The pass. The cut does not apply to other passes.
        pass: PassId,
        /// The cut: for each query the worst hit that can still be chosen, as encoded in
        /// [`Absorbed`](crate::work::MasterOutcome::Absorbed).
        cut: P,
    },
    /// From a worker: this pass is finished. Drop its queries, hits and alignments.
    /// Formatted pieces stay until later works have written all of their bytes.
    Forget {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
    },
    /// From a master: the output of this block is in the file. Drop the master's pieces of it.
    Placed {
        /// The block.
        block: BlockId,
    },
    /// The job cannot go on. End it on all ranks, and print only the message of this failure.
    Fail(Failure),
    /// The role has finished and expects no more events.
    Exit(JobEnd),
}
