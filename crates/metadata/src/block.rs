//! A block of queries with its results, and its encoding as a record.

use std::ops::Range;

use fleetblast_seq::id::SeqId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{MetadataError, OutOfMemory};
use crate::records::{Record, damage_error};
use crate::values::{ContentKind, Decompressor, compress, encode};

/// Encoding of the results of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// OIDs of the subjects that the report shows. The I/O site searches these subjects again.
    Oids,
    /// The final alignments: the I/O site formats them.
    Hits,
    /// The report itself, as text.
    Report,
}

/// A query as it was read from the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Title of the query.
    pub title: Vec<u8>,
    /// Parsed identifiers of the query.
    pub ids: Vec<SeqId>,
    /// Letters of the query, in NCBIstdaa or blastna.
    pub letters: Vec<u8>,
    /// Ranges of letters that are in lower case in the input.
    pub lower_case: Vec<Range<u32>>,
    /// Number of the query in the report, from 1.
    pub number: u64,
    /// Number of the query among the queries without parsed identifiers, from 1.
    pub unnamed: u64,
    /// Range of letters that is searched; `None` for all letters.
    pub range: Option<Range<u32>>,
    /// Warnings of BLAST+ about the query, without its name.
    pub messages: Vec<String>,
}

/// Fields of a query, without its letters and its number in the report.
#[derive(Serialize, Deserialize)]
struct QueryText {
    title: Vec<u8>,
    ids: Vec<SeqId>,
    length: u64,
    lower_case: Vec<Range<u32>>,
    unnamed: u64,
    range: Option<Range<u32>>,
    messages: Vec<String>,
}

/// The results of a block in one encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockResults {
    /// The encoding of `bytes`.
    pub encoding: Encoding,
    /// The encoded [subjects](crate::subjects) or [alignments](crate::hits), or the compressed
    /// report.
    pub bytes: Vec<u8>,
    /// The [fingerprint](crate::hits::digest) of the alignments, or the fingerprint of the report.
    pub digest: u64,
}

/// State from which BLAST+ forms the next batch, for programs in which batches depend on earlier
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchState {
    /// Number of letters that the next batch should have.
    pub letters: i32,
    /// Ungapped extensions per letter in earlier batches, if known.
    pub ratio: Option<f64>,
}

/// A block of queries with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The queries. Only the number of the first one is encoded, since they are consecutive.
    pub queries: Vec<Query>,
    /// Number of queries in each batch.
    pub batches: Vec<u32>,
    /// State after the last batch. It is `None` if batches may extend beyond the block, and for
    /// psiblast.
    pub batch_state: Option<BatchState>,
    /// For each query, whether any query of its batch can be searched. Empty unless batches may
    /// extend beyond the block.
    pub searched: Vec<bool>,
    /// Results of the queries.
    pub results: BlockResults,
}

/// The first part of the body of a block's record.
#[derive(Serialize, Deserialize)]
struct BlockHead {
    /// Number of the first query. The queries are consecutive.
    first: u64,
    /// [Fingerprint](fingerprint) of the queries.
    queries: u64,
    encoding: Encoding,
    digest: u64,
    batches: Vec<u32>,
    batch_state: Option<BatchState>,
    searched: Vec<bool>,
    /// Number of bytes of the compressed texts, and number of bytes of the compressed letters. Both
    /// follow in this order, and then the results.
    parts: [u64; 2],
}

impl BlockResults {
    /// Encodes and compresses the parts of a report, with their lengths.
    ///
    /// # Errors
    /// There is not enough memory to compress the report.
    pub fn report(parts: &[Vec<u8>]) -> Result<BlockResults, OutOfMemory> {
        let lengths: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let plain = [encode(&lengths), parts.concat()].concat();
        let bytes = compress(&plain, ContentKind::Report)?;
        Ok(BlockResults { encoding: Encoding::Report, digest: xxh3_64(&plain), bytes })
    }

    /// Decodes the parts of a report. Returns `None` for invalid bytes, and for more than `most`
    /// parts.
    pub fn parts(&self, most: usize) -> Option<Vec<Vec<u8>>> {
        let plain = Decompressor::new(&self.bytes, ContentKind::Report)?.rest()?;
        if xxh3_64(&plain) != self.digest {
            return None;
        }
        // Empty parts take memory too, so their number is checked before they are decoded.
        let (count, _): (u64, &[u8]) = postcard::take_from_bytes(&plain).ok()?;
        if count > most as u64 {
            return None;
        }
        let (lengths, mut text): (Vec<u64>, &[u8]) = postcard::take_from_bytes(&plain).ok()?;
        let mut parts = Vec::new();
        for length in lengths {
            let (part, rest) = text.split_at_checked(usize::try_from(length).ok()?)?;
            parts.push(part.to_vec());
            text = rest;
        }
        text.is_empty().then_some(parts)
    }
}

