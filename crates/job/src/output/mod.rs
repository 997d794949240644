//! Writes the report. A regular file gets its name only when it is complete.

mod delayed;
mod files;
pub(crate) mod part;

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf, absolute};

use fleetblast_db::check_mapped_files;

use crate::error::Error;
use crate::interrupt::{SignalWatch, unfinished_files};
use crate::plan::{Destination, ReportFiles};
use crate::standard;

pub(crate) use self::delayed::report_delayed_errors;
use self::part::RunId;

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 20;
/// Maximum number of symbolic links to follow to the file that a report replaces.
const MOST_LINKS: usize = 40;
/// Permissions of a report, before the umask.
const MODE: u32 = 0o666;
/// Permissions of a temporary file that other users must not open.
pub const PRIVATE_FILE_MODE: u32 = 0o600;
/// Stem of the name of the temporary file of a [join file](Output::create_join_file), in the
/// current directory.
const JOIN_FILE_STEM: &str = "fleetblast";

/// Destination that receives a report part by part.
pub trait ReportSink {
    /// Appends bytes before, between or after the reports of queries.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error>;

    /// Prepares to write the reports of the block's queries from index `_first_query` on.
    fn begin_batch(&mut self, _first_query: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Appends the report of the next query.
    fn write_query(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write(bytes)
    }
}

impl ReportSink for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Output::write(self, bytes)
    }
}

/// The open output of a job.
pub struct Output {
    writer: BufWriter<CountedFile>,
    /// Name of the output in messages.
    name: PathBuf,
    /// The path that a regular file gets when it is complete; `None` if the output is written
    /// directly.
    wanted: Option<PathBuf>,
    /// The files that a complete report is divided into; `None` for a report in one file.
    files: Option<ReportFiles>,
    /// Removes the unfinished file after a signal.
    watch: SignalWatch,
    /// The open [join file](Self::create_join_file). It stays open so that it stays locked.
    join_file: Option<File>,
}

/// A file and the number of bytes written to it.
struct CountedFile {
    file: File,
    bytes: u64,
    /// Whether all bytes are dropped instead of written.
    is_given_up: bool,
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_given_up {
            return Ok(bytes.len());
        }
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output {
    /// Opens the output. A regular file is written under a temporary name in the same directory.
    /// Pipes and devices are opened directly, and so is a file in a directory where no file can be
    /// created.
    pub fn open(destination: &Destination) -> Result<Output, Error> {
        let name = match destination {
            Destination::Stdout => Path::new("standard output"),
            Destination::File(path) | Destination::Records(path) => path,
            Destination::Files(files) => &files.index,
        };
        let watch = SignalWatch::start()?;
        let open = || {
            let (file, wanted) = match destination {
                Destination::Stdout => (standard::output()?, None),
                Destination::File(path) => open_file(path, &watch)?,
                Destination::Files(files) => open_joined(&files.index, &watch)?,
                Destination::Records(path) => {
                    let what = "records are written by ranks";
                    return Err(io::Error::new(
                        ErrorKind::IsADirectory,
                        format!("{}: {what}", path.display()),
                    ));
                }
            };
            let writer = BufWriter::with_capacity(
                BUFFER,
                CountedFile { file, bytes: 0, is_given_up: false },
            );
            let files = match destination {
                Destination::Files(files) => Some(files.clone()),
                _ => None,
            };
            Ok(Output { writer, name: name.into(), wanted, files, watch, join_file: None })
        };
        open().map_err(|error| failure(name, None, &error))
    }

    /// Appends to the report.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let collected = self.writer.buffer().len() + bytes.len();
        if self.wanted.is_none() && collected >= self.writer.capacity() {
            // The bytes go to a pipe or device, and cannot be withdrawn.
            check_mapped_files()?;
        }
        self.writer.write_all(bytes).map_err(|error| self.failure(&error))
    }

    /// Writes the collected bytes if the report goes to a pipe or device, where somebody may wait
    /// for them.
    ///
    /// # Errors
    /// The output cannot be written; a mapped file has changed, so that the report may be of two
    /// databases.
    pub fn flush_if_streamed(&mut self) -> Result<(), Error> {
        if self.wanted.is_some() || self.writer.buffer().is_empty() {
            return Ok(());
        }
        check_mapped_files()?;
        self.writer.flush().map_err(|error| self.failure(&error))
    }

