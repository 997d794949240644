//! Compresses the bodies of records.
//!
//! A file of records is also a valid file for the usual tools. Everything between the bodies is in
//! a frame that zstd skips, or in an extra field of gzip. So `zstd -dc` or `gzip -dc` print the
//! bytes that the writer appended, in that order.

use std::io::{self, Read, Write};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

/// Number of bytes before a record's own header. They make the header a valid part of a compressed
/// file.
pub(crate) const ENVELOPE_BYTES: usize = 16;
/// Maximal number of bytes in an extra field of gzip.
pub(crate) const MOST_EXTRA: usize = u16::MAX as usize - 4;

/// Compression level of zstd: the fastest, which already makes reports several times smaller.
const LEVEL: i32 = 1;
/// Largest window (base 2 logarithm) that a body may require from the decompressor: 8 MB.
const WINDOW_LOG: u32 = 23;
/// Contents are rarely larger than this multiple of the stored bytes. It sets the initial memory.
const USUAL_RATIO: u64 = 16;
/// The first bytes of a frame that zstd skips.
const SKIPPED: [u8; 4] = 0x184d_2a5b_u32.to_le_bytes();
/// The first bytes of a gzip member. They mean: deflated, with an extra field, without a time, from
/// an unknown system.
const MEMBER: [u8; 10] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255];
/// Identifier of this program's part of the extra field.
const OURS: [u8; 2] = *b"FB";
/// Number of bytes after a deflated body: its checksum and its length.
const TRAILER_BYTES: usize = 8;

/// The compression of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// zstd.
    #[default]
    Zstd,
    /// gzip, for users without zstd. It is slower, and its files are larger.
    Gzip,
}

impl Codec {
    /// Returns the extension of file names.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Codec::Zstd => "zst",
            Codec::Gzip => "gz",
        }
    }

    /// Returns the codec's number in headers.
    pub(crate) fn number(self) -> u32 {
        match self {
            Codec::Zstd => 0,
            Codec::Gzip => 1,
        }
    }

    /// Returns the codec with this number in headers.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        [Codec::Zstd, Codec::Gzip].into_iter().find(|codec| codec.number() == number)
    }

    /// Returns the envelope before a header and table of `bytes` bytes together, at most
    /// [`MOST_EXTRA`].
    pub(crate) fn envelope(self, bytes: usize) -> [u8; ENVELOPE_BYTES] {
        let mut envelope = [0; ENVELOPE_BYTES];
        match self {
            Codec::Zstd => {
                envelope[..4].copy_from_slice(&SKIPPED);
                // The skipped frame includes the rest of the envelope.
                let skipped = (bytes + ENVELOPE_BYTES - 8) as u32;
                envelope[4..8].copy_from_slice(&skipped.to_le_bytes());
            }
            Codec::Gzip => {
                envelope[..10].copy_from_slice(&MEMBER);
                envelope[10..12].copy_from_slice(&(bytes as u16 + 4).to_le_bytes());
                envelope[12..14].copy_from_slice(&OURS);
                envelope[14..].copy_from_slice(&(bytes as u16).to_le_bytes());
            }
        }
        envelope
    }

    /// Decompresses a body, whose contents must have this length. Memory grows with the output, so
    /// that a wrong length does no harm.
    pub(crate) fn decompress(self, stored: &[u8], length: u64) -> io::Result<Vec<u8>> {
        let mut contents = Vec::new();
        let usual = length.min(USUAL_RATIO.saturating_mul(stored.len() as u64));
        contents.reserve(usual as usize);
        let most = length.saturating_add(1);
        match self {
            Codec::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(stored)?.single_frame();
                decoder.window_log_max(WINDOW_LOG)?;
                decoder.take(most).read_to_end(&mut contents)?;
            }
            Codec::Gzip => {
                let body = stored.len().checked_sub(TRAILER_BYTES);
                let body = body.ok_or(io::ErrorKind::UnexpectedEof)?;
                DeflateDecoder::new(&stored[..body]).take(most).read_to_end(&mut contents)?;
            }
        }
        match contents.len() as u64 == length {
            true => Ok(contents),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Compressor for the bodies of records.
pub(crate) enum Compressor {
    Zstd(zstd::bulk::Compressor<'static>),
    Gzip,
}

impl Compressor {
    pub(crate) fn new(codec: Codec) -> io::Result<Self> {
        Ok(match codec {
            Codec::Zstd => Compressor::Zstd(zstd::bulk::Compressor::new(LEVEL)?),
            Codec::Gzip => Compressor::Gzip,
        })
    }

    /// Compresses the contents of a record to a body.
    pub(crate) fn compress(&mut self, contents: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Compressor::Zstd(compressor) => compressor.compress(contents),
            Compressor::Gzip => {
                let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(contents)?;
                let mut body = encoder.finish()?;
                let mut sum = Crc::new();
                sum.update(contents);
                body.extend(sum.sum().to_le_bytes());
                body.extend((contents.len() as u32).to_le_bytes());
                Ok(body)
            }
        }
    }
}
