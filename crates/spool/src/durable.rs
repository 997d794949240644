//! Directory entries and small files that survive a crash of the machine, in directories where
//! other users can also write.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Context, Error};

/// Makes the entries of a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    match synced {
        // A file system without this call keeps its directories without it, or cannot keep them at
        // all.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result.during("bring to disk the directory", path),
    }
}

/// Creates a directory in an existing one, unless it exists. A link to a directory does not count
/// as existing. The new entry is not durable yet.
pub(crate) fn make_directory(path: &Path) -> Result<(), Error> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_directory(path) => Ok(()),
        result => result.during("make the directory", path),
    }
}

/// Returns whether `path` is a directory, not a link to one.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Returns the directory in which `path` is an entry.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Permissions of a file that only its owner may use.
const PRIVATE: u32 = 0o600;
/// Permission bits that allow other users to write.
const OTHERS_WRITE: u32 = 0o022;

/// Returns the owner of files that this process creates in a directory. It is not always the user
/// of the process: some file systems map owners.
pub(crate) fn owner_in(directory: &Path) -> Result<u32, Error> {
    private_in(directory).map(|meta| meta.uid())
}

/// Returns the metadata of a [private](PRIVATE) file that this process creates in a directory.
fn private_in(directory: &Path) -> Result<Metadata, Error> {
    let file = tempfile::tempfile_in(directory).and_then(|file| file.metadata());
    file.during("make a file in", directory)
}

/// Opens a file for reading and writing, or creates it, in a directory where other users can write.
///
/// An existing file must belong to this user, must not be a link, and must not be writable for
/// others.
///
/// # Errors
/// [`Error::Foreign`] for an existing file that does not meet these conditions; [`Error::Io`] if
/// the system reports an error.
pub fn open_private(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    options.read(true).write(true);
    match options.clone().create_new(true).mode(PRIVATE).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        result => return result.during("make", path),
    }
    let private = private_in(parent(path))?;
    let file = open_own(&mut options, path, private.uid())?;
    let mode = file.metadata().during("read", path)?.mode();
    // A file system without permissions shows the same permissions for all files.
    match mode & OTHERS_WRITE & !private.mode() {
        0 => Ok(file),
        _ => {
            let what = "a file that others may write".to_owned();
            Err(Error::Foreign { path: path.to_path_buf(), what })
        }
    }
}

/// Opens a file that other users may have replaced. Does not follow a link, and does not block on a
/// pipe.
///
/// # Errors
/// Those of the system: `ELOOP` for a link; an error without a number if it is no regular file.
pub fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no longer a regular file")),
    }
}

/// Opens a file that must belong to `owner` and must not be a link. Files of other users do not
/// belong to the job.
///
/// # Errors
/// [`Error::Foreign`] for a file that does not meet these conditions; [`Error::Io`] if the system
/// reports an error.
pub fn open_own(options: &mut OpenOptions, path: &Path, owner: u32) -> Result<File, Error> {
    let foreign = |what: String| Error::Foreign { path: path.to_path_buf(), what };
    let file = match open_regular(options, path) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(foreign("a link".to_owned()));
        }
        Err(error) if error.raw_os_error().is_none() => {
            return Err(foreign("no regular file".to_owned()));
        }
        result => result.during("open", path)?,
    };
    match file.metadata().during("read", path)?.uid() {
        uid if uid == owner => Ok(file),
        uid => Err(foreign(format!("a file of another user (number {uid})"))),
    }
}

/// Replaces a file atomically: after a crash it has either the old or the new contents.
///
/// Writes the contents to a new file `aside` in the same directory first. If a file `aside` exists,
/// removes it before.
pub(crate) fn replace(path: &Path, aside: &Path, contents: &[u8]) -> Result<(), Error> {
    remove_file(aside)?;
    let written: io::Result<()> = File::create_new(aside).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    written.during("write", aside)?;
    fs::rename(aside, path).during("put in its place", path)?;
    sync_directory(parent(path))
}

/// Removes a file if it exists.
pub(crate) fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.during("remove", path),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn private_files_are_made_or_opened_again_but_not_those_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let [path, victim] = ["spool", "victim"].map(|name| dir.path().join(name));
        open_private(&path).unwrap().write_all(b"mine").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, PRIVATE);
        assert_eq!(io::read_to_string(open_private(&path).unwrap()).unwrap(), "mine");
        for mode in [0o620, 0o602, 0o666] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = open_private(&path).unwrap_err().to_string();
            assert!(error.contains("others may write"), "{error}");
        }
        fs::remove_file(&path).unwrap();

        // The link is to a file that exists, and to one that does not.
        for is_there in [false, true] {
            if is_there {
                fs::write(&victim, "").unwrap();
            }
            symlink(&victim, &path).unwrap();
            let error = open_private(&path).unwrap_err().to_string();
            assert!(error.contains("is a link"), "{error}");
            assert_eq!(victim.exists(), is_there);
            fs::remove_file(&path).unwrap();
        }
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(open_private(&path).unwrap_err().to_string().contains("no regular file"));
    }
}
