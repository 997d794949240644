//! Ranks as threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fleetblast_fleet::ids::Rank;

use super::transport::{Envelope, Happening, Transport};
use crate::error::{CliError, exit};

/// The messages of one rank.
pub struct Threads {
    inbox: Receiver<Happening>,
    own: Sender<Happening>,
    outboxes: Vec<Sender<Happening>>,
}

impl Threads {
    /// Connects so many ranks.
    pub fn connect(ranks: usize) -> Vec<Threads> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let rank = |(inbox, own): (_, &Sender<_>)| Threads {
            inbox,
            own: own.clone(),
            outboxes: outboxes.clone(),
        };
        inboxes.into_iter().zip(&outboxes).map(rank).collect()
    }

    /// Ends the job on all ranks.
    pub fn end_all(&self) {
        for outbox in &self.outboxes {
            // Who has ended need not be told.
            let _ = outbox.send(Happening::Broken(CliError::new(exit::UNKNOWN, "")));
        }
    }
}

impl Transport for Threads {
    fn works(&self) -> Sender<Happening> {
        self.own.clone()
    }

    fn send(&mut self, to: Rank, envelope: Envelope) -> Result<(), CliError> {
        // Who has ended needs no more messages.
        let _ = self.outboxes[to.index()].send(Happening::Message(envelope));
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Happening>, CliError> {
        // It cannot be disconnected.
        Ok(self.inbox.recv_timeout(timeout).ok())
    }
}
