//! The files of a new database, which are in a temporary directory until they are complete.

mod private;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use self::private::PrivateDirectory;
use crate::error::{ErrorContext, MakedbError};
use crate::kind::DatabaseKind;

/// Number of bytes that are collected before they are written.
const BUFFER: usize = 1 << 18;

/// Last two letters of the extensions of a volume's files, the index first: without an index there
/// is no volume.
const VOLUME_FILES: [&str; 19] = [
    "in", "hr", "sq", "og", "sd", "si", "nd", "ni", "hd", "hi", "pd", "pi", "td", "ti", "aa", "ab",
    "ac", "gm", "tm",
];
/// Last two letters of the extensions of files that volumes of version 5 share.
const SHARED_FILES: [&str; 5] = ["db", "os", "ot", "tf", "to"];

/// The files of a database while they are written, in a temporary directory.
#[derive(Debug)]
pub struct StagedFiles {
    /// Path of the database without extension.
    base: PathBuf,
    directory: PrivateDirectory,
    kind: DatabaseKind,
    /// For each file: its volume, if it belongs to one, and the last two letters of its extension.
    files: Vec<(Option<u32>, &'static str)>,
    done: bool,
}

impl StagedFiles {
    /// Creates the temporary directory for the database with the path `base`, and missing parent
    /// directories. `made` gets the path of the temporary directory as soon as it exists, so that
    /// the caller can remove it if the process is killed. All files are in it until
    /// [`commit`](Self::commit).
    ///
    /// # Errors
    /// If no directory can be made there.
    pub fn create(
        base: &Path,
        kind: DatabaseKind,
        made: impl FnMut(PathBuf),
    ) -> Result<Self, MakedbError> {
        let absolute = std::path::absolute(base).with_context("find", base)?;
        // A slash at the end is ignored.
        let base: PathBuf = absolute.components().collect();
        let parent = base.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).with_context("make the directory", parent)?;
        let name = base.file_name().unwrap_or_default();
        let directory = PrivateDirectory::create(parent, name, made)
            .with_context("make a directory in", parent)?;
        Ok(Self { base, directory, kind, files: Vec::new(), done: false })
    }

    /// Returns the temporary directory, which has all files until [`commit`](Self::commit).
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the path of the database without extension.
    pub fn base_path(&self) -> &Path {
        &self.base
    }

    /// Returns the last component of [`base_path`](Self::base_path).
    pub(crate) fn base_name(&self) -> Vec<u8> {
        self.base.file_name().unwrap_or_default().as_bytes().to_vec()
    }

    /// Returns whether a database of this name and type already exists.
    pub fn has_older_database(&self) -> bool {
        self.old_files().into_iter().any(|path| path.exists())
    }

    /// Returns the temporary path of a new file of the database. `letters` are the last two letters
    /// of the file's extension.
    pub(crate) fn staged_path(&mut self, volume: Option<u32>, letters: &'static str) -> PathBuf {
        self.files.push((volume, letters));
        self.directory.path().join(file_name(OsStr::new("db"), volume, self.kind, letters))
    }

    /// Creates a new file of the database. `letters` are the last two letters of its extension.
    pub(crate) fn create_file(
        &mut self,
        volume: Option<u32>,
        letters: &'static str,
    ) -> Result<OutputFile, MakedbError> {
        OutputFile::create(self.staged_path(volume, letters))
    }

    /// Creates a temporary file, which disappears when it is closed.
    pub(crate) fn temporary_file(&self) -> Result<File, MakedbError> {
        temporary_file(self.directory.path())
    }

