//! Waiting, but not for ever: a test that hangs says nothing.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// More than enough on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// Waits until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    awaited(what, || is_so().then_some(()));
}

/// Waits until something is there.
pub fn awaited<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(there) = there() {
            return there;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: it does not come to that");
        sleep(Duration::from_millis(1));
    }
}
