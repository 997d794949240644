//! Errors of reading and writing metadata.

/// Error of reading metadata. Its message follows the name of the file, which callers put before
/// it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The system cannot read the bytes.
    #[error("cannot be read at offset {offset}: {cause}")]
    Io {
        /// Number of bytes read before the error.
        offset: u64,
        /// The system's message.
        cause: String,
    },
    /// A file that is no metadata.
    #[error("is no metadata of a search")]
    Foreign,
    /// The metadata have another version of the format.
    #[error("has version {found} of the format of metadata, and this program reads version {own}")]
    Version {
        /// Version of the metadata.
        found: u32,
        /// Version that this program reads.
        own: u32,
    },
    /// The bytes differ from those that were written, or are in the wrong place.
    #[error("is damaged at offset {offset}: {what}")]
    Damaged {
        /// Offset of the record in bytes.
        offset: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// A block does not begin with the query that comes next.
    #[error(
        "is damaged at offset {offset}: a block of queries begins with query {found}, and query {wanted} is next"
    )]
    Order {
        /// Offset of the record in bytes.
        offset: u64,
        /// Number of the block's first query.
        found: u64,
        /// Number of the next query.
        wanted: u64,
    },
    /// The end record states another number of queries or blocks than were read.
    #[error(
        "is damaged at offset {offset}: its end counts {} queries in {} blocks, and {} in {} came",
        counted[0], counted[1], came[0], came[1]
    )]
    Counts {
        /// Offset of the end record in bytes.
        offset: u64,
        /// Numbers of queries and of blocks that the end record states.
        counted: [u64; 2],
        /// Numbers of queries and of blocks that were read.
        came: [u64; 2],
    },
    /// A record needs more memory than it may use.
    #[error(
        "needs about {needed} bytes of memory at offset {offset}, and may use {available} (-memory)"
    )]
    Memory {
        /// Offset of the record in bytes.
        offset: u64,
        /// Bytes of memory that the record needs.
        needed: u64,
        /// Bytes of memory that the record may use.
        available: u64,
    },
    /// The metadata end before their end record is complete.
    #[error("is cut off: nothing is whole from offset {offset} on")]
    CutOff {
        /// Offset of the end of the last whole record, in bytes.
        offset: u64,
    },
}

/// Error for a body that has more bytes than the head of its record can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a record of metadata has {bytes} bytes, and may have {} at most: name a smaller -block_residues",
    u32::MAX
)]
pub struct BodyTooLarge {
    /// Number of bytes of the body.
    pub bytes: u64,
}

/// Error for data that cannot be compressed, because there is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room to compress metadata")]
pub struct OutOfMemory;
