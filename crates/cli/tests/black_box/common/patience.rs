//! Waits with time limits, so that a test that hangs fails with a message.

use std::fs;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

/// Time limit that suffices on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// Waits until a condition holds; fails after the usual time limit.
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(PATIENCE, what, is_so);
}

/// Waits until a condition holds; fails after this time limit.
pub fn until_within(limit: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let is_so = within(limit, || is_so().then_some(()));
    assert!(is_so.is_some(), "{what}: still not so after {limit:?}");
}

/// Waits until `poll` returns a value; fails after the usual time limit.
pub fn wait_for_value<T>(what: &str, poll: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, poll).unwrap_or_else(|| panic!("{what}: still not so after {PATIENCE:?}"))
}

/// Waits until `poll` returns a value; `None` if it does not within the limit.
pub fn within<T>(limit: Duration, mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let found = poll();
        if found.is_some() || start.elapsed() > limit {
            return found;
        }
        sleep(Duration::from_millis(1));
    }
}

/// Runs a command to its end. One that takes longer than the limit is killed, and the test fails.
pub fn output(mut command: Command, limit: Duration) -> Output {
    let file = || NamedTempFile::new().expect("a temporary file");
    let (out, err) = (file(), file());
    let read = |file: &NamedTempFile| fs::read(file.path()).expect("output");
    command.stdout(out.reopen().expect("a file")).stderr(err.reopen().expect("a file"));
    let mut child = command.spawn().expect("a start");
    let Some(status) = within(limit, || child.try_wait().expect("a process")) else {
        child.kill().expect("a process");
        child.wait().expect("an end");
        let said = String::from_utf8_lossy(&read(&err)).into_owned();
        panic!("{command:?} does not end within {limit:?}: {said}");
    };
    Output { status, stdout: read(&out), stderr: read(&err) }
}
