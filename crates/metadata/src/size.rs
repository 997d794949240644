//! Computes the memory that a record needs when it is decoded, before it is decoded.
//!
//! The lengths that the compressed parts of a record state give an upper bound. If the bound is too
//! large, the exact memory is counted: the parts are decompressed piece by piece, and no piece is
//! kept.

use fleetblast_engine::hits::{Alignment, Edit, SubjectHit};
use fleetblast_seq::id::SeqId;
use serde::de::DeserializeOwned;

use crate::columns::{packed_columns, sum};
use crate::records::{Record, RecordKind};
use crate::subjects::{self, ShownSubjects};
use crate::values::{ContentKind, Decompressor, stated_length};
use crate::weight::lists;
use crate::weight::{
    EndWeight, HeadWeight, HeaderWeight, Items, IterationsWeight, TextWeight, Weigh,
};
use crate::{Encoding, MetadataError, hits};

/// Most bytes of memory that a byte of encoded values or of a column takes when it is decoded.
const WORST: u64 = 128;
/// Encoded bytes of the smallest identifier. Of all values, it takes most memory for each encoded
/// byte.
const LEAST_ID: usize = 2;
const _: () = assert!(2 * size_of::<SeqId>() <= WORST as usize * LEAST_ID);
/// Most bytes of memory that a byte of letters or of a report takes when it is decoded: the
/// decompressed byte and a copy of it.
const COPIED: u64 = 2;

impl Record {
    /// Verifies that the decoded record needs no more than about `available` bytes of memory.
    ///
    /// # Errors
    /// [`MetadataError::Memory`]. An invalid record may pass; then decoding it fails.
    pub fn verify_memory(&self, available: u64) -> Result<(), MetadataError> {
        let most = most_memory(self).unwrap_or(0);
        if most <= available {
            return Ok(());
        }
        // Decoding an invalid part may need all of the bound before the error is found.
        let needed = counted_memory(self).map_or(most, |counted| counted.min(most));
        match needed > available {
            true => Err(MetadataError::Memory { offset: self.offset, needed, available }),
            false => Ok(()),
        }
    }
}

/// The parts of the body of a block, before they are decompressed.
struct Parts<'a> {
    /// Bytes of memory that the head takes.
    head: u64,
    encoding: Encoding,
    texts: &'a [u8],
    letters: &'a [u8],
    results: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let (head, rest): (HeadWeight, &[u8]) = postcard::take_from_bytes(body).ok()?;
        let (lengths, rest): ([u64; 2], &[u8]) = postcard::take_from_bytes(rest).ok()?;
        let [texts, letters] = lengths.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let (texts, rest) = rest.split_at_checked(texts)?;
        let (letters, results) = rest.split_at_checked(letters)?;
        Some(Parts { head: head.outside(), encoding: head.encoding, texts, letters, results })
    }

    /// Returns the memory of the block in bytes, given the memory of its texts and of its results.
    fn memory(&self, texts: u64, results: u64) -> Option<u64> {
        let letters = stated_length(self.letters, ContentKind::Letters)?.saturating_mul(COPIED);
        Some([self.head, texts, letters, results].into_iter().fold(0, u64::saturating_add))
    }

    fn report(&self) -> u64 {
        stated_length(self.results, ContentKind::Report).unwrap_or(0).saturating_mul(COPIED)
    }
}

/// Returns an upper bound of the memory of a record in bytes, from the lengths that its parts
/// state. Returns `None` for an invalid block.
fn most_memory(record: &Record) -> Option<u64> {
    let worst = |packed: &[u8]| {
        stated_length(packed, ContentKind::Values).unwrap_or(0).saturating_mul(WORST)
    };
    if record.kind != RecordKind::Block {
        return Some(worst(&record.body));
    }
    let parts = Parts::read(&record.body)?;
    let columns = |bytes: &[u8]| columns_length(bytes).unwrap_or(0).saturating_mul(WORST);
    let results = match parts.encoding {
        Encoding::Report => parts.report(),
        Encoding::Oids | Encoding::Hits => {
            let iterations = split_iterations(parts.results)
                .map_or(0, |(own, rest)| worst(own).saturating_add(columns(rest)));
            columns(parts.results).max(iterations)
        }
    };
    parts.memory(worst(parts.texts), results)
}

/// Counts the memory of a record in bytes, from its contents. Returns `None` for invalid bytes.
fn counted_memory(record: &Record) -> Option<u64> {
    match record.kind {
        RecordKind::Header => Some(weigh::<HeaderWeight>(&record.body)?.outside()),
        RecordKind::End => Some(weigh::<EndWeight>(&record.body)?.outside()),
        RecordKind::Block => {
            let parts = Parts::read(&record.body)?;
            let texts = weigh::<Items<TextWeight>>(parts.texts)?.outside();
            let results = match parts.encoding {
                Encoding::Report => parts.report(),
                Encoding::Oids | Encoding::Hits => results_memory(parts.results)?,
            };
            parts.memory(texts, results)
        }
    }
}

fn weigh<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    let mut unpacked = Decompressor::new(packed, ContentKind::Values)?;
    let weight = unpacked.value()?;
    unpacked.is_at_end().then_some(weight)
}

