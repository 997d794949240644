//! What can be wrong with metadata.

/// Why metadata cannot be read. Messages go after the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The system does not give the bytes.
    #[error("cannot be read at offset {offset}: {cause}")]
    Io {
        /// How far it was read.
        offset: u64,
        /// The system's words.
        cause: String,
    },
    /// Something else.
    #[error("is no metadata of a search")]
    Foreign,
    /// Metadata of another version of the format.
    #[error("has version {found} of the format of metadata, and this program reads version {own}")]
    Version {
        /// The file's.
        found: u32,
        /// The program's.
        own: u32,
    },
    /// Not what was written.
    #[error("is damaged at offset {offset}: {what}")]
    Damaged {
        /// Where the record begins.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A block does not follow the one before.
    #[error(
        "is damaged at offset {offset}: a block of queries begins with query {found}, and query {wanted} is next"
    )]
    Order {
        /// Where the record begins.
        offset: u64,
        /// Number of the block's first query.
        found: u64,
        /// Number of the next query.
        wanted: u64,
    },
    /// The end counts other queries, or other blocks of them, than came.
    #[error(
        "is damaged at offset {offset}: its end counts {} queries in {} blocks, and {} in {} came",
        counted[0], counted[1], came[0], came[1]
    )]
    Counts {
        /// Where the record begins.
        offset: u64,
        /// Queries and blocks, as the end counts them.
        counted: [u64; 2],
        /// Those that came.
        came: [u64; 2],
    },
    /// A record takes more memory than there is for it.
    #[error(
        "needs about {needed} bytes of memory at offset {offset}, and may use {available} (-memory)"
    )]
    Memory {
        /// Where the record begins.
        offset: u64,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that it may take.
        available: u64,
    },
    /// It ends too early.
    #[error("is cut off: nothing is whole from offset {offset} on")]
    CutOff {
        /// Where the last whole record ends.
        offset: u64,
    },
}

/// A body of more bytes than the head of a record can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a record of metadata has {bytes} bytes, and may have {} at most: name a smaller -block_residues",
    u32::MAX
)]
pub struct TooLarge {
    /// Its bytes.
    pub bytes: u64,
}

/// There is no memory to compress something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room to compress metadata")]
pub struct NoRoom;
