//! Where messages go: standard error, or a log file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};

use fleetblast_job::error::Error;

/// The place for messages.
#[derive(Debug)]
pub(super) struct Messages {
    log: Option<File>,
}

/// A message of the retrieval as BLAST+ words it.
pub(super) fn text(message: &str) -> String {
    format!("Error: [blastdbcmd] {message}")
}

impl Messages {
    /// Messages are appended to the file of `-logfile`; to standard error if there is none or it cannot be opened.
    pub(super) fn new(logfile: Option<&OsStr>) -> Self {
        let open = |path| File::options().create(true).append(true).open(path).ok();
        Self { log: logfile.filter(|path| *path != "-").and_then(open) }
    }

    /// Tells of an error that does not end the program.
    pub(super) fn error(&self, message: &str) {
        self.write(&text(message));
    }

    /// Tells of what is odd and no error.
    pub(super) fn warn(&self, message: &str) {
        self.write(&format!("Warning: [blastdbcmd] {message}"));
    }

    /// The error that ends the program, without its message if that went to the log.
    pub(super) fn end(&self, error: Error) -> Error {
        if self.log.is_none() || error.message.is_empty() {
            return error;
        }
        self.write(&error.message);
        Error::new(error.exit_code, "")
    }

    /// Nobody can be told if this fails.
    fn write(&self, line: &str) {
        let line = format!("{line}\n");
        let _ = match &self.log {
            Some(log) => (&mut &*log).write_all(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }
}
