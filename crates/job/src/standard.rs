//! Standard input and output of a process that may have been started without them.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of closed standard streams. So no file
//! that is opened later gets their number, and messages never end up in a report or a database. But
//! output to a closed standard output would be lost silently, and a closed standard input would
//! seem empty. Therefore this module records the closed streams before the runtime starts. Jobs and
//! other commands read standard input and write standard output through this module.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, output_error};

/// Whether standard input and output were closed. Written once, before `main`.
static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Makes the loader call [`record_closed_streams`].
// SAFETY: the section holds pointers to functions that the loader calls before `main`. This one
// ignores their arguments.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static RECORD_CLOSED_STREAMS: extern "C" fn() = record_closed_streams;

extern "C" fn record_closed_streams() {
    for (number, closed) in (0..).zip(&CLOSED) {
        // SAFETY: reads the flags of a file and changes nothing; a number without a file is an
        // error.
        let flags = unsafe { libc::fcntl(number as RawFd, libc::F_GETFD) };
        closed.store(flags == -1, Ordering::Relaxed);
    }
}

/// Returns standard input.
///
/// # Errors
/// A closed stream.
pub fn input() -> io::Result<io::Stdin> {
    require_open(0).map(|()| io::stdin())
}

/// Returns standard output without a buffer. Unlike the standard library's, it reports an error if
/// it is not writable.
///
/// # Errors
/// A closed stream.
pub fn output() -> io::Result<File> {
    require_open(1)?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Writes to standard output.
///
/// # Errors
/// A write error in BLAST+'s words; a closed pipe ends the program silently.
pub fn print(text: &str) -> Result<(), Error> {
    let printed = output().and_then(|mut output| output.write_all(text.as_bytes()));
    printed.map_err(|error| output_error(&error))
}

fn require_open(number: usize) -> io::Result<()> {
    match CLOSED[number].load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}
