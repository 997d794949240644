//! Metadata looked at while they arrive, piece by piece, and where another search can go on with them.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::block::{Block, Course};
use crate::error::MetadataError;
use crate::order::Order;
use crate::records::{
    Chain, HEAD_BYTES, Head, Heads, Record, RecordKind, START_BYTES, WRONG_SUM, damaged,
};
use crate::values::{decode, encode};

/// Bytes that the body of a record may have on its way to another site: as many are held until it is whole.
pub const MOST_BODY: u32 = 1 << 28;

/// How far metadata are whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// Where the last whole record ends; 0 if there is none.
    pub whole: u64,
    /// The checksum of its head.
    pub last: u64,
    /// A fingerprint of the header.
    pub header: u64,
    /// Blocks so far.
    pub blocks: u64,
    /// Queries in them.
    pub queries: u64,
    /// The [fingerprint](crate::Query::fold) of these.
    pub digest: u64,
    /// How BLAST+ cuts the queries after them into batches; none amid one.
    pub course: Option<Course>,
    /// That is all.
    pub ended: bool,
}

impl Reached {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// From bytes; `None` for others.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }

    /// The fingerprint of a header, by what [`encode`](crate::Header::encode) makes of it.
    pub fn header(body: &[u8]) -> u64 {
        xxh3_64_with_seed(body, 1)
    }
}

/// Looks at metadata as they come. Holds no more than one record of them.
#[derive(Debug, Default)]
pub struct Follower {
    /// What came of the next record.
    part: Vec<u8>,
    heads: Option<Heads>,
    /// Of the next record, if it came.
    head: Option<Head>,
    reached: Reached,
    /// Most memory that a record may take; no bound if there is none.
    memory: Option<u64>,
}

impl Follower {
    /// Refuses records that take more than `memory` bytes of memory.
    pub fn limited(memory: u64) -> Self {
        Follower { memory: Some(memory), ..Follower::default() }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Bytes that are no metadata, damaged, or of a record that is too large.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), MetadataError> {
        self.part.extend_from_slice(bytes);
        while self.advance()? {}
        Ok(())
    }

    /// How far they are whole.
    pub fn reached(&self) -> &Reached {
        &self.reached
    }

    /// All bytes that were taken.
    pub fn bytes(&self) -> u64 {
        self.heads.as_ref().map_or(0, |heads| heads.offset) + self.part.len() as u64
    }

    /// Forgets what came after the last whole record.
    pub fn back(&mut self) {
        self.part.clear();
        self.head = None;
        let Reached { whole: offset, last, ended, .. } = self.reached;
        self.heads = (offset > 0).then_some(Heads { offset, last, ended });
    }

    /// Takes the next thing that is whole; tells whether there was one.
    fn advance(&mut self) -> Result<bool, MetadataError> {
        let Some(heads) = &mut self.heads else {
            if self.part.len() < START_BYTES {
                let is_start = Chain::start().starts_with(&self.part);
                return if is_start { Ok(false) } else { Err(MetadataError::Foreign) };
            }
            self.heads = Some(Heads::start(&self.part[..START_BYTES])?);
            self.part.drain(..START_BYTES);
            return Ok(true);
        };
        let offset = heads.offset;
        let Some(head) = &self.head else {
            let Some(head) = self.part.first_chunk() else { return Ok(false) };
            let head = heads.next(head)?;
            if head.length > MOST_BODY {
                return Err(damaged(offset, "a record is larger than it may be"));
            }
            self.head = Some(head);
            return Ok(true);
        };
        if (self.part.len() as u64) < head.record_bytes() {
            return Ok(false);
        }
        let rest = self.part.split_off(head.record_bytes() as usize);
        let body = std::mem::replace(&mut self.part, rest).split_off(HEAD_BYTES);
        if !head.has(&body) {
            return Err(damaged(offset, WRONG_SUM));
        }
        heads.pass(head);
        let record = Record { kind: head.kind, offset, body };
        let (whole, last) = (heads.offset, heads.last);
        self.head = None;
        self.look(&record)?;
        (self.reached.whole, self.reached.last) = (whole, last);
        Ok(true)
    }