    /// Moves the files to their final paths, and removes the files of an older database. Indexes
    /// and the alias come last, because readers find no database without them.
    ///
    /// # Errors
    /// If a file cannot be moved. The files at the final paths are then no valid database.
    pub fn commit(mut self, volumes: u32) -> Result<(), MakedbError> {
        let single = volumes == 1;
        let moves: Vec<(PathBuf, PathBuf)> = {
            let mut files = self.files.clone();
            files.sort_by_key(|(_, letters)| match *letters {
                "al" => 2,
                "in" => 1,
                _ => 0,
            });
            let paths = files.into_iter().map(|(volume, letters)| {
                let from = file_name(OsStr::new("db"), volume, self.kind, letters);
                let volume = volume.filter(|_| !single);
                (self.directory.path().join(from), self.place(volume, letters))
            });
            paths.collect()
        };
        for (from, _) in &moves {
            File::open(from).and_then(|file| file.sync_data()).with_context("store", from)?;
        }
        let replaced: HashSet<&Path> = moves.iter().map(|(_, to)| to.as_path()).collect();
        for old in self.old_files() {
            let kept = replaced.contains(old.as_path()) && !is_entrance(&old);
            if !kept && old.exists() {
                fs::remove_file(&old).with_context("remove", &old)?;
            }
        }
        for (from, to) in &moves {
            fs::rename(from, to).with_context("put in its place", to)?;
        }
        self.done = true;
        // The directory is empty now. It does no harm if a file system keeps it.
        let _ = fs::remove_dir(self.directory.path());
        if let Some(parent) = self.base.parent() {
            // Not every file system can sync directories.
            let _ = File::open(parent).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }

    fn place(&self, volume: Option<u32>, letters: &str) -> PathBuf {
        let name = self.base.file_name().unwrap_or_default();
        self.base.with_file_name(file_name(name, volume, self.kind, letters))
    }

    /// Returns the paths of all files that a database of this name can have. The files that readers
    /// open first (alias, indexes) come first.
    fn old_files(&self) -> Vec<PathBuf> {
        let mut volumes = vec![None];
        let numbered = (0..).map(Some).take_while(|&n| self.place(n, VOLUME_FILES[0]).exists());
        volumes.extend(numbered);
        let mut files = vec![self.place(None, "al")];
        for letters in VOLUME_FILES {
            files.extend(volumes.iter().map(|&volume| self.place(volume, letters)));
        }
        files.extend(SHARED_FILES.map(|letters| self.place(None, letters)));
        files
    }
}

impl Drop for StagedFiles {
    /// Removes the files of an unfinished database.
    fn drop(&mut self) {
        if !self.done {
            // Best effort: the earlier error is the one to report. Perhaps no more files can be
            // opened, so the known ones are removed without listing the directory.
            for (volume, letters) in &self.files {
                let name = file_name(OsStr::new("db"), *volume, self.kind, letters);
                let _ = fs::remove_file(self.directory.path().join(name));
            }
            let path = self.directory.path();
            let _ = fs::remove_dir(path).or_else(|_| fs::remove_dir_all(path));
        }
    }
}

/// Returns whether readers open this file first: an index or an alias.
fn is_entrance(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().as_bytes();
    matches!(extension, [_, b'i', b'n'] | [_, b'a', b'l'])
}

/// Returns the name of a file, such as `NAME.NN.pin`.
fn file_name(name: &OsStr, volume: Option<u32>, kind: DatabaseKind, letters: &str) -> OsString {
    let mut file = name.to_os_string();
    if let Some(volume) = volume {
        file.push(format!(".{volume:02}"));
    }
    file.push(format!(".{}{letters}", kind.extension_letter()));
    file
}

/// Creates a temporary file without a name, on the file system of `directory`.
pub(crate) fn temporary_file(directory: &Path) -> Result<File, MakedbError> {
    tempfile::tempfile_in(directory).with_context("make a file in", directory)
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    writer: BufWriter<File>,
    path: PathBuf,
    length: u64,
}

impl OutputFile {
    pub(crate) fn create(path: PathBuf) -> Result<Self, MakedbError> {
        let file = File::create(&path).with_context("make", &path)?;
        Ok(Self::new(file, path))
    }

    /// Creates an output to `file`; `path` is its name in messages.
    pub(crate) fn new(file: File, path: PathBuf) -> Self {
        Self { writer: BufWriter::with_capacity(BUFFER, file), path, length: 0 }
    }

    /// Returns the number of bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), MakedbError> {
        self.writer.write_all(bytes).with_context("write", &self.path)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Appends the contents of a temporary file.
    pub(crate) fn append(&mut self, spool: OutputFile) -> Result<(), MakedbError> {
        let length = spool.length;
        let mut file = spool.rewind()?;
        io::copy(&mut file, &mut self.writer).with_context("write", &self.path)?;
        self.length += length;
        Ok(())
    }

    /// Writes the remaining bytes, and returns the file at its start.
    pub(crate) fn rewind(self) -> Result<File, MakedbError> {
        let path = self.path;
        let into = self.writer.into_inner().map_err(io::IntoInnerError::into_error);
        let mut file = into.with_context("write", &path)?;
        io::Seek::rewind(&mut file).with_context("read", &path)?;
        Ok(file)
    }

    /// Writes the remaining bytes and closes the file.
    pub(crate) fn close(mut self) -> Result<(), MakedbError> {
        self.writer.flush().with_context("write", &self.path)
    }
}
