//! The directory of a job, from its first start until it has ended successfully.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::codec::Codec;
use crate::durable::{make_directory, owner_in, parent, remove_file, sync_directory};
use crate::error::{Context, Error};
use crate::job::{self, Job};
use crate::layout::{Run, entries};
use crate::lock::{self, Lock};
use crate::properties::JobProperties;
use crate::summary::Summary;

/// The expected state of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// The directory must be missing or empty.
    New,
    /// The directory must contain a job to resume.
    Resume,
    /// The directory may be missing, empty, or contain a job to resume.
    NewOrResume,
}

/// A job whose results are in a directory.
///
/// One process of the job has this value, and sends the [`run`](Self::run) to the others.
#[derive(Debug)]
pub struct Checkpoint {
    run: Run,
    lock: Lock,
}

impl Checkpoint {
    /// Starts a job in the directory `root`, or resumes a job that ended before it was complete.
    ///
    /// Creates the directory if a new job is allowed. Its parent must exist.
    ///
    /// # Errors
    /// * [`Error::Occupied`], [`Error::NoJob`], [`Error::NotEmpty`]: the directory is not in the
    ///   expected state.
    /// * [`Error::Complete`], [`Error::Unknown`]: its job cannot be resumed.
    /// * [`Error::Differs`]: it belongs to another job.
    /// * [`Error::Locked`]: another process uses it.
    /// * [`Error::Foreign`]: it contains a link, or a file that other users own or may write.
    /// * [`Error::JobFile`]: its job file cannot be parsed.
    /// * [`Error::Io`]: the system reports an error.
    pub fn open(root: &Path, properties: &JobProperties, start: StartMode) -> Result<Self, Error> {
        Self::open_with_codec(root, Some(properties), start, Codec::default())
    }

    /// Opens a job whose results are compressed with `codec` and may stay in the directory as its
    /// report ([`complete`](Self::complete)). Without properties the job cannot be resumed. A
    /// resumed job keeps its codec.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with_codec(
        root: &Path,
        properties: Option<&JobProperties>,
        start: StartMode,
        codec: Codec,
    ) -> Result<Self, Error> {
        if start != StartMode::Resume && !root.is_dir() {
            make_directory(root)?;
            sync_directory(parent(root))?;
        }
        // The directory is checked before anything is written, since it may belong to another user.
        check_entries(root, start)?;
        let owner = owner_in(root)?;
        let lock = Lock::acquire(root, owner)?;
        let mut job = match Job::read(root, owner)? {
            Some(_) if start == StartMode::New => return Err(Error::Occupied(root.to_path_buf())),
            None if start == StartMode::Resume => return Err(Error::NoJob(root.to_path_buf())),
            Some(job) => job,
            None => Job::new(root, properties, codec)?,
        };
        match (&job.properties, properties) {
            (Some(kept), Some(properties)) => {
                let differences = kept.differences(properties);
                if !differences.0.is_empty() {
                    return Err(Error::Differs { path: root.to_path_buf(), differences });
                }
            }
            (None, Some(_)) => return Err(Error::Unknown(root.to_path_buf())),
            (_, None) => {}
        }
        if Summary::read(root)?.is_some() {
            return Err(Error::Complete(root.to_path_buf()));
        }
        job.runs = job.runs.checked_add(1).ok_or_else(|| Error::JobFile {
            path: root.join(job::NAME),
            what: "it was started too often".to_owned(),
        })?;
        job.write(root)?;
        let (number, codec) = (job.runs, job.codec);
        let run = Run { root: root.to_path_buf(), number, job: job.mark, codec };
        Ok(Self { run, lock })
    }

    /// Returns the properties of the job in a directory, if there is a job.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::JobFile`] and [`Error::Io`], as for [`open`](Self::open).
    pub fn read_properties(root: &Path) -> Result<Option<JobProperties>, Error> {
        Ok(Job::read(root, owner_in(root)?)?.and_then(|job| job.properties))
    }

    /// Returns the run that began with [`open`](Self::open). If its number is above 1,
    /// [`Run::files`] lists the files of earlier runs.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Shows other hosts that this job is alive. Call it about every ten seconds.
    ///
    /// # Errors
    /// [`Error::LockLost`] if it was not called for longer than
    /// [`LOCK_TIMEOUT`](crate::LOCK_TIMEOUT) and another job has taken over the directory. Then
    /// this job must end; its results are kept. [`Error::Io`] if the system reports an error.
    pub fn renew_lock(&self) -> Result<(), Error> {
        self.lock.beat()
    }

    /// Marks the results as complete. They stay in the directory as a report in the form of
    /// records.
    ///
    /// # Errors
    /// [`Error::Io`] if the mark cannot be written; [`Error::LockLost`] as for
    /// [`renew_lock`](Self::renew_lock).
    pub fn complete(&self, summary: &Summary) -> Result<(), Error> {
        self.lock.beat()?;
        summary.write(&self.run.root)
    }

    /// Releases the lock and keeps all other files.
    ///
    /// # Errors
    /// [`Error::Io`] if the lock file cannot be removed; [`Error::LockLost`] as for
    /// [`renew_lock`](Self::renew_lock).
    pub fn close(self) -> Result<(), Error> {
        let Self { run, lock } = self;
        lock.beat()?;
        remove_file(&run.root.join(lock::NAME))
    }

    /// Removes all files of the job and the directory, after the output is complete.
    ///
    /// # Errors
    /// [`Error::LockLost`] as for [`renew_lock`](Self::renew_lock); [`Error::Io`], also if the
    /// directory contains files of others, which stay. If files of the job are left, it can still
    /// be resumed correctly, which only takes time.
    pub fn remove(self) -> Result<(), Error> {
        let Self { run, lock } = self;
        lock.beat()?;
        run.remove_files()?;
        for name in [job::ASIDE, job::NAME, lock::NAME] {
            remove_file(&run.root.join(name))?;
        }
        drop(lock);
        fs::remove_dir(&run.root).during("remove the directory", &run.root)?;
        sync_directory(parent(&run.root))
    }
}

/// Checks whether the entries of the directory match the expected state.
fn check_entries(root: &Path, start: StartMode) -> Result<(), Error> {
    let names = match entries(root) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Err(Error::NoJob(root.to_path_buf()));
        }
        result => result?,
    };
    let has_job = names.iter().any(|name| name == job::NAME);
    match start {
        StartMode::New if has_job => return Err(Error::Occupied(root.to_path_buf())),
        StartMode::Resume if !has_job => return Err(Error::NoJob(root.to_path_buf())),
        _ if has_job => return Ok(()),
        StartMode::New | StartMode::Resume | StartMode::NewOrResume => {}
    }
    // A job that was killed at its start can leave these files.
    let stray = |name: &String| ![job::ASIDE, lock::NAME].contains(&name.as_str());
    match names.into_iter().find(stray) {
        None => Ok(()),
        Some(entry) => Err(Error::NotEmpty { path: root.to_path_buf(), entry }),
    }
}
