//! Unfinished files: hidden, in the directory of the final file.
//!
//! Other users may write to the directory, too, and can predict the names. So a file is always
//! created anew: an existing file of its name is neither written to nor followed as a link. A run
//! removes files that killed runs left and that are not in use. They must belong to this user or to
//! the owner of the older report. Whether a file is in use is known as follows:
//! * A job with a checkpoint ([`RunId`]) has one run at a time, and each run has its own file name.
//!   A run that seemed dead and wakes up finds that its file is gone.
//! * Other files are locked (`flock`) by their process as long as it lives.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use fleetblast_spool::open_regular;

/// Maximum number of bytes of the final name that the hidden name repeats. File systems allow 255
/// in all.
const NAME_KEPT: usize = 200;
/// Number of predictable names to try if several runs create the same file, before a random name.
const NAMES_TRIED: u32 = 4;

/// A run of a job with a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct RunId {
    /// Mark of the job, which all records of its checkpoint have.
    pub job: u64,
    /// Number of the run, from 1.
    pub number: u32,
}

/// Creates an unfinished file in the directory of `path`. `mode` has its permissions before the
/// umask. Returns the file and its own path. Allocates no memory once the file exists: without
/// memory the process would end before the caller could register the file for removal.
///
/// # Errors
/// A directory in which no file can be created.
pub fn create(path: &Path, run: Option<RunId>, mode: u32) -> io::Result<(File, PathBuf)> {
    let names = Names::new(path, run);
    let others: Vec<PathBuf> = names.paths_of_others().collect();
    let (file, made) = names.create(mode)?;
    // A killed run may have given its file to the owner of the older report.
    let owners = [Some(file.metadata()?.uid()), fs::metadata(path).ok().map(|old| old.uid())];
    for other in others.iter().filter(|&other| *other != made) {
        if is_abandoned(other, owners, run.is_some()) {
            // Best effort: a leftover file does no harm.
            let _ = fs::remove_file(other);
        }
    }
    Ok((file, made))
}

/// Gives a file the owner, the group and the permissions of the old file that it will replace.
/// Returns false if it cannot give the owner or the group: other users would then lose their
/// access, or gain some.
pub fn adopt_access(file: &File, old: &fs::Metadata) -> bool {
    let Ok(own) = file.metadata() else { return false };
    let differs = |own, old| (own != old).then_some(old);
    let (uid, gid) = (differs(own.uid(), old.uid()), differs(own.gid(), old.gid()));
    if (uid.is_some() || gid.is_some()) && fchown(file, uid, gid).is_err() {
        return false;
    }
    // Best effort: not every file system has permissions.
    let _ = file.set_permissions(old.permissions());
    true
}

/// Moves a complete file to its final path. A file there with several names (hard links) keeps them
/// all, and gets the new contents.
///
/// # Errors
/// Files that cannot be renamed or written.
pub fn put_in_place(part: &Path, wanted: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(wanted).is_ok_and(|meta| meta.is_file() && meta.nlink() > 1) {
        return fs::rename(part, wanted);
    }
    let mut from = open_regular(File::options().read(true), part)?;
    let mut into = open_regular(File::options().write(true).truncate(true), wanted)?;
    io::copy(&mut from, &mut into)?;
    into.sync_all()?;
    fs::remove_file(part)
}

/// The hidden names of unfinished files.
struct Names {
    directory: PathBuf,
    /// `.report`, or for a job with a checkpoint `.report.0123456789abcdef`.
    stem: OsString,
    run: Option<RunId>,
}

impl Names {
    fn new(path: &Path, run: Option<RunId>) -> Self {
        let name = path.file_name().unwrap_or_default().as_bytes();
        let mut stem = OsString::from(".");
        stem.push(OsStr::from_bytes(&name[..name.len().min(NAME_KEPT)]));
        if let Some(RunId { job, .. }) = run {
            stem.push(format!(".{job:016x}"));
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Names { directory: directory.unwrap_or(Path::new(".")).to_owned(), stem, run }
    }

    fn numbered_path(&self, number: u32) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(format!("-{number}.part"));
        self.directory.join(name)
    }

    /// Returns the paths that this run may give its file, in the order in which they are tried.
    fn own_paths(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.run.map_or(0..NAMES_TRIED, |run| run.number..run.number + 1);
        numbers.map(|number| self.numbered_path(number))
    }

    /// Returns the paths of unfinished files that other runs may have left.
    fn paths_of_others(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.run.map_or(0..NAMES_TRIED, |run| 1..run.number);
        numbers.map(|number| self.numbered_path(number))
    }

    fn create(&self, mode: u32) -> io::Result<(File, PathBuf)> {
        for path in self.own_paths() {
            match File::options().write(true).create_new(true).mode(mode).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Ok(file) if !lock_new_file(&file) => {}
                file => return file.map(|file| (file, path)),
            }
        }
        let mut prefix = self.stem.clone();
        prefix.push("-");
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".part")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
            .tempfile_in(&self.directory)?;
        let (file, path) = file.keep()?;
        lock_new_file(&file);
        Ok((file, path))
    }
}

/// Locks a new file. Returns false if another run took it for an abandoned one, and has locked or
/// removed it.
fn lock_new_file(file: &File) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Without locks, no file counts as abandoned.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => file.metadata().is_ok_and(|meta| meta.nlink() > 0),
    }
}

/// Returns whether a file belongs to one of these owners and was left by a run that has ended. With
/// `has_one_user`, the job has only one run at a time, so the lock of the file is not tested.
fn is_abandoned(path: &Path, owners: [Option<u32>; 2], has_one_user: bool) -> bool {
    let Ok(file) = open_regular(File::options().write(true), path) else { return false };
    file.metadata().is_ok_and(|meta| owners.contains(&Some(meta.uid())))
        && (has_one_user || file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_in_the_place_of_files_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [part, wanted, victim] = ["p", "w", "v"].map(|name| dir.path().join(name));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &part).unwrap();
        assert!(open_regular(File::options().write(true), &part).is_err());
        assert!(open_regular(File::options().read(true), dir.path()).is_err());
        // The contents of a part go to all names of a report. A part that is a link to another file
        // is refused.
        fs::write(&wanted, "old").unwrap();
        fs::hard_link(&wanted, dir.path().join("second")).unwrap();
        assert!(put_in_place(&part, &wanted).is_err());
        fs::remove_file(&part).unwrap();
        fs::write(&part, "new").unwrap();
        put_in_place(&part, &wanted).unwrap();
        assert_eq!(fs::read(dir.path().join("second")).unwrap(), b"new");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
