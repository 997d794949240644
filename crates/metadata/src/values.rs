//! Values as bytes: postcard's encoding, compressed by zstd where that is worth it.
//!
//! Values are parsed while they are decompressed, so that junk ends at its first bytes. The bytes
//! of a compressed part bound its contents, so that a small file never fills the memory of its
//! reader.

use std::io::{BufRead, BufReader, Read, Take};

use postcard::Deserializer;
use postcard::de_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::NoRoom;

/// How hard is compressed: what crosses a slow link is small, and made once.
const LEVEL: i32 = 19;
/// The same of reports, which are long: a search is not to wait for a fifth of the bytes.
const LEVEL_OF_REPORTS: i32 = 3;
/// Largest window (base 2 logarithm) that a frame may ask the decompressor to keep: 8 MiB, the
/// window of [`LEVEL`].
const WINDOW_LOG: u32 = 23;
/// Bytes decompressed at a time.
const BUFFER: usize = 1 << 14;
/// How a frame of zstd begins that stands for nothing; four bytes of its length follow, and as many bytes.
const PADDING: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// What is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Values, which take many times their bytes in memory.
    Values,
    /// Numbers of one kind, many of them the same.
    Column,
    /// Letters of queries, which stay bytes.
    Letters,
    /// A report, which stays bytes.
    Report,
}

impl Plain {
    fn level(self) -> i32 {
        if self == Plain::Report { LEVEL_OF_REPORTS } else { LEVEL }
    }

    /// Returns for how many bytes each compressed byte may stand.
    fn ratio(self) -> usize {
        match self {
            Plain::Values | Plain::Column => 16,
            Plain::Letters | Plain::Report => 64,
        }
    }

    /// Returns for how many bytes any number of compressed bytes may stand.
    fn always(self) -> usize {
        match self {
            Plain::Values => 1 << 16,
            Plain::Column | Plain::Letters | Plain::Report => 1 << 20,
        }
    }

    /// Returns the most bytes for which `packed` compressed ones may stand. Padding follows what
    /// compresses better.
    fn most(self, packed: usize) -> usize {
        packed.saturating_mul(self.ratio()).max(self.always())
    }

    /// Returns the compressed bytes that are needed for `plain` bytes.
    fn least(self, plain: usize) -> usize {
        if plain <= self.always() { 0 } else { plain.div_ceil(self.ratio()) }
    }
}

/// Compresses.
///
/// # Errors
/// Memory is its only want.
pub(crate) fn compress(bytes: &[u8], plain: Plain) -> Result<Vec<u8>, NoRoom> {
    let mut packed = zstd::bulk::compress(bytes, plain.level()).map_err(|_| NoRoom)?;
    let missing = plain.least(bytes.len()).saturating_sub(packed.len());
    if missing > 0 {
        let padding = u32::try_from(missing).map_err(|_| NoRoom)?;
        packed.extend(PADDING);
        packed.extend(padding.to_le_bytes());
        packed.resize(packed.len() + missing, 0);
    }
    Ok(packed)
}

/// Returns the length of the contents of a compressed part, which its frames state. `None` for
/// bytes that are no frames, for frames without a length, and for more than the part may stand for.
pub(crate) fn stated_length(packed: &[u8], plain: Plain) -> Option<u64> {
    let (mut rest, mut all) = (packed, 0_u64);
    while !rest.is_empty() {
        all = all.checked_add(get_frame_content_size(rest).ok()??)?;
        rest = rest.get(find_frame_compressed_size(rest).ok()?..)?;
    }
    Some(all).filter(|&length| length <= plain.most(packed.len()) as u64)
}

/// A compressed part while it is decompressed.
pub(crate) struct Unpacked<'a> {
    // One byte more than it may stand for.
    input: BufReader<Take<zstd::Decoder<'static, &'a [u8]>>>,
    /// The text that was read last.
    text: Vec<u8>,
}

impl<'a> Unpacked<'a> {
    /// Begins with a part; `None` if it stands for too much, or without memory for the
    /// decompressor.
    pub fn new(packed: &'a [u8], plain: Plain) -> Option<Self> {
        stated_length(packed, plain)?;
        let most = plain.most(packed.len()) as u64;
        let mut decoder = zstd::Decoder::with_buffer(packed).ok()?;
        decoder.window_log_max(WINDOW_LOG).ok()?;
        // A frame may hold more than it states.
        let input = decoder.take(most + 1);
        Some(Unpacked { input: BufReader::with_capacity(BUFFER, input), text: Vec::new() })
    }

    /// Returns the next `count` bytes.
    pub fn bytes(&mut self, count: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.input).take(count).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == count).then_some(bytes)
    }

    /// Returns all the rest.
    pub fn rest(mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input.read_to_end(&mut bytes).ok()?;
        self.ends().then_some(bytes)
    }

    /// Whether all contents were taken, and were not too many.
    pub fn ends(&mut self) -> bool {
        self.input.fill_buf().is_ok_and(<[u8]>::is_empty) && self.input.get_ref().limit() > 0
    }
}

/// Reads values from the stream. Texts are copied, so nothing can be borrowed.
impl<'de, 'a: 'de> Flavor<'de> for &'de mut Unpacked<'a> {
    type Remainder = ();
    type Source = ();

