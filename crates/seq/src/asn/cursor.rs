//! A position in the part of a file that is in memory.

use super::Malformed;

/// The reason why no value can be read from the bytes in memory.
#[derive(Debug)]
pub(super) enum Stop {
    /// The value continues in bytes of the file that are not in memory.
    Incomplete,
    /// The value is malformed.
    Malformed(Malformed),
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// A position in consecutive bytes of a file.
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    /// Index in `bytes` of the next byte.
    pub at: usize,
    /// Whether the file ends after `bytes`.
    pub is_last: bool,
    /// Offset in the file of the first byte of `bytes`.
    pub base: u64,
}

impl<'a> Cursor<'a> {
    /// Returns an error at the index `at` of the bytes.
    pub fn fail<T>(&self, at: usize, problem: impl Into<String>) -> Result<T> {
        Err(Stop::Malformed(Malformed { at: self.base + at as u64, problem: problem.into() }))
    }

    /// Returns the bytes from the current position on.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte (`over` is 0) or one after it without consuming it; `None` beyond the
    /// end of the file.
    #[inline]
    pub fn peek_over(&self, over: usize) -> Result<Option<u8>> {
        match self.bytes.get(self.at + over) {
            Some(&byte) => Ok(Some(byte)),
            None if self.is_last => Ok(None),
            None => Err(Stop::Incomplete),
        }
    }

    /// Returns the next byte without consuming it; `None` at the end of the file.
    #[inline]
    pub fn peek(&self) -> Result<Option<u8>> {
        self.peek_over(0)
    }

    /// Returns the error for a value that starts at the index `start` and continues after the last
    /// byte in memory: malformed at the end of the file, else incomplete.
    pub fn interruption_error<T>(&self, start: usize, problem: &str) -> Result<T> {
        match self.is_last {
            true => self.fail(start, problem),
            false => Err(Stop::Incomplete),
        }
    }
}
