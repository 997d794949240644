//! Encodes values for fingerprints.

use serde::Serialize;

/// Encodes a value for a fingerprint (postcard). The encoding contains no type or field names,
/// because other versions of this program must compute equal fingerprints.
pub fn encode_for_fingerprint<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // postcard can encode all lists, numbers and texts.
    postcard::to_allocvec(value).unwrap_or_default()
}
