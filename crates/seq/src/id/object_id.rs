//! Object-ids: parts of identifiers that are a number or a text.

use serde::{Deserialize, Serialize};

use super::digits;
use super::exception::IdException;
use crate::convert::parse_integer;

/// A number or a text, as NCBI's Object-id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ObjectId {
    /// A number.
    Number(i64),
    /// A text.
    Text(Vec<u8>),
}

impl ObjectId {
    /// Converts a text to an Object-id: to a number if it is one from 1 to 2³¹−1 without sign or
    /// leading zeros, else to a text.
    pub fn from_text(text: &[u8]) -> Self {
        let number = match text.first() {
            Some(b'1'..=b'9') => digits(text).filter(|&n| n <= i64::from(i32::MAX)),
            _ => None,
        };
        number.map_or_else(|| Self::Text(text.to_vec()), Self::Number)
    }

    /// Returns the number as text, or the text itself.
    pub fn text(&self) -> Vec<u8> {
        match self {
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Text(text) => text.clone(),
        }
    }

    /// Returns the number, for identifiers in which BLAST+ allows no text.
    ///
    /// # Errors
    /// [`IdException`] if it is a text.
    pub fn number(&self) -> Result<i64, IdException> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(_) => Err(IdException::no_choice()),
        }
    }

    /// Returns the number. Also parses a text such as `007` as a number.
    ///
    /// # Errors
    /// [`IdException`] for a text that is no number.
    pub fn parse_number(&self) -> Result<i64, IdException> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => Ok(parse_integer(text, 10)?),
        }
    }
}
