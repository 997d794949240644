//! What the program says on standard error. Nobody can be told if that fails.

use std::io::{self, IsTerminal, Write};

use fleetblast_job::error::Error;
use fleetblast_mpi::speaks_for_all;

/// Ends with an error that is not to be told by all of several processes.
pub(crate) type Refuse<'a> = dyn Fn(Error) -> Result<(), Error> + 'a;

/// One message.
pub(crate) fn complain(message: &str) {
    say(message.as_bytes());
}

/// A line.
pub(crate) fn say(line: &[u8]) {
    let _ = io::stderr().write_all(&[line, b"\n"].concat());
}

/// Whether messages go to a person.
pub(crate) fn somebody_reads() -> bool {
    io::stderr().is_terminal() && speaks_for_all()
}
