//! Metadata of a search: what another site with the same database needs to make the very same
//! report.
//!
//! A file, or a stream, is a chain of checksummed [`records`]: one [`Header`], a [`Block`] for each
//! block of queries, and an [`End`]. Damage is found with its offset, and a truncated file is
//! readable up to its last whole record. A block holds the queries and their results: the
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
