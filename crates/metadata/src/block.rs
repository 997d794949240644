//! A block of queries: what they are, and what was found.

use std::ops::Range;

use fleetblast_seq::id::SeqId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{MetadataError, NoRoom};
use crate::records::{Record, damaged};
use crate::values::{Plain, Unpacked, compress, encode};

/// What of a search crosses the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The subjects that the report shows.
    Oids,
    /// Final alignments.
    Hits,
    /// The report.
    Report,
}

/// A query as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The title.
    pub title: Vec<u8>,
    /// Parsed identifiers.
    pub ids: Vec<SeqId>,
    /// Letters, NCBIstdaa or blastna.
    pub letters: Vec<u8>,
    /// Runs of lower case.
    pub lower_case: Vec<Range<u32>>,
    /// Number in the report.
    pub number: u64,
    /// Number among those without parsed identifiers.
    pub unnamed: u64,
    /// The part that is searched.
    pub range: Option<Range<u32>>,
    /// What BLAST+ warns of, without the query's name.
    pub messages: Vec<String>,
}

/// All of a query but its letters and its number.
#[derive(Serialize, Deserialize)]
struct Text {
    title: Vec<u8>,
    ids: Vec<SeqId>,
    length: u64,
    lower_case: Vec<Range<u32>>,
    unnamed: u64,
    range: Option<Range<u32>>,
    messages: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// As what it is told.
    pub kind: Kind,
    /// The [subjects](crate::subjects), the [alignments](crate::hits), or the compressed report.
    pub bytes: Vec<u8>,
    /// The [fingerprint](crate::hits::digest) of the alignments, or of the report.
    pub digest: u64,
}

/// How BLAST+ cuts the queries into batches where that depends on what was found before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Letters of the next batch.
    pub letters: i32,
    /// Extensions for each letter, if known.
    pub ratio: Option<f64>,
}

/// A block of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The queries. Only the number of the first one is written: the others follow it.
    pub queries: Vec<Query>,
    /// How many of them, one after the other, BLAST+ would search together.
    pub batches: Vec<u32>,
    /// How it goes on after them; none amid a batch.
    pub course: Option<Course>,
    /// Where batches reach out of the block: of each query, whether some query of its batch can be searched. Else nothing.
    pub searched: Vec<bool>,
    /// What was found.
    pub found: Found,
}

/// How the body of a block begins.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Number of the first query; the others follow it.
    first: u64,
    /// [Fingerprint](fingerprint) of the queries.
    queries: u64,
    kind: Kind,
    digest: u64,
    batches: Vec<u32>,
    course: Option<Course>,
    searched: Vec<bool>,
    /// Bytes of the texts and of the letters, which follow one after the other, both compressed; then comes what was found.
    parts: [u64; 2],
}

impl Found {
    /// A piece of a report, which tells the bytes of each query's part of it.
    ///
    /// # Errors
    /// No memory.
    pub fn report(parts: &[Vec<u8>]) -> Result<Found, NoRoom> {
        let lengths: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let plain = [encode(&lengths), parts.concat()].concat();
        let bytes = compress(&plain, Plain::Report)?;
        Ok(Found { kind: Kind::Report, digest: xxh3_64(&plain), bytes })
    }

    /// Returns the parts of a piece of a report; `None` for other bytes and for more than `most`
    /// parts.
    pub fn parts(&self, most: usize) -> Option<Vec<Vec<u8>>> {
        let plain = Unpacked::new(&self.bytes, Plain::Report)?.rest()?;
        if xxh3_64(&plain) != self.digest {
            return None;
        }
        // Empty parts take memory, too.
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
    /// As the body of a record.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self) -> Result<Vec<u8>, NoRoom> {
        let texts: Vec<Text> = self.queries.iter().map(Text::of).collect();
        let texts = compress(&encode(&texts), Plain::Values)?;
        let letters: Vec<u8> =
            self.queries.iter().flat_map(|query| &query.letters).copied().collect();
        let letters = compress(&letters, Plain::Letters)?;
        let first = self.queries.first().map_or(0, |query| query.number);
        let Found { kind, bytes, digest } = &self.found;
        let parts = [texts.len() as u64, letters.len() as u64];
        let (batches, searched) = (self.batches.clone(), self.searched.clone());
        let (kind, digest, course) = (*kind, *digest, self.course);
        let queries = fingerprint(&self.queries);
        let head = Head { first, queries, kind, digest, batches, course, searched, parts };
        Ok([&encode(&head), &texts, &letters, bytes].map(Vec::as_slice).concat())
    }

    /// From the body of a record.
    ///
    /// # Errors
    /// One that is no block.
    pub fn decode(record: &Record) -> Result<Self, MetadataError> {
        Self::parse(&record.body).ok_or(damaged(record.offset, "a block of queries cannot be read"))
    }

