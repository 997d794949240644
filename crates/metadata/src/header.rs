//! The header, which is the first record of metadata and applies to all queries, and the end, which
//! is the last record.

use fleetblast_db::restrict::Restriction;
use serde::{Deserialize, Serialize};

use crate::block::Encoding;
use crate::error::{MetadataError, OutOfMemory};
use crate::records::{Record, damage_error};
use crate::values::{compress_value, decompress_value};

/// The encoding that the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EncodingChoice {
    /// One encoding for all blocks, as far as it is possible.
    Only(Encoding),
    /// The cheapest encoding for each block.
    Cheapest,
}

impl EncodingChoice {
    /// Whether a block may have this encoding. If the user asked for `Oids`, a block may have
    /// `Hits`: OIDs do not suffice for the reports of all blocks.
    pub fn allows(self, encoding: Encoding) -> bool {
        match self {
            EncodingChoice::Only(Encoding::Oids) => encoding != Encoding::Report,
            EncodingChoice::Only(only) => encoding == only,
            EncodingChoice::Cheapest => true,
        }
    }

    /// Whether the metadata contain the report itself, in all blocks.
    pub fn sends_report(self) -> bool {
        self == EncodingChoice::Only(Encoding::Report)
    }

    /// Whether the search site decides on the format of the report, because the report of a block
    /// may be sent as text.
    pub fn fixes_format(self) -> bool {
        matches!(self, EncodingChoice::Cheapest | EncodingChoice::Only(Encoding::Report))
    }
}

/// Value of a command line option.
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

/// Fingerprint of the contents of a database. Two sites compare it to verify that they have the
/// same database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseFingerprint {
    /// Number of sequences that are searched.
    pub sequences: u64,
    /// Number of letters in the sequences that are searched.
    pub letters: u64,
    /// Sum of the fingerprints of all searched sequences with their OIDs. It does not depend on the
    /// volumes.
    pub residues: u128,
    /// Sum of the fingerprints of the headers (identifiers and titles) of the searched sequences.
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
    /// Algorithm of the masks that the search uses; empty for none.
    pub masked_using: Vec<u8>,
    /// Number of sequences, as the paragraph states it.
    pub sequences: i64,
    /// Number of letters, as the paragraph states it.
    pub residues: i64,
}

/// The database that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Name of the database in reports.
    pub label: Vec<u8>,
    /// The paragraphs that describe the database in reports.
    pub paragraphs: Vec<Paragraph>,
    /// Whether the database is a file of sequences (`-subject`).
    pub is_subject: bool,
    /// Fingerprint of the contents of the database.
    pub fingerprint: DatabaseFingerprint,
}

/// The first record of metadata. It has the data that apply to the whole search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the program that searched, as the user typed it.
    pub program: String,
    /// Version of FleetBLAST that searched.
    pub version: String,
    /// Names and values of the given options on which the search or the report depends, without
    /// paths.
    pub options: Vec<(String, OptionValue)>,
    /// Names and values of the environment variables on which the search or the report depends.
    pub environment: Vec<(String, Vec<u8>)>,
    /// Command line of the search. Some reports contain it.
    pub command: Vec<u8>,
    /// Digests of files that only the search site reads, such as matrices and names of taxa. Each
    /// has the name of its option or file. A resumed search must have the same digests.
    pub inputs: Vec<(String, String)>,
    /// The list that restricts the search to some sequences of the database.
    pub restriction: Option<Restriction>,
    /// The encoding that the user asked for.
    pub encodings: EncodingChoice,
    /// Most subjects that are kept for each query.
    pub hitlist_size: u64,
    /// The database that was searched.
    pub database: Database,
}

/// The last record of metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Number of all queries.
    pub queries: u64,
    /// Number of all blocks.
    pub blocks: u64,
    /// Number that the report states: the number of queries or, for psiblast, of iterations.
    pub reported_count: u64,
    /// Whether there is a report: BLAST+ makes none for an empty input.
    pub has_report: bool,
    /// The end of the report, if the report is sent as text.
    pub report_end: Vec<u8>,
}

impl Header {
    /// Encodes the header as the body of a record.
    ///
    /// # Errors
    /// There is not enough memory to compress the header.
    pub fn encode(&self) -> Result<Vec<u8>, OutOfMemory> {
        compress_value(self)
    }

    /// Decodes a header from the body of a record.
    ///
    /// # Errors
    /// The record is not a valid header.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body)
            .ok_or(damage_error(record.offset, "the header cannot be read"))
    }
}

impl End {
    /// Encodes the end as the body of a record.
    ///
    /// # Errors
    /// There is not enough memory to compress the end.
    pub fn encode(&self) -> Result<Vec<u8>, OutOfMemory> {
        compress_value(self)
    }

    /// Decodes an end from the body of a record.
    ///
    /// # Errors
    /// The record is not a valid end.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body).ok_or(damage_error(record.offset, "the end cannot be read"))
    }
}
