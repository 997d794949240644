//! Files that must not change while they are read.
//!
//! If a file is written to during a job, a reader would get bytes of two versions. So after each
//! read the file is compared with its state when it was opened. Length and modification time of the
//! open file decide. If another file replaces it under its name, the old file is read to its end.
//! Pipes and devices are not compared.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Identity, length and modification time of a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    device: u64,
    inode: u64,
    length: u64,
    /// Modification time in seconds and nanoseconds.
    modified: (i64, i64),
}

impl FileVersion {
    fn new(file: &Metadata) -> Self {
        let modified = (file.mtime(), file.mtime_nsec());
        Self { device: file.dev(), inode: file.ino(), length: file.len(), modified }
    }

    /// Compares this version with a later one of the same file.
    ///
    /// # Errors
    /// An [`io::Error`] that describes the difference, if there is one.
    pub fn compare(&self, later: &Self) -> io::Result<()> {
        if self == later {
            return Ok(());
        }
        let what = if (self.device, self.inode) != (later.device, later.inode) {
            "another file has its name".to_owned()
        } else if self.length != later.length {
            format!("it has {} bytes and had {}", later.length, self.length)
        } else {
            "it was written to".to_owned()
        };
        Err(io::Error::other(ChangedFile(what)))
    }
}

/// The cause of an [`io::Error`]: a file has changed. The text describes the change.
#[derive(Debug)]
struct ChangedFile(String);

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(what) = self;
        write!(f, "the file has changed since it was opened: {what}; run again, and leave it alone")
    }
}

impl std::error::Error for ChangedFile {}

/// Returns whether reading failed because the file has changed.
pub fn is_file_change(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<ChangedFile>())
}

/// An open file. Reading it fails after it has changed.
#[derive(Debug)]
pub struct UnchangedFile {
    file: File,
    /// Version of the file when it was opened; `None` for a pipe or device.
    opened: Option<FileVersion>,
}

impl UnchangedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// The error of the system if the file cannot be opened, or is a directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Self { file, opened: found.is_file().then(|| FileVersion::new(&found)) })
    }

    /// Returns the version of the file when it was opened; `None` for a pipe or device.
    pub fn version(&self) -> Option<FileVersion> {
        self.opened
    }

    fn check(&self) -> io::Result<()> {
        match &self.opened {
            Some(opened) => opened.compare(&FileVersion::new(&self.file.metadata()?)),
            None => Ok(()),
        }
    }
}

impl Read for UnchangedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.check()?;
        Ok(count)
    }
}

/// Reads a whole file.
///
/// # Errors
/// The error of the system if the file cannot be read, or an error if it changes meanwhile.
pub fn read_whole_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = UnchangedFile::open(path)?;
    let length = file.opened.map_or(0, |opened| opened.length);
    let mut bytes = Vec::new();
    // A length beyond the memory causes an error here instead of an abort. (The file system may
    // state a wrong length.)
    bytes.try_reserve(usize::try_from(length).unwrap_or(0).saturating_add(1))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_that_changes_is_read_no_further_and_one_that_is_replaced_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("q.fa");
        fs::write(&path, b">a\nMKTAYIAKQR\n").unwrap();
        let mut start = [0; 4];
        let mut open = || {
            let mut file = UnchangedFile::open(&path).unwrap();
            file.read_exact(&mut start).unwrap();
            file
        };
        let (mut replaced, mut grown, mut written) = (open(), open(), open());
        let read = |file: &mut UnchangedFile| {
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).map(|_| rest).map_err(|error| error.to_string())
        };
        let (new, old) = (directory.path().join("new"), directory.path().join("old"));
        fs::write(&new, b">b\nMKTAYIAKQR\n").unwrap();
        fs::rename(&path, &old).unwrap();
        fs::rename(&new, &path).unwrap();
        assert_eq!(read(&mut replaced).unwrap(), b"KTAYIAKQR\n");
        File::options().append(true).open(&old).unwrap().write_all(b"AAA").unwrap();
        assert!(read(&mut grown).unwrap_err().contains("it has 17 bytes and had 14"));
        let file = File::options().write(true).open(&old).unwrap();
        file.set_len(14).unwrap();
        let later = file.metadata().unwrap().modified().unwrap() + Duration::from_secs(1);
        file.set_modified(later).unwrap();
        assert!(read(&mut written).unwrap_err().contains("it was written to"));
        assert_eq!(read_whole_file(&path).unwrap(), b">b\nMKTAYIAKQR\n");
        assert!(read_whole_file(directory.path()).is_err());
        assert_eq!(read_whole_file(Path::new("/dev/null")).unwrap(), b"");
        let now = UnchangedFile::open(&path).unwrap().version().unwrap();
        let error = written.version().unwrap().compare(&now).unwrap_err().to_string();
        assert!(error.contains("another file has its name"), "{error}");
    }
}
