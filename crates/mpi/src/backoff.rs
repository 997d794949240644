//! Waits for events of MPI without taking a core from computing threads.

use std::time::{Duration, Instant};

/// Time of busy polling before the first nap. Most answers arrive within it.
const SPIN: Duration = Duration::from_micros(20);
/// Length of the first nap.
const SHORTEST: Duration = Duration::from_micros(50);

/// Pauses between polls. They become longer during a wait.
pub(crate) struct Backoff {
    begun: Instant,
    nap: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), nap: SHORTEST }
    }

    /// Pauses before the next poll. The first polls have no pause; later pauses grow, up to
    /// `longest`.
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

    /// Returns the time since the start of the wait.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