/// Splits the results of psiblast into the compressed iterations, which follow their length, and
/// the columns of the hits.
fn split_iterations(results: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest): (u64, &[u8]) = postcard::take_from_bytes(results).ok()?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

fn results_memory(results: &[u8]) -> Option<u64> {
    if let Some(columns) = columns_memory(results) {
        return Some(columns);
    }
    let (own, columns) = split_iterations(results)?;
    Some(weigh::<IterationsWeight>(own)?.outside().saturating_add(columns_memory(columns)?))
}

/// Returns the memory in bytes of joined columns and of the values decoded from them.
fn columns_memory(bytes: &[u8]) -> Option<u64> {
    let columns = packed_columns(bytes)?;
    let sums = |index: usize| sum(columns[index]);
    let contents = match columns.len() {
        subjects::COLUMNS => {
            let (queries, counts) = sums(subjects::COUNTS)?;
            lists(1, queries, size_of::<ShownSubjects>()).saturating_add(lists(
                queries,
                counts >> 1,
                size_of::<u32>(),
            ))
        }
        hits::COLUMNS => {
            let (queries, hits) = sums(hits::HITS)?;
            let (_, alignments) = sums(hits::ALIGNMENTS)?;
            let (_, runs) = sums(hits::RUNS)?;
            [
                lists(1, queries, size_of::<Vec<SubjectHit>>()),
                lists(queries, hits, size_of::<SubjectHit>()),
                lists(hits, alignments, size_of::<Alignment>()),
                lists(alignments, runs, size_of::<Edit>()),
            ]
            .into_iter()
            .fold(0, u64::saturating_add)
        }
        _ => return None,
    };
    Some(contents.saturating_add(columns_length(bytes)?))
}

