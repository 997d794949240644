//! BLAST databases, versions 4 and 5: volumes, aliases, headers.
//!
//! This layer knows sequences, not searching. A [`Database`] is opened by name through a
//! [`SearchPath`], or built in memory from records ([`memory`]); it is immutable and cheap to
//! clone.
//!
//! # What is checked when
//! * At open: the names, the aliases, the version and the type of every volume, that the index is
//!   as long as its counts require, that the first and the last offset lie in the sequence and
//!   header files, and that the index states as many residues as lie between them. This costs the
//!   same for ten sequences and for 10^8: the offset tables, which may be gigabytes on a shared
//!   file system, are not read.
//! * Per block: [`Database::validate`] checks the offsets, the sentinels and the residue codes of a
//!   range of OIDs. A searcher calls it once for each partition before it trusts the bytes.
//! * Per access: every look-up is bounds-checked, so that an index that was never validated yields
//!   empty sequences or an error, never a panic and never foreign memory.
//!
//! Files are mapped into memory. Of a file that is cut short *while* it is mapped, the missing
//! pages read as zeros, and [`check_mapped_files`] and [`check_lost_pages`] report it.

pub mod alias;
mod bases;
mod bytes;
pub mod check;
mod configuration;
mod counted;
mod cursor;
mod database;
mod date;
pub mod defline;
mod defline_filter;
mod encoding;
mod error;
pub mod fingerprint;
pub mod index;
mod key;
pub mod load;
pub mod lookup;
mod mapped;
pub mod masks;
pub mod memory;
mod ncbirc;
mod odd;
mod open;
pub mod partition;
mod parts;
mod path;
mod range;
pub mod restrict;
mod search_path;
mod stamp;
mod taxdb;
mod totals;
mod tree;
mod volume;

pub use bases::{Ambiguity, Bases};
pub use bytes::Memory;
pub use configuration::{check_configuration, configured, configured_by_variable};
pub use cursor::OidCursor;
pub use database::{Database, DatabaseInfo, SequenceKind, Whole};
pub use defline::Defline;
pub use error::{DbError, IdentifierError, TaxidSign};
pub use lookup::Lookup;
pub use mapped::{check_lost_pages, check_mapped_files, has_all_pages};
pub use odd::{OddHeader, OddText};
pub use partition::{Contents, LoadedPartition, Partition};
pub use search_path::SearchPath;
pub use taxdb::{TaxonNames, TaxonomyFault, TaxonomyNames};
pub use volume::VolumeBytes;

/// NCBI numbers sequences with 32-bit signed integers.
const MOST_SEQUENCES: u64 = i32::MAX as u64;