    fn parse(body: &[u8]) -> Option<Self> {
        let (head, rest): (Head, &[u8]) = postcard::take_from_bytes(body).ok()?;
        let Outline { first, queries: count, kind, texts, letters, found } =
            Outline::of(&head, rest)?;
        let Head { queries: stated, digest, batches, course, searched, .. } = head;
        let mut texts = Unpacked::new(texts, Plain::Values)?;
        let mut letters = Unpacked::new(letters, Plain::Letters)?;
        texts.value::<u64>().filter(|&stated| stated == count)?;
        let mut queries = Vec::new();
        for number in 0..count {
            let text: Text = texts.value()?;
            let own = letters.bytes(text.length)?;
            queries.push(text.query(first.checked_add(number)?, own)?);
        }
        let is_whole = texts.ends()
            && letters.ends()
            && fingerprint(&queries) == stated
            && (searched.is_empty() || searched.len() == queries.len())
            && batches.iter().all(|&count| count > 0);
        let found = Found { kind, bytes: found.to_vec(), digest };
        is_whole.then_some(Block { queries, batches, course, searched, found })
    }
}

/// Returns the fingerprint of the queries of a block, whatever their hits.
fn fingerprint(queries: &[Query]) -> u64 {
    queries.iter().fold(0, |before, query| {
        let messages = xxh3_64_with_seed(&encode(&query.messages), before);
        query.fold(messages)
    })
}

/// Returns the number of queries in these batches.
fn sum(batches: &[u32]) -> u64 {
    batches.iter().map(|&count| u64::from(count)).sum()
}

/// A block before anything of it is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outline<'a> {
    /// Number of the first query.
    pub first: u64,
    /// How many there are.
    pub queries: u64,
    /// Encoding of what was found.
    pub kind: Kind,
    /// Their texts.
    pub texts: &'a [u8],
    /// Their letters.
    pub letters: &'a [u8],
    /// What was found.
    pub found: &'a [u8],
}

impl<'a> Outline<'a> {
    /// Reads the body of a record; `None` if it is no block.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (head, rest) = postcard::take_from_bytes(body).ok()?;
        Self::of(&head, rest)
    }

    fn of(head: &Head, rest: &'a [u8]) -> Option<Self> {
        let [texts, letters] = head.parts.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let (texts, rest) = rest.split_at_checked(texts)?;
        let (letters, found) = rest.split_at_checked(letters)?;
        let (first, queries, kind) = (head.first, sum(&head.batches), head.kind);
        Some(Outline { first, queries, kind, texts, letters, found })
    }
}

impl Query {
    /// A fingerprint of the queries before, and this one as it was read.
    pub fn fold(&self, before: u64) -> u64 {
        let read = Text { messages: Vec::new(), ..Text::of(self) };
        let read = [encode(&self.number), encode(&read), self.letters.clone()].concat();
        xxh3_64_with_seed(&read, before)
    }
}

impl Text {
    fn of(query: &Query) -> Text {
        let Query { title, ids, letters, lower_case, number: _, unnamed, range, messages } =
            query.clone();
        let length = letters.len() as u64;
        Text { title, ids, length, lower_case, unnamed, range, messages }
    }

    /// The query with its number and letters; `None` for one that makes no sense.
    fn query(self, number: u64, letters: Vec<u8>) -> Option<Query> {
        let Text { title, ids, length, lower_case, unnamed, range, messages } = self;
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
        let found = Found::report(&[b"one".to_vec(), vec![], b"three".to_vec()]).unwrap();
        let course = Some(Course { letters: 7, ratio: Some(0.1) });
        Block { queries, batches: vec![1, 2], course, searched: Vec::new(), found }
    }

    fn record(body: Vec<u8>) -> Record {
        Record { kind: RecordKind::Block, offset: 12, body }
    }

    #[test]
    fn blocks_come_back() {
        let back = Block::decode(&record(block().encode().unwrap())).unwrap();
        assert_eq!(back, block());
        assert_eq!(back.found.parts(2), None);
        assert_eq!(back.found.parts(3).unwrap(), [&b"one"[..], b"", b"three"]);
    }

    #[test]
    fn blocks_that_nobody_wrote_are_told() {
        let whole = block().encode().unwrap();
        for end in 0..whole.len() {
            let cut = Block::decode(&record(whole[..end].to_vec()));
            // What was found is looked at later.
            assert!(cut.is_err() || cut.unwrap().found.parts(3).is_none());
        }
        let odd = Block { batches: vec![1, 1], ..block() };
        let what = "a block of queries cannot be read";
        let wanted = Err(MetadataError::Damaged { offset: 12, what });
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        let mut odd = block();
        odd.queries[0].lower_case = vec![8..9, 3..5];
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        // Other queries in a block that is sound otherwise.
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
            let (head, _): (Head, &[u8]) = postcard::take_from_bytes(&whole).unwrap();
            let forged = other.encode().unwrap();
            let (own, rest): (Head, &[u8]) = postcard::take_from_bytes(&forged).unwrap();
            let forged = [&encode(&Head { queries: head.queries, ..own }), rest].concat();
            assert_eq!(Block::decode(&record(forged)), wanted);
        }
        let odd = Block { searched: vec![true, false], ..block() };
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
        let mut odd = block();
        odd.queries[0].range = Some(3..201);
        assert_eq!(Block::decode(&record(odd.encode().unwrap())), wanted);
    }
}
