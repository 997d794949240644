//! The output of `blastdbcheck`. Its verbosity decides which lines it has.

use fleetblast_db::DbError;
use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_job::plan::Destination;
use fleetblast_stats::release::Release;

use super::options::{Level, Options};
use crate::exceptions::Exception;
use crate::options::blastdbcheck::LOGFILE;
use crate::options::compat::in_words_of;
use crate::plan;

/// Standard output or the file of `-logfile`.
pub(super) struct Log {
    output: Output,
    level: Level,
    release: &'static Release,
}

impl Log {
    pub(super) fn open(options: &Options) -> Result<Self, Error> {
        let target = match &options.logfile {
            Some(path) => plan::input::destination(LOGFILE.name(), path)?,
            None => Destination::Stdout,
        };
        let Options { level, release, .. } = *options;
        Ok(Self { output: Output::open(&target)?, level, release })
    }

    /// Writes a line if the verbosity is at least `level`.
    pub(super) fn line(&mut self, level: Level, text: impl AsRef<[u8]>) -> Result<(), Error> {
        if level > self.level {
            return Ok(());
        }
        self.output.write(&[text.as_ref(), b"\n"].concat())
    }

    /// Writes a line about a database or an alias, which names it and the test.
    pub(super) fn result(
        &mut self,
        level: Level,
        (name, test): (&[u8], &str),
        text: impl AsRef<[u8]>,
    ) -> Result<(), Error> {
        let place = format!(" / {test}: ");
        self.line(level, [b"  ", name, place.as_bytes(), text.as_ref()].concat())
    }

    /// Writes the buffered lines if the output is a pipe or device, where somebody may wait for
    /// them.
    pub(super) fn flush_if_streamed(&mut self) -> Result<(), Error> {
        self.output.flush_if_streamed()
    }

    /// Returns the release that the program follows.
    pub(super) fn release(&self) -> &'static Release {
        self.release
    }

    pub(super) fn commit(self) -> Result<(), Error> {
        self.output.commit()
    }
}

/// Formats an error of a database: as BLAST+'s exception where BLAST+ throws one with this text.
pub(super) fn describe(release: &Release, error: DbError) -> String {
    let error = in_words_of(release, error);
    match Exception::for_database_error(release, &error) {
        Some((exception, what)) => exception.format(release, &what),
        None => error.to_string(),
    }
}
