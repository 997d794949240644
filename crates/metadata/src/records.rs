//! The chain of records: what goes over a link or into a file.
//!
//! Each record has in its head the checksum of its body, and a checksum of the head that is chained to the record before. So no
//! record can be changed, taken out, put in or moved without it being noticed.

use std::io::{ErrorKind, Read};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{MetadataError, TooLarge};

/// How metadata begin. Whatever takes it for text, or clears the eighth bit, breaks it.
pub const MAGIC: [u8; 8] = *b"\x89FBMD\r\n\n";
/// The version of the format.
pub const VERSION: u32 = 8;

/// Bytes before the first record.
pub const START_BYTES: usize = 12;
/// Bytes of the head of a record.
pub const HEAD_BYTES: usize = 24;

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordKind {
    /// What holds for all queries; the first one.
    Header,
    /// A block of queries.
    Block,
    /// The last one.
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

    fn of(number: u8) -> Option<Self> {
        [RecordKind::Header, RecordKind::Block, RecordKind::End]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// A record as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it holds.
    pub kind: RecordKind,
    /// Where it begins.
    pub offset: u64,
    /// Its body.
    pub body: Vec<u8>,
}

/// Makes the bytes of records, one after the other.
#[derive(Debug, Default)]
pub struct Chain {
    last: u64,
}

impl Chain {
    /// Goes on after a record whose head has this checksum.
    pub fn after(last: u64) -> Self {
        Chain { last }
    }

    /// The checksum of the last head; 0 before the first.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// What comes before the first record.
    pub fn start() -> Vec<u8> {
        [&MAGIC[..], &VERSION.to_le_bytes()[..]].concat()
    }

    /// The next record.
    ///
    /// # Errors
    /// A body of 4 GiB or more.
    pub fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<Vec<u8>, TooLarge> {
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

    /// Has the head of a record, which was made as the first of its own chain, follow the one before; tells the bytes of the record.
    /// `None` if it is no such head.
    pub fn join(&mut self, head: &mut [u8; HEAD_BYTES]) -> Option<u64> {
        let bytes = Head::alone(head)?.record_bytes();
        let (told, sum) = head.split_at_mut(HEAD_BYTES - 8);
        self.last = xxh3_64_with_seed(told, self.last);
        sum.copy_from_slice(&self.last.to_le_bytes());
        Some(bytes)
    }
}

/// The number of a body's bytes, as the head of its record states it.
fn body_length(bytes: u64) -> Result<u32, TooLarge> {
    u32::try_from(bytes).map_err(|_| TooLarge { bytes })
}

/// Holds that heads of records follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    /// Where the next record begins.
    pub offset: u64,
    /// The checksum of the last head.
    pub last: u64,
    /// The last record of all has come.
    pub ended: bool,
}

/// What a head tells of its body.
#[derive(Debug)]
pub struct Head {
    /// What it holds.
    pub kind: RecordKind,
    /// Bytes of the body.
    pub length: u32,
    sum: [u8; 8],
}

impl Head {
    /// That of a record which was made as the first of its own chain; `None` if it is no such head.
    pub fn alone(head: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (told, sum) = head.split_at(HEAD_BYTES - 8);
        let is_one = *sum == xxh3_64_with_seed(told, 0).to_le_bytes();
        Self::of(head).filter(|_| is_one)
    }

    fn of(head: &[u8; HEAD_BYTES]) -> Option<Self> {
        let kind = RecordKind::of(head[0]).filter(|_| head[1..4] == [0; 3])?;
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let mut sum = [0; 8];
        sum.copy_from_slice(&head[8..16]);
        Some(Head { kind, length, sum })
    }

    /// Bytes of the whole record.
    pub fn record_bytes(&self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.length)
    }

    /// Whether that is the body.
    pub fn has(&self, body: &[u8]) -> bool {
        self.sum == xxh3_64(body).to_le_bytes()
    }
}

