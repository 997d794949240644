//! The clock after which a sender gives up.

use std::time::{Duration, Instant};

use crate::dial::Target;

/// Time of the peer's last confirmation. Only a peer that has proved its key can confirm bytes.
/// Connections alone are no progress: a third party can accept them and forward nothing.
pub(crate) struct Progress {
    /// Time of the last confirmation.
    pub(crate) since: Instant,
    /// Number of connections made since then.
    pub(crate) connections: u32,
}

impl Progress {
    /// Records progress at the current time.
    pub(crate) fn new() -> Self {
        Progress { since: Instant::now(), connections: 0 }
    }

    /// Adjusts the clock after an exchange that took the time `took`. If that exceeds `patience`,
    /// this process was stopped, and could not receive a confirmation in that time.
    pub(crate) fn allow_for_stop(&mut self, took: Duration, patience: Duration) {
        if took > patience {
            self.since += took;
        }
    }

    /// Whether the peer has confirmed nothing for too long. On a connection that began at `begun`
    /// it has the time of `patience` in any case.
    pub(crate) fn is_stalled(&self, begun: Instant, target: &Target) -> bool {
        self.since.elapsed() > target.give_up && begun.elapsed() > target.patience
    }
}
