//! Who keeps what is received, and who is told of it.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::message::Held;

/// Keeps what comes. Each failure, in words, ends the stream on both sides.
pub trait Sink {
    /// What is on the disk.
    ///
    /// # Errors
    /// It cannot be brought there.
    fn held(&mut self) -> Result<Held, String>;

    /// The stream goes on from here, one of the two places that [`held`](Self::held) told. What is
    /// after it is forgotten as soon as more comes.
    ///
    /// # Errors
    /// The disk's.
    fn start(&mut self, offset: u64) -> Result<(), String>;

    /// The next bytes.
    ///
    /// # Errors
    /// Bytes that cannot be right; the disk's.
    fn take(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Brings everything to disk; tells how many bytes that are.
    ///
    /// # Errors
    /// The disk's.
    fn sync(&mut self) -> Result<u64, String>;

    /// These are all bytes, and all are on the disk.
    ///
    /// # Errors
    /// They are not.
    fn finish(&mut self, total: u64) -> Result<(), String>;

    /// Nobody has come for long. Whether that changes what becomes of the bytes that are held.
    fn alone(&mut self) -> bool {
        false
    }

    /// A sender came whose stream is not the one that is held, and leaves. Returns a message about
    /// that; the default is the sender's reason.
    fn refused(&mut self, why: &str) -> String {
        why.to_owned()
    }

    /// What became of the bytes, as soon as that is known.
    fn verdict(&mut self) -> Option<Result<(), String>>;
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A known peer is there.
    Connected(SocketAddr),
    /// Its connection broke; another one may come.
    Broken(String),
    /// A known peer sent another stream, and is gone.
    Unwanted(String),
    /// Somebody who is not let in.
    Rejected(SocketAddr, String),
    /// So many bytes came, on the disk or not.
    Progress(u64),
    /// Nobody came; what was held is taken for all there is.
    Alone,
}

/// Who is told.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;
