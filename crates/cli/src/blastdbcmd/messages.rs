//! Destination of messages: standard error, or a log file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};

use fleetblast_job::error::Error;

/// The destination of messages.
#[derive(Debug)]
pub(super) struct Messages {
    log: Option<File>,
}

/// Formats a message of the retrieval like BLAST+.
pub(super) fn text(message: &str) -> String {
    format!("Error: [blastdbcmd] {message}")
}

impl Messages {
    /// Chooses the destination: the file of `-logfile`, to which messages are appended. It is
    /// standard error if there is no such option, or the file cannot be opened.
    pub(super) fn new(logfile: Option<&OsStr>) -> Self {
        let open = |path| File::options().create(true).append(true).open(path).ok();
        Self { log: logfile.filter(|path| *path != "-").and_then(open) }
    }

    /// Writes an error that does not end the program.
    pub(super) fn error(&self, message: &str) {
        self.write(&text(message));
    }

    /// Writes a warning.
    pub(super) fn warn(&self, message: &str) {
        self.write(&format!("Warning: [blastdbcmd] {message}"));
    }

    /// Writes the error that ends the program to the log, and returns it without its message.
    /// Without a log, returns the error unchanged.
    pub(super) fn end(&self, error: Error) -> Error {
        if self.log.is_none() || error.is_silent() {
            return error;
        }
        self.write(&error.message);
        Error::silent(error.exit_code)
    }

    /// Writes a line. A failure is ignored: there is nowhere to report it.
    fn write(&self, line: &str) {
        let line = format!("{line}\n");
        let _ = match &self.log {
            Some(log) => (&mut &*log).write_all(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }
}
