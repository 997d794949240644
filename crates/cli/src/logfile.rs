//! Destination of a program's messages: standard error, or the file of `-logfile`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};

use fleetblast_job::error::Error;

/// The destination of messages.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: Option<File>,
}

impl LogFile {
    /// Chooses the destination: the file of `-logfile`, to which messages are appended. It is
    /// standard error if there is no such option, or the file cannot be opened.
    pub(crate) fn new(path: Option<&OsStr>) -> Self {
        let open = |path| File::options().create(true).append(true).open(path).ok();
        Self { file: path.filter(|path| *path != "-").and_then(open) }
    }

    /// Writes a line. A failure is ignored: there is nowhere to report it.
    pub(crate) fn write(&self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        let _ = match &self.file {
            Some(file) => (&mut &*file).write_all(&line),
            None => io::stderr().write_all(&line),
        };
    }

    /// Writes the error that ends the program to the file, and returns it without its message.
    /// Without a file, returns the error unchanged.
    pub(crate) fn end(&self, error: Error) -> Error {
        if self.file.is_none() || error.is_silent() {
            return error;
        }
        self.write(error.message.as_bytes());
        Error::silent(error.exit_code)
    }
}
