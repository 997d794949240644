//! Errors of making a database.

use std::io;
use std::path::{Path, PathBuf};

use fleetblast_seq::fasta::FastaError;
use fleetblast_seq::id::IdRefusal;
use fleetblast_seq::input::OpenError;

/// An error of making a database. No part of the new database is left, and an older one of its name
/// is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An input is not FASTA, or cannot be read to its end.
    #[error(transparent)]
    Fasta(#[from] FastaError),
    /// A definition line whose identifiers cannot be stored.
    #[error("{}, line {line}: {problem}", file.display())]
    Record {
        /// The input.
        file: PathBuf,
        /// Number of the definition line.
        line: u64,
        /// The kind of error.
        problem: RecordProblem,
    },
    /// An input without a sequence that can be stored.
    #[error("No sequences added")]
    NoSequences,
    /// Two sequences of a volume have the same identifier.
    #[error("Error: Duplicate seq_ids are found: \n{label}\n")]
    Duplicate {
        /// The identifier in upper case.
        label: String,
        /// Number of the second sequence that has it, from 0.
        number: u64,
    },
    /// More sequences than a database can have.
    #[error(
        "a database holds at most 2147483647 sequences; make several and join them by an alias"
    )]
    TooManySequences,
    /// A sequence too large for the offsets of a volume.
    #[error(
        "sequence {number} and what belongs to it do not fit into a volume, whose files hold less than 4 GiB"
    )]
    TooLarge {
        /// Number of the sequence, from 0.
        number: u64,
    },
    /// A directory or file cannot be made, written or moved to its place.
    #[error("cannot {action} {}: {source}{}", path.display(), advice(source))]
    Write {
        /// The action that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The tables of accessions or of taxonomy ids cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: heed::Error,
    },
    /// There is not enough address space for the map of a table. The user can choose a smaller one.
    #[error(
        "mdb_env_open: Cannot allocate memory\n({}: {size} bytes cannot be mapped; give BLASTDB_LMDB_MAP_SIZE a smaller number of bytes)",
        path.display()
    )]
    Map {
        /// The file.
        path: PathBuf,
        /// Size of the map in bytes.
        size: u64,
    },
    /// The size of the maps is no number; in quotes, as in BLAST+.
    #[error("Cannot convert string '{0}' to Uint8")]
    MapSize(String),
    /// A file of taxonomy ids or masks cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of taxonomy ids has a malformed line.
    #[error("{}, line {line}: '{text}' is no taxonomy id; give an identifier and a number on each line", path.display())]
    TaxidMap {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The text in place of the number.
        text: String,
    },
    /// A mask that does not fit its sequence.
    #[error("Error: Masked data offsets out of bounds.")]
    MaskOutOfBounds {
        /// Number of the sequence, from 0.
        number: u64,
    },
}

impl Error {
    /// Whether the cause is a lack of memory.
    pub fn is_for_memory(&self) -> bool {
        match self {
            Self::Write { source, .. } | Self::Table { source: heed::Error::Io(source), .. } => {
                source.kind() == io::ErrorKind::OutOfMemory
            }
            _ => false,
        }
    }
}

/// The reason why a record cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// A word of the definition line is no identifier.
    #[error("{0}")]
    NoIdentifier(IdRefusal),
    /// BLAST+ cannot store sequences that are a single gap.
    #[error("Unable to process sequence for entry [{0}].")]
    OnlyGap(String),
}

/// Advice for the user about a failure to write.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room or name another place with -out"
        }
        io::ErrorKind::FileTooLarge => {
            "; raise the limit, or make smaller volumes with -max_file_sz"
        }
        _ => "",
    }
}

/// Converts an I/O error to [`Error::Write`].
pub(crate) trait Context<T> {
    /// Adds the action and the path.
    fn during(self, action: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> Context<T> for io::Result<T> {
    fn during(self, action: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Write { action, path: path.to_path_buf(), source })
    }
}
