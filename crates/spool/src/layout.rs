//! Paths of the spool files of a run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::durable::{is_directory, remove_file};
use crate::error::{Context, Error};

/// Extension of index files.
const INDEX: &str = "index";
/// Maximal number of writers of a run: 256 directories, each with 256 directories of 16 writers.
pub const MAX_WRITERS: u32 = 1 << 20;

/// One start of a job. All processes of the run have the same values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The directory of the job.
    pub root: PathBuf,
    /// Number of this start, from 1.
    pub number: u32,
    /// The mark of the job, which all its records have.
    pub job: u64,
    /// The compression of the records.
    pub codec: Codec,
}

/// A spool file, identified by its run and its writer. Files are ordered by run, then by writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId {
    /// Number of the run that wrote the file, from 1.
    pub run: u32,
    /// Number of the writer within the run, below [`MAX_WRITERS`].
    pub writer: u32,
}

impl FileId {
    fn name(self, extension: &str) -> String {
        format!("writer-{}-{}.{extension}", self.writer, self.run)
    }

    /// Parses the name of a spool file; `None` for any other name.
    fn parse(name: &str, extension: &str) -> Option<Self> {
        let numbers = name.strip_prefix("writer-")?.strip_suffix(extension)?.strip_suffix('.')?;
        let (writer, run) = numbers.split_once('-')?;
        let file = Self { run: run.parse().ok()?, writer: writer.parse().ok()? };
        (file.writer < MAX_WRITERS && file.name(extension) == name).then_some(file)
    }

    /// Returns the names of the two directories that contain the file.
    fn branches(self) -> [String; 2] {
        [self.writer >> 12, self.writer >> 4 & 0xff].map(|number| format!("{number:02x}"))
    }
}

impl Run {
    /// Returns the path of a spool file.
    pub fn path(&self, file: FileId) -> PathBuf {
        self.file_path(file, self.codec.extension())
    }

    /// Returns the path of the index of a spool file.
    pub(crate) fn index(&self, file: FileId) -> PathBuf {
        self.file_path(file, INDEX)
    }

    fn file_path(&self, file: FileId, extension: &str) -> PathBuf {
        let [outer, inner] = file.branches();
        self.root.join(outer).join(inner).join(file.name(extension))
    }

    /// Lists the spool files of all runs so far, in order. The processes can divide them for
    /// scanning.
    ///
    /// # Errors
    /// [`Error::Io`] if a directory cannot be read.
    pub fn files(&self) -> Result<Vec<FileId>, Error> {
        let mut files = Vec::new();
        for outer in branches(&self.root)? {
            for inner in branches(&outer)? {
                let names = entries(&inner)?.into_iter();
                let found = names.filter_map(|name| FileId::parse(&name, self.codec.extension()));
                files.extend(found.filter(|&file| self.path(file).parent() == Some(&inner)));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Removes all spool files and their indexes, and then the empty directories.
    pub(crate) fn remove_files(&self) -> Result<(), Error> {
        for file in self.files()? {
            let path = self.path(file);
            remove_file(&path)?;
            remove_file(&self.index(file))?;
        }
        for outer in branches(&self.root)? {
            for inner in branches(&outer)? {
                remove_empty(&inner)?;
            }
            remove_empty(&outer)?;
        }
        Ok(())
    }
}

/// Returns the names in a directory. Bytes that are not UTF-8 are replaced.
pub(crate) fn entries(directory: &Path) -> Result<Vec<String>, Error> {
    let names = fs::read_dir(directory).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    });
    names.during("read the directory", directory)
}

/// Returns whether a directory of spool files can have this name.
fn is_branch(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the subdirectories whose names are those of directories of spool files.
fn branches(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let names = entries(directory)?.into_iter().filter(|name| is_branch(name));
    Ok(names.map(|name| directory.join(name)).filter(|path| is_directory(path)).collect())
}

/// Removes a directory if it is empty.
fn remove_empty(path: &Path) -> Result<(), Error> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        result => result.during("remove the directory", path),
    }
}

#[cfg(test)]
mod tests;
