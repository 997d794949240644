//! The chain of records of metadata, in a file or on a link.
//!
//! The head of each record has a checksum of the record's body, and a checksum of the head itself.
//! The latter is seeded with the checksum of the head before. So a record that was changed,
//! removed, inserted or moved is detected.

use std::io::{ErrorKind, Read};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{BodyTooLarge, MetadataError};

/// First bytes of metadata. A program that converts line ends or clears the eighth bit changes
/// them, so that this damage is detected.
pub const MAGIC: [u8; 8] = *b"\x89FBMD\r\n\n";
/// Version of the format of metadata.
pub const VERSION: u32 = 9;

/// Number of bytes before the first record: magic number and version.
pub const START_BYTES: usize = 12;
/// Number of bytes of the head of a record.
pub const HEAD_BYTES: usize = 24;

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordKind {
    /// The first record, which applies to all queries.
    Header,
    /// A block of queries.
    Block,
    /// The last record.
    End,
}

impl RecordKind {
    fn number(self) -> u8 {
        match self {
            RecordKind::Header => 1,
            RecordKind::Block => 2,
            RecordKind::End => 3,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [RecordKind::Header, RecordKind::Block, RecordKind::End]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Offset of the record's head in bytes.
    pub offset: u64,
    /// Body of the record.
    pub body: Vec<u8>,
}

/// Encodes records one after the other. Each is chained to the record before.
#[derive(Debug, Default)]
pub struct RecordChain {
    last: u64,
}

impl RecordChain {
    /// Continues a chain after a record whose head has the checksum `last`.
    pub fn after(last: u64) -> Self {
        RecordChain { last }
    }

    /// Returns the checksum of the last head; 0 before the first record.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns the bytes before the first record: magic number and version.
    pub fn start() -> Vec<u8> {
        [&MAGIC[..], &VERSION.to_le_bytes()[..]].concat()
    }

    /// Encodes the next record of the chain.
    ///
    /// # Errors
    /// The body has 4 GiB or more.
    pub fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<Vec<u8>, BodyTooLarge> {
        let length = body_length(body.len() as u64)?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
        bytes.extend([kind.number(), 0, 0, 0]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(xxh3_64(body).to_le_bytes());
        self.last = xxh3_64_with_seed(&bytes, self.last);
        bytes.extend(self.last.to_le_bytes());
        bytes.extend_from_slice(body);
        Ok(bytes)
    }

    /// Chains a record to the record before, by changing the checksum in its head. The record must
    /// have been encoded as the first of a chain. Returns the length of the record in bytes, or
    /// `None` for an invalid head.
    pub fn join(&mut self, head: &mut [u8; HEAD_BYTES]) -> Option<u64> {
        let bytes = RecordHead::parse_first(head)?.record_bytes();
        let (covered, sum) = head.split_at_mut(HEAD_BYTES - 8);
        self.last = xxh3_64_with_seed(covered, self.last);
        sum.copy_from_slice(&self.last.to_le_bytes());
        Some(bytes)
    }
}

/// Converts the length of a body to the type that the head of its record has for it.
fn body_length(bytes: u64) -> Result<u32, BodyTooLarge> {
    u32::try_from(bytes).map_err(|_| BodyTooLarge { bytes })
}

/// Verifies that the heads of records form a chain.
#[derive(Clone, Debug)]
pub(crate) struct HeadVerifier {
    /// Offset of the next record in bytes.
    pub offset: u64,
    /// Checksum of the last head; 0 before the first record.
    pub last: u64,
    /// Whether the end record has been read.
    pub ended: bool,
}

/// The head of a record, without its own checksum.
#[derive(Debug)]
pub struct RecordHead {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Length of the body in bytes.
    pub length: u32,
    sum: [u8; 8],
}

impl RecordHead {
    /// Parses the head of a record that was encoded as the first of a chain. Returns `None` for
    /// other bytes.
    pub fn parse_first(head: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (covered, sum) = head.split_at(HEAD_BYTES - 8);
        let is_first = *sum == xxh3_64_with_seed(covered, 0).to_le_bytes();
        Self::parse(head).filter(|_| is_first)
    }

    fn parse(head: &[u8; HEAD_BYTES]) -> Option<Self> {
        let kind = RecordKind::from_number(head[0]).filter(|_| head[1..4] == [0; 3])?;
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let mut sum = [0; 8];
        sum.copy_from_slice(&head[8..16]);
        Some(RecordHead { kind, length, sum })
    }

    /// Returns the length of the whole record in bytes.
    pub fn record_bytes(&self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.length)
    }

    /// Whether `body` has the checksum that this head states.
    pub fn matches(&self, body: &[u8]) -> bool {
        self.sum == xxh3_64(body).to_le_bytes()
    }
}

impl HeadVerifier {
    /// Verifies the bytes before the first record. `start` may be cut off.
    ///
    /// # Errors
    /// The bytes are no metadata, have another version, or are too few.
    pub fn start(start: &[u8]) -> Result<Self, MetadataError> {
        let (magic, version) = start.split_at(MAGIC.len().min(start.len()));
        if !MAGIC.starts_with(magic) || magic.is_empty() {
            return Err(MetadataError::Foreign);
        }
        let Ok(found) = version.try_into().map(u32::from_le_bytes) else {
            return Err(MetadataError::CutOff { offset: 0 });
        };
        if found != VERSION {
            return Err(MetadataError::Version { found, own: VERSION });
        }
        Ok(HeadVerifier { offset: START_BYTES as u64, last: 0, ended: false })
    }

    /// Parses the next head, and verifies that it continues the chain.
    ///
    /// # Errors
    /// The head does not continue the chain, or its record is out of place.
    pub fn next(&mut self, head: &[u8; HEAD_BYTES]) -> Result<RecordHead, MetadataError> {
        let offset = self.offset;
        if self.ended {
            return Err(damage_error(offset, "there is more after its end"));
        }
        let sum = xxh3_64_with_seed(&head[..16], self.last);
        if head[16..] != sum.to_le_bytes() {
            return Err(damage_error(
                offset,
                "the head of a record does not follow the record before",
            ));
        }
        self.last = sum;
        let head =
            RecordHead::parse(head).ok_or(damage_error(offset, "a record is of no known kind"))?;
        let is_first = offset == START_BYTES as u64;
        if is_first != (head.kind == RecordKind::Header) {
            return Err(damage_error(offset, "a record is out of its place"));
        }
        Ok(head)
    }

    /// Advances past the record with this head.
    pub fn advance(&mut self, head: &RecordHead) {
        self.offset += head.record_bytes();
        self.ended = head.kind == RecordKind::End;
    }
}

/// Reads records from a file or a stream. It needs no more memory than the bytes of one record that
/// have arrived.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    heads: HeadVerifier,
}

impl<R: Read> Records<R> {
    /// Reads and verifies the bytes before the first record.
    ///
    /// # Errors
    /// The input is no metadata, has another version, or is too short.
    pub fn open(mut input: R) -> Result<Self, MetadataError> {
        let start = fill(&mut input, START_BYTES as u64, 0)?;
        Ok(Records { heads: HeadVerifier::start(&start)?, input })
    }

