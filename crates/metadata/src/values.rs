//! Encodes values with postcard, and compresses them with zstd where that helps.
//!
//! Values are decoded while they are decompressed, so that invalid bytes are found early. The
//! length of compressed data limits the length of its contents, so that a small file never fills
//! the memory of its reader.

use std::io::{BufRead, BufReader, Read, Take};

use postcard::Deserializer;
use postcard::de_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::OutOfMemory;

/// Compression level of metadata. It is high, since metadata are small, are compressed once, and
/// may cross a slow link.
const LEVEL: i32 = 19;
/// Compression level of reports. Reports are long: a higher level would save a fifth of the bytes,
/// but delay the search.
const LEVEL_OF_REPORTS: i32 = 3;
/// Base-2 logarithm of the largest window that compressed data may ask the decompressor to keep. It
/// is 8 MiB, the window of [`LEVEL`].
const WINDOW_LOG: u32 = 23;
/// Number of bytes decompressed at a time.
const BUFFER: usize = 1 << 14;
/// First bytes of a zstd frame that decompressors skip. They are followed by the number of the
/// bytes to skip (four bytes, little-endian), and then by these bytes.
const PADDING: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Kind of data that is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// Encoded values, which may take many times their bytes in memory.
    Values,
    /// Numbers of the same kind, many of them equal.
    Column,
    /// Letters of queries, which take no more memory than their bytes.
    Letters,
    /// A report, which takes no more memory than its bytes.
    Report,
}

impl ContentKind {
    fn level(self) -> i32 {
        if self == ContentKind::Report { LEVEL_OF_REPORTS } else { LEVEL }
    }

    /// Returns the largest allowed ratio of decompressed to compressed bytes.
    fn ratio(self) -> usize {
        match self {
            ContentKind::Values | ContentKind::Column => 16,
            ContentKind::Letters | ContentKind::Report => 64,
        }
    }

    /// Returns the decompressed length that is always allowed, however short the compressed data
    /// are.
    fn always(self) -> usize {
        match self {
            ContentKind::Values => 1 << 16,
            ContentKind::Column | ContentKind::Letters | ContentKind::Report => 1 << 20,
        }
    }

    /// Returns the largest allowed decompressed length of `packed` compressed bytes. Data that
    /// compress better get padding.
    fn most(self, packed: usize) -> usize {
        packed.saturating_mul(self.ratio()).max(self.always())
    }

    /// Returns the fewest compressed bytes that are allowed for `plain` decompressed bytes.
    fn least(self, plain: usize) -> usize {
        if plain <= self.always() { 0 } else { plain.div_ceil(self.ratio()) }
    }
}

/// Compresses data of this kind. Adds padding if they become shorter than allowed.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn compress(bytes: &[u8], plain: ContentKind) -> Result<Vec<u8>, OutOfMemory> {
    let mut packed = zstd::bulk::compress(bytes, plain.level()).map_err(|_| OutOfMemory)?;
    let missing = plain.least(bytes.len()).saturating_sub(packed.len());
    if missing > 0 {
        let padding = u32::try_from(missing).map_err(|_| OutOfMemory)?;
        packed.extend(PADDING);
        packed.extend(padding.to_le_bytes());
        packed.resize(packed.len() + missing, 0);
    }
    Ok(packed)
}

/// Returns the decompressed length that compressed data state. Returns `None` for data that are no
/// zstd frames, that state no length, or that state more than is allowed.
pub(crate) fn stated_length(packed: &[u8], plain: ContentKind) -> Option<u64> {
    let (mut rest, mut all) = (packed, 0_u64);
    while !rest.is_empty() {
        all = all.checked_add(get_frame_content_size(rest).ok()??)?;
        rest = rest.get(find_frame_compressed_size(rest).ok()?..)?;
    }
    Some(all).filter(|&length| length <= plain.most(packed.len()) as u64)
}

/// Decompresses data piece by piece.
pub(crate) struct Decompressor<'a> {
    // The limit is one byte more than the allowed length, so that longer contents are detected.
    input: BufReader<Take<zstd::Decoder<'static, &'a [u8]>>>,
    /// Bytes of the text that was decoded last.
    text: Vec<u8>,
}

impl<'a> Decompressor<'a> {
    /// Starts to decompress data. Returns `None` if they state more than the allowed length, or if
    /// there is no memory for the decompressor.
    pub fn new(packed: &'a [u8], plain: ContentKind) -> Option<Self> {
        stated_length(packed, plain)?;
        let most = plain.most(packed.len()) as u64;
        let mut decoder = zstd::Decoder::with_buffer(packed).ok()?;
        decoder.window_log_max(WINDOW_LOG).ok()?;
        // The contents of a frame may be longer than the length that it states.
        let input = decoder.take(most + 1);
        Some(Decompressor { input: BufReader::with_capacity(BUFFER, input), text: Vec::new() })
    }

    /// Reads the next `count` bytes. Returns `None` if there are fewer, or if they are invalid.
    pub fn bytes(&mut self, count: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.input).take(count).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == count).then_some(bytes)
    }

    /// Reads all remaining bytes. Returns `None` if they are invalid, or longer than allowed.
    pub fn rest(mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input.read_to_end(&mut bytes).ok()?;
        self.is_at_end().then_some(bytes)
    }

    /// Whether all contents have been read, and were not longer than allowed.
    pub fn is_at_end(&mut self) -> bool {
        self.input.fill_buf().is_ok_and(<[u8]>::is_empty) && self.input.get_ref().limit() > 0
    }
}

