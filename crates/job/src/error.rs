//! What ends a run early: one message and BLAST+'s exit code.

use std::{fmt, io};

use fleetblast_db::{DbError, check_mapped_files};
use fleetblast_seq::convert::ConvertError;

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
    /// Ended early by SIGTERM or SIGUSR1, and to be resumed: `EX_TEMPFAIL` of `sysexits.h`. Not of BLAST+.
    pub const DRAINED: u8 = 75;
    /// What a shell shows for a program that SIGPIPE ended, as it ends BLAST+ when its output is closed.
    pub const CLOSED_PIPE: u8 = 141;
    /// Anything else.
    pub const UNKNOWN: u8 = 255;
}

/// What to do about a process that gets no more memory or threads.
pub const ADVICE: &str =
    "allow the process more memory and threads (ulimit -v, -u), or take fewer -num_threads";

/// What BLAST+ says where there are no queries or no subjects.
pub const NO_SEQUENCES: &str = "Empty CBlastQueryVector";

/// A run that ends with a message on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Exit code of the process.
    pub exit_code: u8,
    /// The message, possibly of several lines, without the last line end. Empty if the end is
    /// [silent](Error::silent).
    pub message: String,
}

impl Error {
    /// Any message with any exit code.
    pub fn new(exit_code: u8, message: impl Into<String>) -> Self {
        Self { exit_code, message: message.into() }
    }

    /// An end without a message: another rank or site reports the cause, or nobody reads the report
    /// any more.
    pub fn silent(exit_code: u8) -> Self {
        Self { exit_code, message: String::new() }
    }

    /// Whether this ends without a message.
    pub fn is_silent(&self) -> bool {
        self.message.is_empty()
    }

    /// Adds the rank and host that have the error to its message, if it has one.
    #[must_use]
    pub fn with_place(mut self, place: &str) -> Self {
        if !self.is_silent() {
            self.message += &format!(" ({place})");
        }
        self
    }

    /// Options, or a query, that make no sense.
    pub fn query_options(what: impl fmt::Display) -> Self {
        let message =
            format!("BLAST query/options error: {what}\nPlease refer to the BLAST+ user manual.");
        Self::new(exit::INPUT, message)
    }

    /// Options by which no matrix can be made, in the words of BLAST+.
    pub fn pssm_options(what: impl fmt::Display) -> Self {
        let message =
            format!("BLAST options error: IPssmInputData returns invalid PSIBlastOptions: {what}");
        Self::new(exit::INPUT, message)
    }

    /// A file named by an option that cannot be opened.
    pub fn inaccessible(option: &str, path: &str) -> Self {
        let path = if path.is_empty() { String::new() } else { format!(":  `{path}'") };
        let message = format!(
            "Command line argument error: Argument \"{option}\". File is not accessible{path}"
        );
        Self::new(exit::INPUT, message)
    }

    /// The same, unless the process may open no more files.
    pub fn cannot_open(option: &str, path: &str, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => {
                Self::refused(format_args!("cannot open {path}"), error)
            }
            _ => Self::inaccessible(option, path),
        }
    }

    /// A query file that is not FASTA.
    pub fn query(what: impl fmt::Display) -> Self {
        Self::new(exit::INPUT, format!("BLAST query error: {what}"))
    }

    /// A database that cannot be found or read.
    pub fn database(what: impl fmt::Display) -> Self {
        Self::new(exit::DATABASE, format!("BLAST Database error: {what}"))
    }

    /// A search that cannot be done.
    pub fn engine(what: impl fmt::Display) -> Self {
        Self::new(exit::ENGINE, format!("BLAST engine error: {what}"))
    }

    /// A search that cannot be done, in the words of a warning.
    pub fn warning(what: impl fmt::Display) -> Self {
        Self::engine(format_args!("Warning: {what} "))
    }

    /// Memory ran out.
    pub fn memory(what: impl fmt::Display) -> Self {
        Self::new(exit::MEMORY, format!("BLAST ran out of memory: {what}"))
    }

    /// The process gets no more memory or threads for this, and what to do about it.
    pub fn starved(what: impl fmt::Display) -> Self {
        Self::memory(format_args!("{what}; {ADVICE}"))
    }

    /// The system refuses something that the process needs: with what is wanted, and what to do about it.
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

    /// Output that cannot be written, and why.
    pub fn output(what: impl fmt::Display) -> Self {
        Self::new(exit::OUTPUT, format!("BLAST failed to write output: {what}"))
    }

    /// Output nobody reads any more (a closed pipe): ends quietly.
    pub fn closed_output() -> Self {
        Self::silent(exit::CLOSED_PIPE)
    }

    /// Something of a program of BLAST+ that FleetBLAST cannot do, named as it was typed.
    pub fn unsupported(program: &str, what: impl fmt::Display) -> Self {
        let Self { exit_code, message } = Self::not_yet(what);
        Self::new(exit_code, format!("{message}; run NCBI {program} instead"))
    }

    /// Something of FleetBLAST's own that does not go with a program, named as it was typed.
    pub fn not_yet(what: impl fmt::Display) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self::new(exit::INPUT, format!("FleetBLAST {version} does not support {what} yet"))
    }

    /// Returns the error, or the change of a file that may have caused it: changed bytes look like
    /// faults of many kinds.
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

/// A report that cannot be written, in the words of BLAST+. A closed pipe is no news: that ends quietly.
pub fn output_error(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Error::closed_output(),
        _ => Error::new(exit::OUTPUT, "BLAST failed to write output"),
    }
}

/// In a range or in the environment BLAST+ does not expect what is no number: it reports an
/// exception that nobody handled, with the place in its source.
impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Self {
        Self::new(exit::UNKNOWN, format!("Error: {}", error.exception()))
    }
}

/// A database that cannot be used: BLAST+'s words where it has some, then file and place. If a file
/// has changed while it was read, the error is that: the change may have caused any other.
impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        let mut message = error.report();
        if let Some(detail) = error.detail() {
            message.push_str(&format!("\n({detail})"));
        }
        let told = Error::new(error.exit_code(), message);
        match error.changed_file() {
            Some(_) => told,
            None => told.or_changed_files(),
        }
    }
}
