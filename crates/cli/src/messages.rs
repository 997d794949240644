//! Messages on standard error. Write failures are ignored: there is nowhere to report them.

use std::io::{self, IsTerminal, Write};

use fleetblast_job::error::Error;
use fleetblast_mpi::is_first_process;

/// Ends the process with an error. If several processes run it, only one prints the error.
pub(crate) type ExitWithError<'a> = dyn Fn(Error) -> Result<(), Error> + 'a;

/// Writes one message.
pub(crate) fn complain(message: &str) {
    say(message.as_bytes());
}

/// Writes a line to standard error.
pub(crate) fn say(line: &[u8]) {
    let _ = io::stderr().write_all(&[line, b"\n"].concat());
}

/// Returns whether a person reads the messages: standard error of the first process is a terminal.
pub(crate) fn somebody_reads() -> bool {
    io::stderr().is_terminal() && is_first_process()
}
