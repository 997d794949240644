//! What a driver and a role say to each other.

use crate::end::{Exit, Failure};
use crate::ids::{Address, BlockId, PassId, Ticket, Time};
use crate::message::Outgoing;

/// A state machine that a driver runs.
///
/// The driver calls [`Role::handle`] with one event at a time and carries out the actions in their order. It may carry
/// out works of different [lanes](crate::work::Lane) at once; a role never has more than one work per lane under way.
pub trait Role<P> {
    /// Messages that it gets.
    type Message;
    /// Works that it starts.
    type Work;
    /// What becomes of them.
    type Outcome;

    /// Takes note of `event` and appends what is to be done to `actions`. `now` never goes back.
    fn handle(
        &mut self,
        now: Time,
        event: Event<Self::Message, Self::Outcome>,
        actions: &mut Vec<Action<P, Self::Work>>,
    );
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event<M, O> {
    /// The rank is ready: for a worker, its partitions are in memory. Comes first, once.
    Start,
    /// A message came. Messages between the same two roles come in the order in which they were sent.
    Message {
        /// Who sent it.
        from: Address,
        /// What it says.
        message: M,
    },
    /// A work was carried out.
    Done {
        /// The work.
        ticket: Ticket,
        /// What came of it.
        outcome: O,
    },
    /// A work could not be carried out, which ends the job.
    Failed {
        /// The work.
        ticket: Ticket,
        /// With which code the program is to exit.
        code: u8,
        /// What went wrong, with the file if there is one.
        cause: String,
    },
    /// A message sent with a receipt has left: its payload no longer takes memory here.
    Sent {
        /// The receipt.
        ticket: Ticket,
    },
    /// Time has passed. Comes about every [`Heartbeat::interval`](crate::config::Heartbeat::interval).
    Tick,
    /// The job is to end soon and orderly (SIGTERM). Only the supermaster gets this.
    Drain,
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Action<P, W> {
    /// Send a message.
    Send {
        /// To whom, and what.
        message: Outgoing<P>,
        /// Report [`Event::Sent`] with this ticket as soon as the payload need not be kept any more.
        receipt: Option<Ticket>,
    },
    /// Carry out a work.
    Run {
        /// Names it when it ends.
        ticket: Ticket,
        /// What to do.
        work: W,
    },
    /// Tell the search of this pass that is under way here of a higher cut.
    RaiseCut {
        /// The block.
        block: BlockId,
        /// The pass: no other one is to be cut by it.
        pass: PassId,
        /// The cut, as [`Absorbed`](crate::work::MasterOutcome::Absorbed) gave it.
        cut: P,
    },
    /// Of a worker: no further round of this pass comes. Drop what is kept for it: queries, hits, alignments. Formatted
    /// pieces stay, of which a later work takes every byte.
    Forget {
        /// The block.
        block: BlockId,
        /// The pass.
        pass: PassId,
    },
    /// Of a master: the output of this block stands in the file. Drop the pieces that are kept for it.
    Placed {
        /// The block.
        block: BlockId,
    },
    /// The job cannot go on: end it on all ranks with this one message.
    Fail(Failure),
    /// The role is finished; no more events are expected.
    Exit(Exit),
}
