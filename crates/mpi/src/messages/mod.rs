//! Sends and receives messages between ranks without waiting.

mod inbox;
mod pending;

use std::collections::{BTreeSet, VecDeque};
use std::ffi::c_int;
use std::mem::take;
use std::rc::Rc;
use std::time::Duration;

pub use self::inbox::Message;
use self::inbox::{Inbox, Ticket};
use self::pending::{Incoming, MatchedPiece, Outgoing, Pending, SendBuffer};
use crate::MpiError;
use crate::backoff::Backoff;
use crate::call::Failure;
use crate::comm::Comm;
use crate::pieces::pieces;

/// Longest nap between two polls while no message is in transfer.
const IDLE_NAP: Duration = Duration::from_millis(2);
/// Longest nap between two polls while messages are in transfer.
const BUSY_NAP: Duration = Duration::from_micros(50);
/// Most pieces received at a time. Further pieces wait in MPI.
const RECEPTIONS: usize = 64;
/// Most bytes received at a time. A piece that begins below this bound may exceed it.
const RECEPTION_BYTES: usize = 1 << 30;

/// A rank's endpoint for messages within a group.
///
/// Sending and receiving never wait for the other side. Messages from one rank to another arrive in
/// the order of sending, whatever their tags and sizes. Long messages are split into pieces and
/// joined again. Transfers make progress only during calls, so a rank must keep calling
/// [`Messenger::poll`] or [`Messenger::wait`].
///
/// If a messenger is dropped, messages that have not left may never leave, and their memory is
/// never freed. See [`Messenger::flush`] and [`Messenger::close`].
pub struct Messenger {
    comm: Comm,
    outgoing: Pending<Outgoing>,
    outgoing_bytes: usize,
    /// Receipts of messages that have left, and that [`Messenger::next_receipt`] has not returned.
    left: VecDeque<u64>,
    incoming: Pending<Incoming>,
    incoming_bytes: usize,
    inbox: Inbox,
    /// Ranks from which pieces have begun to arrive since the last call of [`Messenger::senders`].
    senders: BTreeSet<usize>,
    /// Numbers of pieces sent (`sent`) and received (`received`) so far, including those in
    /// transfer.
    sent: u64,
    received: u64,
}

impl Messenger {
    /// Creates a messenger for messages among the ranks of `comm` (collective). Different
    /// messengers do not receive each other's messages.
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

    /// Begins to send a message to rank `to`, which may be this rank.
    ///
    /// # Errors
    /// [`MpiError::Call`], also if rank `to` does not exist.
    pub fn send(&mut self, to: usize, tag: u8, bytes: Vec<u8>) -> Result<(), MpiError> {
        self.begin(to, tag, SendBuffer { bytes, receipt: None })
    }

    /// Begins to send a message, as [`Messenger::send`]. When the message has left,
    /// [`Messenger::next_receipt`] returns `receipt`.
    ///
    /// # Errors
    /// As [`Messenger::send`].
    pub fn send_with_receipt(
        &mut self,
        to: usize,
        tag: u8,
        bytes: Vec<u8>,
        receipt: u64,
    ) -> Result<(), MpiError> {
        self.begin(to, tag, SendBuffer { bytes, receipt: Some(receipt) })
    }

    /// Returns the receipt of a message that has left, so that its memory is free. Returns each
    /// receipt once, and `None` if there is no further one. A short message may leave at once,
    /// because MPI copies it. A long message leaves when the other side receives it.
    pub fn next_receipt(&mut self) -> Option<u64> {
        self.left.pop_front()
    }

