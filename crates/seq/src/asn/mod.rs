//! Reads ASN.1 files of NCBI's toolkit, in text or binary, value by value, and the locations of
//! sequences in them. The elements of binary ASN.1 are in [`ber`].

pub mod ber;
mod binary;
mod location;
mod node;
#[cfg(test)]
mod tests;
mod text;

use std::{fmt, io};

use thiserror::Error;

pub use self::binary::Binary;
pub use self::location::{Location, OBJECT_ID, SEQ_ID, location};
pub use self::node::{Kind, Label, Node};
pub use self::text::Text;

/// Maximal nesting depth of values.
const DEEPEST: usize = 64;
/// Maximal length of a text or byte string.
const LONGEST: u64 = 1 << 26;

/// An error in a file: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at}: {problem}")]
pub struct Malformed {
    /// Offset in bytes.
    pub at: u64,
    /// What is wrong.
    pub problem: String,
}

/// Why a value cannot be read.
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
    /// At this byte, from 0.
    Byte(u64),
    /// In this line, from 1.
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

/// A reader of values in text or binary.
///
/// A value that is too long for memory is opened, and read element by element. In binary files such
/// a value must have an end mark.
///
/// # Errors
/// All functions fail if the file cannot be read, or has something else at that position.
pub trait Source {
    /// Whether there is another object.
    fn more(&mut self) -> Result<bool, AsnError>;
    /// Skips the name of the type of an object, which binary files do not have.
    fn header(&mut self, name: &str) -> Result<(), AsnError>;
    /// Starts a value of fields or elements.
    fn open(&mut self) -> Result<(), AsnError>;
    /// Ends the value.
    fn close(&mut self) -> Result<(), AsnError>;
    /// Starts the field with this name and number. Its value is to be read next.
    fn open_field(&mut self, name: &str, number: u8) -> Result<(), AsnError>;
    /// Ends the field. `last`: no other field follows.
    fn close_field(&mut self, last: bool) -> Result<(), AsnError>;
    /// Reads the next element of a list; `None` at its end.
    fn element(&mut self) -> Result<Option<Node>, AsnError>;
    /// Reads a whole value.
    fn value(&mut self) -> Result<Node, AsnError>;
    /// The position of the reader.
    fn place(&self) -> Place;
}
