//! What keeps a stream from arriving.

use std::io;
use std::time::Duration;

/// Why a stream does not arrive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A key that cannot be read or made.
    #[error("{0}")]
    Key(String),
    /// An address that cannot be used.
    #[error("{0}")]
    Address(String),
    /// The connection ended, or there is none; another one may be better.
    #[error("{0}")]
    Broken(String),
    /// The peer has proved its key, and does not know the one of this side.
    #[error("{0}")]
    Stranger(String),
    /// The peer sends another stream than the one that is wanted here.
    #[error("{0}")]
    Unwanted(String),
    /// The peer does not keep to the protocol.
    #[error("the peer {0}")]
    Protocol(&'static str),
    /// The peer ends the stream, in its words.
    #[error("the other site says: {0}")]
    Refused(String),
    /// This side does.
    #[error("{0}")]
    Ended(String),
    /// The system gives this side no thread.
    #[error("a thread cannot be started: {0}")]
    NoThread(String),
    /// There was no connection for too long.
    #[error("no connection for {} s: {last}", after.as_secs())]
    GivenUp {
        /// For so long.
        after: Duration,
        /// What was wrong with the last one.
        last: String,
    },
    /// There were connections, but the peer confirmed nothing over them for too long.
    #[error(
        "the other site confirmed nothing for {} s, {}: {last}",
        after.as_secs(),
        over(*connections)
    )]
    Stalled {
        /// For so long.
        after: Duration,
        /// Connections made in this time, besides the one that there was.
        connections: u32,
        /// The error of the last one.
        last: String,
    },
}

/// Connections in words: the one that there was, and new ones.
fn over(connections: u32) -> String {
    match connections {
        0 => "over one connection".to_owned(),
        1 => "also over a new connection".to_owned(),
        _ => format!("also over {connections} new connections"),
    }
}

impl LinkError {
    /// Whether another connection may do better.
    pub fn is_passing(&self) -> bool {
        matches!(self, LinkError::Broken(_))
    }

    /// The peer cannot take the stream now, in its words.
    pub(crate) fn busy(why: &str) -> Self {
        LinkError::Broken(format!("the other site says: {why}"))
    }

    pub(crate) fn broken(error: &io::Error) -> Self {
        LinkError::Broken(error.to_string())
    }
}
