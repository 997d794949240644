//! The sink of received bytes, and the events of a receiver.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::message::HeldPart;

/// Stores the bytes of a received stream. The error of any function, a message, ends the stream on
/// both sides.
pub trait Sink {
    /// Brings all bytes to disk, and returns which part of the stream is there.
    ///
    /// # Errors
    /// A file that cannot be synchronised.
    fn sync_held(&mut self) -> Result<HeldPart, String>;

    /// Continues the stream at `offset`, one of the two offsets that [`sync_held`](Self::sync_held)
    /// returned. Bytes after it are dropped as soon as new bytes arrive.
    ///
    /// # Errors
    /// The offset is another one, or the disk has an error.
    fn start(&mut self, offset: u64) -> Result<(), String>;

    /// Appends the next bytes of the stream.
    ///
    /// # Errors
    /// The bytes are invalid, or the disk has an error.
    fn append(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Brings all bytes to disk. Returns the number of bytes there.
    ///
    /// # Errors
    /// The disk has an error.
    fn sync(&mut self) -> Result<u64, String>;

    /// Completes the stream. It has `total` bytes, which are all on the disk.
    ///
    /// # Errors
    /// The contents of the stream are incomplete.
    fn finish(&mut self, total: u64) -> Result<(), String>;

    /// Handles a long time without a sender. Returns whether the sink completes the stream without
    /// one.
    fn on_sender_missing(&mut self) -> bool {
        false
    }

    /// Handles a sender that left because the sink holds another stream. Returns a message about
    /// it; by default this is the sender's reason `why`.
    fn on_foreign_sender(&mut self, why: &str) -> String {
        why.to_owned()
    }

    /// Returns whether the complete stream has been processed successfully, once that is known.
    fn verdict(&mut self) -> Option<Result<(), String>>;
}

/// An event that a receiver reports to its observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveEvent {
    /// A known peer is connected.
    Connected(SocketAddr),
    /// The connection of the known peer broke. Another one may follow.
    Broken(String),
    /// A known peer left because its stream differs from the stored one.
    OtherStream(String),
    /// A connection was refused, for this reason.
    Rejected(SocketAddr, String),
    /// Number of bytes that arrived, on the disk or not.
    Progress(u64),
    /// No sender connected, although the stored stream is complete.
    SenderMissing,
}

/// Function that a receiver calls with each event.
pub type ReceiveObserver = Arc<dyn Fn(ReceiveEvent) + Send + Sync>;
