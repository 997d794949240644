//! Values of a file of masks, however they are written.

use std::{fmt, io};

use super::asn::Node;

/// Where in a file something is.
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

/// Why a value cannot be read.
#[derive(Debug)]
pub(super) enum Problem {
    /// The file cannot be read.
    Io(io::Error),
    /// The value is malformed.
    Malformed(&'static str),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Malformed("the end in the middle of a value"),
            _ => Self::Io(error),
        }
    }
}

/// A reader of values, written in one of two ways.
pub(super) trait Source {
    /// Whether there is another object.
    fn more(&mut self) -> Result<bool, Problem>;
    /// Starts an object of this name: what follows are its members.
    fn open(&mut self, name: &str) -> Result<(), Problem>;
    /// Ends it.
    fn close(&mut self) -> Result<(), Problem>;
    /// Starts the member of this name and number, the value of which is to be read next.
    fn open_member(&mut self, name: &str, number: u8) -> Result<(), Problem>;
    /// Ends it. `last`: no other member follows.
    fn close_member(&mut self, last: bool) -> Result<(), Problem>;
    /// Starts a SEQUENCE or SEQUENCE OF as value.
    fn open_value(&mut self) -> Result<(), Problem>;
    /// Ends it.
    fn close_value(&mut self) -> Result<(), Problem>;
    /// The next element of a SEQUENCE OF, `None` at its end.
    fn element(&mut self) -> Result<Option<Node>, Problem>;
    /// A value.
    fn value(&mut self) -> Result<Node, Problem>;
    /// Where the reader is.
    fn place(&self) -> Place;
}