    fn begin(&mut self, to: usize, tag: u8, message: SendBuffer) -> Result<(), MpiError> {
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

    /// Returns the number of bytes of messages that have not left, and so take memory on this rank.
    pub fn outgoing_bytes(&self) -> usize {
        self.outgoing_bytes
    }

    /// Returns the ranks from which messages have begun to arrive since the last call. These ranks
    /// are alive, even if a long message takes a while to be complete and delays the shorter ones
    /// behind it.
    pub fn senders(&mut self) -> BTreeSet<usize> {
        take(&mut self.senders)
    }

    /// Whether any transfer is incomplete. If so, keep calling this messenger: some libraries make
    /// progress only during calls.
    pub fn has_transfers(&self) -> bool {
        self.outgoing.len() + self.incoming.len() > 0
    }

    /// Makes progress without waiting. Returns whether all messages have left; the other sides may
    /// not have received them yet.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn progress(&mut self) -> Result<bool, MpiError> {
        let Self { outgoing, left, .. } = self;
        let sent = outgoing.progress_sends(|receipt| left.push_back(receipt));
        self.outgoing_bytes -= sent.map_err(|failure| self.failed(failure))?;
        let Self { incoming, inbox, incoming_bytes, .. } = self;
        let arrived = incoming.progress_receives(|ticket: Ticket, bytes| {
            *incoming_bytes -= bytes.len();
            inbox.add_arrived(ticket, bytes);
        });
        arrived.map_err(|failure| self.failed(failure))?;
        Ok(self.outgoing.len() == 0)
    }

    /// Returns the next message, or `None` if no message is complete. Does not wait.
    ///
    /// # Errors
    /// [`MpiError::Call`], [`MpiError::MessageMemory`].
    pub fn poll(&mut self) -> Result<Option<Message>, MpiError> {
        loop {
            self.progress()?;
            if self.inbox.is_ready() || !self.accept()? {
                return Ok(self.inbox.pop());
            }
        }
    }

    /// Waits for the next message, at most for `timeout`. Returns `None` if none arrives. It sleeps
    /// between polls, so that other threads can use the cores.
    ///
    /// # Errors
    /// As [`Messenger::poll`].
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

    /// Waits until all messages have left, at most for `timeout`. Returns whether all have left.
    /// Messages that arrive meanwhile are kept for [`Messenger::poll`], so several ranks can flush
    /// at the same time.
    ///
    /// # Errors
    /// As [`Messenger::poll`].
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

    /// Receives and discards messages until no rank has a message in transfer (collective). This
    /// must happen before MPI is finalized: some libraries print messages that nobody received to
    /// standard output.
    ///
    /// # Errors
    /// As [`Messenger::poll`].
    pub fn close(mut self) -> Result<(), MpiError> {
        let mut backoff = Backoff::new();
        loop {
            while self.poll()?.is_some() {}
            // The sum over all ranks is 0, modulo 2^64, once they have received all pieces that
            // they sent.
            let own = self.sent.wrapping_sub(self.received);
            if self.comm.sum(own)? == 0 {
                break;
            }
            backoff.pause(BUSY_NAP);
        }
        while self.has_transfers() {
            self.poll()?;
            backoff.pause(BUSY_NAP);
        }
        Ok(())
    }

    /// Begins to receive the next piece, if there is one. Returns whether it did.
    fn accept(&mut self) -> Result<bool, MpiError> {
        let full = self.incoming.len() >= RECEPTIONS || self.incoming_bytes >= RECEPTION_BYTES;
        if full {
            return Ok(false);
        }
        let found = MatchedPiece::probe(&self.comm).map_err(|failure| self.failed(failure))?;
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
        if self.has_transfers() { BUSY_NAP } else { IDLE_NAP }
    }

    fn failed(&self, failure: Failure) -> MpiError {
        failure.with_rank(self.comm.rank())
    }
}

/// Returns MPI's tag of a piece: the tag of the message, and whether the piece is the last one of
/// the message. MPI keeps the order of messages between two ranks, because the receiver accepts any
/// tag.
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
                // MPI guarantees tags up to 32767.
                assert!((0..=32767).contains(&wire_tag(tag, last)));
            }
        }
    }
}
