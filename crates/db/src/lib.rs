//! BLAST databases, versions 4 and 5: volumes, aliases, headers.
//!
//! This crate provides sequences and knows nothing about searches. A [`Database`] is opened by name
//! through a [`SearchPath`], or built in memory from records ([`memory`]). It is immutable and
//! cheap to clone.
//!
//! # Checks
//! * Opening checks names and aliases, and version and type of every volume. The index must have
//!   the length that its counts require. The first and the last sequence offset must lie in the
//!   sequence file, and the last header offset in the header file. The stated number of residues
//!   must agree with these offsets. Opening takes the same time for ten sequences and for 10^8: it
//!   does not read the offset tables, which may be gigabytes on a shared file system.
//! * [`Database::validate`] checks offsets, sentinels and residue codes of a range of OIDs. A
//!   search calls it once for each partition before it trusts the bytes.
//! * Every access is bounds-checked. A damaged index that was never validated gives empty sequences
//!   or errors. It never causes a panic or an access to other memory.
//!
//! Files are mapped into memory. If a file is cut short while it is mapped, the missing pages read
//! as zeros; [`check_mapped_files`] and [`check_lost_pages`] detect this.

pub mod alias;
mod bases;
mod bytes;
mod configuration;
mod counted;
mod cursor;
mod database;
mod date;
pub mod defline;
mod defline_filter;
mod encoding;
mod error;
mod files;
pub mod fingerprint;
pub mod index;
pub mod integrity;
mod key;
pub mod load;
pub mod lookup;
mod mapped;
pub mod masks;
pub mod memory;
mod ncbirc;
mod open;
pub mod partition;
mod parts;
mod path;
mod range;
pub mod restrict;
mod search_path;
mod stamp;
mod taxdb;
mod taxon_tree;
mod totals;
mod tree;
mod unprintable;
mod volume;

pub use bases::{Ambiguity, Bases};
pub use bytes::SharedBytes;
pub use configuration::{
    check_configuration, configuration_value, configuration_value_or_variable,
    section_for_html_links, set_configuration_file,
};
pub use cursor::OidCursor;
pub use database::{CombinedInfo, Database, DatabaseInfo, SequenceKind};
pub use defline::Defline;
pub use error::{DbError, IdentifierError, LmdbMismatch, TaxidSign};
pub use files::DatabaseFiles;
pub use key::{ListKey, version_5_list_key};
pub use lookup::Lookup;
pub use mapped::{check_lost_pages, check_mapped_files, has_no_lost_page};
pub use partition::{LoadedPartition, Partition, PartitionContents};
pub use search_path::SearchPath;
pub use taxdb::{TaxonNames, TaxonomyFault, TaxonomyNames};
pub use taxon_tree::TaxonTree;
pub use unprintable::{UnprintableHeader, UnprintableText};
pub use volume::VolumeBytes;

/// Maximal number of sequences: NCBI numbers them with 32-bit signed integers.
const MOST_SEQUENCES: u64 = i32::MAX as u64;