    /// Writes the collected bytes, so that a file can be read under its temporary name.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|error| self.failure(&error))
    }

    /// Creates a file in the current directory, in which ranks can join the report before it is
    /// written to this output. The file is removed together with this output.
    ///
    /// # Errors
    /// A directory in which no file can be created.
    pub fn create_join_file(&mut self) -> io::Result<PathBuf> {
        let beside = fs::canonicalize(".")?.join(JOIN_FILE_STEM);
        let mut unfinished = self.watch.lock_unfinished();
        let (file, path) = part::create(&beside, None, PRIVATE_FILE_MODE)?;
        *unfinished = Some(path);
        drop(unfinished);
        self.join_file = Some(file);
        Ok(self.temporary_path().unwrap_or_default())
    }

    /// Returns the temporary path of the report; `None` if it is written to its destination
    /// directly.
    pub fn temporary_path(&self) -> Option<PathBuf> {
        // Allocates before it locks: if the process ended without memory while it holds the lock,
        // the file could not be removed.
        let mut path = PathBuf::with_capacity(libc::PATH_MAX as usize);
        path.push(self.watch.lock_unfinished().as_deref()?);
        Some(path)
    }

    /// Completes the report: writes the bytes that are still buffered, and gives a regular file its
    /// final name. If the final path is a file with several names (hard links), all names stay and
    /// refer to the new contents.
    ///
    /// # Errors
    /// The output cannot be written; a mapped file has changed, so that the report may be of two
    /// databases.
    pub fn commit(mut self) -> Result<(), Error> {
        check_mapped_files()?;
        self.writer.flush().map_err(|error| self.failure(&error))?;
        let stored = report_delayed_errors(&self.writer.get_ref().file);
        stored.map_err(|error| self.failure(&error))?;
        if let Some(files) = &self.files {
            let joined = self.temporary_path().unwrap_or_default();
            return files::divide_report(&joined, files);
        }
        if let Some(wanted) = &self.wanted {
            let mut unfinished = self.watch.lock_unfinished();
            if let Some(written) = &*unfinished {
                part::put_in_place(written, wanted)
                    .map_err(|error| failure(&self.name, None, &error))?;
            }
            *unfinished = None;
        }
        Ok(())
    }

    fn failure(&self, error: &io::Error) -> Error {
        failure(&self.name, Some(self.writer.get_ref().bytes), error)
    }
}

impl Drop for Output {
    /// Removes an unfinished report, so that nobody takes it for a complete one. For pipes and
    /// devices, the buffered bytes are still written, unless a file of the database has changed
    /// meanwhile.
    fn drop(&mut self) {
        if !self.writer.buffer().is_empty() && check_mapped_files().is_err() {
            self.writer.get_mut().is_given_up = true;
        }
        let mut unfinished = self.watch.lock_unfinished();
        if let Some(written) = unfinished.take() {
            // Best effort: the earlier error is the one to report.
            let _ = fs::remove_file(written);
        }
    }
}

/// Creates an empty report after a failed run if there is none, as BLAST+ does: callers may want to
/// read the file that they named. An older report stays as it is.
pub fn leave_empty(destination: &Destination) {
    if let Destination::File(path) | Destination::Files(ReportFiles { index: path, .. }) =
        destination
        && let Some(wanted) = resolve_replaced_path(path)
    {
        // Best effort: the earlier error is the one to report.
        let _ = File::create_new(wanted);
    }
}

/// The paths of a report that is being written, for the code that ends a job whose threads hang.
#[derive(Clone, Debug)]
pub struct UnfinishedReport {
    /// Temporary path of the report.
    pub part: PathBuf,
    /// Destination of the report.
    pub out: Destination,
}

impl UnfinishedReport {
    /// Removes the unfinished report, and creates an empty one if there is no older one.
    pub fn discard(&self) {
        // Best effort: the earlier error is the one to report.
        let _ = fs::remove_file(&self.part);
        leave_empty(&self.out);
    }
}

/// Opens a file for a report; returns it, and its final path if that differs from the current one.
fn open_file(path: &Path, watch: &SignalWatch) -> io::Result<(File, Option<PathBuf>)> {
    let Some(wanted) = resolve_replaced_path(path) else { return Ok((open_direct(path)?, None)) };
    let mut unfinished = watch.lock_unfinished();
    let Some((file, written)) = create_replacement_file(&wanted, None)? else {
        return Ok((open_direct(path)?, None));
    };
    *unfinished = Some(written);
    Ok((file, Some(wanted)))
}

/// Creates the hidden file of a report that is divided into files at the end, beside its index.
fn open_joined(index: &Path, watch: &SignalWatch) -> io::Result<(File, Option<PathBuf>)> {
    let beside = match resolve_replaced_path(index) {
        Some(path) => path,
        None => fs::canonicalize(".")?.join(JOIN_FILE_STEM),
    };
    let mut unfinished = watch.lock_unfinished();
    let (file, joined) = part::create(&beside, None, PRIVATE_FILE_MODE)?;
    *unfinished = Some(joined);
    Ok((file, Some(beside)))
}

fn open_direct(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // First opens without creating. In a directory such as `/tmp`, Linux may forbid an open that
    // creates, if the file exists and belongs to another user (`fs.protected_regular`). It may
    // still be writable.
    match options.write(true).truncate(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => options.create(true).open(path),
        opened => opened,
    }
}

