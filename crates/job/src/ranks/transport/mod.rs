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

/// Identifies a message whose sender waits until the message has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The role that sent the message.
    pub role: Address,
    /// The number that the role gave to the message.
    pub ticket: Ticket,
}

/// A receipt that returns to the sender of the message when it is dropped.
pub struct ReceiptOnDrop {
    /// The receipt.
    pub receipt: Receipt,
    /// Channel of events of the sender's rank.
    pub to: Sender<RankEvent>,
}

impl Drop for ReceiptOnDrop {
    fn drop(&mut self) {
        // A rank that has ended needs no receipt.
        let _ = self.to.send(RankEvent::Sent(self.receipt));
    }
}

/// An event of a rank.
pub enum RankEvent {
    /// A message arrived. If ranks are threads, it comes with the receipt for its sender.
    Message(Envelope, Option<ReceiptOnDrop>),
    /// A message has left: its payload takes no memory of this rank any more.
    Sent(Receipt),
    /// Work of the supermaster has ended.
    Supermaster(Ticket, Result<SupermasterOutcome<Bytes>, Error>),
    /// Work of the master has ended.
    Master(Ticket, Result<MasterOutcome<Bytes>, Error>),
    /// Work of the worker has ended.
    Worker(Ticket, Result<WorkerOutcome<Bytes>, Error>),
    /// The rank cannot continue because of this error.
    Broken(Error),
    /// A signal requests to drain the job.
    Drain,
}

/// Bytes of the output that a worker has assembled, and that the transport writes for it.
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "only MPI writes for workers"))]
pub struct AssembledBytes {
    /// The ticket of the worker's work.
    pub ticket: Ticket,
    /// The bytes; none if the rank only takes part in a collective write.
    pub output_slices: Vec<OutputSlice>,
    /// Bytes of memory that the write frees.
    pub freed: u64,
    /// The span of the work in the trace, which ends after the write.
    pub span: Span,
}

/// Transports messages between ranks. If ranks write the output by MPI, also writes it.
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

    /// Ends the other ranks at once, because the job has failed. Does nothing if ranks are
    /// processes, which are ended together.
    fn end_other_ranks(&self) {}

    /// Returns the channel of bytes that the transport writes for this rank's worker.
    /// [`Transport::next`] returns the end of such work. `None` if the worker writes itself.
    fn bytes_sender(&self) -> Option<Sender<AssembledBytes>> {
        None
    }

    /// Returns the next event. Waits for it at most for `timeout`.
    ///
    /// # Errors
    /// The connection is lost.
    fn next(&mut self, timeout: Duration) -> Result<Option<RankEvent>, Error>;
}
