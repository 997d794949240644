//! Values as bytes: postcard's encoding, compressed by zstd where that is worth it.

use std::io::Read;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::NoRoom;

/// How hard is compressed: what crosses a slow link is small, and made once.
const LEVEL: i32 = 19;
/// The same of reports, which are long: a search is not to wait for a fifth of the bytes.
const LEVEL_OF_REPORTS: i32 = 3;
/// A compressed part stands for at most this many times its bytes, or [`LEAST`] bytes: few bytes cannot fill the memory of who reads.
const MOST_RATIO: usize = 1 << 12;
const LEAST: usize = 1 << 22;
/// How a frame of zstd begins that stands for nothing; four bytes of its length follow, and as many bytes.
const PADDING: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Compresses.
///
/// # Errors
/// Memory is its only want.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, NoRoom> {
    compress_by(bytes, LEVEL)
}

/// The same of a report.
///
/// # Errors
/// No memory.
pub(crate) fn compress_report(bytes: &[u8]) -> Result<Vec<u8>, NoRoom> {
    compress_by(bytes, LEVEL_OF_REPORTS)
}

fn compress_by(bytes: &[u8], level: i32) -> Result<Vec<u8>, NoRoom> {
    let mut packed = zstd::bulk::compress(bytes, level).map_err(|_| NoRoom)?;
    if bytes.len() > most(packed.len()) {
        let missing = bytes.len().div_ceil(MOST_RATIO) - packed.len();
        let padding = u32::try_from(missing).map_err(|_| NoRoom)?;
        packed.extend(PADDING);
        packed.extend(padding.to_le_bytes());
        packed.resize(packed.len() + missing, 0);
    }
    Ok(packed)
}

/// Bytes that so many compressed ones may stand for.
fn most(packed: usize) -> usize {
    packed.saturating_mul(MOST_RATIO).max(LEAST)
}

/// What was compressed; `None` for what was not, and for more than such bytes may stand for.
pub(crate) fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    let most = most(bytes.len()) as u64;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters of a masked chromosome.
    #[test]
    fn what_compresses_very_well_comes_back() {
        for length in [0, 1, LEAST, LEAST + 1, 100 << 20] {
            let packed = compress(&vec![14; length]).unwrap();
            assert!(packed.len() < length / 3000 + 2000, "{length}: {}", packed.len());
            let plain = decompress(&packed).expect("it comes back");
            assert!(plain.len() == length && plain.iter().all(|&letter| letter == 14));
        }
    }

    #[test]
    fn few_bytes_do_not_become_many() {
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], LEVEL).unwrap();
        assert!(bomb.len() < 10_000);
        assert_eq!(decompress(&bomb), None);
    }
}
