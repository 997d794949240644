//! Metadata of a search: the data from which another site with the same database makes the very
//! same report.
//!
//! A file or a stream is a chain of checksummed [`records`]: one [`Header`], one [`Block`] for each
//! block of queries, and one [`End`]. Damage is detected and reported with its offset. A truncated
//! file is readable up to its last whole record. A block has the queries and their results: the
//! [`subjects`] that the report shows, alignments ([`hits`]), or a part of the report.
//! `docs/metadata.md` describes the bytes.
//!
//! This crate does not depend on options, threads, or the destination of the bytes.

mod bits;
pub mod block;
mod columns;
pub mod error;
pub mod follow;
pub mod header;
pub mod hits;
pub mod iterations;
pub mod order;
pub mod records;
mod size;
pub mod subjects;
mod values;
mod weight;

pub use self::block::{BatchState, Block, BlockResults, Encoding, Query};
pub use self::error::{BodyTooLarge, MetadataError, OutOfMemory};
pub use self::header::{EncodingChoice, End, Header};
