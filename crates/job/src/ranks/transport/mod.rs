//! Events of a rank, and transport of messages between ranks.

#[cfg(feature = "mpi")]
pub mod group_file;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;

use std::sync::mpsc::Sender;
use std::time::Duration;

use fleetblast_fleet::ids::{Address, Rank, Ticket};
use fleetblast_fleet::message::Outgoing;
use fleetblast_fleet::work::{MasterOutcome, SupermasterOutcome, WorkerOutcome};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ranks::output::OutputSlice;
use crate::ranks::wire::Bytes;
use crate::trace::Span;

/// A message with its sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// The sender.
    pub from: Address,
    /// The receiver and the message.
    pub message: Outgoing<Bytes>,
}

/// Identifies a message whose sender waits until it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The role that sent the message.
    pub role: Address,
    /// The role's number for the message.
    pub ticket: Ticket,
}

/// A receipt that returns to its sender when dropped.
pub struct ReturningReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// Events of the sender's rank.
    pub to: Sender<RankEvent>,
}

impl Drop for ReturningReceipt {
    fn drop(&mut self) {
        // A rank that has ended needs no receipt.
        let _ = self.to.send(RankEvent::Sent(self.receipt));
    }
}

/// An event of a rank.
pub enum RankEvent {
    /// A message arrived. Among threads it comes with the receipt for its sender.
    Message(Envelope, Option<ReturningReceipt>),
    /// A message has left: its payload takes no memory of this rank any more.
    Sent(Receipt),
    /// Work of the supermaster has ended.
    Supermaster(Ticket, Result<SupermasterOutcome<Bytes>, Error>),
    /// Work of the master has ended.
    Master(Ticket, Result<MasterOutcome<Bytes>, Error>),
    /// Work of the worker has ended.
    Worker(Ticket, Result<WorkerOutcome<Bytes>, Error>),
    /// This rank cannot go on.
    Broken(Error),
    /// A signal asks to end the job soon.
    Drain,
}

/// Assembled bytes of the output, to be written for a worker.
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "only MPI writes for workers"))]
pub struct AssembledBytes {
    /// The worker's ticket.
    pub ticket: Ticket,
    /// The bytes; none if the rank only takes part in a collective write.
    pub output_slices: Vec<OutputSlice>,
    /// Bytes of memory that are free after the write.
    pub freed: u64,
    /// The span of the work in the trace, which ends after the write.
    pub span: Span,
}

/// Transports messages between ranks; where ranks write together, it writes the output, too.
pub trait Transport {
    /// Returns a sender of events, for the threads of this rank. [`Transport::next`] returns them.
    fn event_sender(&self) -> Sender<RankEvent>;

    /// Sends a message to another rank. Messages from one rank to another arrive in the order of
    /// sending. [`Transport::next`] returns the receipt when the message has left, which may be
    /// later.
    ///
    /// # Errors
    /// The connection is lost.
    fn send(&mut self, to: Rank, envelope: Envelope, receipt: Option<Receipt>)
    -> Result<(), Error>;

    /// Ends the other ranks at once, because the job cannot go on. Does nothing if the end of a
    /// process ends them.
    fn end_other_ranks(&self) {}

    /// Returns the channel of bytes that the transport writes for this rank's worker.
    /// [`Transport::next`] returns the end of such work. `None` if the worker writes itself.
    fn writer(&self) -> Option<Sender<AssembledBytes>> {
        None
    }

    /// Waits for the next event until `timeout`.
    ///
    /// # Errors
    /// The connection is lost.
    fn next(&mut self, timeout: Duration) -> Result<Option<RankEvent>, Error>;
}
