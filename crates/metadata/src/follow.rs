//! Verifies metadata that arrive in pieces, and records the point from which another run can
//! resume.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::block::{BatchState, Block};
use crate::error::MetadataError;
use crate::order::RecordOrder;
use crate::records::{
    HEAD_BYTES, HeadVerifier, Record, RecordChain, RecordHead, RecordKind, START_BYTES,
    WRONG_CHECKSUM, damage_error,
};
use crate::values::{decode, encode};

/// Most bytes of a body on a link. The receiver holds them in memory until the record is complete.
pub const MOST_BODY: u32 = 1 << 28;

/// State after the last whole record, from which another run can resume the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// Offset of the end of the last whole record in bytes; 0 if there is none.
    pub whole_bytes: u64,
    /// Checksum of the head of the last whole record.
    pub last: u64,
    /// [Fingerprint](ResumePoint::header_fingerprint) of the header.
    pub header: u64,
    /// Number of blocks received.
    pub blocks: u64,
    /// Number of queries in the received blocks.
    pub queries: u64,
    /// [Fingerprint](crate::Query::extend_fingerprint) of the queries in the received blocks.
    pub digest: u64,
    /// [State](crate::Block::batch_state) after the last block; `None` if unknown.
    pub batch_state: Option<BatchState>,
    /// Whether the end record has been received.
    pub ended: bool,
}

impl ResumePoint {
    /// Encodes the resume point. [`Self::decode`] decodes it.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a resume point. Returns `None` for invalid bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }

    /// Returns the fingerprint of a header. `body` is the [encoded](crate::Header::encode) header.
    pub fn header_fingerprint(body: &[u8]) -> u64 {
        xxh3_64_with_seed(body, 1)
    }
}

/// Verifies metadata that arrive in pieces. Holds no more than one record in memory.
#[derive(Debug, Default)]
pub struct MetadataVerifier {
    /// Bytes of the next record that have arrived.
    part: Vec<u8>,
    heads: Option<HeadVerifier>,
    /// Head of the next record, if it has arrived.
    head: Option<RecordHead>,
    resume_point: ResumePoint,
    /// Most bytes of memory that a record may need; `None` for no limit.
    memory: Option<u64>,
}

impl MetadataVerifier {
    /// Creates a verifier that refuses records that need more than `memory` bytes of memory.
    pub fn with_limit(memory: u64) -> Self {
        MetadataVerifier { memory: Some(memory), ..MetadataVerifier::default() }
    }

