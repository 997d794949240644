//! The sink of received bytes, and the events of a receiver.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::message::Held;

/// Stores the bytes that a receiver gets. An error, which is a message, ends the stream on both
/// sides.
pub trait Sink {
    /// Brings everything to disk, and returns what is there.
    ///
    /// # Errors
    /// A file that cannot be synchronised.
    fn held(&mut self) -> Result<Held, String>;

    /// Continues the stream at one of the two offsets that [`held`](Self::held) returned. Bytes
    /// after it are dropped as soon as more arrive.
    ///
    /// # Errors
    /// Another offset; an error of the disk.
    fn start(&mut self, offset: u64) -> Result<(), String>;

    /// Appends the next bytes.
    ///
    /// # Errors
    /// Invalid bytes; an error of the disk.
    fn append(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Brings everything to disk; returns the number of bytes there.
    ///
    /// # Errors
    /// An error of the disk.
    fn sync(&mut self) -> Result<u64, String>;

    /// Completes the stream, which has `total` bytes, all of them on the disk.
    ///
    /// # Errors
    /// A stream that is incomplete by its contents.
    fn finish(&mut self, total: u64) -> Result<(), String>;

    /// Handles a long time without a sender; returns whether the sink completes the stream without
    /// one.
    fn on_sender_missing(&mut self) -> bool {
        false
    }

    /// Handles a sender that left because the sink holds another stream. Returns a message about
    /// it, by default the sender's reason.
    fn on_foreign_sender(&mut self, why: &str) -> String {
        why.to_owned()
    }

    /// Returns whether the complete stream was processed, once that is known.
    fn verdict(&mut self) -> Option<Result<(), String>>;
}

/// What a receiver reports to its observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveEvent {
    /// A known peer is connected.
    Connected(SocketAddr),
    /// Its connection broke; another one may follow.
    Broken(String),
    /// A known peer left because its stream differs from the stored one.
    OtherStream(String),
    /// A connection that was refused.
    Rejected(SocketAddr, String),
    /// Number of bytes that arrived, on the disk or not.
    Progress(u64),
    /// No sender connected, although the stored stream is complete.
    SenderMissing,
}

/// Function that receives the events of a receiver.
pub type ReceiveObserver = Arc<dyn Fn(ReceiveEvent) + Send + Sync>;
