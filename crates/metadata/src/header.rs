//! The first record of metadata, which applies to all queries, and the last one.

use fleetblast_db::restrict::Restriction;
use serde::{Deserialize, Serialize};

use crate::block::Encoding;
use crate::error::{MetadataError, OutOfMemory};
use crate::records::{Record, damaged};
use crate::values::{compress_value, decompress_value};

/// The encoding that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EncodingChoice {
    /// One encoding for all blocks, where it is possible.
    Only(Encoding),
    /// The cheapest encoding for each block.
    Cheapest,
}

impl EncodingChoice {
    /// Whether a block may have this encoding. A block is encoded as alignments if OIDs do not
    /// suffice to make its report.
    pub fn allows(self, encoding: Encoding) -> bool {
        match self {
            EncodingChoice::Only(Encoding::Oids) => encoding != Encoding::Report,
            EncodingChoice::Only(only) => encoding == only,
            EncodingChoice::Cheapest => true,
        }
    }

    /// Whether the search site fixes the format of the report, since parts of it may cross as text.
    pub fn fixes_format(self) -> bool {
        matches!(self, EncodingChoice::Cheapest | EncodingChoice::Only(Encoding::Report))
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionValue {
    /// An option without a value.
    Flag,
    /// A text, or a path.
    Text(Vec<u8>),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// True or false.
    Boolean(bool),
}

/// Fingerprint of the contents of a database, by which the same database is recognised elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseFingerprint {
    /// Number of sequences that are searched.
    pub sequences: u64,
    /// Number of their letters.
    pub letters: u64,
    /// Sum of the fingerprints of all sequences with their OIDs. It does not depend on the volumes.
    pub residues: u128,
    /// Sum of the fingerprints of the headers (identifiers and titles) of these sequences.
    pub headers: u128,
    /// Fingerprint of masks, and of all other contents of the database on which a search depends.
    pub rest: u128,
}

/// A paragraph of the report that describes a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paragraph {
    /// Title of the database.
    pub title: Vec<u8>,
    /// Date of the database.
    pub date: Vec<u8>,
    /// Algorithm of the masks in use; empty for none.
    pub masked_using: Vec<u8>,
    /// Number of sequences that the paragraph states.
    pub sequences: i64,
    /// Number of letters that it states.
    pub residues: i64,
}

/// The database that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Its name in reports.
    pub label: Vec<u8>,
    /// Its paragraphs in reports.
    pub paragraphs: Vec<Paragraph>,
    /// Whether it is a file of sequences (`-subject`).
    pub is_subject: bool,
    /// Fingerprint of its contents.
    pub fingerprint: DatabaseFingerprint,
}

/// The first record, with the data that apply to the whole search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the program that searched, as typed.
    pub program: String,
    /// Version of FleetBLAST that searched.
    pub version: String,
    /// Names and values of the given options on which search or report depend, without paths.
    pub options: Vec<(String, OptionValue)>,
    /// Names and values of the environment variables on which search or report depend.
    pub environment: Vec<(String, Vec<u8>)>,
    /// The command line, which some reports contain.
    pub command: Vec<u8>,
    /// Digests of files that only the search reads, such as matrices and names of taxa, each with
    /// its option or file name. A resumed search must have the same.
    pub inputs: Vec<(String, String)>,
    /// The list that restricts the searched sequences.
    pub restriction: Option<Restriction>,
    /// The encoding that was asked for.
    pub encodings: EncodingChoice,
    /// Most subjects that are kept for each query.
    pub hitlist_size: u64,
    /// The database that was searched.
    pub database: Database,
}

/// The last record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Number of all queries.
    pub queries: u64,
    /// Number of all blocks.
    pub blocks: u64,
    /// Number that the report states: of queries, or of iterations for psiblast.
    pub counted: u64,
    /// Whether there is a report: BLAST+ makes none for an empty input.
    pub has_report: bool,
    /// The end of the report, if the report crosses as text.
    pub closing: Vec<u8>,
}

impl Header {
    /// Encodes the body of a record.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self) -> Result<Vec<u8>, OutOfMemory> {
        compress_value(self)
    }

    /// Decodes the body of a record.
    ///
    /// # Errors
    /// A record that is no header.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body).ok_or(damaged(record.offset, "the header cannot be read"))
    }
}

impl End {
    /// Encodes the body of a record.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self) -> Result<Vec<u8>, OutOfMemory> {
        compress_value(self)
    }

    /// Decodes the body of a record.
    ///
    /// # Errors
    /// A record that is no end.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body).ok_or(damaged(record.offset, "the end cannot be read"))
    }
}
