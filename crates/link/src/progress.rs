//! The clock after which a sender gives up.

use std::time::{Duration, Instant};

use crate::dial::Target;

/// When the peer last confirmed something, which only a peer that has proved its key can do.
/// Connections alone are no progress: whoever is on the way can accept them and forward nothing.
pub(crate) struct Progress {
    /// Then.
    pub(crate) since: Instant,
    /// Connections made after that.
    pub(crate) connections: u32,
}

impl Progress {
    /// Progress that is made now.
    pub(crate) fn new() -> Self {
        Progress { since: Instant::now(), connections: 0 }
    }

    /// Adjusts the clock after an exchange that took so long. If that is more than `patience`, this
    /// process was stopped, and the peer could not confirm anything in that time.
    pub(crate) fn allow_for_stop(&mut self, took: Duration, patience: Duration) {
        if took > patience {
            self.since += took;
        }
    }

    /// Whether the peer has confirmed nothing for too long. It has some time in any case on a
    /// connection that began then.
    pub(crate) fn is_stalled(&self, begun: Instant, target: &Target) -> bool {
        self.since.elapsed() > target.give_up && begun.elapsed() > target.patience
    }
}