impl Block {
    /// Encodes the block as the body of a record.
    ///
    /// # Errors
    /// There is not enough memory to compress the block.
    pub fn encode(&self) -> Result<Vec<u8>, OutOfMemory> {
        let texts: Vec<QueryText> = self.queries.iter().map(QueryText::from_query).collect();
        let texts = compress(&encode(&texts), ContentKind::Values)?;
        let letters: Vec<u8> =
            self.queries.iter().flat_map(|query| &query.letters).copied().collect();
        let letters = compress(&letters, ContentKind::Letters)?;
        let first = self.queries.first().map_or(0, |query| query.number);
        let BlockResults { encoding, bytes, digest } = &self.results;
        let parts = [texts.len() as u64, letters.len() as u64];
        let (batches, searched) = (self.batches.clone(), self.searched.clone());
        let (encoding, digest, batch_state) = (*encoding, *digest, self.batch_state);
        let queries = fingerprint(&self.queries);
        let head =
            BlockHead { first, queries, encoding, digest, batches, batch_state, searched, parts };
        Ok([&encode(&head), &texts, &letters, bytes].map(Vec::as_slice).concat())
    }

    /// Decodes a block from the body of a record.
    ///
    /// # Errors
    /// The record is not a valid block.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        Self::parse(&record.body)
            .ok_or(damage_error(record.offset, "a block of queries cannot be read"))
    }

    fn parse(body: &[u8]) -> Option<Self> {
        let (head, rest): (BlockHead, &[u8]) = postcard::take_from_bytes(body).ok()?;
        let BlockParts { first, queries: count, encoding, texts, letters, results } =
            BlockParts::split(&head, rest)?;
        let BlockHead { queries: stated, digest, batches, batch_state, searched, .. } = head;
        let mut texts = Decompressor::new(texts, ContentKind::Values)?;
        let mut letters = Decompressor::new(letters, ContentKind::Letters)?;
        texts.value::<u64>().filter(|&stated| stated == count)?;
        let mut queries = Vec::new();
        for number in 0..count {
            let text: QueryText = texts.value()?;
            let own = letters.bytes(text.length)?;
            queries.push(text.into_query(first.checked_add(number)?, own)?);
        }
        let is_whole = texts.is_at_end()
            && letters.is_at_end()
            && fingerprint(&queries) == stated
            && (searched.is_empty() || searched.len() == queries.len())
            && batches.iter().all(|&count| count > 0);
        let results = BlockResults { encoding, bytes: results.to_vec(), digest };
        is_whole.then_some(Block { queries, batches, batch_state, searched, results })
    }
}

/// Returns the fingerprint of the queries of a block. It does not depend on their results.
fn fingerprint(queries: &[Query]) -> u64 {
    queries.iter().fold(0, |before, query| {
        let messages = xxh3_64_with_seed(&encode(&query.messages), before);
        query.extend_fingerprint(messages)
    })
}

/// Returns the number of queries in all batches.
fn sum(batches: &[u32]) -> u64 {
    batches.iter().map(|&count| u64::from(count)).sum()
}

/// The parts of the body of a block, before they are decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockParts<'a> {
    /// Number of the first query.
    pub first: u64,
    /// Number of queries.
    pub queries: u64,
    /// Encoding of the results.
    pub encoding: Encoding,
    /// The compressed fields of the queries, without their letters.
    pub texts: &'a [u8],
    /// The compressed letters of the queries.
    pub letters: &'a [u8],
    /// The encoded results.
    pub results: &'a [u8],
}

impl<'a> BlockParts<'a> {
    /// Splits the body of a record into the parts of a block. Returns `None` if it is no block.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (head, rest) = postcard::take_from_bytes(body).ok()?;
        Self::split(&head, rest)
    }

    fn split(head: &BlockHead, rest: &'a [u8]) -> Option<Self> {
        let [texts, letters] = head.parts.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let (texts, rest) = rest.split_at_checked(texts)?;
        let (letters, results) = rest.split_at_checked(letters)?;
        let (first, queries, encoding) = (head.first, sum(&head.batches), head.encoding);
        Some(BlockParts { first, queries, encoding, texts, letters, results })
    }
}

