//! Directory entries and small files that survive the end of the machine.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::error::{Context, Error};

/// Makes the entries of a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    match synced {
        // A file system that has no such call keeps its directories without it, or cannot keep them at all.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result.during("bring to disk the directory", path),
    }
}

/// Makes a directory, if it is not there, in one that is there. Its entry is not durable yet.
pub(crate) fn make_directory(path: &Path) -> Result<(), Error> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result.during("make the directory", path),
    }
}

/// The directory in which `path` is an entry.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Replaces a file by one of the given contents, such that after any end of the machine it is there either as before or
/// whole. It is first written to `aside`, in the same directory.
pub(crate) fn replace(path: &Path, aside: &Path, contents: &[u8]) -> Result<(), Error> {
    let written: io::Result<()> = File::create(aside).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    written.during("write", aside)?;
    fs::rename(aside, path).during("put in its place", path)?;
    sync_directory(parent(path))
}

/// Removes a file that may not be there.
pub(crate) fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.during("remove", path),
    }
}
