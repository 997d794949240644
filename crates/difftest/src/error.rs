//! Errors of the tester itself. Differences between the programs are not errors.

use std::path::{Path, PathBuf};
use std::{fs, io};

use fleetblast_oracle::OracleError;

/// A failure of the tester, its inputs or its tools.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is invalid.
    #[error("{0}\nRun `difftest --help` for the subcommands and options.")]
    Usage(String),
    /// A file or directory could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action, for example "read".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A program could not be started, or failed where it must not.
    #[error("{program} failed: {reason}")]
    Tool {
        /// Name of the program.
        program: String,
        /// The message of the program.
        reason: String,
    },
    /// A row of a case table is malformed.
    #[error("{file}, line {line}: {reason}")]
    CaseTable {
        /// Name of the table.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// The fault of the row, and what is expected.
        reason: String,
    },
    /// The oracle is missing.
    #[error("{0}")]
    NoOracle(String),
    /// No real proteins were found.
    #[error(
        "no real protein data found (looked at {0}); set FLEETBLAST_DATA to a directory with \
         queries_aa.fa and proteins_small.fa.gz, or install Debian's mmseqs2-examples"
    )]
    NoData(String),
    /// No real nucleic acids were found.
    #[error(
        "no real nucleic acids found (looked at {0}); set FLEETBLAST_DATA to a directory with \
         queries_nt.fa and genomes.fa.gz, or install Debian's bowtie2-examples"
    )]
    NoBases(String),
}

/// Result with the tester's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl From<&OracleError> for Error {
    fn from(missing: &OracleError) -> Self {
        Error::NoOracle(missing.to_string())
    }
}

/// Returns a function that adds the action and the path to an I/O error.
pub fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { action, path, source }
}

/// Writes a file. An error names the file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, bytes).map_err(io_error("write", path))
}
