//! Metadata that arrive, kept in a file until the report is made of them.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_link::message::Held;
use fleetblast_link::sink::Sink;
use fleetblast_metadata::MetadataError;
use fleetblast_metadata::follow::Follower;
use fleetblast_spool as spool;

use super::growth::Growth;
use super::source::fault;
use crate::error::{Error, exit};

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

/// What became of the metadata: nothing yet, or a report, or in words why there is none.
pub type Verdict = Arc<Mutex<Option<Result<(), String>>>>;

/// Metadata in a file.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    follower: Follower,
    growth: Growth,
    verdict: Verdict,
    /// All of it came in an earlier run, and nobody has said yet that it is what is sent now: no report gets its name before that.
    is_old: bool,
    /// The sender goes on from the end of the whole records; bytes after it are kept until more
    /// arrive.
    goes_back: bool,
    /// Threads that make the report.
    pub workers: u32,
}

impl Spool {
    /// Opens a file, which is made if it is not there. No record may take more than `memory` bytes
    /// of memory. Whole records of an earlier run are kept; returns a message about the rest.
    ///
    /// # Errors
    /// A file that holds something else, that another process uses, that others own or may write,
    /// or that cannot be used; a link to one.
    pub fn open(path: &Path, memory: u64) -> Result<(Self, Option<String>), Error> {
        let failed =
            |what: &dyn Display| Error::new(exit::OUTPUT, format!("{}: {what}", path.display()));
        let mut file = spool::open_private(path).map_err(|error| match error {
            spool::Error::Foreign { what, .. } => failed(&format_args!(
                "this is {what}, to which nothing is written; remove it, or name another file \
                 with -metadata"
            )),
            error => Error::new(exit::OUTPUT, error.to_string()),
        })?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(failed(&"another 'fleetblast receive' keeps its metadata there"));
            }
            // Where there are no locks, whoever starts two is to know.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut follower = Follower::limited(memory);
        let mut piece = vec![0; PIECE];
        let damage = loop {
            let count = file.read(&mut piece).map_err(|error| failed(&error))?;
            if count == 0 {
                break None;
            }
            match follower.take(&piece[..count]) {
                Ok(()) => {}
                Err(
                    error @ (MetadataError::Damaged { .. }
                    | MetadataError::Order { .. }
                    | MetadataError::Counts { .. }),
                ) => break Some(error),
                Err(error) => return Err(fault(path, &error)),
            }
        };
        let told = damage.map(|error| {
            let asked = "what comes from there on is asked for again";
            format!("{} {error}; {asked}", path.display())
        });
        if told.is_some() {
            follower.back();
        }
        let (growth, verdict) = Default::default();
        let (path, is_old) = (path.to_owned(), false);
        let goes_back = false;
        let mut spool =
            Spool { path, file, follower, growth, verdict, is_old, goes_back, workers: 1 };
        let cut = spool.follower.bytes();
        spool.file.set_len(cut).map_err(|error| failed(&error))?;
        spool.sync().map_err(|error| failed(&error))?;
        spool.is_old = spool.follower.reached().ended;
        Ok((spool, told))
    }

    /// Whether all of it came in an earlier run.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// How far it has grown.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// What is to be told to who sends.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The file, to be read.
    ///
    /// # Errors
    /// No more files can be opened.
    pub fn reader(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|error| Error::new(exit::OUTPUT, self.failed(&error)))
    }

    fn failed(&self, what: &dyn Display) -> String {
        format!("{}: {what}", self.path.display())
    }
}

impl Sink for Spool {
    fn held(&mut self) -> Result<Held, String> {
        let bytes = self.sync()?;
        let reached = self.follower.reached();
        Ok(Held { bytes, whole: reached.whole, workers: self.workers, state: reached.encode() })
    }

    fn start(&mut self, offset: u64) -> Result<(), String> {
        // A sender that turns out to have other queries leaves before it sends anything, and the
        // one whose bytes these are goes on after them.
        self.goes_back = offset != self.follower.bytes();
        if self.goes_back && offset != self.follower.reached().whole {
            return Err(self.failed(&"the other site goes on from another place"));
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        if std::mem::take(&mut self.goes_back) {
            self.follower.back();
            // The report is made of whole records, so nobody has read what is after them.
            let whole = self.follower.bytes();
            self.file.set_len(whole).map_err(|error| self.failed(&error))?;
        }
        let offset = self.follower.bytes();
        self.follower.take(bytes).map_err(|error| format!("what came {error}"))?;
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed(&error))
    }

    fn sync(&mut self) -> Result<u64, String> {
        self.file.sync_data().map_err(|error| self.failed(&error))?;
        let bytes = self.follower.bytes();
        // Only what is whole: the rest may come in another way.
        self.growth.reach(self.follower.reached().whole);
        Ok(bytes)
    }

    fn finish(&mut self, total: u64) -> Result<(), String> {
        let reached = self.follower.reached();
        if !reached.ended || reached.whole != total {
            return Err("what came is not whole".to_owned());
        }
        self.is_old = false;
        self.growth.finish();
        Ok(())
    }

    fn alone(&mut self) -> bool {
        let is_old = std::mem::take(&mut self.is_old);
        if is_old {
            self.growth.finish();
        }
        is_old
    }

    fn refused(&mut self, why: &str) -> String {
        let path = self.path.display().to_string();
        if self.follower.bytes() == 0 {
            // It may have sent all it has to an earlier run, whose report it waits for.
            why.to_owned()
        } else if self.follower.reached().ended {
            // The refused one has not changed it, so nothing else is waited for.
            self.alone();
            format!("{why}; {path} holds all metadata of a search, of which the report is made")
        } else {
            format!(
                "{why}; {path} holds a part of a search: to receive another one, remove it, or name \
                 another file with -metadata"
            )
        }
    }

    fn verdict(&mut self) -> Option<Result<(), String>> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests;
