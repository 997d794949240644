//! Reads ASN.1 files of NCBI's toolkit, in text or binary, value by value. Also reads locations of
//! sequences in these files. The module [`ber`] has the elements of binary ASN.1.

pub mod ber;
mod binary;
mod cursor;
mod location;
mod node;
mod reader;
#[cfg(test)]
mod tests;
mod text;

use std::{fmt, io};

use thiserror::Error;

pub use self::location::{Location, OBJECT_ID, SEQ_ID, read_location, read_seq_id};
pub use self::node::{Elements, Node};
pub use self::reader::AsnReader;

/// Maximal nesting depth of values.
const DEEPEST: usize = 64;

/// An error in a file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at}: {problem}")]
pub struct Malformed {
    /// Byte offset in the file.
    pub at: u64,
    /// Description of the error.
    pub problem: String,
}

/// The reason why a value cannot be read.
#[derive(Debug, Error)]
pub enum AsnError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The value is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// The position of a reader in a file, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Byte offset, from 0.
    Byte(u64),
    /// Line number, from 1.
    Line(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(byte) => write!(f, "byte {byte}"),
            Place::Line(line) => write!(f, "line {line}"),
        }
    }
}
