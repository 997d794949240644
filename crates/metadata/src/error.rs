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
    /// It ends too early.
    #[error("is cut off: nothing is whole from offset {offset} on")]
    CutOff {
        /// Where the last whole record ends.
        offset: u64,
    },
}

/// There is no memory to compress something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room to compress metadata")]
pub struct NoRoom;