    fn pop(&mut self) -> postcard::Result<u8> {
        let end = postcard::Error::DeserializeUnexpectedEnd;
        let next = self.input.fill_buf().map_err(|_| end.clone())?.first().copied().ok_or(end)?;
        self.input.consume(1);
        Ok(next)
    }

    fn try_take_n(&mut self, _: usize) -> postcard::Result<&'de [u8]> {
        Err(postcard::Error::WontImplement)
    }

    fn try_take_n_temp<'t>(&'t mut self, count: usize) -> postcard::Result<&'t [u8]>
    where
        'de: 't,
    {
        let end = postcard::Error::DeserializeUnexpectedEnd;
        self.text.clear();
        let taken = (&mut self.input).take(count as u64).read_to_end(&mut self.text);
        if taken.is_ok_and(|taken| taken == count) { Ok(&self.text) } else { Err(end) }
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Unpacked<'_> {
    /// The next value.
    pub fn value<T: DeserializeOwned>(&mut self) -> Option<T> {
        T::deserialize(&mut Deserializer::from_flavor(self)).ok()
    }
}

/// Compresses a value.
///
/// # Errors
/// No memory.
pub(crate) fn compress_value<T: Serialize>(value: &T) -> Result<Vec<u8>, NoRoom> {
    compress(&encode(value), Plain::Values)
}

/// Decompresses a value; `None` for other bytes, and for more than these bytes may stand for.
pub(crate) fn decompress_value<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    let mut unpacked = Unpacked::new(packed, Plain::Values)?;
    let value = unpacked.value()?;
    unpacked.ends().then_some(value)
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

    const ALL: [Plain; 4] = [Plain::Values, Plain::Column, Plain::Letters, Plain::Report];

    /// Letters of a masked chromosome.
    #[test]
    fn what_compresses_very_well_comes_back() {
        for plain in ALL {
            let least = plain.always();
            for length in [0, 1, least, least + 1, 9 << 20] {
                let packed = compress(&vec![14; length], plain).unwrap();
                assert!(packed.len() < length / 15 + 2000, "{length}: {}", packed.len());
                let back = Unpacked::new(&packed, plain).and_then(Unpacked::rest);
                let back = back.expect("it comes back");
                assert!(back.len() == length && back.iter().all(|&letter| letter == 14));
            }
        }
    }

    #[test]
    fn few_bytes_do_not_become_many() {
        let bomb = |length: usize| {
            let bomb = zstd::bulk::compress(&vec![0; length], LEVEL_OF_REPORTS).unwrap();
            assert!(bomb.len() < 10_000);
            bomb
        };
        let (large, silent) = (bomb(64 << 20), zstd::encode_all(&[7; 100][..], 1).unwrap());
        // The frame states less than it holds.
        let mut false_length = large.clone();
        let field = large.windows(4).position(|word| word == (64u32 << 20).to_le_bytes()).unwrap();
        false_length[field..field + 4].copy_from_slice(&1000u32.to_le_bytes());
        assert_eq!(stated_length(&large, Plain::Values), None);
        assert_eq!(stated_length(&false_length, Plain::Values), Some(1000));
        for plain in ALL {
            for bomb in [&large, &bomb(plain.always() + 1), &false_length, &silent] {
                assert!(Unpacked::new(bomb, plain).and_then(Unpacked::rest).is_none());
            }
        }
        // A sound value that is larger than its bytes allow: empty texts.
        let many = vec![String::new(); 1 << 20];
        let packed = zstd::bulk::compress(&encode(&many), LEVEL).unwrap();
        assert_eq!(decompress_value::<Vec<String>>(&packed), None);
        let packed = compress_value(&many).unwrap();
        assert_eq!(decompress_value(&packed), Some(many));
    }

    #[test]
    fn a_window_that_takes_much_memory_is_refused() {
        // The length in four bytes, not as a single segment; and one block of a letter that is
        // repeated.
        let letters = vec![b'h'; 100_000];
        let frame = |window: u8| {
            let head = [0x28, 0xb5, 0x2f, 0xfd, 0x80, (window - 10) << 3];
            let length = (letters.len() as u32).to_le_bytes();
            let block = ((letters.len() as u32) << 3 | 1 << 1 | 1).to_le_bytes();
            [&head[..], &length, &block[..3], b"h"].concat()
        };
        let unpack = |window| Unpacked::new(&frame(window), Plain::Report).and_then(Unpacked::rest);
        assert_eq!(unpack(23), Some(letters.clone()));
        assert_eq!(unpack(24), None);
    }

    #[test]
    fn values_come_one_after_the_other() {
        let packed = [encode(&7u64), encode(&"text".to_owned()), encode(&0.5f64), vec![1, 2, 3]];
        let packed = compress(&packed.concat(), Plain::Values).unwrap();
        let mut unpacked = Unpacked::new(&packed, Plain::Values).unwrap();
        assert_eq!(unpacked.value::<u64>(), Some(7));
        assert_eq!(unpacked.value::<String>(), Some("text".to_owned()));
        assert_eq!(unpacked.value::<f64>(), Some(0.5));
        assert_eq!(unpacked.bytes(2), Some(vec![1, 2]));
        assert!(!unpacked.ends());
        assert_eq!(unpacked.bytes(2), None);
        assert_eq!(decompress_value::<u64>(&packed), None, "there is more");
    }
}
