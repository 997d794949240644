//! Metadata of a search: what another site needs to make the report, bytes and all, from the database it has itself.
//!
//! A file, or a stream, is a chain of checksummed [`records`]: one [`Header`], a [`Block`] for each block of queries, and an
//! [`End`]. It tells where it is damaged, and what is cut off is readable as far as it is whole. A block holds the queries and what
//! was found: the [`subjects`] that the report shows, alignments ([`hits`]), or a piece of the report.
//! `docs/metadata.md` describes the bytes.
//!
//! Nothing here knows options, threads, or where the bytes go.

mod bits;
pub mod block;
mod columns;
pub mod error;
pub mod follow;
pub mod header;
pub mod hits;
pub mod order;
pub mod records;
pub mod rounds;
mod size;
pub mod subjects;
mod values;
mod weight;

pub use self::block::{Block, Course, Found, Kind, Query};
pub use self::error::{MetadataError, NoRoom, TooLarge};
pub use self::header::{End, Header, Kinds};