impl Heads {
    /// Begins after the bytes before the first record, as many as there are of them.
    ///
    /// # Errors
    /// Something else, or another version.
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
        Ok(Heads { offset: START_BYTES as u64, last: 0, ended: false })
    }

    /// The next head.
    ///
    /// # Errors
    /// One that does not follow.
    pub fn next(&mut self, head: &[u8; HEAD_BYTES]) -> Result<Head, MetadataError> {
        let offset = self.offset;
        if self.ended {
            return Err(damaged(offset, "there is more after its end"));
        }
        let sum = xxh3_64_with_seed(&head[..16], self.last);
        if head[16..] != sum.to_le_bytes() {
            return Err(damaged(offset, "the head of a record does not follow the record before"));
        }
        self.last = sum;
        let head = Head::of(head).ok_or(damaged(offset, "a record is of no known kind"))?;
        let is_first = offset == START_BYTES as u64;
        if is_first != (head.kind == RecordKind::Header) {
            return Err(damaged(offset, "a record is out of its place"));
        }
        Ok(head)
    }

    /// The record of that head is whole.
    pub fn pass(&mut self, head: &Head) {
        self.offset += head.record_bytes();
        self.ended = head.kind == RecordKind::End;
    }
}

/// Reads records from a file or a stream. Takes no more memory than a record has bytes that came.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    heads: Heads,
}

impl<R: Read> Records<R> {
    /// Reads what comes before the first record.
    ///
    /// # Errors
    /// Input that is something else, or of another version.
    pub fn open(mut input: R) -> Result<Self, MetadataError> {
        let start = fill(&mut input, START_BYTES as u64, 0)?;
        Ok(Records { heads: Heads::start(&start)?, input })
    }

    /// Where the next record begins.
    pub fn offset(&self) -> u64 {
        self.heads.offset
    }

    /// The next record; `None` after the last one.
    ///
    /// # Errors
    /// Input that ends before its last record, or does not end after it; damage; another record than a header where one belongs, or
    /// a header elsewhere.
    pub fn next_record(&mut self) -> Result<Option<Record>, MetadataError> {
        let offset = self.heads.offset;
        let head = fill(&mut self.input, HEAD_BYTES as u64, offset)?;
        if self.heads.ended {
            return match head.is_empty() {
                true => Ok(None),
                false => Err(damaged(offset, "there is more after its end")),
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
        if !head.has(&body) {
            return Err(damaged(offset, WRONG_SUM));
        }
        self.heads.pass(&head);
        Ok(Some(Record { kind: head.kind, offset, body }))
    }
}

/// What is said of a body with another checksum.
pub(crate) const WRONG_SUM: &str = "the checksum of a record is wrong";

/// Reads so many bytes, or as many as there are.
fn fill(input: &mut impl Read, length: u64, offset: u64) -> Result<Vec<u8>, MetadataError> {
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        // Of a broken link as much is whole as came.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(bytes),
        Err(error) => Err(MetadataError::Io { offset, cause: error.to_string() }),
    }
}

pub(crate) fn damaged(offset: u64, what: &'static str) -> MetadataError {
    MetadataError::Damaged { offset, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bodies: &[&[u8]]) -> Vec<u8> {
        let (mut chain, mut bytes) = (Chain::default(), Chain::start());
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
    fn what_is_cut_off_is_whole_up_to_there() {
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
    fn no_bit_can_change() {
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
    fn other_files_and_versions_are_told() {
        assert_eq!(read(b">query\nMKV\n").1, Some(MetadataError::Foreign));
        let mut bytes = file(&[]);
        bytes[8] = 77;
        assert_eq!(read(&bytes).1, Some(MetadataError::Version { found: 77, own: VERSION }));
    }

    #[test]
    fn a_body_of_four_gibibytes_is_an_error() {
        let bytes = 1 << 32;
        assert_eq!(body_length(bytes - 1), Ok(u32::MAX));
        assert_eq!(body_length(bytes), Err(TooLarge { bytes }));
    }
}
