//! Errors of metadata.

/// Error of reading metadata. Callers put the name of the file before its message.
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
    /// Metadata of another version of the format.
    #[error("has version {found} of the format of metadata, and this program reads version {own}")]
    Version {
        /// Version of the file.
        found: u32,
        /// Version of this program.
        own: u32,
    },
    /// The bytes differ from those that were written.
    #[error("is damaged at offset {offset}: {what}")]
    Damaged {
        /// Offset of the record.
        offset: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// A block does not continue the one before.
    #[error(
        "is damaged at offset {offset}: a block of queries begins with query {found}, and query {wanted} is next"
    )]
    Order {
        /// Offset of the record.
        offset: u64,
        /// Number of the block's first query.
        found: u64,
        /// Number of the next query.
        wanted: u64,
    },
    /// The end record counts other queries or blocks than were read.
    #[error(
        "is damaged at offset {offset}: its end counts {} queries in {} blocks, and {} in {} came",
        counted[0], counted[1], came[0], came[1]
    )]
    Counts {
        /// Offset of the record.
        offset: u64,
        /// Queries and blocks by the end record.
        counted: [u64; 2],
        /// Queries and blocks that were read.
        came: [u64; 2],
    },
    /// A record needs more memory than it may use.
    #[error(
        "needs about {needed} bytes of memory at offset {offset}, and may use {available} (-memory)"
    )]
    Memory {
        /// Offset of the record.
        offset: u64,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may use.
        available: u64,
    },
    /// The metadata end too early.
    #[error("is cut off: nothing is whole from offset {offset} on")]
    CutOff {
        /// End of the last whole record.
        offset: u64,
    },
}

/// Error for a body with more bytes than the head of a record can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a record of metadata has {bytes} bytes, and may have {} at most: name a smaller -block_residues",
    u32::MAX
)]
pub struct BodyTooLarge {
    /// Bytes of the body.
    pub bytes: u64,
}

/// Error for compression without enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room to compress metadata")]
pub struct OutOfMemory;
