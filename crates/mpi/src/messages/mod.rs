//! Messages between ranks that nobody waits for.

mod inbox;
mod pending;

use std::collections::{BTreeSet, VecDeque};
use std::ffi::c_int;
use std::mem::take;
use std::rc::Rc;
use std::time::Duration;

pub use self::inbox::Message;
use self::inbox::{Inbox, Ticket};
use self::pending::{Incoming, Leaving, Matched, Outgoing, Pending};
use crate::MpiError;
use crate::backoff::Backoff;
use crate::call::Failure;
use crate::comm::Comm;
use crate::pieces::pieces;

/// Longest nap while nothing is under way.
const IDLE_NAP: Duration = Duration::from_millis(2);
/// Longest nap while transfers are.
const BUSY_NAP: Duration = Duration::from_micros(50);
/// Receptions under way at a time; further messages stay with MPI.
const RECEPTIONS: usize = 64;
/// Bytes being received at a time, beyond the first.
const RECEPTION_BYTES: usize = 1 << 30;

/// A rank's end of the messages within a group.
///
/// Sending and receiving never wait for the other side. Messages of one rank to one other arrive in the order in which
/// they were sent, whatever their tags and sizes; long ones travel in pieces without anybody noticing. Transfers go on
/// only while some method is called: a rank calls [`Mailbox::poll`] or [`Mailbox::wait`] all the time.
///
/// What has not left when a mailbox is dropped may never leave; its memory is never freed. See [`Mailbox::flush`] and
/// [`Mailbox::close`].
pub struct Mailbox {
    comm: Comm,
    outgoing: Pending<Outgoing>,
    outgoing_bytes: usize,
    /// Receipts of messages that have left.
    left: VecDeque<u64>,
    incoming: Pending<Incoming>,
    incoming_bytes: usize,
    inbox: Inbox,
    /// Ranks from which something has begun to arrive.
    senders: BTreeSet<usize>,
    /// Pieces sent and received so far, or begun to be.
    sent: u64,
    received: u64,
}

