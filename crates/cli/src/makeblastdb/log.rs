//! The log: on standard output, or appended to a file.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};

use fleetblast_job::error::{Error, output_error};
use fleetblast_job::standard;
use fleetblast_makedb::{Kind, Sink};

use super::options::Options;

/// Writes the log. What cannot be written is told at the end.
pub(super) struct Log {
    target: Box<dyn Write>,
    /// What waits until it is certain: number of sequences before it, and text.
    held: Option<Vec<(u64, String)>>,
    failed: Option<io::Error>,
}

impl Log {
    /// Opens the file, if there is one.
    pub(super) fn open(file: Option<&OsStr>) -> Result<Self, Error> {
        let target: Box<dyn Write> = match file.filter(|&path| path != "-") {
            // What is told to nobody is not missed, and the database is the same.
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

    /// The lines before anything is read.
    pub(super) fn start(&mut self, options: &Options, sink: &Sink, now: &str) {
        let kind = match options.kind {
            Kind::Protein => "Protein",
            Kind::Nucleotide => "Nucleotide",
        };
        let name = sink.base().display();
        self.say(&format!("\n\nBuilding a new DB, current time: {now}"));
        self.say(&format!("New DB name:   {name}"));
        self.say(&format!("New DB title:  {}", options.title.to_string_lossy()));
        self.say(&format!("Sequence type: {kind}"));
        if sink.replaces() {
            self.say(&format!("Deleted existing {kind} BLAST database named {name}"));
        }
        self.say("Keep MBits: T");
    }

    /// From now on lines may wait for [`release`](Self::release).
    pub(super) fn hold(&mut self, hold: bool) {
        self.held = hold.then(Vec::new);
    }

    /// Writes a line that comes after so many sequences, at once or later.
    pub(super) fn tell(&mut self, sequences: u64, text: &str) {
        match &mut self.held {
            Some(held) => held.push((sequences, text.to_owned())),
            None => self.say(text),
        }
    }

    /// Writes the lines that come after at most so many sequences.
    pub(super) fn release(&mut self, sequences: u64) {
        for (after, text) in self.held.take().unwrap_or_default() {
            if after <= sequences {
                self.say(&text);
            }
        }
    }

    /// The lines after everything, whether or not there were sequences.
    pub(super) fn end(&mut self, sequences: bool) {
        self.say(if sequences { "" } else { "\nNo volumes were created." });
        self.say("");
    }

    /// Tells what could not be written.
    pub(super) fn close(self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), |error| Err(output_error(&error)))
    }
}

/// A line on standard error. Nobody can be told if that fails.
pub(super) fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}
