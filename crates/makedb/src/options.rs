//! Options of a database.

use std::num::NonZero;

use fleetblast_seq::fasta::IdEnd;

use crate::kind::DatabaseKind;
use crate::masks::SequenceMasks;
use crate::taxids::TaxidSource;

/// Version of the database format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatVersion {
    /// Accessions in sorted text files.
    Version4,
    /// Accessions and taxonomy ids in LMDB files.
    Version5,
}

/// The date of a database, in the two formats of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseDates {
    /// `Nov 20, 2026  11:10 PM`, for indices and the alias.
    pub index_date: String,
    /// `11/20/2026 23:12:59`, for masks.
    pub mask_date: String,
}

/// Options of a database.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// Protein or nucleotide.
    pub kind: DatabaseKind,
    /// Version of the database format.
    pub version: FormatVersion,
    /// Title of the database.
    pub title: Vec<u8>,
    /// Whether identifiers are parsed and indexed.
    pub parse_ids: bool,
    /// Whether a sequence keeps the identifiers and the title of the FASTA reader if the words of
    /// its definition lines are no identifiers by themselves. Otherwise they are an error.
    pub keeps_reader_ids: bool,
    /// The character that ends an identifier.
    pub id_end: IdEnd,
    /// Whether sequences are indexed by a hash.
    pub hash_index: bool,
    /// Maximal size of a file in bytes, at most 2³². A file with a single sequence may be larger.
    pub max_file_size: u64,
    /// Taxonomy ids of the sequences.
    pub taxids: TaxidSource,
    /// Masks of the sequences.
    pub masks: SequenceMasks,
    /// Date of the database.
    pub dates: DatabaseDates,
    /// Map size of LMDB files in bytes, if it differs from BLAST+'s usual one.
    pub lmdb_map_size: Option<NonZero<u64>>,
}
