//! The log of `makeblastdb`: on standard output, or appended to a file.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};

use fleetblast_job::error::{Error, output_error};
use fleetblast_job::standard;
use fleetblast_makedb::{DatabaseKind, StagedFiles};

use super::options::Options;

/// The log. [`close`](Self::close) reports write errors.
pub(super) struct Log {
    target: Box<dyn Write>,
    /// Lines that wait until they are certain: the number of sequences before each line, and its
    /// text. `None` if lines do not wait.
    held: Option<Vec<(u64, String)>>,
    failed: Option<io::Error>,
}

impl Log {
    /// Opens the log file, if one is given, or else standard output.
    pub(super) fn open(file: Option<&OsStr>) -> Result<Self, Error> {
        let target: Box<dyn Write> = match file.filter(|&path| path != "-") {
            // Without standard output the log is dropped; the database is the same.
            None => match standard::output() {
                Ok(output) => Box::new(output),
                Err(_) => Box::new(io::sink()),
            },
            Some(path) => {
                let file = File::options().create(true).append(true).open(path);
                let text = path.to_string_lossy();
                Box::new(file.map_err(|_| Error::inaccessible("logfile", &text))?)
            }
        };
        Ok(Self { target, held: None, failed: None })
    }

    /// Writes a line.
    pub(super) fn say(&mut self, text: &str) {
        let written = writeln!(self.target, "{text}").and_then(|()| self.target.flush());
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes the lines of the log that come before the input is read.
    pub(super) fn start(&mut self, options: &Options, sink: &StagedFiles, now: &str) {
        let kind = match options.kind {
            DatabaseKind::Protein => "Protein",
            DatabaseKind::Nucleotide => "Nucleotide",
        };
        let name = sink.base_path().display();
        self.say(&format!("\n\nBuilding a new DB, current time: {now}"));
        self.say(&format!("New DB name:   {name}"));
        self.say(&format!("New DB title:  {}", options.title.to_string_lossy()));
        self.say(&format!("Sequence type: {kind}"));
        if sink.has_older_database() {
            self.say(&format!("Deleted existing {kind} BLAST database named {name}"));
        }
        self.say("Keep MBits: T");
    }

    /// Sets whether lines wait for [`release`](Self::release).
    pub(super) fn hold(&mut self, hold: bool) {
        self.held = hold.then(Vec::new);
    }

    /// Writes a line that belongs after the first `sequences` sequences, or keeps it while lines
    /// wait.
    pub(super) fn write_after(&mut self, sequences: u64, text: &str) {
        match &mut self.held {
            Some(held) => held.push((sequences, text.to_owned())),
            None => self.say(text),
        }
    }

    /// Writes the waiting lines that come after at most this number of sequences, and drops the
    /// others.
    pub(super) fn release(&mut self, sequences: u64) {
        for (after, text) in self.held.take().unwrap_or_default() {
            if after <= sequences {
                self.say(&text);
            }
        }
    }

    /// Writes the last lines; `sequences` is false if no volume was created.
    pub(super) fn end(&mut self, sequences: bool) {
        self.say(if sequences { "" } else { "\nNo volumes were created." });
        self.say("");
    }

    /// Returns the first write error.
    pub(super) fn close(self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), |error| Err(output_error(&error)))
    }
}

/// Writes a line on standard error. A failure is ignored: there is nowhere to report it.
pub(super) fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}
