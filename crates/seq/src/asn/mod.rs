//! Reads ASN.1 files of NCBI's toolkit, in text or binary, value by value. Also reads locations of
//! sequences in these files. The module [`ber`] has the elements of binary ASN.1.

pub mod ber;
mod binary;
mod location;
mod node;
#[cfg(test)]
mod tests;
mod text;

use std::{fmt, io};

use thiserror::Error;

pub use self::binary::AsnBinaryReader;
pub use self::location::{Location, OBJECT_ID, SEQ_ID, read_location, read_seq_id};
pub use self::node::{AsnValue, Label, Node};
pub use self::text::AsnTextReader;

/// Maximal nesting depth of values.
const DEEPEST: usize = 64;
/// Maximal length in bytes of a text or byte string.
const LONGEST: u64 = 1 << 26;

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

impl AsnError {
    fn malformed<T>(at: u64, problem: impl Into<String>) -> Result<T, AsnError> {
        Err(Malformed { at, problem: problem.into() }.into())
    }
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

/// Reader of values from text or binary ASN.1.
///
/// For a value that is too long for memory, call [`open`](AsnReader::open) and read it element by
/// element. In a binary file such a value must have an end mark.
///
/// # Errors
/// All functions fail if the file cannot be read, or if something else is at the current position.
pub trait AsnReader {
    /// Returns whether another object follows.
    fn more(&mut self) -> Result<bool, AsnError>;
    /// Skips the type name before an object, which binary files do not have.
    fn header(&mut self, name: &str) -> Result<(), AsnError>;
    /// Starts to read a value that consists of fields or elements.
    fn open(&mut self) -> Result<(), AsnError>;
    /// Ends the value that [`open`](Self::open) started.
    fn close(&mut self) -> Result<(), AsnError>;
    /// Starts the field with this name and number. The caller must read its value next.
    fn open_field(&mut self, name: &str, number: u8) -> Result<(), AsnError>;
    /// Ends the field. `last` states that no other field follows.
    fn close_field(&mut self, last: bool) -> Result<(), AsnError>;
    /// Reads the next element of a list; `None` at its end.
    fn element(&mut self) -> Result<Option<Node>, AsnError>;
    /// Reads a whole value.
    fn value(&mut self) -> Result<Node, AsnError>;
    /// Returns the position of the reader.
    fn place(&self) -> Place;
}