impl Mailbox {
    /// A mailbox for messages among the ranks of `comm` (collective). Mailboxes do not see each other's messages.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn new(comm: &Comm) -> Result<Self, MpiError> {
        Ok(Self {
            comm: comm.duplicate()?,
            outgoing: Pending::new(),
            outgoing_bytes: 0,
            left: VecDeque::new(),
            incoming: Pending::new(),
            incoming_bytes: 0,
            inbox: Inbox::default(),
            senders: BTreeSet::new(),
            sent: 0,
            received: 0,
        })
    }

    /// Begins to send a message; a rank may write to itself.
    ///
    /// # Errors
    /// [`MpiError::Call`], also if there is no rank `to`.
    pub fn send(&mut self, to: usize, tag: u8, bytes: Vec<u8>) -> Result<(), MpiError> {
        self.begin(to, tag, Leaving { bytes, receipt: None })
    }

    /// The same for a message of which [`Mailbox::left`] tells `receipt` when it has left.
    ///
    /// # Errors
    /// As [`Mailbox::send`].
    pub fn send_with_receipt(
        &mut self,
        to: usize,
        tag: u8,
        bytes: Vec<u8>,
        receipt: u64,
    ) -> Result<(), MpiError> {
        self.begin(to, tag, Leaving { bytes, receipt: Some(receipt) })
    }

    /// The receipt of a message that has left, so that its bytes take no memory here any more; each is told once. MPI may
    /// have copied a short one, and a long one leaves when the other side receives it.
    pub fn left(&mut self) -> Option<u64> {
        self.left.pop_front()
    }

    fn begin(&mut self, to: usize, tag: u8, message: Leaving) -> Result<(), MpiError> {
        let message = Rc::new(message);
        let mut rest = pieces(message.bytes.len(), self.comm.session().piece);
        while let Some(range) = rest.next() {
            let tag = wire_tag(tag, rest.len() == 0);
            self.outgoing_bytes += range.len();
            let begun = self.outgoing.send(&self.comm, to, tag, &message, range);
            begun.map_err(|failure| self.failed(failure))?;
            self.sent += 1;
        }
        Ok(())
    }

    /// Bytes of messages that have not left yet, and so still take memory here.
    pub fn outgoing_bytes(&self) -> usize {
        self.outgoing_bytes
    }

    /// The ranks from which messages have begun to arrive since the last call. A long message may
    /// take a while to be whole, and hold up shorter ones behind it; its sender is alive.
    pub fn senders(&mut self) -> BTreeSet<usize> {
        take(&mut self.senders)
    }

    /// Whether messages are on their way from here or to here: some libraries move their bytes only when called.
    pub fn is_moving(&self) -> bool {
        self.outgoing.len() + self.incoming.len() > 0
    }

    /// Lets transfers go on, without waiting; whether all messages have left. Those that have may not have been
    /// received yet.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn progress(&mut self) -> Result<bool, MpiError> {
        let Self { outgoing, left, .. } = self;
        let sent = outgoing.sent(|receipt| left.push_back(receipt));
        self.outgoing_bytes -= sent.map_err(|failure| self.failed(failure))?;
        let Self { incoming, inbox, incoming_bytes, .. } = self;
        let arrived = incoming.received(|ticket: Ticket, bytes| {
            *incoming_bytes -= bytes.len();
            inbox.arrived(ticket, bytes);
        });
        arrived.map_err(|failure| self.failed(failure))?;
        Ok(self.outgoing.len() == 0)
    }

    /// The next message, if one is there. Does not wait.
    ///
    /// # Errors
    /// [`MpiError::Call`], [`MpiError::MessageMemory`].
    pub fn poll(&mut self) -> Result<Option<Message>, MpiError> {
        loop {
            self.progress()?;
            if self.inbox.is_ready() || !self.accept()? {
                return Ok(self.inbox.take());
            }
        }
    }

    /// The next message; waits for it, at most for `timeout`. Sleeps meanwhile, so that other threads have the cores.
    ///
    /// # Errors
    /// As [`Mailbox::poll`].
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Message>, MpiError> {
        let mut backoff = Backoff::new();
        loop {
            let message = self.poll()?;
            let elapsed = backoff.elapsed();
            if message.is_some() || elapsed >= timeout {
                return Ok(message);
            }
            backoff.pause(self.longest_nap().min(timeout - elapsed));
        }
    }

    /// Waits until all messages have left, at most for `timeout`; whether they have. What arrives meanwhile is kept for
    /// [`Mailbox::poll`]: two ranks may well flush at the same time.
    ///
    /// # Errors
    /// As [`Mailbox::poll`].
    pub fn flush(&mut self, timeout: Duration) -> Result<bool, MpiError> {
        let mut backoff = Backoff::new();
        loop {
            while self.accept()? {}
            let all = self.progress()?;
            let elapsed = backoff.elapsed();
            if all || elapsed >= timeout {
                return Ok(all);
            }
            backoff.pause(self.longest_nap().min(timeout - elapsed));
        }
    }

    /// Receives whatever nobody wants any more, until no rank has a message under way (collective). MPI is not to end before:
    /// some libraries tell of messages that nobody received, on standard output.
    ///
    /// # Errors
    /// As [`Mailbox::poll`].
    pub fn close(mut self) -> Result<(), MpiError> {
        let mut backoff = Backoff::new();
        loop {
            while self.poll()?.is_some() {}
            // Modulo 2^64: what one rank has sent another has received.
            let own = self.sent.wrapping_sub(self.received);
            if self.comm.sum(own)? == 0 {
                break;
            }
            backoff.pause(BUSY_NAP);
        }
        while self.is_moving() {
            self.poll()?;
            backoff.pause(BUSY_NAP);
        }
        Ok(())
    }

    /// Begins to receive what is next, if anything is there; whether something was.
    fn accept(&mut self) -> Result<bool, MpiError> {
        let full = self.incoming.len() >= RECEPTIONS || self.incoming_bytes >= RECEPTION_BYTES;
        if full {
            return Ok(false);
        }
        let found = Matched::probe(&self.comm).map_err(|failure| self.failed(failure))?;
        let Some(matched) = found else { return Ok(false) };
        let (from, length) = (matched.from, matched.length);
        let mut buffer = Vec::new();
        if buffer.try_reserve_exact(length).is_err() {
            return Err(MpiError::MessageMemory { rank: self.comm.rank(), from, length });
        }
        let (tag, last) = user_tag(matched.tag);
        let ticket = self.inbox.expect(from, tag, last);
        let begun = self.incoming.receive(matched, ticket, buffer);
        begun.map_err(|failure| self.failed(failure))?;
        self.received += 1;
        self.senders.insert(from);
        self.incoming_bytes += length;
        Ok(true)
    }

    fn longest_nap(&self) -> Duration {
        if self.is_moving() { BUSY_NAP } else { IDLE_NAP }
    }

    fn failed(&self, failure: Failure) -> MpiError {
        failure.at(self.comm.rank())
    }
}

/// MPI's tag of a piece: the message's tag, and whether the message ends with it. MPI keeps the order of messages
/// between two ranks for a receiver that takes any tag.
fn wire_tag(tag: u8, last: bool) -> c_int {
    c_int::from(tag) << 1 | c_int::from(last)
}

fn user_tag(tag: c_int) -> (u8, bool) {
    ((tag >> 1) as u8, tag & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_survive_the_wire() {
        for tag in 0..=u8::MAX {
            for last in [false, true] {
                assert_eq!(user_tag(wire_tag(tag, last)), (tag, last));
                // MPI promises tags up to 32767.
                assert!((0..=32767).contains(&wire_tag(tag, last)));
            }
        }
    }
}
