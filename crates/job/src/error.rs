//! The error that ends a run early: a message and an exit code of BLAST+.

use serde::{Deserialize, Serialize};
use std::{fmt, io};

use fleetblast_db::{DbError, check_mapped_files};

/// Exit codes of BLAST+ (`blast_app_util.hpp`).
pub mod exit {
    /// Bad option, option value, query or query file.
    pub const INPUT: u8 = 1;
    /// Database error.
    pub const DATABASE: u8 = 2;
    /// Search engine error.
    pub const ENGINE: u8 = 3;
    /// Out of memory, threads or open files.
    pub const MEMORY: u8 = 4;
    /// Output could not be written.
    pub const OUTPUT: u8 = 6;
    /// `dbcheck` found a database doubtful, but not damaged for sure: `EX_DATAERR` of `sysexits.h`.
    /// BLAST+ has no such code.
    pub const DOUBTFUL: u8 = 65;
    /// A signal such as SIGTERM or SIGUSR1 ended the job early, and it can be resumed:
    /// `EX_TEMPFAIL` of `sysexits.h`. BLAST+ has no such code.
    pub const DRAINED: u8 = 75;
    /// The output was closed: the code that a shell shows for a program that SIGPIPE ended. SIGPIPE
    /// also ends BLAST+.
    pub const CLOSED_PIPE: u8 = 141;
    /// Any other error.
    pub const UNKNOWN: u8 = 255;
}

/// Advice for a process that cannot get more memory or threads.
pub const ADVICE: &str =
    "allow the process more memory and threads (ulimit -v, -u), or take fewer -num_threads";

/// BLAST+'s message for an input without queries or subjects.
pub const NO_SEQUENCES: &str = "Empty CBlastQueryVector";

/// The cause of an error, as far as the program handles causes differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// A cause that only the message describes.
    Described,
    /// There is no database of the given name and kind.
    MissingDatabase,
    /// A file of a database, or a list, is missing or invalid
    /// ([`DbError::is_file_error`]), and a later release of BLAST+ says that it cannot map it to
    /// memory.
    UnmappedFile,
    /// Another thread or process, for which this thread waited, ended without a message.
    PartnerEnded,
    /// The error has no message: another rank or site reports the cause, or nobody reads the report
    /// any more.
    ReportedElsewhere,
}

/// An error that ends a run, with a message for standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// Exit code of the process.
    pub exit_code: u8,
    /// The cause of the error.
    pub kind: ErrorKind,
    /// The message, possibly of several lines, without the last line end. Empty if the error is
    /// [silent](Error::silent).
    pub message: String,
}

impl Error {
    /// Creates an error with this message and exit code.
    pub fn new(exit_code: u8, message: impl Into<String>) -> Self {
        Self { exit_code, kind: ErrorKind::Described, message: message.into() }
    }

    /// Creates the error that another rank or site has sent. It is [silent](Error::silent) if the
    /// message is empty.
    pub fn from_remote(exit_code: u8, message: impl Into<String>) -> Self {
        let message = message.into();
        match message.is_empty() {
            true => Self::silent(exit_code),
            false => Self::new(exit_code, message),
        }
    }

    /// Creates the error of a thread that waited for another thread or process, which ended without
    /// a message.
    pub fn partner_ended() -> Self {
        let error = Self::new(exit::UNKNOWN, "the other site has ended");
        Self { kind: ErrorKind::PartnerEnded, ..error }
    }

    /// Creates an error without a message: another rank or site reports the cause, or nobody reads
    /// the report any more.
    pub fn silent(exit_code: u8) -> Self {
        Self { exit_code, kind: ErrorKind::ReportedElsewhere, message: String::new() }
    }

    /// Returns whether the error has no message.
    pub fn is_silent(&self) -> bool {
        self.kind == ErrorKind::ReportedElsewhere
    }

    /// Appends `place`, the rank and host of the error, to the message. A silent error stays as it
    /// is.
    #[must_use]
    pub fn with_place(mut self, place: &str) -> Self {
        if !self.is_silent() {
            self.message += &format!(" ({place})");
        }
        self
    }

    /// Creates the error for invalid options or an invalid query.
    pub fn query_options(what: impl fmt::Display) -> Self {
        let message =
            format!("BLAST query/options error: {what}\nPlease refer to the BLAST+ user manual.");
        Self::new(exit::INPUT, message)
    }

    /// Creates BLAST+'s error for options with which it cannot make a PSSM.
    pub fn pssm_options(what: impl fmt::Display) -> Self {
        let message =
            format!("BLAST options error: IPssmInputData returns invalid PSIBlastOptions: {what}");
        Self::new(exit::INPUT, message)
    }

    /// Creates the error for a file that cannot be opened. `option` names the file's option.
    pub fn inaccessible(option: &str, path: &str) -> Self {
        let path = if path.is_empty() { String::new() } else { format!(":  `{path}'") };
        let message = format!(
            "Command line argument error: Argument \"{option}\". File is not accessible{path}"
        );
        Self::new(exit::INPUT, message)
    }

