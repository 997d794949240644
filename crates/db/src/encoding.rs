//! Values as the bytes that fingerprints are made of.

use serde::Serialize;

/// Returns a value in the encoding of postcard, which no name in a program is part of: metadata are
/// compared by what other versions wrote.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Lists, numbers and texts can always be written.
    postcard::to_allocvec(value).unwrap_or_default()
}
