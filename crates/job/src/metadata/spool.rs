//! Keeps metadata that arrive over a link in a file until their report is complete.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_link::message::HeldPart;
use fleetblast_link::sink::Sink;
use fleetblast_metadata::MetadataError;
use fleetblast_metadata::follow::MetadataVerifier;
use fleetblast_spool as spool;

use super::growth::FileGrowth;
use super::source::metadata_error;
use crate::error::{Error, exit};

/// Bytes read at a time.
const READ_BYTES: usize = 1 << 20;

/// The result of the report: `None` while it is made, then success or an error message.
pub type Verdict = Arc<Mutex<Option<Result<(), String>>>>;

/// A file to which received metadata are appended.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    /// The file, which is locked while it is open.
    file: File,
    follower: MetadataVerifier,
    growth: FileGrowth,
    verdict: Verdict,
    /// Whether all metadata arrived in an earlier run, and no sender has confirmed yet that they
    /// belong to its search. No report gets its name before that.
    is_old: bool,
    /// Whether the sender continues at the end of the last whole record. The bytes after it are
    /// kept in the file until the sender has sent more.
    rewinds: bool,
    /// Number of threads that make the report.
    pub workers: u32,
}

impl Spool {
    /// Opens or creates a file. Keeps the whole records of an earlier run, and returns a message if
    /// later bytes are damaged. A record that needs more than `memory` bytes of memory is an error.
    ///
    /// # Errors
    /// A file that is not metadata, that another process uses, that another user owns or may write,
    /// or that cannot be read or written; a symbolic link.
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
            // On file systems without locks, users must not start two receivers for one file.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut follower = MetadataVerifier::with_limit(memory);
        let mut buffer = vec![0; READ_BYTES];
        let damage = loop {
            let count = file.read(&mut buffer).map_err(|error| failed(&error))?;
            if count == 0 {
                break None;
            }
            match follower.append(&buffer[..count]) {
                Ok(()) => {}
                Err(
                    error @ (MetadataError::Damaged { .. }
                    | MetadataError::Order { .. }
                    | MetadataError::Counts { .. }),
                ) => break Some(error),
                Err(error) => return Err(metadata_error(path, &error)),
            }
        };
        let message = damage.map(|error| {
            let asked = "what comes from there on is asked for again";
            format!("{} {error}; {asked}", path.display())
        });
        if message.is_some() {
            follower.rewind();
        }
        let (growth, verdict) = Default::default();
        let (path, is_old) = (path.to_owned(), false);
        let rewinds = false;
        let mut spool =
            Spool { path, file, follower, growth, verdict, is_old, rewinds, workers: 1 };
        let cut = spool.follower.bytes();
        spool.file.set_len(cut).map_err(|error| failed(&error))?;
        spool.sync().map_err(|error| failed(&error))?;
        spool.is_old = spool.follower.resume_point().ended;
        Ok((spool, message))
    }

    /// Returns whether all metadata arrived in an earlier run.
    pub fn is_complete_from_earlier_run(&self) -> bool {
        self.is_old
    }

    /// Returns the growth of the file, which a reader waits for.
    pub fn growth(&self) -> &FileGrowth {
        &self.growth
    }

    /// Returns the result of the report. The maker of the report sets it, and the sender receives
    /// it.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Returns another handle of the file, for a reader.
    ///
    /// # Errors
    /// Too many open files.
    pub fn reader(&self) -> Result<File, Error> {
        self.file
            .try_clone()
            .map_err(|error| Error::new(exit::OUTPUT, self.failure_message(&error)))
    }

    fn failure_message(&self, what: &dyn Display) -> String {
        format!("{}: {what}", self.path.display())
    }
}

impl Sink for Spool {
    fn sync_held(&mut self) -> Result<HeldPart, String> {
        let bytes = self.sync()?;
        let point = self.follower.resume_point();
        Ok(HeldPart {
            bytes,
            whole_bytes: point.whole_bytes,
            workers: self.workers,
            state: point.encode(),
        })
    }

    fn start(&mut self, offset: u64) -> Result<(), String> {
        // A sender that turns out to have other queries ends before it sends anything. Then the
        // bytes after the whole records are still of use to the sender that they are from.
        self.rewinds = offset != self.follower.bytes();
        if self.rewinds && offset != self.follower.resume_point().whole_bytes {
            return Err(self.failure_message(&"the other site goes on from another place"));
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        if std::mem::take(&mut self.rewinds) {
            self.follower.rewind();
            // The report is made from whole records, so nobody has read the bytes after them.
            let whole = self.follower.bytes();
            self.file.set_len(whole).map_err(|error| self.failure_message(&error))?;
        }
        let offset = self.follower.bytes();
        self.follower.append(bytes).map_err(|error| format!("what came {error}"))?;
        self.file.write_all_at(bytes, offset).map_err(|error| self.failure_message(&error))
    }

    fn sync(&mut self) -> Result<u64, String> {
        self.file.sync_data().map_err(|error| self.failure_message(&error))?;
        let bytes = self.follower.bytes();
        // A reader gets only whole records, because the bytes after them may still change.
        self.growth.set_bytes(self.follower.resume_point().whole_bytes);
        Ok(bytes)
    }

    fn finish(&mut self, total: u64) -> Result<(), String> {
        let point = self.follower.resume_point();
        if !point.ended || point.whole_bytes != total {
            return Err("what came is not whole".to_owned());
        }
        self.is_old = false;
        self.growth.finish();
        Ok(())
    }

    fn on_sender_missing(&mut self) -> bool {
        let is_old = std::mem::take(&mut self.is_old);
        if is_old {
            self.growth.finish();
        }
        is_old
    }

    fn on_foreign_sender(&mut self, why: &str) -> String {
        let path = self.path.display().to_string();
        if self.follower.bytes() == 0 {
            // The sender may have sent everything to an earlier run of the receiver.
            why.to_owned()
        } else if self.follower.resume_point().ended {
            // These metadata are complete and unchanged, so no other sender is needed.
            self.on_sender_missing();
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