    /// Creates BLAST+'s error for an option that is given together with an option that excludes it.
    pub fn excluded(option: &str) -> Self {
        let what = "The value is excluded by other arguments.";
        Self::new(
            exit::INPUT,
            format!("Command line argument error: Argument \"{option}\". {what}"),
        )
    }

    /// Creates the error for a file that cannot be opened, as [`inaccessible`](Self::inaccessible).
    /// If too many files are open, the message says so and gives advice.
    pub fn cannot_open(option: &str, path: &str, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                Self::refused(format_args!("cannot open {path}"), error)
            }
            _ => Self::inaccessible(option, path),
        }
    }

    /// Creates the error for queries that cannot be read, such as a file that is not FASTA.
    pub fn query(what: impl fmt::Display) -> Self {
        Self::new(exit::INPUT, format!("BLAST query error: {what}"))
    }

    /// Creates the error for a database that cannot be found or read.
    pub fn database(what: impl fmt::Display) -> Self {
        Self::new(exit::DATABASE, format!("BLAST Database error: {what}"))
    }

    /// Creates the error for a search that the engine cannot do.
    pub fn engine(what: impl fmt::Display) -> Self {
        Self::new(exit::ENGINE, format!("BLAST engine error: {what}"))
    }

    /// Creates the error for a search that the engine cannot do, with BLAST+'s word `Warning:` in
    /// the message.
    pub fn warning(what: impl fmt::Display) -> Self {
        Self::engine(format_args!("Warning: {what} "))
    }

    /// Creates the error for lack of memory.
    pub fn memory(what: impl fmt::Display) -> Self {
        Self::new(exit::MEMORY, format!("BLAST ran out of memory: {what}"))
    }

    /// Creates the error for lack of memory or threads, with advice.
    pub fn starved(what: impl fmt::Display) -> Self {
        Self::memory(format_args!("{what}; {ADVICE}"))
    }

    /// Creates the error for a file, memory or a thread that the system refuses, with advice.
    /// `wanted` describes the failed action.
    pub fn refused(wanted: impl fmt::Display, error: &io::Error) -> Self {
        let message = match error.raw_os_error() {
            Some(libc::EMFILE) => format!(
                "BLAST ran out of open files: {wanted}: {error}; allow the process more (ulimit -n)"
            ),
            Some(libc::ENFILE) => format!(
                "BLAST ran out of open files: {wanted}: {error}; the limit is that of the whole host"
            ),
            _ => return Self::starved(format_args!("{wanted}: {error}")),
        };
        Self::new(exit::MEMORY, message)
    }

    /// Creates the error for output that cannot be written.
    pub fn output(what: impl fmt::Display) -> Self {
        Self::new(exit::OUTPUT, format!("BLAST failed to write output: {what}"))
    }

    /// Creates the silent error for a closed pipe.
    pub fn closed_output() -> Self {
        Self::silent(exit::CLOSED_PIPE)
    }

    /// Creates the error for a feature of BLAST+ that FleetBLAST does not support. The message
    /// advises to run NCBI's program; `program` is its name as typed.
    pub fn unsupported(program: &str, what: impl fmt::Display) -> Self {
        let error = Self::not_yet(what);
        Self { message: format!("{}; run NCBI {program} instead", error.message), ..error }
    }

    /// Creates the error for a feature that FleetBLAST does not support, without advice to run
    /// NCBI's program.
    pub fn not_yet(what: impl fmt::Display) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self::new(exit::INPUT, format!("FleetBLAST {version} does not support {what} yet"))
    }

    /// Returns this error, or an error about a changed file if a mapped input file has changed.
    /// Changed bytes may cause errors of many kinds.
    #[must_use]
    pub fn or_changed_files(self) -> Self {
        let Err(changed) = check_mapped_files() else { return self };
        let is_named = changed.changed_file().is_some_and(|path| {
            self.exit_code == exit::DATABASE && self.message.contains(&*path.to_string_lossy())
        });
        if is_named || self.is_silent() { self } else { changed.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Converts an error of writing a report to BLAST+'s error. A closed pipe becomes a silent error.
pub fn output_error(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Error::closed_output(),
        _ => Error::new(exit::OUTPUT, "BLAST failed to write output"),
    }
}

/// Converts an error of the database. The message has BLAST+'s words, if BLAST+ reports the error,
/// then file and offset. If a mapped file has changed, that error replaces any other, because the
/// change may have caused it.
impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        let mut message = error.stderr_line();
        if let Some(detail) = error.missing_detail() {
            message.push_str(&format!("\n({detail})"));
        }
        let kind = match error {
            DbError::NotFound { .. } => ErrorKind::MissingDatabase,
            _ if error.is_file_error() => ErrorKind::UnmappedFile,
            _ => ErrorKind::Described,
        };
        let own_error = Error { kind, ..Error::new(error.exit_code(), message) };
        match error.changed_file() {
            Some(_) => own_error,
            None => own_error.or_changed_files(),
        }
    }
}
