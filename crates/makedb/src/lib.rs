//! Making BLAST databases, versions 4 and 5, file for file as `makeblastdb` 2.12.0 makes them.
//!
//! [`Options`] say what database is wanted, a [`Sink`] where it goes; a [`Builder`] takes the
//! sequences of any number of FASTA inputs ([`add_fasta`]) and puts the database in its place when
//! it is whole ([`Builder::finish`]). Until then everything is in a directory beside that place, and an
//! older database of the same name is not touched.
//!
//! One thread reads and cuts the input into parts that start with a record, others encode these,
//! and the caller's thread writes them in order. Memory does not grow with the number of sequences:
//! offsets are written aside, and identifiers are sorted on disk. What does count is the longest
//! sequence (about eight times its length), a map of taxonomy ids, and masks, which are held as a whole.

mod accessions;
mod ber;
mod builder;
mod column;
mod duplicates;
mod encode;
mod error;
mod fasta;
mod header;
mod ids;
mod isam;
mod kind;
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

pub use builder::{Builder, Summary, Unmatched};
pub use error::{Error, RecordProblem};
pub use fasta::{Event, add_fasta};
pub use header::BadCharacter;
pub use kind::Kind;
pub use options::{Dates, Options, Version};
pub use sink::Sink;
pub use taxids::Taxids;
