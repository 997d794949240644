//! The error that ends a run early: a message and an exit code of BLAST+.

use serde::{Deserialize, Serialize};
use std::{fmt, io};

use fleetblast_db::{DbError, check_mapped_files};
use fleetblast_seq::convert::ValueParseError;

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
    /// A database that is not damaged for sure: `EX_DATAERR` of `sysexits.h`. Not of BLAST+.
    pub const DOUBTFUL: u8 = 65;
    /// Ended early by SIGTERM or SIGUSR1, and to be resumed: `EX_TEMPFAIL` of `sysexits.h`. Not of
    /// BLAST+.
    pub const DRAINED: u8 = 75;
    /// The code that a shell shows for a program ended by SIGPIPE, as BLAST+ is when its output is
    /// closed.
    pub const CLOSED_PIPE: u8 = 141;
    /// Anything else.
    pub const UNKNOWN: u8 = 255;
}

/// Advice for a process that gets no more memory or threads.
pub const ADVICE: &str =
    "allow the process more memory and threads (ulimit -v, -u), or take fewer -num_threads";

/// BLAST+'s error without queries or subjects.
pub const NO_SEQUENCES: &str = "Empty CBlastQueryVector";

/// What ended a run, as far as the program acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The message says it.
    Described,
    /// There is no database of the given name and kind.
    MissingDatabase,
    /// A partner, which this thread waited for, ended without a message.
    PartnerEnded,
    /// Another rank or site reports it, or nobody reads the report any more. There is no message.
    ReportedElsewhere,
}

/// A run that ends with a message on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// Exit code of the process.
    pub exit_code: u8,
    /// What ended the run.
    pub kind: ErrorKind,
    /// The message, possibly of several lines, without the last line end. Empty if the end is
    /// [silent](Error::silent).
    pub message: String,
}

impl Error {
    /// Creates an error with any message and exit code.
    pub fn new(exit_code: u8, message: impl Into<String>) -> Self {
        Self { exit_code, kind: ErrorKind::Described, message: message.into() }
    }

    /// Creates the error that another rank or site has sent. One without a message is
    /// [silent](Error::silent).
    pub fn received(exit_code: u8, message: impl Into<String>) -> Self {
        let message = message.into();
        match message.is_empty() {
            true => Self::silent(exit_code),
            false => Self::new(exit_code, message),
        }
    }

    /// Creates the error of a thread whose partner ended without a message.
    pub fn partner_ended() -> Self {
        let error = Self::new(exit::UNKNOWN, "the other site has ended");
        Self { kind: ErrorKind::PartnerEnded, ..error }
    }

    /// Creates an error without a message: another rank or site reports the cause, or nobody reads
    /// the report any more.
    pub fn silent(exit_code: u8) -> Self {
        Self { exit_code, kind: ErrorKind::ReportedElsewhere, message: String::new() }
    }

    /// Whether the error has no message.
    pub fn is_silent(&self) -> bool {
        self.kind == ErrorKind::ReportedElsewhere
    }

    /// Adds the rank and host that have the error to its message, if it has one.
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

    /// Creates BLAST+'s error for options that allow no PSSM.
    pub fn pssm_options(what: impl fmt::Display) -> Self {
        let message =
            format!("BLAST options error: IPssmInputData returns invalid PSIBlastOptions: {what}");
        Self::new(exit::INPUT, message)
    }

    /// Creates the error for a file of an option that cannot be opened.
    pub fn inaccessible(option: &str, path: &str) -> Self {
        let path = if path.is_empty() { String::new() } else { format!(":  `{path}'") };
        let message = format!(
            "Command line argument error: Argument \"{option}\". File is not accessible{path}"
        );
        Self::new(exit::INPUT, message)
    }

    /// Creates the same error, or another one if the process has too many open files.
    pub fn cannot_open(option: &str, path: &str, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                Self::refused(format_args!("cannot open {path}"), error)
            }
            _ => Self::inaccessible(option, path),
        }
    }

    /// Creates the error for a query file that is not FASTA.
    pub fn query(what: impl fmt::Display) -> Self {
        Self::new(exit::INPUT, format!("BLAST query error: {what}"))
    }

    /// Creates the error for a database that cannot be found or read.
    pub fn database(what: impl fmt::Display) -> Self {
        Self::new(exit::DATABASE, format!("BLAST Database error: {what}"))
    }

    /// Creates the error for a search that cannot be done.
    pub fn engine(what: impl fmt::Display) -> Self {
        Self::new(exit::ENGINE, format!("BLAST engine error: {what}"))
    }

    /// Creates the same error in the words of a warning.
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

    /// Creates the error for something that the system refuses, with advice.
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

    /// Creates the error for a feature of BLAST+ that FleetBLAST lacks; names the program as typed.
    pub fn unsupported(program: &str, what: impl fmt::Display) -> Self {
        let error = Self::not_yet(what);
        Self { message: format!("{}; run NCBI {program} instead", error.message), ..error }
    }

    /// Creates the error for a feature that FleetBLAST does not support in a case.
    pub fn not_yet(what: impl fmt::Display) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self::new(exit::INPUT, format!("FleetBLAST {version} does not support {what} yet"))
    }

    /// Returns the error; or, if an input file has changed, an error that says so: changed bytes
    /// may cause errors of many kinds.
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

/// Converts an error of writing a report, with BLAST+'s words. A closed pipe ends the run silently.
pub fn output_error(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Error::closed_output(),
        _ => Error::new(exit::OUTPUT, "BLAST failed to write output"),
    }
}

/// BLAST+ does not expect a range or an environment variable that is no number. It reports an
/// unhandled exception, with its source line.
impl From<ValueParseError> for Error {
    fn from(error: ValueParseError) -> Self {
        Self::new(exit::UNKNOWN, format!("Error: {}", error.exception()))
    }
}

/// Converts an error of the database: BLAST+'s words if it has some, then file and offset. A file
/// that has changed while it was read replaces any other error, because it may have caused it.
impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        let mut message = error.stderr_line();
        if let Some(detail) = error.missing_detail() {
            message.push_str(&format!("\n({detail})"));
        }
        let kind = match error {
            DbError::NotFound { .. } => ErrorKind::MissingDatabase,
            _ => ErrorKind::Described,
        };
        let own_error = Error { kind, ..Error::new(error.exit_code(), message) };
        match error.changed_file() {
            Some(_) => own_error,
            None => own_error.or_changed_files(),
        }
    }
}
