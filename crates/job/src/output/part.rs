//! Files that are not whole yet: hidden, beside what they will be.
//!
//! Others may write to the directory, too, and know which names to expect. So a file is always made anew: what bears its
//! name already is neither written to nor followed as a link. What killed runs left is removed by the next run that
//! makes a file of the kind, if it belongs to the same user and nobody uses it any more. That is known
//! * of the files of a job with a checkpoint ([`RunId`]), since it has one run at a time, and each has a name of its own. A
//!   run that was taken for dead and wakes up finds that its file is gone;
//! * of others by a lock (`flock`), which their makers hold as long as they live.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fleetblast_spool::open_regular;

/// Bytes of a name that the hidden one repeats: file systems allow 255 in all.
const NAME_KEPT: usize = 200;
/// Names tried, should several runs make the same at a time, before one that nobody can foretell.
const NAMES_TRIED: u32 = 4;

/// A run of a job with a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct RunId {
    /// The mark of the job.
    pub job: u64,
    /// Number of the run, from 1.
    pub number: u32,
}

/// A new file beside `path` with these permissions (less the umask's), and where it is. Once there is a file, no memory
/// is asked for: without memory the process ends, before the caller could have told anybody of the file.
///
/// # Errors
/// A directory in which none can be made.
pub fn create(path: &Path, run: Option<RunId>, mode: u32) -> io::Result<(File, PathBuf)> {
    let names = Names::new(path, run);
    let others: Vec<PathBuf> = names.of_others().collect();
    let (file, made) = names.create(mode)?;
    let owner = file.metadata()?.uid();
    for other in others.iter().filter(|&other| *other != made) {
        if is_abandoned(other, owner, run.is_some()) {
            // Best effort: it is in nobody's way.
            let _ = fs::remove_file(other);
        }
    }
    Ok((file, made))
}

/// Gives a whole file its place. One that has several names keeps them all, and gets the contents.
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

/// The names that files may have beside what they will be.
struct Names {
    directory: PathBuf,
    /// `.report` or, of a job, `.report.0123456789abcdef`.
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

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(format!("-{number}.part"));
        self.directory.join(name)
    }

    /// Those that this file may get.
    fn own(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.run.map_or(0..NAMES_TRIED, |run| run.number..run.number + 1);
        numbers.map(|number| self.numbered(number))
    }

    /// Those under which others may have left theirs.
    fn of_others(&self) -> impl Iterator<Item = PathBuf> {
        let numbers = self.run.map_or(0..NAMES_TRIED, |run| 1..run.number);
        numbers.map(|number| self.numbered(number))
    }

    fn create(&self, mode: u32) -> io::Result<(File, PathBuf)> {
        for path in self.own() {
            match File::options().write(true).create_new(true).mode(mode).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Ok(file) if !is_kept(&file) => {}
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
        is_kept(&file);
        Ok((file, path))
    }
}

/// Locks a new file; false if another run took it for an abandoned one before that.
fn is_kept(file: &File) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Where there are no locks, nobody takes anything for abandoned.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => file.metadata().is_ok_and(|meta| meta.nlink() > 0),
    }
}

/// Whether a file of this owner is left of a run that does not live any more.
fn is_abandoned(path: &Path, owner: u32, has_one_user: bool) -> bool {
    let Ok(file) = open_regular(File::options().write(true), path) else { return false };
    file.metadata().is_ok_and(|meta| meta.uid() == owner)
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
        // A report with two names gets the contents, which are not those of another file.
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
