//! The directory of a job, from its first start to its successful end.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::codec::Codec;
use crate::durable::{make_directory, owner_in, parent, remove_file, sync_directory};
use crate::error::{Context, Error};
use crate::identity::Identity;
use crate::job::{self, Job};
use crate::layout::{Run, entries};
use crate::lock::{self, Lock};
use crate::summary::Summary;

/// What is expected of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// That it keeps no job: it is new or empty.
    New,
    /// That it keeps a job, which is to go on.
    Resume,
    /// Either.
    NewOrResume,
}

/// A job whose results are kept in a directory.
///
/// One process of the job has it, and gives the [`run`](Self::run) to the others.
#[derive(Debug)]
pub struct Checkpoint {
    run: Run,
    lock: Lock,
}

impl Checkpoint {
    /// Starts a job, or resumes one that ended before it was complete, with its results in the directory `root`. It is
    /// made if a job may start in it; its parent has to be there.
    ///
    /// # Errors
    /// * [`Error::Occupied`], [`Error::NoJob`], [`Error::NotEmpty`]: the directory is not as expected.
    /// * [`Error::Differs`]: its job is another one.
    /// * [`Error::Locked`]: another process uses it.
    /// * [`Error::Foreign`]: somebody else has put something there.
    /// * [`Error::JobFile`], [`Error::Io`].
    pub fn open(root: &Path, identity: &Identity, start: Start) -> Result<Self, Error> {
        Self::open_as(root, Some(identity), start, Codec::default())
    }

    /// The same of a job whose results stay in the directory as its report ([`complete`](Self::complete)). Without an
    /// identity it cannot be resumed. A job that is resumed keeps its codec.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_as(
        root: &Path,
        identity: Option<&Identity>,
        start: Start,
        codec: Codec,
    ) -> Result<Self, Error> {
        if start != Start::Resume && !root.is_dir() {
            make_directory(root)?;
            sync_directory(parent(root))?;
        }
        // Before anything is written to a directory that may be somebody else's.
        check_entries(root, start)?;
        let owner = owner_in(root)?;
        let lock = Lock::take(root, owner)?;
        let mut job = match Job::read(root, owner)? {
            Some(_) if start == Start::New => return Err(Error::Occupied(root.to_path_buf())),
            None if start == Start::Resume => return Err(Error::NoJob(root.to_path_buf())),
            Some(job) => job,
            None => Job::new(root, identity, codec)?,
        };
        match (&job.identity, identity) {
            (Some(kept), Some(identity)) => {
                let differences = kept.differences(identity);
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

    /// The job that a directory keeps, if it keeps one.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::JobFile`], [`Error::Io`].
    pub fn kept(root: &Path) -> Result<Option<Identity>, Error> {
        Ok(Job::read(root, owner_in(root)?)?.and_then(|job| job.identity))
    }

    /// The run that began with [`open`](Self::open). If its number is above 1, [`Run::files`] has what earlier runs
    /// left.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Tells other machines that this job is alive. To be called every ten seconds or so.
    ///
    /// # Errors
    /// [`Error::LockLost`] if it was not called for longer than [`PATIENCE`](crate::PATIENCE) and another job has
    /// resumed this one: it has to end, and what it did is kept. [`Error::Io`].
    pub fn beat(&self) -> Result<(), Error> {
        self.lock.beat()
    }

    /// The results are complete, and are to stay as they are: a report of its own kind.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::LockLost`].
    pub fn complete(&self, summary: &Summary) -> Result<(), Error> {
        self.lock.beat()?;
        summary.write(&self.run.root)
    }

    /// Leaves everything as it is but for the lock.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::LockLost`].
    pub fn leave(self) -> Result<(), Error> {
        let Self { run, lock } = self;
        lock.beat()?;
        remove_file(&run.root.join(lock::NAME))
    }

    /// Removes everything, the directory too: the output is complete.
    ///
    /// # Errors
    /// [`Error::Io`], also if there are files in the directory that are not the job's; these stay. If something is left,
    /// resuming the job is still right, and only takes time.
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

/// Looks whether the directory is as expected.
fn check_entries(root: &Path, start: Start) -> Result<(), Error> {
    let names = match entries(root) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Err(Error::NoJob(root.to_path_buf()));
        }
        result => result?,
    };
    let has_job = names.iter().any(|name| name == job::NAME);
    match start {
        Start::New if has_job => return Err(Error::Occupied(root.to_path_buf())),
        Start::Resume if !has_job => return Err(Error::NoJob(root.to_path_buf())),
        _ if has_job => return Ok(()),
        Start::New | Start::Resume | Start::NewOrResume => {}
    }
    // A job that was killed at once may have left these.
    let stray = |name: &String| ![job::ASIDE, lock::NAME].contains(&name.as_str());
    match names.into_iter().find(stray) {
        None => Ok(()),
        Some(entry) => Err(Error::NotEmpty { path: root.to_path_buf(), entry }),
    }
}
