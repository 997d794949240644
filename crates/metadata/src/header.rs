//! What holds for all queries, and what ends the metadata.

use fleetblast_db::restrict::Restriction;
use serde::{Deserialize, Serialize};

use crate::block::Kind;
use crate::error::{MetadataError, NoRoom};
use crate::records::{Record, damaged};
use crate::values::{compress_value, decompress_value};

/// As what is told what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kinds {
    /// As one kind, where that can be.
    Only(Kind),
    /// Each block as what is cheapest.
    Cheapest,
}

impl Kinds {
    /// Whether a block may cross as this kind: where subjects alone do not do, alignments cross.
    pub fn allow(self, kind: Kind) -> bool {
        match self {
            Kinds::Only(Kind::Oids) => kind != Kind::Report,
            Kinds::Only(only) => kind == only,
            Kinds::Cheapest => true,
        }
    }

    /// Whether the format of the report is settled where it is searched: parts of it may come as they are.
    pub fn settles_format(self) -> bool {
        matches!(self, Kinds::Cheapest | Kinds::Only(Kind::Report))
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionValue {
    /// It has none.
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

/// What tells whether another database is the same, by what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Sequences that are searched.
    pub sequences: u64,
    /// Their letters.
    pub letters: u64,
    /// The sum of the fingerprints of all sequences with their numbers, however they are cut into volumes.
    pub residues: u128,
    /// The same of what is said of them.
    pub headers: u128,
    /// Of masks, and of all else that a search takes from the database.
    pub rest: u128,
}

/// A paragraph of the report on a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paragraph {
    /// Its title.
    pub title: Vec<u8>,
    /// Its date.
    pub date: Vec<u8>,
    /// The algorithm whose masks are used; empty for none.
    pub masked_using: Vec<u8>,
    /// Sequences that it states.
    pub sequences: i64,
    /// Letters that it states.
    pub residues: i64,
}

/// What was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// What reports call it.
    pub label: Vec<u8>,
    /// What they say of it.
    pub paragraphs: Vec<Paragraph>,
    /// It is a file of sequences (`-subject`).
    pub is_subject: bool,
    /// What it holds.
    pub content: Content,
}

/// What holds for all queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// What is typed to run the program that searched.
    pub program: String,
    /// The version of FleetBLAST that searched.
    pub version: String,
    /// The options that were given on which search or report depend, but for paths, by name.
    pub options: Vec<(String, OptionValue)>,
    /// Environment variables on which they depend.
    pub environment: Vec<(String, Vec<u8>)>,
    /// The command line, which some reports hold.
    pub command: Vec<u8>,
    /// Digests of files that only this search reads, such as matrices and names of taxa, by what
    /// names them. Whoever goes on with the search compares them.
    pub inputs: Vec<(String, String)>,
    /// The contents of the list that restricts what is searched.
    pub restriction: Option<Restriction>,
    /// As what is told what was found.
    pub kinds: Kinds,
    /// Subjects kept of each query.
    pub hitlist_size: u64,
    /// What was searched.
    pub database: Database,
}

/// What ends the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// All queries.
    pub queries: u64,
    /// All blocks.
    pub blocks: u64,
    /// What the report counts: the queries, or their searches in rounds.
    pub counted: u64,
    /// There is a report: not of an input that BLAST+ calls empty.
    pub has_report: bool,
    /// What ends the report, where it comes as it is.
    pub closing: Vec<u8>,
}

impl Header {
    /// As the body of a record.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self) -> Result<Vec<u8>, NoRoom> {
        compress_value(self)
    }

    /// From the body of a record.
    ///
    /// # Errors
    /// One that is no header.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body).ok_or(damaged(record.offset, "the header cannot be read"))
    }
}

impl End {
    /// As the body of a record.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self) -> Result<Vec<u8>, NoRoom> {
        compress_value(self)
    }

    /// From the body of a record.
    ///
    /// # Errors
    /// One that is no end.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        decompress_value(&record.body).ok_or(damaged(record.offset, "the end cannot be read"))
    }
}
