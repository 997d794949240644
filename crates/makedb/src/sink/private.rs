//! A private directory, hidden in a directory where other users can write, too.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Maximal number of bytes of a database's name in the directory's name: file systems allow 255 in
/// all.
const NAME_KEPT: usize = 200;
/// Number of names tried before a random one, in case several processes make the same database at a
/// time.
const NAMES_TRIED: u32 = 4;
/// Permissions of the directory: other users must not read or write it.
const MODE: u32 = 0o700;

/// A private directory. The process that made it keeps it locked (`flock`) until the process ends.
/// So the next process that makes the same database recognises directories of killed processes, and
/// removes them.
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    path: PathBuf,
    _lock: File,
}

impl PrivateDirectory {
    /// Creates a directory in `parent` for the database `name`, and removes directories that killed
    /// processes left. `made` gets the path of the new directory before anything else is done, so
    /// that the caller can remove it if the process is killed.
    pub(super) fn create(
        parent: &Path,
        name: &OsStr,
        mut made: impl FnMut(PathBuf),
    ) -> io::Result<Self> {
        let name = name.as_bytes();
        let mut stem = OsString::from(".");
        stem.push(OsStr::from_bytes(&name[..name.len().min(NAME_KEPT)]));
        stem.push("-");
        let numbered = |number: u32| {
            let mut name = stem.clone();
            name.push(format!("{number}.part"));
            parent.join(name)
        };
        let own = match Self::create_numbered((0..NAMES_TRIED).map(numbered), &mut made)? {
            Some(own) => own,
            None => Self::random(parent, &stem, &mut made)?,
        };
        let owner = own._lock.metadata()?.uid();
        let others = (0..NAMES_TRIED).map(numbered).filter(|other| *other != own.path);
        for other in others.filter(|other| is_abandoned(other, owner)) {
            // Best effort: an abandoned directory does no harm.
            let _ = fs::remove_dir_all(other);
        }
        Ok(own)
    }

    /// Returns the path of the directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the first of these directories that does not exist yet; `None` if all exist.
    fn create_numbered(
        paths: impl Iterator<Item = PathBuf>,
        made: &mut impl FnMut(PathBuf),
    ) -> io::Result<Option<Self>> {
        for path in paths {
            // Copies the path now: there may be no memory once the directory exists.
            let path_for_caller = path.clone();
            match DirBuilder::new().mode(MODE).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            made(path_for_caller);
            let lock = File::open(&path).inspect_err(|_| {
                // Best effort: the error of opening is the one to report.
                let _ = fs::remove_dir(&path);
            })?;
            // Another process may have taken the directory for an abandoned one before it was
            // locked.
            let kept = match lock.try_lock() {
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(_)) => true,
                Ok(()) => lock.metadata()?.nlink() > 0,
            };
            if kept {
                return Ok(Some(Self { path, _lock: lock }));
            }
        }
        Ok(None)
    }

    fn random(parent: &Path, stem: &OsStr, made: &mut impl FnMut(PathBuf)) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix(stem).suffix(".part").tempdir_in(parent)?;
        made(directory.path().to_path_buf());
        let lock = File::open(directory.path())?;
        // Without locks, no process considers a directory abandoned.
        let _ = lock.try_lock();
        Ok(Self { path: directory.keep(), _lock: lock })
    }
}

/// Returns whether the directory belongs to the user `owner` and was left by a process that has
/// ended.
fn is_abandoned(path: &Path, owner: u32) -> bool {
    let own = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == owner);
    own && File::open(path).is_ok_and(|directory| directory.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_killed_runs_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let at = |number: u32| parent.path().join(format!(".db-{number}.part"));
        let living = PrivateDirectory::create(parent.path(), OsStr::new("db"), |_| {}).unwrap();
        assert_eq!(living.path(), at(0));
        let mode = fs::metadata(at(0)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // A killed process's directory, and something of another user.
        fs::create_dir(at(1)).unwrap();
        fs::write(at(1).join("db.pin"), "half").unwrap();
        fs::create_dir(parent.path().join("elsewhere")).unwrap();
        fs::write(parent.path().join("elsewhere/file"), "precious").unwrap();
        symlink("elsewhere", at(2)).unwrap();
        let second = PrivateDirectory::create(parent.path(), OsStr::new("db"), |_| {}).unwrap();
        assert_eq!(second.path(), at(3));
        assert!(at(0).exists() && !at(1).exists());
        assert_eq!(fs::read(parent.path().join("elsewhere/file")).unwrap(), b"precious");
        // All names are taken, so the next one is random.
        fs::write(at(1), "").unwrap();
        let third = PrivateDirectory::create(parent.path(), OsStr::new("db"), |_| {}).unwrap();
        assert!((0..4).all(|number| at(number) != third.path()));
        drop((living, second));
        let fourth = PrivateDirectory::create(parent.path(), OsStr::new("db"), |_| {}).unwrap();
        assert!(third.path().exists() && fourth.path().exists());
        assert!(!at(0).exists() && !at(3).exists());
    }
}
