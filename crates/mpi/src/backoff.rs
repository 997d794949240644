//! Waits without taking a core from computing threads.

use std::time::{Duration, Instant};

/// Time of busy polling before the first nap: most answers come within it.
const SPIN: Duration = Duration::from_micros(20);
/// The first nap.
const SHORTEST: Duration = Duration::from_micros(50);

/// Pauses that grow.
pub(crate) struct Backoff {
    begun: Instant,
    nap: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), nap: SHORTEST }
    }

    /// Pauses: not at all at first, then longer and longer up to `longest`.
    pub(crate) fn pause(&mut self, longest: Duration) {
        if self.begun.elapsed() < SPIN {
            std::hint::spin_loop();
            return;
        }
        let nap = self.nap.min(longest);
        if !nap.is_zero() {
            std::thread::sleep(nap);
        }
        self.nap = (self.nap * 3 / 2).min(longest.max(SHORTEST));
    }

    /// Time since the start of the wait.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
