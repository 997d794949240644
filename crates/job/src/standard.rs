//! Standard input and output, should the process have been started without them.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in the place of standard streams that are closed. So no file that is
//! opened later gets their number, and messages never end in a report or a database. But what is written to a closed
//! standard output would be gone without a word, and a closed standard input seem empty: so it is noted before that.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, output_error};

/// Whether standard input and output were closed. Written once, before `main`.
static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Has the loader call [`look`].
// SAFETY: the section holds pointers to functions that the loader calls before `main`, with arguments that this one
// ignores.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for (number, closed) in (0..).zip(&CLOSED) {
        // SAFETY: this asks for flags of a file and changes nothing; a number without a file is an error.
        let flags = unsafe { libc::fcntl(number as RawFd, libc::F_GETFD) };
        closed.store(flags == -1, Ordering::Relaxed);
    }
}

/// Standard input, if there is one.
///
/// # Errors
/// It is closed.
pub fn input() -> io::Result<io::Stdin> {
    open(0).map(|()| io::stdin())
}

/// Standard output, if there is one. Nothing is collected, and unlike the library's it tells if it is not for writing.
///
/// # Errors
/// It is closed.
pub fn output() -> io::Result<File> {
    open(1)?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Writes to standard output.
///
/// # Errors
/// In BLAST+'s words; a closed pipe ends the program quietly.
pub fn print(text: &str) -> Result<(), Error> {
    let printed = output().and_then(|mut output| output.write_all(text.as_bytes()));
    printed.map_err(|error| output_error(&error))
}

fn open(number: usize) -> io::Result<()> {
    match CLOSED[number].load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}
