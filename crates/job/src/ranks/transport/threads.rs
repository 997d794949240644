//! Transport between ranks that are threads of one process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fleetblast_fleet::ids::Rank;

use super::{Envelope, RankEvent, Receipt, ReceiptOnDrop, Transport};
use crate::error::{Error, exit};

/// Transport of one rank that is a thread.
pub struct ThreadTransport {
    inbox: Receiver<RankEvent>,
    own: Sender<RankEvent>,
    /// Senders to all ranks. All ranks share them, because copies would take memory proportional to
    /// the square of the number of ranks.
    outboxes: Arc<[Sender<RankEvent>]>,
}

impl ThreadTransport {
    /// Creates the connected transports of `ranks` ranks, in the order of ranks.
    pub fn connect(ranks: usize) -> Vec<ThreadTransport> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let outboxes: Arc<[_]> = outboxes.into();
        let rank = |(inbox, own): (_, &Sender<_>)| ThreadTransport {
            inbox,
            own: own.clone(),
            outboxes: outboxes.clone(),
        };
        inboxes.into_iter().zip(&*outboxes).map(rank).collect()
    }
}

impl Transport for ThreadTransport {
    fn event_sender(&self) -> Sender<RankEvent> {
        self.own.clone()
    }

    fn send(
        &mut self,
        to: Rank,
        envelope: Envelope,
        receipt: Option<Receipt>,
    ) -> Result<(), Error> {
        // All ranks share the payload in memory. So the message has left when the other rank takes
        // it.
        let returning = receipt.map(|receipt| ReceiptOnDrop { receipt, to: self.own.clone() });
        // A rank that has ended needs no messages.
        let _ = self.outboxes[to.index()].send(RankEvent::Message(envelope, returning));
        Ok(())
    }

    fn end_other_ranks(&self) {
        for outbox in &*self.outboxes {
            // A rank that has ended needs no messages.
            let _ = outbox.send(RankEvent::Broken(Error::silent(exit::UNKNOWN)));
        }
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<RankEvent>, Error> {
        // This transport has a sender to its own inbox, so the channel cannot be disconnected.
        Ok(self.inbox.recv_timeout(timeout).ok())
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_fleet::ids::{Address, Ticket, WorkerId};
    use fleetblast_fleet::message::{Outgoing, ToWorker};

    use super::*;

    #[test]
    fn a_message_has_left_when_the_other_rank_takes_it() {
        let mut ranks = ThreadTransport::connect(2);
        let (mut second, mut first) = (ranks.pop().unwrap(), ranks.pop().unwrap());
        let receipt = Receipt { role: Address::Worker(WorkerId(0)), ticket: Ticket(9) };
        let part = ToWorker::OutputBytes { window: 1, bytes: vec![7; 100].into() };
        let message = Outgoing::Worker(WorkerId(1), part);
        first.send(Rank(1), Envelope { from: receipt.role, message }, Some(receipt)).unwrap();
        assert!(first.next(Duration::from_millis(20)).unwrap().is_none(), "nobody has taken it");
        let taken = second.next(Duration::ZERO).unwrap().expect("a message");
        assert!(matches!(&taken, RankEvent::Message(_, Some(_))));
        drop(taken);
        match first.next(Duration::ZERO).unwrap() {
            Some(RankEvent::Sent(returned)) => assert_eq!(returned, receipt),
            _ => panic!("the sender received no receipt"),
        }
    }
}