    /// Returns the offset of the next record in bytes.
    pub fn offset(&self) -> u64 {
        self.heads.offset
    }

    /// Reads the next record. Returns `None` after the end record.
    ///
    /// # Errors
    /// The input ends before its end record, or goes on after it. Or it is damaged: a checksum is
    /// wrong, or its first record is no header, or a later record is one.
    pub fn next_record(&mut self) -> Result<Option<Record>, MetadataError> {
        let offset = self.heads.offset;
        let head = fill(&mut self.input, HEAD_BYTES as u64, offset)?;
        if self.heads.ended {
            return match head.is_empty() {
                true => Ok(None),
                false => Err(damage_error(offset, "there is more after its end")),
            };
        }
        let Ok(head) = <[u8; HEAD_BYTES]>::try_from(head) else {
            return Err(MetadataError::CutOff { offset });
        };
        let head = self.heads.next(&head)?;
        let body = fill(&mut self.input, head.length.into(), offset)?;
        if body.len() < head.length as usize {
            return Err(MetadataError::CutOff { offset });
        }
        if !head.matches(&body) {
            return Err(damage_error(offset, WRONG_CHECKSUM));
        }
        self.heads.advance(&head);
        Ok(Some(Record { kind: head.kind, offset, body }))
    }
}

/// Message for a body that has another checksum than its head states.
pub(crate) const WRONG_CHECKSUM: &str = "the checksum of a record is wrong";

/// Reads `length` bytes, or fewer at the end of the input. Errors state `offset`.
fn fill(input: &mut impl Read, length: u64, offset: u64) -> Result<Vec<u8>, MetadataError> {
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        // The bytes that arrived before a link broke are valid.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(bytes),
        Err(error) => Err(MetadataError::Io { offset, cause: error.to_string() }),
    }
}

