//! Errors of the spool, with messages for the user who started the job.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::holder::LockHolder;
use crate::key::{ResultKey, ShareRange};
use crate::properties::Differences;

/// An error when results are stored or read, or when a job is resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system reported an error.
    #[error("cannot {action} {}{}: {source}{}", path.display(), describe_offset(*offset), advice(source))]
    Io {
        /// The failed operation, as a verb.
        action: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// The offset in the file in bytes, if known.
        offset: Option<u64>,
        /// The error of the system.
        source: io::Error,
    },
    /// An earlier synchronisation of a file failed. The system may have dropped the bytes written
    /// since the last success, and does not report their loss again.
    #[error(
        "{} cannot be relied on any more, since the system could not bring it to disk ({cause}); \
         mend the file system or use another one, and start the command again",
        path.display()
    )]
    Unreliable {
        /// Path of the file.
        path: PathBuf,
        /// The message of the system.
        cause: String,
    },
    /// The checksum of a record is wrong.
    #[error("{} is damaged at offset {offset}: {what}; the block has to be searched again", path.display())]
    Damaged {
        /// Path of the damaged file.
        path: PathBuf,
        /// Offset of the record in bytes.
        offset: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// Two records of one result differ.
    #[error(
        "two results of block {} (kind {}) differ: of {} bytes in {} at offset {}, of {} bytes in {} at offset {}; \
         start the job again in a new directory",
        key.block, key.kind.0, totals[0], paths[0].display(), offsets[0], totals[1], paths[1].display(), offsets[1]
    )]
    Conflict {
        /// The result that the records belong to.
        key: ResultKey,
        /// The files of the two records.
        paths: Box<[PathBuf; 2]>,
        /// Offsets of the two records in bytes.
        offsets: [u64; 2],
        /// Lengths of the whole result in bytes, as each record states it.
        totals: [u64; 2],
    },
    /// The bytes of a share do not fit between its start and the end of the result.
    #[error(
        "{length} bytes at {} do not fit into a result of {} bytes for block {}",
        share.start, share.total, key.block
    )]
    ShareTooLong {
        /// The result that the share belongs to.
        key: ResultKey,
        /// The share that is too long.
        share: ShareRange,
        /// Length of the share in bytes.
        length: u64,
    },
    /// The directory belongs to a job that differs from the one to be started or resumed.
    #[error(
        "{} keeps the results of another job: {differences}; start the job as it was, or name another directory",
        path.display()
    )]
    Differs {
        /// Path of the directory.
        path: PathBuf,
        /// The differences between the jobs.
        differences: Differences,
    },
    /// A new job should start, but the directory already contains a job.
    #[error(
        "{} keeps the results of a job that did not end; resume it, or name another directory",
        .0.display()
    )]
    Occupied(PathBuf),
    /// The job in the directory is complete.
    #[error(
        "{} keeps a whole report already: read it with 'fleetblast cat', or name another directory",
        .0.display()
    )]
    Complete(PathBuf),
    /// The job in the directory was started without its properties, so it cannot be resumed.
    #[error(
        "{} keeps the results of a job without -checkpoint, which cannot be resumed: nobody knows what it searched; \
         name another directory",
        .0.display()
    )]
    Unknown(PathBuf),
    /// A job should be resumed, but the directory contains none.
    #[error("{} keeps no job that could be resumed; start it as a new one", .0.display())]
    NoJob(PathBuf),
    /// A new job should start, but the directory has entries that do not belong to a job.
    #[error(
        "{} contains '{entry}', which belongs to no job; name a new or an empty directory",
        path.display()
    )]
    NotEmpty {
        /// Path of the directory.
        path: PathBuf,
        /// Name of one of the entries that do not belong to a job.
        entry: String,
    },
    /// In the place of one of the job's files there is a link, no regular file, or a file that
    /// other users own or may write.
    #[error("{} is {what}, which nothing is taken from; remove it, or name another directory", path.display())]
    Foreign {
        /// Path of the foreign file.
        path: PathBuf,
        /// Description of the foreign file.
        what: String,
    },
    /// The job file cannot be parsed.
    #[error("{} does not describe a job: {what}; start the job as a new one in another directory", path.display())]
    JobFile {
        /// Path of the job file.
        path: PathBuf,
        /// Description of the error.
        what: String,
    },
    /// Another process uses the directory.
    #[error("{} is in use by {}{}", path.display(), who(holder.as_deref()), wait(*retry_after))]
    Locked {
        /// Path of the directory.
        path: PathBuf,
        /// The process that uses the directory, if the lock file names it.
        holder: Option<Box<LockHolder>>,
        /// Time after which another attempt can succeed. By then a dead process will have been
        /// silent for long enough. `None` if the process is certainly alive.
        retry_after: Option<Duration>,
    },
    /// Another process took over the directory, because this one showed no sign of life for too
    /// long.
    #[error(
        "{} was taken over by {}, since this process gave no sign of life; this job ends",
        path.display(), who(holder.as_deref())
    )]
    LockLost {
        /// Path of the directory.
        path: PathBuf,
        /// The process that took over, if the lock file names it.
        holder: Option<Box<LockHolder>>,
    },
    /// There are more writers than the directory layout allows.
    #[error("writer {0} is one too many: a spool has places for {max} writers", max = crate::MAX_WRITERS)]
    TooManyWriters(u32),
}

fn describe_offset(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" at offset {offset}"))
}

fn who(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(|| "a process that did not leave its name".to_owned(), LockHolder::to_string)
}

fn wait(retry_after: Option<Duration>) -> String {
    match retry_after {
        None => "; wait for its end, or name another directory".to_owned(),
        Some(time) => {
            let seconds = time.as_secs() + 1;
            format!(
                "; if that job is dead, start again in {seconds} s, else wait for its end or name another directory"
            )
        }
    }
}

/// Returns advice for the user about an error of the system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room and resume the job: what was finished is kept"
        }
        io::ErrorKind::FileTooLarge => "; raise the limit of file sizes and resume the job",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name a directory where this user may write"
        }
        _ => "",
    }
}

/// Converts I/O errors to [`Error::Io`].
pub(crate) trait Context<T> {
    /// Adds the failed action and the path to an I/O error.
    fn during(self, action: &'static str, path: &Path) -> Result<T, Error>;

    /// Adds the failed action, the path and the offset in the file to an I/O error.
    fn during_at(self, action: &'static str, path: &Path, offset: u64) -> Result<T, Error>;
}

impl<T> Context<T> for io::Result<T> {
    fn during(self, action: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io { action, path: path.to_path_buf(), offset: None, source })
    }

    fn during_at(self, action: &'static str, path: &Path, offset: u64) -> Result<T, Error> {
        let offset = Some(offset);
        self.map_err(|source| Error::Io { action, path: path.to_path_buf(), offset, source })
    }
}
