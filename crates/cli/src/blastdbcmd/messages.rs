//! The messages of `blastdbcmd`.

use std::ffi::OsStr;

use fleetblast_job::error::Error;

use crate::logfile::LogFile;

/// The destination of messages.
#[derive(Debug)]
pub(super) struct Messages {
    log: LogFile,
}

/// Formats a message of the retrieval like BLAST+.
pub(super) fn text(message: &str) -> String {
    format!("Error: [blastdbcmd] {message}")
}

impl Messages {
    /// Opens the file of `-logfile`, if there is one.
    pub(super) fn new(logfile: Option<&OsStr>) -> Self {
        Self { log: LogFile::new(logfile) }
    }

    /// Writes an error that does not end the program.
    pub(super) fn error(&self, message: &str) {
        self.log.write(text(message).as_bytes());
    }

    /// Writes a message without a prefix.
    pub(super) fn print(&self, message: &str) {
        self.log.write(message.as_bytes());
    }

    /// Writes a warning.
    pub(super) fn warn(&self, message: &str) {
        self.log.write(format!("Warning: [blastdbcmd] {message}").as_bytes());
    }

    /// Writes the error that ends the program to the log, as [`LogFile::end`] does.
    pub(super) fn end(&self, error: Error) -> Error {
        self.log.end(error)
    }
}
