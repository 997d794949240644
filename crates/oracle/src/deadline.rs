//! A time limit for tests of work that must not take long.

use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Time limit of [`within_a_minute`], for work that takes a few seconds at most.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `work` in a thread and returns its result.
///
/// # Panics
/// If the work panics or takes longer than a minute. In the latter case its thread continues until
/// the test program ends.
pub fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || drop(sender.send(work())));
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it takes longer than {LIMIT:?}"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => panic::resume_unwind(panic),
            Ok(()) => unreachable!("the result was sent"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_panics_are_those_of_the_work() {
        assert_eq!(within_a_minute(|| 7), 7);
        let panic = panic::catch_unwind(|| within_a_minute(|| panic!("{}", "of the work")));
        assert_eq!(panic.unwrap_err().downcast_ref::<String>().unwrap(), "of the work");
    }
}
