//! Measures the time after which a sender gives its stream up.

use std::time::{Duration, Instant};

use crate::dial::Target;

/// Time since the last confirmation of the peer. Only a peer that has proved its key can confirm
/// bytes. A connection alone is no progress: a third party can accept connections and forward
/// nothing.
pub(crate) struct Progress {
    /// Time of the last confirmation, or of the start of the stream.
    pub(crate) since: Instant,
    /// Number of connections made since the last confirmation, or since the start of the stream.
    pub(crate) connections: u32,
}

impl Progress {
    /// Creates the record of progress at the current time.
    pub(crate) fn new() -> Self {
        Progress { since: Instant::now(), connections: 0 }
    }

    /// Excludes the time `took` of an exchange with the peer from the measured time if it exceeds
    /// `patience`. This process was stopped then, and could not receive a confirmation.
    pub(crate) fn allow_for_stop(&mut self, took: Duration, patience: Duration) {
        if took > patience {
            self.since += took;
        }
    }

    /// Whether the peer has confirmed nothing for too long. A connection that began at `begun` has
    /// at least the time `patience` for a confirmation.
    pub(crate) fn is_stalled(&self, begun: Instant, target: &Target) -> bool {
        self.since.elapsed() > target.give_up && begun.elapsed() > target.patience
    }
}
