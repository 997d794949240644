//! What a rank hears of, and how messages get from rank to rank.

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
use crate::ranks::output::Stretch;
use crate::ranks::wire::Bytes;
use crate::trace::Span;

/// A message on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Who sends it.
    pub from: Address,
    /// To whom, and what.
    pub message: Outgoing<Bytes>,
}

/// Of a message: which role wants to know that it has left, and under what name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The sender.
    pub role: Address,
    /// Its name for the message.
    pub ticket: Ticket,
}

/// A receipt on its way back to its rank: told when dropped.
pub struct Returning {
    /// The receipt.
    pub receipt: Receipt,
    /// What the sender's rank hears of.
    pub to: Sender<Happening>,
}

impl Drop for Returning {
    fn drop(&mut self) {
        // Who has ended need not know.
        let _ = self.to.send(Happening::Sent(self.receipt));
    }
}

/// Something a rank hears of.
pub enum Happening {
    /// A message came; with it, among threads, what its sender waits for.
    Message(Envelope, Option<Returning>),
    /// A message has left: its payload takes no memory here any more.
    Sent(Receipt),
    /// A work of the supermaster has ended.
    Supermaster(Ticket, Result<SupermasterOutcome<Bytes>, Error>),
    /// A work of the master has ended.
    Master(Ticket, Result<MasterOutcome<Bytes>, Error>),
    /// A work of the worker has ended.
    Worker(Ticket, Result<WorkerOutcome<Bytes>, Error>),
    /// This rank cannot go on.
    Broken(Error),
    /// The job is to end soon.
    Drain,
}

/// Bytes of the output that a worker has put together.
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "only MPI writes for workers"))]
pub struct Assembled {
    /// The work for which.
    pub ticket: Ticket,
    /// The bytes; none if a rank only takes part in a write of others.
    pub stretches: Vec<Stretch>,
    /// Memory that is free when they are written, in bytes.
    pub freed: u64,
    /// Ends then.
    pub span: Span,
}

/// Brings messages from rank to rank, and where ranks write together, bytes to the output.
pub trait Transport {
    /// Where works of this rank tell that they have ended; [`Transport::next`] hears of it.
    fn works(&self) -> Sender<Happening>;

    /// Sends a message to another rank. Messages from one rank to another arrive in the order in which they were sent.
    /// [`Transport::next`] tells of `receipt` when the message has left, not when it was given to be sent.
    ///
    /// # Errors
    /// A connection that is lost.
    fn send(&mut self, to: Rank, envelope: Envelope, receipt: Option<Receipt>)
    -> Result<(), Error>;

    /// Lets the other ranks know at once that the job cannot go on. Where the end of a process ends them, nothing is to be
    /// done.
    fn end_all(&self) {}

    /// Who writes the output of this rank's worker: [`Transport::next`], which tells then that the work has ended. `None`
    /// if the worker does so itself.
    fn writer(&self) -> Option<Sender<Assembled>> {
        None
    }

    /// The next thing to happen, but for at most so long: a message, or what works tell.
    ///
    /// # Errors
    /// A connection that is lost.
    fn next(&mut self, timeout: Duration) -> Result<Option<Happening>, Error>;
}