impl Query {
    /// Returns the fingerprint of this query and all queries before it. `before` is the fingerprint
    /// of these earlier queries, 0 for none.
    pub fn extend_fingerprint(&self, before: u64) -> u64 {
        let read = QueryText { messages: Vec::new(), ..QueryText::from_query(self) };
        let read = [encode(&self.number), encode(&read), self.letters.clone()].concat();
        xxh3_64_with_seed(&read, before)
    }
}

impl QueryText {
    fn from_query(query: &Query) -> QueryText {
        let Query { title, ids, letters, lower_case, number: _, unnamed, range, messages } =
            query.clone();
        let length = letters.len() as u64;
        QueryText { title, ids, length, lower_case, unnamed, range, messages }
    }

    /// Adds the number and the letters of the query. Returns `None` if its ranges are invalid.
    fn into_query(self, number: u64, letters: Vec<u8>) -> Option<Query> {
        let QueryText { title, ids, length, lower_case, unnamed, range, messages } = self;
        let length = u32::try_from(length).ok()?;
        let mut end = 0;
        for run in &lower_case {
            if run.start < end || run.end <= run.start || run.end > length {
                return None;
            }
            end = run.end;
        }
        let is_inside = |range: &Range<u32>| range.start <= range.end && range.end <= length;
        if !range.as_ref().is_none_or(is_inside) {
            return None;
        }
        Some(Query { title, ids, letters, lower_case, number, unnamed, range, messages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::RecordKind;

    fn block() -> Block {
        let query = |number: u64| Query {
            title: b"a title".to_vec(),
            ids: vec![SeqId::Gi(7)],
            letters: (0..200).map(|i| i % 20 + 1).collect(),
            lower_case: vec![3..5, 8..9],
            number,
            unnamed: 0,
            range: Some(2..90),
            messages: vec!["m".to_owned()],
        };
        let queries = (1..4).map(query).collect();
        let results = BlockResults::report(&[b"one".to_vec(), vec![], b"three".to_vec()]).unwrap();
        let batch_state = Some(BatchState { letters: 7, ratio: Some(0.1) });
        Block { queries, batches: vec![1, 2], batch_state, searched: Vec::new(), results }
    }

    fn record(body: Vec<u8>) -> Record {
        Record { kind: RecordKind::Block, offset: 12, body }
    }

    #[test]
    fn blocks_come_back() {
        let back = Block::decode(&record(block().encode().unwrap())).unwrap();
        assert_eq!(back, block());
        assert_eq!(back.results.parts(2), None);
        assert_eq!(back.results.parts(3).unwrap(), [&b"one"[..], b"", b"three"]);
    }

    #[test]
    fn invalid_blocks_are_refused() {
        let whole = block().encode().unwrap();
        for end in 0..whole.len() {
            let cut = Block::decode(&record(whole[..end].to_vec()));
            // The results are checked later, when they are decoded.
            assert!(cut.is_err() || cut.unwrap().results.parts(3).is_none());
        }
        let odd = Block { batches: vec![1, 1], ..block() };
        let what = "a block of queries cannot be read";
        let wanted = Err(MetadataError::Damaged { offset: 12, what });
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        let mut odd = block();
        odd.queries[0].lower_case = vec![8..9, 3..5];
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        // The fingerprint detects other queries in a block that is otherwise valid.
        let edits: [fn(&mut Query); 4] = [
            |query| query.title.push(b'x'),
            |query| query.letters[7] = 3,
            |query| query.messages.clear(),
            |query| query.lower_case.clear(),
        ];
        for edit in edits {
            let mut other = block();
            edit(&mut other.queries[1]);
            let whole = block().encode().unwrap();
            let (head, _): (BlockHead, &[u8]) = postcard::take_from_bytes(&whole).unwrap();
            let forged = other.encode().unwrap();
            let (own, rest): (BlockHead, &[u8]) = postcard::take_from_bytes(&forged).unwrap();
            let forged = [&encode(&BlockHead { queries: head.queries, ..own }), rest].concat();
            assert_eq!(Block::decode(&record(forged)), wanted);
        }
        let odd = Block { searched: vec![true, false], ..block() };
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        let mut odd = block();
        odd.queries[0].range = Some(3..201);
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
    }
}
