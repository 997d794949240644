//! What the program says on standard error. Nobody can be told if that fails.

use std::io::{self, Write};

/// One message.
pub(crate) fn complain(message: &str) {
    say(message.as_bytes());
}

/// A warning as BLAST+ prints it. Of several ranks, all of which find the same to warn of, the first tells.
pub(crate) fn warn(text: &str) {
    if fleetblast_mpi::speaks_for_all() {
        say(&warning(text));
    }
}

/// An error that does not end the search, as BLAST+ prints it, told once like a warning.
pub(crate) fn blame(text: &str) {
    if fleetblast_mpi::speaks_for_all() {
        complain(&format!("Error: [blastp] {text}"));
    }
}

/// The line of a warning.
pub(crate) fn warning(text: &str) -> Vec<u8> {
    format!("Warning: [blastp] {text}").into_bytes()
}

/// A line.
pub(crate) fn say(line: &[u8]) {
    let _ = io::stderr().write_all(&[line, b"\n"].concat());
}