    /// Adds the next bytes, and verifies the records that they complete.
    ///
    /// # Errors
    /// The bytes are no metadata, are damaged, or belong to a record that is too large.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), MetadataError> {
        self.part.extend_from_slice(bytes);
        while self.advance()? {}
        Ok(())
    }

    /// Returns the state after the last whole record.
    pub fn resume_point(&self) -> &ResumePoint {
        &self.resume_point
    }

    /// Returns the number of bytes that have arrived.
    pub fn bytes(&self) -> u64 {
        self.heads.as_ref().map_or(0, |heads| heads.offset) + self.part.len() as u64
    }

    /// Drops the bytes after the last whole record.
    pub fn rewind(&mut self) {
        self.part.clear();
        self.head = None;
        let ResumePoint { whole_bytes: offset, last, ended, .. } = self.resume_point;
        self.heads = (offset > 0).then_some(HeadVerifier { offset, last, ended });
    }

    /// Processes the next part, if it is complete: the bytes before the first record, a head, or a
    /// body. Returns whether it was complete.
    fn advance(&mut self) -> Result<bool, MetadataError> {
        let Some(heads) = &mut self.heads else {
            if self.part.len() < START_BYTES {
                let is_start = RecordChain::start().starts_with(&self.part);
                return if is_start { Ok(false) } else { Err(MetadataError::Foreign) };
            }
            self.heads = Some(HeadVerifier::start(&self.part[..START_BYTES])?);
            self.part.drain(..START_BYTES);
            return Ok(true);
        };
        let offset = heads.offset;
        let Some(head) = &self.head else {
            let Some(head) = self.part.first_chunk() else { return Ok(false) };
            let head = heads.next(head)?;
            if head.length > MOST_BODY {
                return Err(damage_error(offset, "a record is larger than it may be"));
            }
            self.head = Some(head);
            return Ok(true);
        };
        if (self.part.len() as u64) < head.record_bytes() {
            return Ok(false);
        }
        let rest = self.part.split_off(head.record_bytes() as usize);
        let body = std::mem::replace(&mut self.part, rest).split_off(HEAD_BYTES);
        if !head.matches(&body) {
            return Err(damage_error(offset, WRONG_CHECKSUM));
        }
        heads.advance(head);
        let record = Record { kind: head.kind, offset, body };
        let (whole, last) = (heads.offset, heads.last);
        self.head = None;
        self.verify(&record)?;
        (self.resume_point.whole_bytes, self.resume_point.last) = (whole, last);
        Ok(true)
    }

    fn verify(&mut self, record: &Record) -> Result<(), MetadataError> {
        let point = &mut self.resume_point;
        let mut order = RecordOrder::after(point.blocks, point.queries);
        record.verify_memory(self.memory.unwrap_or(u64::MAX))?;
        order.verify(record)?;
        match record.kind {
            RecordKind::Header => point.header = ResumePoint::header_fingerprint(&record.body),
            RecordKind::End => point.ended = true,
            RecordKind::Block => {
                let block = Block::decode(record)?;
                (point.blocks, point.queries) = (order.blocks(), order.queries());
                point.digest = block
                    .queries
                    .iter()
                    .fold(point.digest, |before, query| query.extend_fingerprint(before));
                point.batch_state = block.batch_state;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockResults, End, Query};

    fn query(number: u64) -> Query {
        Query {
            title: b"a title".to_vec(),
            ids: Vec::new(),
            letters: vec![number as u8; 50],
            lower_case: Vec::new(),
            number,
            unnamed: number,
            range: None,
            messages: vec!["m".to_owned()],
        }
    }

    /// Returns metadata with three blocks, and the offset of the end of each record.
    fn metadata() -> (Vec<u8>, Vec<u64>) {
        let (mut chain, mut bytes, mut ends) =
            (RecordChain::default(), RecordChain::start(), Vec::new());
        bytes.extend(chain.record(RecordKind::Header, b"header").unwrap());
        ends.push(bytes.len() as u64);
        for number in 1..4 {
            let results = BlockResults::report(&[b"one".to_vec()]).unwrap();
            let batch_state = Some(BatchState { letters: 100 * number as i32, ratio: Some(0.5) });
            let queries = vec![query(2 * number - 1), query(2 * number)];
            let block =
                Block { queries, batches: vec![2], batch_state, searched: Vec::new(), results };
            bytes.extend(chain.record(RecordKind::Block, &block.encode().unwrap()).unwrap());
            ends.push(bytes.len() as u64);
        }
        let end = End { queries: 6, blocks: 3, has_report: true, ..End::default() };
        bytes.extend(chain.record(RecordKind::End, &end.encode().unwrap()).unwrap());
        ends.push(bytes.len() as u64);
        (bytes, ends)
    }

    #[test]
    fn pieces_of_any_size_are_whole_up_to_the_last_record() {
        let (bytes, ends) = metadata();
        for step in [1, 5, 100, bytes.len()] {
            let mut follower = MetadataVerifier::default();
            let mut arrived = 0;
            for piece in bytes.chunks(step) {
                follower.append(piece).unwrap();
                arrived += piece.len() as u64;
                let whole = ends.iter().copied().filter(|&end| end <= arrived).max().unwrap_or(0);
                assert_eq!(
                    (follower.resume_point().whole_bytes, follower.bytes()),
                    (whole, arrived)
                );
            }
            let point = follower.resume_point();
            assert!(point.ended && point.blocks == 3 && point.queries == 6);
            assert_eq!(point.batch_state, Some(BatchState { letters: 300, ratio: Some(0.5) }));
            let digest = (1..7).fold(0, |before, number| query(number).extend_fingerprint(before));
            assert_eq!(point.digest, digest);
            assert_eq!(ResumePoint::decode(&point.encode()).as_ref(), Some(point));
        }
    }

    #[test]
    fn a_follower_rewinds_to_the_last_whole_record_from_anywhere() {
        let (bytes, _) = metadata();
        for cut in 0..bytes.len() {
            let mut follower = MetadataVerifier::default();
            follower.append(&bytes[..cut]).unwrap();
            follower.rewind();
            let whole = follower.resume_point().whole_bytes;
            assert_eq!(follower.bytes(), whole);
            follower.append(&bytes[whole as usize..]).unwrap();
            assert!(follower.resume_point().ended);
        }
    }

    #[test]
    fn damage_is_found_at_once() {
        let (bytes, ends) = metadata();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 16;
            let mut follower = MetadataVerifier::default();
            assert!(follower.append(&damaged).is_err(), "byte {at}");
            let whole = ends.iter().copied().filter(|&end| end <= at as u64).max().unwrap_or(0);
            assert_eq!(follower.resume_point().whole_bytes, whole);
        }
        let mut follower = MetadataVerifier::default();
        assert!(follower.append(&[&bytes[..], &bytes[12..]].concat()).is_err());
    }

    #[test]
    fn a_record_that_is_too_large_is_refused_by_its_head() {
        let mut follower = MetadataVerifier::default();
        follower.append(&RecordChain::start()).unwrap();
        let mut head = vec![1, 0, 0, 0];
        head.extend((MOST_BODY + 1).to_le_bytes());
        head.extend([0; 8]);
        let sum = xxh3_64_with_seed(&head, 0);
        head.extend(sum.to_le_bytes());
        assert!(follower.append(&head).is_err());
    }
}
