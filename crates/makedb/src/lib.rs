//! Makes BLAST databases, versions 4 and 5, with the same files as `makeblastdb` 2.12.0.
//!
//! [`DatabaseOptions`] describe the database, and [`StagedFiles`] have its path. A
//! [`DatabaseBuilder`] takes the sequences of any number of FASTA inputs ([`add_fasta`]) or of
//! databases ([`DatabaseBuilder::add_from_database`]), and moves the finished database to its path
//! ([`DatabaseBuilder::finish`]). Until then all files are in a temporary directory next to that
//! path, and an older database of the same name is not touched.
//!
//! One thread reads and splits the input into parts that start with a record. Others encode the
//! parts, and the caller's thread writes them in order. Memory does not grow with the number of
//! sequences: offsets go to temporary files, and identifiers are sorted on disk. It does grow with
//! the longest sequence (about eight times its length), the map of taxonomy ids, and masks.
//!
//! It also encodes the binary lists that restrict databases: [`encode_gi_list`],
//! [`SeqIdListFile`].

mod accessions;
mod builder;
mod column;
mod database;
mod duplicates;
mod encode;
mod error;
mod fasta;
mod header;
mod ids;
mod isam;
mod kind;
mod lists;
mod lmdb;
mod lmdb_pages;
pub mod masks;
mod nucleotide;
mod options;
mod sink;
mod sort;
mod split;
mod taxids;
mod volume;

pub use builder::{DatabaseBuilder, DatabaseSize, UnmatchedInputs};
pub use database::DatabaseSequence;
pub use error::{MakedbError, RecordProblem};
pub use fasta::{InputEvent, add_fasta};
pub use header::{BadCharacter, StoredDefline, encode_header};
pub use kind::DatabaseKind;
pub use lists::{SeqIdListFile, SourceDatabase, encode_gi_list};
pub use options::{DatabaseDates, DatabaseOptions, FormatVersion};
pub use sink::StagedFiles;
pub use taxids::TaxidSource;