fn columns_length(bytes: &[u8]) -> Option<u64> {
    let columns = packed_columns(bytes)?;
    let lengths = columns.into_iter().map(|(column, is_packed)| match is_packed {
        true => stated_length(column, ContentKind::Column).unwrap_or(0),
        false => column.len() as u64,
    });
    Some(lengths.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::encode;
    use crate::{Block, BlockResults, End, Query};

    fn query() -> Query {
        Query {
            title: vec![b't'; 100],
            ids: Vec::new(),
            letters: vec![3; 5000],
            lower_case: Vec::new(),
            number: 1,
            unnamed: 1,
            range: None,
            messages: Vec::new(),
        }
    }

    fn block(results: BlockResults) -> Record {
        block_of(query(), results)
    }

    fn block_of(query: Query, results: BlockResults) -> Record {
        let (queries, batches) = (vec![query], vec![1]);
        let block = Block { queries, batches, batch_state: None, searched: Vec::new(), results };
        Record { kind: RecordKind::Block, offset: 77, body: block.encode().unwrap() }
    }

    fn needed_bytes(record: &Record) -> u64 {
        match record.verify_memory(0) {
            Err(MetadataError::Memory { offset, needed, available: 0 }) => {
                assert_eq!(offset, record.offset);
                assert!(record.verify_memory(needed).is_ok());
                needed
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_memory_of_a_record_is_known_before_it_is_decoded() {
        let size = size_of::<Query>() as u64;
        let own = 10_000 + 2 * 100 + 4 * size;
        let room = |bytes: u64| bytes..bytes + 1000;
        let report = needed_bytes(&block(BlockResults::report(&[vec![b'r'; 90_000]]).unwrap()));
        assert!(room(own + 180_000).contains(&report), "{report}");
        let shown = [ShownSubjects { oids: (0..30_000).collect(), overflowed: false }];
        let bytes = subjects::encode(&shown).unwrap();
        let subjects =
            needed_bytes(&block(BlockResults { encoding: Encoding::Oids, bytes, digest: 0 }));
        // Each OID takes four bytes, and up to twice that in a list. In the column it takes one
        // bit.
        assert!(room(own + 240_000 + 30_000 / 8).contains(&subjects), "{subjects}");
        let report_end = vec![b'c'; 10_000];
        let body = End { report_end, ..End::default() }.encode().unwrap();
        let end = needed_bytes(&Record { kind: RecordKind::End, offset: 5, body });
        assert!(room(20_000).contains(&end), "{end}");
        let odd = Record { kind: RecordKind::Block, offset: 5, body: vec![9; 50] };
        assert_eq!(odd.verify_memory(0), Ok(()));
    }

    /// Each empty message takes one byte in the file, and the size of a `String` in memory.
    #[test]
    fn empty_messages_count() {
        let results = || BlockResults::report(&[Vec::new()]).unwrap();
        let mut query = query();
        query.messages = vec![String::new(); 1 << 20];
        let needed = needed_bytes(&block_of(query, results()));
        assert!((1 << 20) * (size_of::<String>() as u64) < needed, "{needed}");
        assert!(needed < (1 << 20) * 3 * (size_of::<String>() as u64), "{needed}");
    }

    /// The query is cut off within its messages. They are decoded up to there.
    #[test]
    fn values_that_cannot_be_read_whole_count_for_the_most() {
        let results = || BlockResults::report(&[Vec::new()]).unwrap();
        let record = block(results());
        let parts = Parts::read(&record.body).unwrap();
        let queries = [&[1, 0, 0, 0, 0, 0, 0][..], &[0xff, 0xff, 0x7f], &[0; 50_000]].concat();
        let texts = crate::values::compress(&queries, ContentKind::Values).unwrap();
        let (first, batch_state, searched): (u64, Option<crate::BatchState>, Vec<bool>) =
            (1, None, vec![]);
        let lengths = [texts.len() as u64, parts.letters.len() as u64];
        let head =
            (first, 0u64, Encoding::Report, 0u64, vec![1u32], batch_state, searched, lengths);
        let body = [&encode(&head), &texts, parts.letters, parts.results].map(|part| part.to_vec());
        let record = Record { kind: RecordKind::Block, offset: 77, body: body.concat() };
        assert!(needed_bytes(&record) > 50_000 * WORST);
    }

    /// The types of `weight` must have the same encoding as the types for which they stand.
    #[test]
    fn everything_can_be_weighed() {
        use crate::header::{Database, DatabaseFingerprint, Header, OptionValue, Paragraph};
        use crate::iterations::{BlockIterations, IterationResult, QueryIterations};
        use fleetblast_db::restrict::{ListEntries, Restriction, SeqIdList};
        use fleetblast_seq::id::{NumberKind, ObjectId, TextKind};

        let text = || b"text".to_vec();
        let number = ObjectId::Number(7);
        let mut query = query();
        query.ids = vec![
            SeqId::Local(number.clone()),
            SeqId::Local(ObjectId::Text(text())),
            SeqId::General { db: text(), tag: number },
            SeqId::Gi(7),
            SeqId::Pdb { mol: text(), chain: text() },
            SeqId::Patent { country: text(), number: text(), sequence: 7 },
            SeqId::Text {
                kind: TextKind::NamedAnnotTrack,
                accession: text(),
                version: Some(7),
                name: text(),
                release: text(),
            },
            SeqId::Numbered(NumberKind::Import, 7),
        ];
        (query.lower_case, query.range) = (vec![3..5, 7..9], Some(2..9));
        let block = block_of(query, BlockResults::report(&[text()]).unwrap());
        assert!(counted_memory(&block).is_some());

        let fingerprint =
            DatabaseFingerprint { sequences: 1, letters: 2, residues: 3, headers: 4, rest: 5 };
        let (title, date, masked_using) = (text(), text(), text());
        let paragraph = Paragraph { title, date, masked_using, sequences: 1, residues: 2 };
        let paragraphs = vec![paragraph];
        let database = Database { label: text(), paragraphs, is_subject: false, fingerprint };
        let values = [
            OptionValue::Flag,
            OptionValue::Text(text()),
            OptionValue::Integer(7),
            OptionValue::Real(0.5),
            OptionValue::Boolean(true),
        ];
        let names = SeqIdList { ids: vec![text()], is_binary: true, database_residues: 7 };
        for ids in
            [ListEntries::Sequences(names), ListEntries::Gis(vec![7]), ListEntries::Taxids(vec![7])]
        {
            let header = Header {
                program: "blastp".to_owned(),
                version: "1".to_owned(),
                options: values.clone().map(|value| ("name".to_owned(), value)).to_vec(),
                environment: vec![("NAME".to_owned(), text())],
                command: text(),
                inputs: vec![("taxdb.btd".to_owned(), "digest".to_owned())],
                restriction: Some(Restriction::new(ids, true)),
                encodings: crate::EncodingChoice::Only(Encoding::Hits),
                hitlist_size: 500,
                database: database.clone(),
            };
            let body = header.encode().unwrap();
            assert!(needed_bytes(&Record { kind: RecordKind::Header, offset: 12, body }) > 0);
            let body = header.encode().unwrap();
            let record = Record { kind: RecordKind::Header, offset: 12, body };
            assert!(counted_memory(&record).is_some());
        }

        let iteration = IterationResult {
            statistics: None,
            known: Some(vec![7]),
            messages: vec!["m".to_owned()],
            hidden: 7,
            exceeds: true,
        };
        let queries = vec![QueryIterations { iterations: vec![iteration], converged: true }];
        let iterations = BlockIterations { is_document: true, before: 7, queries };
        let bytes = subjects::encode(&[ShownSubjects::default()]).unwrap();
        let bytes = iterations.encode(&bytes).unwrap();
        assert!(results_memory(&bytes).is_some());
        let bytes = iterations.encode(&hits::encode(&[], &NoStatistics).unwrap()).unwrap();
        assert!(results_memory(&bytes).is_some());
    }

    /// Statistics that are never used, since there are no alignments.
    struct NoStatistics;

    impl hits::ScoreStatistics for NoStatistics {
        fn scale(&self, _: usize) -> i32 {
            1
        }

        fn bit_score(&self, _: usize, _: u8, _: i32) -> f64 {
            0.0
        }

        fn evalue(&self, _: usize, _: u8, _: u32, _: i32) -> f64 {
            0.0
        }
    }
}
