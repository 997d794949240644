//! Whether files are as they were when they were opened. What is mapped changes with its file, and what was found before then is of
//! other sequences than what is found afterwards.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::DbError;

/// A file when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    path: PathBuf,
    opened: Metadata,
}

impl Stamp {
    /// A file of which this was told when it was opened.
    pub(crate) fn new(path: PathBuf, opened: Metadata) -> Self {
        Self { path, opened }
    }

    /// Looks at the file again. One that was replaced or removed is held as it was.
    ///
    /// # Errors
    /// [`DbError::Changed`] if it was written to.
    pub(crate) fn check(&self) -> Result<(), DbError> {
        let Ok(now) = fs::metadata(&self.path) else { return Ok(()) };
        let which = |file: &Metadata| (file.dev(), file.ino());
        let content = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
        if which(&now) == which(&self.opened) && content(&now) != content(&self.opened) {
            return Err(DbError::Changed { path: self.path.clone() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn what_is_written_to_has_changed_and_what_is_replaced_has_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        let write = || fs::write(&path, "MKTAYIAKQR").unwrap();
        write();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let stamp = Stamp::new(path.clone(), fs::metadata(&path).unwrap());
        assert!(stamp.check().is_ok());
        write();
        assert!(matches!(stamp.check(), Err(DbError::Changed { .. })));
        let other = directory.path().join("b.psq");
        fs::write(&other, "MKTAY").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(stamp.check().is_ok());
        fs::remove_file(&path).unwrap();
        assert!(stamp.check().is_ok());
    }
}
