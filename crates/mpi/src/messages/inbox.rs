//! Joins received pieces to messages, and keeps the messages of each sender in order.

use std::collections::{HashMap, VecDeque};

/// A message that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sent it.
    pub from: usize,
    /// Tag that the sender gave the message.
    pub tag: u8,
    /// Bytes of the message.
    pub bytes: Vec<u8>,
}

/// Identifies a piece that is being received: its sender, and its number among the sender's pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) from: usize,
    number: u64,
}

/// The pieces that have been announced or received, and the complete messages.
#[derive(Default)]
pub(super) struct Inbox {
    streams: HashMap<usize, Stream>,
    whole: VecDeque<Message>,
}

/// Pieces of one sender that do not form complete messages yet.
#[derive(Default)]
struct Stream {
    /// Pieces in the order in which they were sent.
    pieces: VecDeque<Piece>,
    /// Number of the first piece in `pieces`.
    first: u64,
    /// Bytes of earlier pieces of the message to which the first of `pieces` belongs.
    begun: Vec<u8>,
}

struct Piece {
    tag: u8,
    /// Whether this is the last piece of its message.
    last: bool,
    bytes: Option<Vec<u8>>,
}

impl Inbox {
    /// Notes that the next piece of a sender is being received. Returns its ticket.
    pub(super) fn expect(&mut self, from: usize, tag: u8, last: bool) -> Ticket {
        let stream = self.streams.entry(from).or_default();
        stream.pieces.push_back(Piece { tag, last, bytes: None });
        Ticket { from, number: stream.first + stream.pieces.len() as u64 - 1 }
    }

    /// Adds the bytes of a piece that has been received.
    pub(super) fn add_arrived(&mut self, ticket: Ticket, bytes: Vec<u8>) {
        let stream = self.streams.entry(ticket.from).or_default();
        let place = (ticket.number - stream.first) as usize;
        stream.pieces[place].bytes = Some(bytes);
        while let Some(message) = stream.next_whole(ticket.from) {
            self.whole.push_back(message);
        }
    }

    /// Removes and returns the next complete message, or `None` if there is none.
    pub(super) fn pop(&mut self) -> Option<Message> {
        self.whole.pop_front()
    }

    /// Whether there is a complete message.
    pub(super) fn is_ready(&self) -> bool {
        !self.whole.is_empty()
    }
}

impl Stream {
    /// Removes and returns the next message of this sender, if all of its pieces have been
    /// received.
    fn next_whole(&mut self, from: usize) -> Option<Message> {
        loop {
            let bytes = self.pieces.front_mut()?.bytes.take()?;
            let piece = self.pieces.pop_front()?;
            self.first += 1;
            if self.begun.is_empty() {
                self.begun = bytes;
            } else {
                self.begun.reserve_exact(bytes.len());
                self.begun.extend_from_slice(&bytes);
            }
            if piece.last {
                let bytes = std::mem::take(&mut self.begun);
                return Some(Message { from, tag: piece.tag, bytes });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: usize, tag: u8, bytes: &[u8]) -> Option<Message> {
        Some(Message { from, tag, bytes: bytes.to_vec() })
    }

    #[test]
    fn messages_wait_for_earlier_ones_of_their_sender_only() {
        let mut inbox = Inbox::default();
        let long = inbox.expect(1, 7, true);
        let short = inbox.expect(1, 8, true);
        let other = inbox.expect(2, 9, true);
        inbox.add_arrived(short, b"short".to_vec());
        assert!(!inbox.is_ready());
        inbox.add_arrived(other, Vec::new());
        assert_eq!(inbox.pop(), message(2, 9, b""));
        inbox.add_arrived(long, b"long".to_vec());
        assert_eq!(inbox.pop(), message(1, 7, b"long"));
        assert_eq!(inbox.pop(), message(1, 8, b"short"));
        assert_eq!(inbox.pop(), None);
    }

    #[test]
    fn pieces_are_joined_in_the_order_of_sending() {
        let mut inbox = Inbox::default();
        let tickets: Vec<_> = (0..6).map(|n| inbox.expect(3, 1, n % 3 == 2)).collect();
        for n in [5, 1, 0, 3, 2, 4] {
            inbox.add_arrived(tickets[n], vec![n as u8; n]);
        }
        assert_eq!(inbox.pop(), message(3, 1, &[1, 2, 2]));
        assert_eq!(inbox.pop(), message(3, 1, &[3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5]));
        let next = inbox.expect(3, 2, true);
        inbox.add_arrived(next, b"x".to_vec());
        assert_eq!(inbox.pop(), message(3, 2, b"x"));
    }
}
