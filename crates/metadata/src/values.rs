//! Values as bytes: postcard's encoding, compressed by zstd where that is worth it.

use std::io::Read;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::NoRoom;

/// How hard is compressed: what crosses a slow link is small, and made once.
const LEVEL: i32 = 19;
/// A compressed part is at most this many times smaller than what it stands for, and [`LEAST`] bytes.
const MOST_RATIO: u64 = 1 << 12;
const LEAST: u64 = 1 << 26;

/// Compresses.
///
/// # Errors
/// Memory is its only want.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, NoRoom> {
    zstd::bulk::compress(bytes, LEVEL).map_err(|_| NoRoom)
}

/// What was compressed; `None` for what was not, and for more than such bytes may stand for.
pub(crate) fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    let most = (bytes.len() as u64).saturating_mul(MOST_RATIO).max(LEAST);
    let mut plain = Vec::new();
    let decoder = zstd::Decoder::new(bytes).ok()?;
    decoder.take(most + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 <= most).then_some(plain)
}

/// A value.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // The types of this crate have no parts that cannot be written.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// A value, which takes all bytes.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}
