//! Files in ASN.1 as the toolkit writes them, in text or in binary (BER): values, whatever they are written in, read one after the
//! other, and what they say of sequences.

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

/// How deep values are within values at most.
const DEEPEST: usize = 64;
/// Bytes of one text, or of one value that is bytes, at most.
const LONGEST: u64 = 1 << 26;

/// Where a file is not what it should be.
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
    fn at<T>(at: u64, problem: impl Into<String>) -> Result<T, AsnError> {
        Err(Malformed { at, problem: problem.into() }.into())
    }
}

/// Where in a file a reader is, as people look for it.
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

/// A reader of values, written in one of two ways. What is too long to be held as one value is opened, and read piece by piece; its
/// ends are told when they are there, in binary, too.
///
/// # Errors
/// Of each of these: the file cannot be read, or has something else there.
pub trait Source {
    /// Whether there is another object.
    fn more(&mut self) -> Result<bool, AsnError>;
    /// Passes over the name of the type of an object, which binary files do not tell.
    fn header(&mut self, name: &str) -> Result<(), AsnError>;
    /// Starts a value of several: fields, or elements of a list.
    fn open(&mut self) -> Result<(), AsnError>;
    /// Ends it.
    fn close(&mut self) -> Result<(), AsnError>;
    /// Starts the field of this name and number, the value of which is to be read next.
    fn open_field(&mut self, name: &str, number: u8) -> Result<(), AsnError>;
    /// Ends it. `last`: no other field follows.
    fn close_field(&mut self, last: bool) -> Result<(), AsnError>;
    /// The next element of a list, `None` at its end.
    fn element(&mut self) -> Result<Option<Node>, AsnError>;
    /// A value.
    fn value(&mut self) -> Result<Node, AsnError>;
    /// Where the reader is.
    fn place(&self) -> Place;
}