pub(crate) fn damage_error(offset: u64, what: &'static str) -> MetadataError {
    MetadataError::Damaged { offset, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bodies: &[&[u8]]) -> Vec<u8> {
        let (mut chain, mut bytes) = (RecordChain::default(), RecordChain::start());
        bytes.extend(chain.record(RecordKind::Header, b"header").unwrap());
        bodies.iter().for_each(|body| bytes.extend(chain.record(RecordKind::Block, body).unwrap()));
        bytes.extend(chain.record(RecordKind::End, b"").unwrap());
        bytes
    }

    fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<MetadataError>) {
        let mut bodies = Vec::new();
        let mut records = match Records::open(bytes) {
            Ok(records) => records,
            Err(error) => return (bodies, Some(error)),
        };
        loop {
            match records.next_record() {
                Ok(Some(record)) => bodies.push(record.body),
                Ok(None) => return (bodies, None),
                Err(error) => return (bodies, Some(error)),
            }
        }
    }

    #[test]
    fn records_come_back() {
        let (bodies, error) = read(&file(&[b"one", b"", b"three"]));
        assert_eq!(bodies, [&b"header"[..], b"one", b"", b"three", b""]);
        assert_eq!(error, None);
    }

    #[test]
    fn a_truncated_file_is_read_up_to_its_last_whole_record() {
        let bytes = file(&[b"one", b"two"]);
        for end in 1..bytes.len() {
            let (bodies, error) = read(&bytes[..end]);
            let Some(MetadataError::CutOff { offset }) = error else { panic!("{end}: {error:?}") };
            assert!(offset <= end as u64);
            let whole: usize = bodies.iter().map(|body| HEAD_BYTES + body.len()).sum();
            assert!(bodies.is_empty() || offset == (START_BYTES + whole) as u64);
        }
        assert_eq!(read(b"").1, Some(MetadataError::Foreign));
    }

    #[test]
    fn every_changed_bit_is_detected() {
        let bytes = file(&[b"one", b"two"]);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                assert!(read(&bytes).1.is_some(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn records_keep_their_order_and_their_file() {
        let (one, other) = (file(&[b"aaa", b"bbb", b"ccc"]), file(&[b"aaa", b"xxx", b"ccc"]));
        let first = START_BYTES + HEAD_BYTES + 6;
        let block = HEAD_BYTES + 3;
        let wrong = "the head of a record does not follow the record before";
        let missing = [&one[..first], &one[first + block..]].concat();
        let twice = [&one[..first + block], &one[first..]].concat();
        let mixed = [&one[..first + 2 * block], &other[first + 2 * block..]].concat();
        for bytes in [missing, twice, mixed] {
            assert!(
                matches!(read(&bytes).1, Some(MetadataError::Damaged { what, .. }) if what == wrong)
            );
        }
        let more = [&one[..], b"more"].concat();
        assert!(
            matches!(read(&more).1, Some(MetadataError::Damaged { what, .. }) if what.contains("more"))
        );
    }

    #[test]
    fn other_files_and_versions_are_refused() {
        assert_eq!(read(b">query\nMKV\n").1, Some(MetadataError::Foreign));
        let mut bytes = file(&[]);
        bytes[8] = 77;
        assert_eq!(read(&bytes).1, Some(MetadataError::Version { found: 77, own: VERSION }));
    }

    #[test]
    fn a_body_of_four_gibibytes_is_an_error() {
        let bytes = 1 << 32;
        assert_eq!(body_length(bytes - 1), Ok(u32::MAX));
        assert_eq!(body_length(bytes), Err(BodyTooLarge { bytes }));
    }
}