    fn look(&mut self, record: &Record) -> Result<(), MetadataError> {
        let reached = &mut self.reached;
        let mut order = Order::after(reached.blocks, reached.queries);
        record.verify_memory(self.memory.unwrap_or(u64::MAX))?;
        order.verify(record)?;
        match record.kind {
            RecordKind::Header => reached.header = Reached::header(&record.body),
            RecordKind::End => reached.ended = true,
            RecordKind::Block => {
                let block = Block::decode(record)?;
                (reached.blocks, reached.queries) = (order.blocks(), order.queries());
                reached.digest =
                    block.queries.iter().fold(reached.digest, |before, query| query.fold(before));
                reached.course = block.course;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, Found, Query};

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

    /// Metadata, and where each record ends.
    fn metadata() -> (Vec<u8>, Vec<u64>) {
        let (mut chain, mut bytes, mut ends) = (Chain::default(), Chain::start(), Vec::new());
        bytes.extend(chain.record(RecordKind::Header, b"header").unwrap());
        ends.push(bytes.len() as u64);
        for number in 1..4 {
            let found = Found::report(&[b"one".to_vec()]).unwrap();
            let course = Some(Course { letters: 100 * number as i32, ratio: Some(0.5) });
            let queries = vec![query(2 * number - 1), query(2 * number)];
            let block = Block { queries, batches: vec![2], course, searched: Vec::new(), found };
            bytes.extend(chain.record(RecordKind::Block, &block.encode().unwrap()).unwrap());
            ends.push(bytes.len() as u64);
        }
        let end = End { queries: 6, blocks: 3, has_report: true, ..End::default() };
        bytes.extend(chain.record(RecordKind::End, &end.encode().unwrap()).unwrap());
        ends.push(bytes.len() as u64);
        (bytes, ends)
    }

    #[test]
    fn however_they_are_cut_they_are_whole_up_to_the_last_record() {
        let (bytes, ends) = metadata();
        for step in [1, 5, 100, bytes.len()] {
            let mut follower = Follower::default();
            let mut came = 0;
            for piece in bytes.chunks(step) {
                follower.take(piece).unwrap();
                came += piece.len() as u64;
                let whole = ends.iter().copied().filter(|&end| end <= came).max().unwrap_or(0);
                assert_eq!((follower.reached().whole, follower.bytes()), (whole, came));
            }
            let reached = follower.reached();
            assert!(reached.ended && reached.blocks == 3 && reached.queries == 6);
            assert_eq!(reached.course, Some(Course { letters: 300, ratio: Some(0.5) }));
            let digest = (1..7).fold(0, |before, number| query(number).fold(before));
            assert_eq!(reached.digest, digest);
            assert_eq!(Reached::decode(&reached.encode()).as_ref(), Some(reached));
        }
    }

    #[test]
    fn one_can_go_back_to_the_last_whole_record_from_anywhere() {
        let (bytes, _) = metadata();
        for cut in 0..bytes.len() {
            let mut follower = Follower::default();
            follower.take(&bytes[..cut]).unwrap();
            follower.back();
            let whole = follower.reached().whole;
            assert_eq!(follower.bytes(), whole);
            follower.take(&bytes[whole as usize..]).unwrap();
            assert!(follower.reached().ended);
        }
    }

    #[test]
    fn what_is_damaged_is_told_at_once() {
        let (bytes, ends) = metadata();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 16;
            let mut follower = Follower::default();
            assert!(follower.take(&damaged).is_err(), "byte {at}");
            let whole = ends.iter().copied().filter(|&end| end <= at as u64).max().unwrap_or(0);
            assert_eq!(follower.reached().whole, whole);
        }
        let mut follower = Follower::default();
        assert!(follower.take(&[&bytes[..], &bytes[12..]].concat()).is_err());
    }

    #[test]
    fn a_record_that_is_too_large_is_refused_by_its_head() {
        let mut follower = Follower::default();
        follower.take(&Chain::start()).unwrap();
        let mut head = vec![1, 0, 0, 0];
        head.extend((MOST_BODY + 1).to_le_bytes());
        head.extend([0; 8]);
        let sum = xxh3_64_with_seed(&head, 0);
        head.extend(sum.to_le_bytes());
        assert!(follower.take(&head).is_err());
    }
}
