//! Detects that files changed after they were opened. A mapping changes with its file, so results
//! before and after a change would belong to different sequences.
//!
//! Length and modification time of a file decide. The time of the last status change does not:
//! backups, access lists, hard links and `touch -a` set it without writing anything.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::DbError;

/// Path of a file, and its attributes when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct FileStamp {
    path: PathBuf,
    opened: Metadata,
}

impl FileStamp {
    /// Keeps the path of a file and the attributes that it had when it was opened.
    pub(crate) fn new(path: PathBuf, opened: Metadata) -> Self {
        Self { path, opened }
    }

    /// Returns the path by which the file was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the attributes of the file when it was opened.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.opened
    }

    /// Returns whether `file` is the file of this stamp, not another file with the same path.
    pub(crate) fn matches_file(&self, file: &File) -> io::Result<bool> {
        Ok(self.is_same(&file.metadata()?))
    }

    fn is_same(&self, other: &Metadata) -> bool {
        (other.dev(), other.ino()) == (self.opened.dev(), self.opened.ino())
    }

    /// Returns whether the path still names this file; true if that is unknown.
    pub(crate) fn matches_path(&self) -> bool {
        self.look() != Ok(false)
    }

    /// Checks that the path still names this file.
    ///
    /// # Errors
    /// [`DbError::FileReplacedWhileOpened`] if not; [`DbError::Io`] if the path cannot be looked
    /// up.
    pub(crate) fn verify_path(&self) -> Result<(), DbError> {
        let is_named = match fs::metadata(&self.path) {
            Ok(now) => self.is_same(&now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => return Err(DbError::Io { path: self.path.clone(), source }),
        };
        match is_named {
            true => Ok(()),
            false => Err(DbError::FileReplacedWhileOpened { path: self.path.clone() }),
        }
    }

    /// Checks that the file was not written to. A file that was replaced or removed counts as
    /// unchanged, since its open contents remain. Returns whether the path still names the file;
    /// true if that is unknown.
    ///
    /// # Errors
    /// [`DbError::FileChanged`] if it was written to.
    pub(crate) fn verify_unchanged(&self) -> Result<bool, DbError> {
        self.look().map_err(|what| DbError::FileChanged { path: self.path.clone(), what })
    }

    /// Creates the error for a file that could not be read at this byte offset.
    pub(crate) fn lost_page_error(&self, offset: u64) -> DbError {
        let (path, length) = (self.path.clone(), self.opened.len());
        match self.look() {
            Err(what) => {
                let what = format!("{what}; byte {offset} could not be read any more");
                DbError::FileChanged { path, what }
            }
            Ok(_) => DbError::FileUnreadable { path, offset, length },
        }
    }

    /// Compares the attributes that the file had when it was opened with those that its path has
    /// now. Returns whether the path still names the file; true if that is unknown.
    ///
    /// # Errors
    /// A text that describes the change, if the file was written to.
    fn look(&self) -> Result<bool, String> {
        let (now, opened) = match fs::metadata(&self.path) {
            Ok(now) => (now, &self.opened),
            Err(error) => return Ok(error.kind() != io::ErrorKind::NotFound),
        };
        if !self.is_same(&now) {
            return Ok(false);
        }
        let written_at = |file: &Metadata| (file.mtime(), file.mtime_nsec());
        if now.len() != opened.len() {
            return Err(format!("it has {} bytes and had {}", now.len(), opened.len()));
        }
        if written_at(&now) == written_at(opened) {
            Ok(true)
        } else {
            Err("it was written to".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{FileTimes, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn set_time(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn what_is_written_to_has_changed_and_what_is_replaced_has_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        let write = || fs::write(&path, "MKTAYIAKQR").unwrap();
        write();
        set_time(&path, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        let stamp = FileStamp::new(path.clone(), fs::metadata(&path).unwrap());
        assert!(stamp.verify_unchanged().is_ok());
        write();
        assert!(matches!(stamp.verify_unchanged(), Err(DbError::FileChanged { .. })));
        assert!(stamp.verify_path().is_ok());
        let other = directory.path().join("b.psq");
        fs::write(&other, "MKTAY").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(stamp.verify_unchanged().is_ok());
        assert!(matches!(stamp.verify_path(), Err(DbError::FileReplacedWhileOpened { .. })));
        fs::remove_file(&path).unwrap();
        assert!(stamp.verify_unchanged().is_ok());
        assert!(stamp.verify_path().is_err());
    }

    #[test]
    fn what_changes_no_byte_is_no_change() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        fs::write(&path, "MKTAYIAKQR").unwrap();
        let opened = fs::metadata(&path).unwrap();
        let stamp = FileStamp::new(path.clone(), opened.clone());
        let status = |file: &Metadata| (file.ctime(), file.ctime_nsec());
        let read = FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
        // The clock of the file system advances only every few milliseconds.
        while status(&fs::metadata(&path).unwrap()) == status(&opened) {
            File::open(&path).unwrap().set_times(read).unwrap();
        }
        assert!(stamp.verify_unchanged().is_ok(), "read by a backup");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        fs::hard_link(&path, directory.path().join("second")).unwrap();
        assert!(stamp.verify_unchanged().is_ok(), "other permissions, another name");
    }

    #[test]
    fn shorter_and_unreadable_files_are_distinguished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        fs::write(&path, vec![1; 9_000]).unwrap();
        let stamp = FileStamp::new(path.clone(), fs::metadata(&path).unwrap());
        let unreadable = stamp.lost_page_error(4096).to_string();
        assert!(unreadable.contains("byte 4096 of 9000 could not be read"), "{unreadable}");
        File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        let changed = stamp.lost_page_error(4096).to_string();
        assert!(changed.contains("it has 100 bytes and had 9000; byte 4096"), "{changed}");
    }
}
