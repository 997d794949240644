//! Encodes values for fingerprints.

use serde::Serialize;

/// Encodes a value for a fingerprint (postcard). The encoding contains no names of this program,
/// since fingerprints are compared with those of other versions.
pub fn encode_for_fingerprint<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Lists, numbers and texts can always be encoded.
    postcard::to_allocvec(value).unwrap_or_default()
}