/// Makes postcard read values from the decompressed bytes. Texts are copied, so nothing can be
/// borrowed.
impl<'de, 'a: 'de> Flavor<'de> for &'de mut Decompressor<'a> {
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

impl Decompressor<'_> {
    /// Decodes the next value. Returns `None` for invalid bytes.
    pub fn value<T: DeserializeOwned>(&mut self) -> Option<T> {
        T::deserialize(&mut Deserializer::from_flavor(self)).ok()
    }
}

/// Encodes and compresses a value.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn compress_value<T: Serialize>(value: &T) -> Result<Vec<u8>, OutOfMemory> {
    compress(&encode(value), ContentKind::Values)
}

/// Decompresses and decodes a value. Returns `None` for invalid bytes, and for data longer than
/// allowed.
pub(crate) fn decompress_value<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    let mut unpacked = Decompressor::new(packed, ContentKind::Values)?;
    let value = unpacked.value()?;
    unpacked.is_at_end().then_some(value)
}

/// Encodes a value with postcard.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // The types of this crate have no parts that postcard cannot encode.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// Decodes a value. Returns `None` unless it consists of all of the bytes.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ContentKind; 4] =
        [ContentKind::Values, ContentKind::Column, ContentKind::Letters, ContentKind::Report];

    /// The data are like the letters of a masked chromosome.
    #[test]
    fn data_that_compress_very_well_come_back() {
        for plain in ALL {
            let least = plain.always();
            for length in [0, 1, least, least + 1, 9 << 20] {
                let packed = compress(&vec![14; length], plain).unwrap();
                assert!(packed.len() < length / 15 + 2000, "{length}: {}", packed.len());
                let back = Decompressor::new(&packed, plain).and_then(Decompressor::rest);
                let back = back.expect("it comes back");
                assert!(back.len() == length && back.iter().all(|&letter| letter == 14));
            }
        }
    }

    #[test]
    fn few_bytes_do_not_become_very_many() {
        let bomb = |length: usize| {
            let bomb = zstd::bulk::compress(&vec![0; length], LEVEL_OF_REPORTS).unwrap();
            assert!(bomb.len() < 10_000);
            bomb
        };
        let (large, silent) = (bomb(64 << 20), zstd::encode_all(&[7; 100][..], 1).unwrap());
        // This frame states fewer bytes than it holds.
        let mut false_length = large.clone();
        let field = large.windows(4).position(|word| word == (64u32 << 20).to_le_bytes()).unwrap();
        false_length[field..field + 4].copy_from_slice(&1000u32.to_le_bytes());
        assert_eq!(stated_length(&large, ContentKind::Values), None);
        assert_eq!(stated_length(&false_length, ContentKind::Values), Some(1000));
        for plain in ALL {
            for bomb in [&large, &bomb(plain.always() + 1), &false_length, &silent] {
                assert!(Decompressor::new(bomb, plain).and_then(Decompressor::rest).is_none());
            }
        }
        // This value is valid, but larger than its compressed bytes allow. It consists of empty
        // texts.
        let many = vec![String::new(); 1 << 20];
        let packed = zstd::bulk::compress(&encode(&many), LEVEL).unwrap();
        assert_eq!(decompress_value::<Vec<String>>(&packed), None);
        let packed = compress_value(&many).unwrap();
        assert_eq!(decompress_value(&packed), Some(many));
    }

    #[test]
    fn a_window_that_takes_much_memory_is_refused() {
        // The frame states its length in four bytes, and is not a single segment. It has one block:
        // a letter that is repeated.
        let letters = vec![b'h'; 100_000];
        let frame = |window: u8| {
            let head = [0x28, 0xb5, 0x2f, 0xfd, 0x80, (window - 10) << 3];
            let length = (letters.len() as u32).to_le_bytes();
            let block = ((letters.len() as u32) << 3 | 1 << 1 | 1).to_le_bytes();
            [&head[..], &length, &block[..3], b"h"].concat()
        };
        let unpack = |window| {
            Decompressor::new(&frame(window), ContentKind::Report).and_then(Decompressor::rest)
        };
        assert_eq!(unpack(23), Some(letters.clone()));
        assert_eq!(unpack(24), None);
    }

    #[test]
    fn values_come_one_after_the_other() {
        let packed = [encode(&7u64), encode(&"text".to_owned()), encode(&0.5f64), vec![1, 2, 3]];
        let packed = compress(&packed.concat(), ContentKind::Values).unwrap();
        let mut unpacked = Decompressor::new(&packed, ContentKind::Values).unwrap();
        assert_eq!(unpacked.value::<u64>(), Some(7));
        assert_eq!(unpacked.value::<String>(), Some("text".to_owned()));
        assert_eq!(unpacked.value::<f64>(), Some(0.5));
        assert_eq!(unpacked.bytes(2), Some(vec![1, 2]));
        assert!(!unpacked.is_at_end());
        assert_eq!(unpacked.bytes(2), None);
        assert_eq!(decompress_value::<u64>(&packed), None, "there is more");
    }
}
