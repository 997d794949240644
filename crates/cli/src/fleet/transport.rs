//! What a rank hears of, and how messages get from rank to rank.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use fleetblast_fleet::ids::{Rank, Ticket};
use fleetblast_fleet::message::{Address, Outgoing};
use fleetblast_fleet::work::{MasterOutcome, SupermasterOutcome, WorkerOutcome};
use serde::{Deserialize, Serialize};

use super::wire::Bytes;
use crate::error::CliError;

/// A message on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Who sends it.
    pub from: Address,
    /// To whom, and what.
    pub message: Outgoing<Bytes>,
}

/// Something a rank hears of.
pub enum Happening {
    /// A message came.
    Message(Envelope),
    /// A work of the supermaster has ended.
    Supermaster(Ticket, Result<SupermasterOutcome<Bytes>, CliError>),
    /// A work of the master has ended.
    Master(Ticket, Result<MasterOutcome<Bytes>, CliError>),
    /// A work of the worker has ended.
    Worker(Ticket, Result<WorkerOutcome<Bytes>, CliError>),
    /// This rank cannot go on.
    Broken(CliError),
    /// The job is to end soon.
    Drain,
}

/// Brings messages from rank to rank.
pub trait Transport {
    /// Sends a message to another rank. Messages from one rank to another arrive in the order in which they were sent.
    ///
    /// # Errors
    /// A connection that is lost.
    fn send(&mut self, to: Rank, envelope: Envelope) -> Result<(), CliError>;

    /// The next thing to happen, but for at most so long: a message, or what `works` tell.
    ///
    /// # Errors
    /// A connection that is lost.
    fn next(
        &mut self,
        works: &Receiver<Happening>,
        timeout: Duration,
    ) -> Result<Option<Happening>, CliError>;
}