/// Creates a temporary file in the directory of `wanted`, which it is to replace. If `wanted`
/// exists, the new file gets its owner and permissions. Returns `None` if that is impossible but
/// `wanted` exists, so that the caller may write to `wanted` itself.
pub fn create_replacement_file(
    wanted: &Path,
    run: Option<RunId>,
) -> io::Result<Option<(File, PathBuf)>> {
    let old = fs::metadata(wanted);
    // Other users may not open the new file until it has the owner and the permissions of the older
    // one.
    let mode = if old.is_ok() { PRIVATE_FILE_MODE } else { MODE };
    match (part::create(wanted, run, mode), old) {
        (Ok((file, part)), Ok(old)) => {
            if part::adopt_access(&file, &old) {
                return Ok(Some((file, part)));
            }
            fs::remove_file(part)?;
            Ok(None)
        }
        (Err(_), Ok(_)) => Ok(None),
        (created, Err(_)) => created.map(Some),
    }
}

/// Writes to a file directly, without a temporary file.
fn write_directly(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = open_direct(path)?;
    write(&mut file)?;
    report_delayed_errors(&file)
}

/// Returns the path of the regular file that a report replaces or creates, after following links.
/// `None` for pipes and devices, and for paths in `/proc` and `/dev/fd`: these name open files, to
/// which other processes may be writing, too.
pub fn resolve_replaced_path(path: &Path) -> Option<PathBuf> {
    let mut path = absolute(path).ok()?;
    for _ in 0..MOST_LINKS {
        if path.starts_with("/proc") || path.starts_with("/dev/fd") {
            return None;
        }
        match fs::read_link(&path) {
            Ok(to) => path = path.parent()?.join(to),
            Err(_) => break,
        }
    }
    fs::metadata(&path).map_or(true, |meta| meta.is_file()).then_some(path)
}

/// Writes a file under a temporary name, and moves it to its path when it is complete. Until then,
/// and if writing fails, an older file stays. A signal of a [`SignalWatch`] removes the unfinished
/// file. Pipes, devices and files that cannot be replaced are written to directly.
///
/// # Errors
/// The file cannot be written.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let Some(wanted) = resolve_replaced_path(path) else { return write_directly(path, write) };
    let mut unfinished = unfinished_files();
    // Allocates before the file exists: without memory, the file could not be registered for
    // removal.
    let mut known = PathBuf::with_capacity(libc::PATH_MAX as usize);
    unfinished.reserve(1);
    let Some((mut file, part)) = create_replacement_file(&wanted, None)? else {
        drop(unfinished);
        return write_directly(path, write);
    };
    known.push(&part);
    unfinished.push(known);
    drop(unfinished);
    let written = write(&mut file).and_then(|()| report_delayed_errors(&file));
    let mut unfinished = unfinished_files();
    let written = written.and_then(|()| part::put_in_place(&part, &wanted));
    if written.is_err() {
        // Best effort: the earlier error is the one to report.
        let _ = fs::remove_file(&part);
    }
    unfinished.retain(|known| *known != part);
    written
}

/// Converts an error of writing to the output `name`, after `written` bytes. A closed pipe ends the
/// program without a message.
fn failure(name: &Path, written: Option<u64>, error: &io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::BrokenPipe => return Error::closed_output(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "; make room or name another place with -out"
        }
        _ => "",
    };
    let place = written.map_or_else(String::new, |bytes| format!(" after {bytes} bytes"));
    Error::output(format_args!("{}{place}: {error}{advice}", name.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;
    use std::{env, thread};

    use signal_hook::consts::SIGTERM;
    use signal_hook::low_level;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_to_its_end_leaves_the_older_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pssm");
        write_whole(&path, |file| file.write_all(b"older")).unwrap();
        let fails = |file: &mut File| {
            file.write_all(b"new")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert!(write_whole(&path, fails).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"older");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(write_whole(Path::new("/dev/full"), |file| file.write_all(b"new")).is_err());
    }

    /// Environment variable with the path of the file, for the child process that a signal ends.
    const FILE: &str = "WRITE_WHOLE_FILE";

    #[test]
    fn a_signal_while_a_file_is_written_leaves_the_older_one() {
        if let Some(path) = env::var_os(FILE) {
            let _watch = SignalWatch::start().unwrap();
            let written = write_whole(Path::new(&path), |file| {
                file.write_all(b"new")?;
                low_level::raise(SIGTERM)?;
                thread::sleep(Duration::from_secs(60));
                Ok(())
            });
            unreachable!("the signal has ended it: {written:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pssm");
        fs::write(&path, b"older").unwrap();
        let mut again = Command::new(env::current_exe().unwrap());
        let name = "output::tests::a_signal_while_a_file_is_written_leaves_the_older_one";
        let ended = again.args(["--exact", name]).env(FILE, &path).output().unwrap();
        assert_eq!(ended.status.signal(), Some(SIGTERM));
        assert_eq!(fs::read(&path).unwrap(), b"older");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "something is left");
    }
}
