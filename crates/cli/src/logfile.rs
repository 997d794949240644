//! Destination of a program's messages: standard error, or the file of `-logfile`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use fleetblast_mpi::is_first_process;
use rustix::stdio::dup2_stderr;

/// Standard error from before it was [redirected](redirect).
static SCREEN: OnceLock<File> = OnceLock::new();

/// Makes standard error the file `path`, to which messages are appended: the messages of all
/// threads and libraries, but of the first process only. Standard error stays if the path is `-` or
/// the file cannot be opened.
pub(crate) fn redirect(path: &OsStr) {
    let redirect = || {
        let screen = io::stderr().as_fd().try_clone_to_owned()?;
        let log = File::options().create(true).append(true).open(path)?;
        dup2_stderr(log)?;
        SCREEN.get_or_init(|| File::from(screen));
        io::Result::Ok(())
    };
    if path != "-" && is_first_process() {
        // Best effort, as in BLAST+: the messages go to standard error instead.
        let _ = redirect();
    }
}

/// Ends a redirection: messages go to standard error again.
pub(crate) fn restore() {
    if let Some(screen) = SCREEN.get() {
        // A failure is ignored: there is nowhere to report it.
        let _ = dup2_stderr(screen);
    }
}

/// Writes a text to standard error from before it was redirected; returns false if it was not.
pub(crate) fn say_on_screen(text: &str) -> bool {
    let Some(mut screen) = SCREEN.get() else { return false };
    // A failure is ignored: there is nowhere to report it.
    let _ = screen.write_all(text.as_bytes());
    true
}
