//! One process at a time uses the directory of a job, on one machine or several.
//!
//! The lock file is locked with `flock` and tells who holds it. Whether a holder is dead is decided so:
//! * Its `flock` stands: it lives.
//! * Its `flock` is gone, and it ran under the kernel that this process runs under: it is dead.
//! * Otherwise the holder was on another machine, or this one was started anew, or the file system has no `flock`, or one
//!   that does not reach other machines. The holder gives a sign of life every few seconds by setting the time of the
//!   file, and is dead once it gave none for [`PATIENCE`], by the clock of the file system.
//!
//! A holder that was taken for dead finds out at its next sign of life, and its job ends. Until then nothing is lost,
//! since no two runs write to the same file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};

use crate::durable::open_own;
use crate::error::{Context, Error};
use crate::holder::Holder;

/// Name of the lock file.
pub(crate) const NAME: &str = "lock";
/// A holder that may be alive is taken for dead after a silence of this length. It should give a sign of life six times
/// as often.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a lock file that are read.
const MAX_BYTES: u64 = 64 * 1024;
/// Attempts to open the file, should others remove it in between.
const ATTEMPTS: usize = 10;

/// The directory of a job, in use by this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    root: PathBuf,
    file: File,
    holder: Holder,
}

impl Lock {
    /// Takes a directory into use, in which this process's files belong to `owner`.
    pub(crate) fn take(root: &Path, owner: u32) -> Result<Self, Error> {
        let path = root.join(NAME);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = open_own(&mut options, &path, owner)?;
            let exclusive = try_lock(&file).during("lock", &path)?;
            // Its last holder may have removed it between the two.
            if !is_at(&file, &path) {
                continue;
            }
            let before = Contents::of(&file).during("read", &path)?;
            let holder = Holder::own();
            if let Some(retry_after) = in_use(root, &file, exclusive, &before, &holder)? {
                let (path, holder) = (root.to_path_buf(), before.holder());
                return Err(Error::Locked { path, holder, retry_after });
            }
            write_holder(&file, &holder).during("write", &path)?;
            return Ok(Self { root: root.to_path_buf(), file, holder });
        }
        let source = io::Error::other("it is removed again and again");
        Err(source).during("open", &path)
    }

    /// A sign of life. Fails if the directory was taken over.
    pub(crate) fn beat(&self) -> Result<(), Error> {
        let path = self.root.join(NAME);
        let present = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Contents::Empty,
            result => result.and_then(|file| Contents::of(&file)).during("read", &path)?,
        };
        if !present.is(&self.holder) {
            return Err(Error::LockLost { path: self.root.clone(), holder: present.holder() });
        }
        // The file system's own clock, by which the silence is measured.
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        futimens(&self.file, &times).map_err(io::Error::from).during("set the time of", &path)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An empty file is free at once, also for other machines. If this fails they have to wait.
        if Contents::of(&self.file).is_ok_and(|present| present.is(&self.holder)) {
            let _ = self.file.set_len(0);
        }
    }
}

/// What a lock file says.
#[derive(Debug)]
enum Contents {
    /// Nobody holds it.
    Empty,
    /// It cannot be read, as after a crash while it was written.
    Unknown,
    /// Its holder, dead or alive.
    Holder(Box<Holder>),
}

impl Contents {
    fn of(file: &File) -> io::Result<Self> {
        let mut text = Vec::new();
        let mut chunk = [0; 1024];
        while (text.len() as u64) < MAX_BYTES {
            match file.read_at(&mut chunk, text.len() as u64) {
                Ok(0) => break,
                Ok(count) => text.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(match serde_json::from_slice(&text) {
            Ok(holder) => Self::Holder(Box::new(holder)),
            Err(_) if text.is_empty() => Self::Empty,
            Err(_) => Self::Unknown,
        })
    }

    fn is(&self, holder: &Holder) -> bool {
        matches!(self, Self::Holder(present) if **present == *holder)
    }

    fn holder(self) -> Option<Box<Holder>> {
        match self {
            Self::Holder(holder) => Some(holder),
            Self::Empty | Self::Unknown => None,
        }
    }
}

/// Locks the file, if nobody else did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exclusive {
    /// It is locked by this process.
    Yes,
    /// By another.
    No,
    /// The file system cannot lock.
    Unknown,
}

fn try_lock(file: &File) -> io::Result<Exclusive> {
    match file.try_lock() {
        Ok(()) => Ok(Exclusive::Yes),
        Err(TryLockError::WouldBlock) => Ok(Exclusive::No),
        Err(TryLockError::Error(error)) => match error.kind() {
            // Also without a lock service: ENOLCK has no kind of its own.
            ErrorKind::Unsupported | ErrorKind::InvalidInput => Ok(Exclusive::Unknown),
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) => {
                Ok(Exclusive::Unknown)
            }
            _ => Err(error),
        },
    }
}

/// Whether `path` is still the name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// `None` if the directory is free, else when to try again (if that can help).
fn in_use(
    root: &Path,
    file: &File,
    exclusive: Exclusive,
    before: &Contents,
    own: &Holder,
) -> Result<Option<Option<Duration>>, Error> {
    if exclusive == Exclusive::No {
        return Ok(Some(None));
    }
    match before {
        Contents::Empty => return Ok(None),
        Contents::Holder(holder)
            if exclusive == Exclusive::Yes && !own.boot.is_empty() && holder.boot == own.boot =>
        {
            return Ok(None);
        }
        Contents::Holder(_) | Contents::Unknown => {}
    }
    let path = root.join(NAME);
    let last_sign = file.metadata().and_then(|data| data.modified()).during("read", &path)?;
    let now = file_system_time(root).during("read the time in", root)?;
    Ok(patience_left(last_sign, now).map(Some))
}

/// How long to wait until the holder is taken for dead.
fn patience_left(last_sign: SystemTime, now: SystemTime) -> Option<Duration> {
    // A clock that was set back must not let the lock last until it has caught up.
    let silence = now.duration_since(last_sign).unwrap_or_else(|ahead| ahead.duration());
    PATIENCE.checked_sub(silence).filter(|left| !left.is_zero())
}

/// The time by which the file system of a directory marks its files.
fn file_system_time(root: &Path) -> io::Result<SystemTime> {
    let mut file = tempfile::tempfile_in(root)?;
    file.write_all(b"now")?;
    file.sync_all()?;
    file.metadata()?.modified()
}

fn write_holder(file: &File, holder: &Holder) -> io::Result<()> {
    let text = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.write_all_at(&text, 0)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
