//! Errors of making a database.

use std::io;
use std::path::{Path, PathBuf};

use fleetblast_seq::fasta::FastaError;
use fleetblast_seq::id::IdException;
use fleetblast_seq::input::OpenError;

/// An error of making a database. No part of the new database is left, and an older database of its
/// name is unchanged. This does not hold if moving the files to their final paths failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakedbError {
    /// An input file cannot be opened.
    #[error(transparent)]
    OpenInput(#[from] OpenError),
    /// An input is not FASTA, or cannot be read to its end.
    #[error(transparent)]
    Fasta(#[from] FastaError),
    /// A definition line whose identifiers cannot be stored.
    #[error("{}, line {line}: {problem}", file.display())]
    InvalidRecord {
        /// The input.
        file: PathBuf,
        /// Line number of the definition line in the input, from 1.
        line: u64,
        /// The reason why the record cannot be stored.
        problem: RecordProblem,
    },
    /// An input without a sequence that can be stored.
    #[error("No sequences added")]
    NoSequences,
    /// Two sequences of a volume have the same identifier.
    #[error("Error: Duplicate seq_ids are found: \n{label}\n")]
    DuplicateIdentifier {
        /// The identifier in upper case.
        label: String,
        /// Number of the second sequence that has the identifier, from 0.
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
    SequenceTooLarge {
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
    WriteTable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: heed::Error,
    },
    /// There is not enough address space for the map of a table. The user can choose a smaller map.
    #[error(
        "mdb_env_open: Cannot allocate memory\n({}: {size} bytes cannot be mapped; give BLASTDB_LMDB_MAP_SIZE a smaller number of bytes)",
        path.display()
    )]
    MapTable {
        /// The file.
        path: PathBuf,
        /// Size of the map in bytes.
        size: u64,
    },
    /// The size of the LMDB maps is no number. The value is the text, which the message quotes as
    /// in BLAST+.
    #[error("Cannot convert string '{0}' to Uint8")]
    InvalidMapSize(String),
    /// A file of taxonomy ids cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of taxonomy ids has a malformed line.
    #[error("{}, line {line}: '{text}' is no taxonomy id; give an identifier and a number on each line", path.display())]
    InvalidTaxidMap {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The text of the whole line.
        text: String,
    },
    /// A mask that does not fit its sequence.
    #[error("Error: Masked data offsets out of bounds.")]
    MaskOutOfBounds {
        /// Number of the sequence, from 0.
        number: u64,
    },
}

impl MakedbError {
    /// Returns whether the system had no memory left.
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Write { source, .. }
            | Self::WriteTable { source: heed::Error::Io(source), .. } => {
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
    InvalidIdentifier(IdException),
    /// The sequence is a single gap, which BLAST+ cannot store. The value is the name of the
    /// sequence.
    #[error("Unable to process sequence for entry [{0}].")]
    SingleGap(String),
}

/// Returns advice for the user about a failure to write.
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

/// Conversion of an I/O error to [`MakedbError::Write`].
pub(crate) trait ErrorContext<T> {
    /// Converts the error to [`MakedbError::Write`] with this action and path.
    fn with_context(self, action: &'static str, path: &Path) -> Result<T, MakedbError>;
}

impl<T> ErrorContext<T> for io::Result<T> {
    fn with_context(self, action: &'static str, path: &Path) -> Result<T, MakedbError> {
        self.map_err(|source| MakedbError::Write { action, path: path.to_path_buf(), source })
    }
}
