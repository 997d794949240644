//! Allows one process at a time to use the directory of a job, on one host or several.
//!
//! The holder is the process that uses the directory. It locks the lock file with `flock` and
//! writes its name there. These rules decide whether a holder is dead:
//! * Its `flock` still exists: it is alive.
//! * Its `flock` is gone, and it ran on this host since the last boot: it is dead.
//! * Otherwise the holder was on another host, or this host was restarted, or `flock` is missing or
//!   does not reach other hosts. The holder gives a sign of life every few seconds by setting the
//!   time of the file. It is dead if it gave none for [`LOCK_TIMEOUT`], by the clock of the file
//!   system.
//!
//! A holder that was wrongly considered dead notices this at its next sign of life, and its job
//! ends. Until then nothing is lost, since no two runs write to the same file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};

use crate::durable::open_own;
use crate::error::{Context, Error};
use crate::holder::LockHolder;

/// Name of the lock file.
pub(crate) const NAME: &str = "lock";
/// Time of silence after which a holder that may be alive is considered dead. A holder should give
/// a sign of life six times as often.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximal number of bytes read from a lock file.
const MAX_BYTES: u64 = 64 * 1024;
/// Number of attempts to open the lock file, if other processes remove it in between.
const ATTEMPTS: usize = 10;

/// The lock on the directory of a job, which this process holds until the value is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    root: PathBuf,
    file: File,
    holder: LockHolder,
}

impl Lock {
    /// Locks a directory. The files that this process creates there belong to `owner`.
    pub(crate) fn acquire(root: &Path, owner: u32) -> Result<Self, Error> {
        let path = root.join(NAME);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = open_own(&mut options, &path, owner)?;
            let exclusive = try_lock(&file).during("lock", &path)?;
            // The last holder may have removed the file between its opening and its locking.
            if !is_at(&file, &path) {
                continue;
            }
            let before = LockContents::read(&file).during("read", &path)?;
            let holder = LockHolder::own();
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

    /// Gives a sign of life.
    ///
    /// # Errors
    /// [`Error::LockLost`] if another process took over the directory; [`Error::Io`] if the system
    /// reports an error.
    pub(crate) fn beat(&self) -> Result<(), Error> {
        let path = self.root.join(NAME);
        let present = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => LockContents::Empty,
            result => result.and_then(|file| LockContents::read(&file)).during("read", &path)?,
        };
        if !present.is(&self.holder) {
            return Err(Error::LockLost { path: self.root.clone(), holder: present.holder() });
        }
        // The file system sets the time by its own clock, which also measures the silence.
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        futimens(&self.file, &times).map_err(io::Error::from).during("set the time of", &path)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An empty file is free at once, also for other hosts. If this fails, they have to wait.
        if LockContents::read(&self.file).is_ok_and(|present| present.is(&self.holder)) {
            let _ = self.file.set_len(0);
        }
    }
}

/// The contents of a lock file.
#[derive(Debug)]
enum LockContents {
    /// There is no holder.
    Empty,
    /// The contents cannot be parsed, as after a crash during writing.
    Unknown,
    /// The file names its holder, dead or alive.
    Holder(Box<LockHolder>),
}

impl LockContents {
    fn read(file: &File) -> io::Result<Self> {
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

    fn is(&self, holder: &LockHolder) -> bool {
        matches!(self, Self::Holder(present) if **present == *holder)
    }

    fn holder(self) -> Option<Box<LockHolder>> {
        match self {
            Self::Holder(holder) => Some(holder),
            Self::Empty | Self::Unknown => None,
        }
    }
}

/// The result of locking the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exclusive {
    /// This process has locked the file.
    Yes,
    /// Another process has locked the file.
    No,
    /// The file system cannot lock files.
    Unknown,
}

fn try_lock(file: &File) -> io::Result<Exclusive> {
    match file.try_lock() {
        Ok(()) => Ok(Exclusive::Yes),
        Err(TryLockError::WouldBlock) => Ok(Exclusive::No),
        Err(TryLockError::Error(error)) => match error.kind() {
            // This includes a missing lock service: ENOLCK has no `ErrorKind`.
            ErrorKind::Unsupported | ErrorKind::InvalidInput => Ok(Exclusive::Unknown),
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) => {
                Ok(Exclusive::Unknown)
            }
            _ => Err(error),
        },
    }
}

/// Returns whether `path` is still the name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Returns `None` if the directory is free. Otherwise returns the time after which another attempt
/// may succeed, or `Some(None)` if the holder is certainly alive.
fn in_use(
    root: &Path,
    file: &File,
    exclusive: Exclusive,
    before: &LockContents,
    own: &LockHolder,
) -> Result<Option<Option<Duration>>, Error> {
    if exclusive == Exclusive::No {
        return Ok(Some(None));
    }
    match before {
        LockContents::Empty => return Ok(None),
        LockContents::Holder(holder)
            if exclusive == Exclusive::Yes && !own.boot.is_empty() && holder.boot == own.boot =>
        {
            return Ok(None);
        }
        LockContents::Holder(_) | LockContents::Unknown => {}
    }
    let path = root.join(NAME);
    let last_sign = file.metadata().and_then(|data| data.modified()).during("read", &path)?;
    let now = file_system_time(root).during("read the time in", root)?;
    Ok(patience_left(last_sign, now).map(Some))
}

/// Returns the time until the holder is considered dead; `None` if it is dead.
fn patience_left(last_sign: SystemTime, now: SystemTime) -> Option<Duration> {
    // If the clock was set back, the lock must not last until the clock has caught up.
    let silence = now.duration_since(last_sign).unwrap_or_else(|ahead| ahead.duration());
    LOCK_TIMEOUT.checked_sub(silence).filter(|left| !left.is_zero())
}

/// Returns the current time by the clock of the directory's file system.
fn file_system_time(root: &Path) -> io::Result<SystemTime> {
    let mut file = tempfile::tempfile_in(root)?;
    file.write_all(b"now")?;
    file.sync_all()?;
    file.metadata()?.modified()
}

fn write_holder(file: &File, holder: &LockHolder) -> io::Result<()> {
    let text = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.write_all_at(&text, 0)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
