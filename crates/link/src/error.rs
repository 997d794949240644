//! Errors of the link.

use std::io;
use std::time::Duration;

/// Error that ends a connection or a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A key cannot be read, created or used.
    #[error("{0}")]
    Key(String),
    /// An address that cannot be used.
    #[error("{0}")]
    Address(String),
    /// The connection ended, or could not be made. Another connection may succeed.
    #[error("{0}")]
    Broken(String),
    /// The peer has proved its key, and does not know the key of this side.
    #[error("{0}")]
    KeyRejected(String),
    /// The stream of the peer differs from the stream that this side holds.
    #[error("{0}")]
    OtherStream(String),
    /// The peer violated the protocol.
    #[error("the peer {0}")]
    Protocol(&'static str),
    /// The peer ended the stream, with this message.
    #[error("the other site says: {0}")]
    Refused(String),
    /// This side ended the stream, with this message.
    #[error("{0}")]
    Ended(String),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    NoThread(String),
    /// No attempt to connect succeeded within the time limit.
    #[error("no connection for {} s: {last}", after.as_secs())]
    GivenUp {
        /// Time without a connection.
        after: Duration,
        /// Error of the last attempt.
        last: String,
    },
    /// Connections succeeded, but the peer confirmed no bytes within the time limit.
    #[error(
        "the other site confirmed nothing for {} s, {}: {last}",
        after.as_secs(),
        over(*connections)
    )]
    Stalled {
        /// Time without a confirmation.
        after: Duration,
        /// Number of connections made during this time, without the connection that existed at its
        /// start.
        connections: u32,
        /// Description of the last error.
        last: String,
    },
}

/// Describes the number of connections: one at the start, and `connections` new ones.
fn over(connections: u32) -> String {
    match connections {
        0 => "over one connection".to_owned(),
        1 => "also over a new connection".to_owned(),
        _ => format!("also over {connections} new connections"),
    }
}

impl LinkError {
    /// Whether another connection may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, LinkError::Broken(_))
    }

    /// Returns the error for a peer that cannot receive the stream now. `why` is the peer's
    /// message.
    pub(crate) fn busy(why: &str) -> Self {
        LinkError::Broken(format!("the other site says: {why}"))
    }

    pub(crate) fn broken(error: &io::Error) -> Self {
        LinkError::Broken(error.to_string())
    }
}
