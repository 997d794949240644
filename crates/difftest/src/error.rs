//! What can go wrong in the tester itself, as opposed to a difference it found.

use std::path::{Path, PathBuf};
use std::{fs, io};

use fleetblast_oracle::Missing;

/// A failure of the tester, its inputs or its tools.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense.
    #[error("{0}\nRun `difftest --help` for the subcommands and options.")]
    Usage(String),
    /// A file or directory could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, e.g. "read".
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
        /// What it said.
        reason: String,
    },
    /// A row of a case table cannot be understood.
    #[error("{file}, line {line}: {reason}")]
    CaseTable {
        /// Name of the table.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// There is nothing to compare with.
    #[error("{0}")]
    NoOracle(String),
    /// No real sequences were found anywhere.
    #[error(
        "no real protein data found (looked at {0}); set FLEETBLAST_DATA to a directory with \
         queries_aa.fa and proteins_small.fa.gz, or install Debian's mmseqs2-examples"
    )]
    NoData(String),
    /// No real nucleic acids were found anywhere.
    #[error(
        "no real nucleic acids found (looked at {0}); set FLEETBLAST_DATA to a directory with \
         queries_nt.fa and genomes.fa.gz, or install Debian's bowtie2-examples"
    )]
    NoBases(String),
}

/// Result with the tester's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl From<&Missing> for Error {
    fn from(missing: &Missing) -> Self {
        Error::NoOracle(missing.to_string())
    }
}

/// Adds the action and the path to an I/O error.
pub fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { action, path, source }
}

/// Writes a file; an error names it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, bytes).map_err(io_error("write", path))
}
