//! Data that ranks exchange, and their encoding.

use std::fmt;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::hits::{Alignment, CandidateHit, PrelimHit, SubjectHit};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::{Query as Prepared, QueryInput, QueryPreparation};
use fleetblast_engine::search::Search;
use fleetblast_fleet::payload::Payload;
use fleetblast_report::sam::SamSortKey;
use fleetblast_report::table::DescriptionRow;
use fleetblast_seq::fasta::Record;
use fleetblast_seq::id::SeqId;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::iteration::EncodedPssm;
use crate::queries::QueryRecord;

/// Compression level of queries. They are read once and sent to many ranks.
const LEVEL: i32 = 3;

/// Bytes that several owners share.
#[derive(Clone, Debug)]
pub struct Bytes(Arc<[u8]>);

impl Bytes {
    /// Returns the bytes.
    pub fn get(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(bytes.into())
    }
}

impl Payload for Bytes {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.into()))
            }
        }
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

/// Encodes a value.
///
/// # Errors
/// The types of this module can always be encoded.
pub fn encode<T: Serialize>(value: &T) -> Result<Bytes, Error> {
    postcard::to_allocvec(value).map(Bytes::from).map_err(|error| undecodable(&error))
}

/// Decodes a value.
///
/// # Errors
/// The bytes are not an encoded value. Ranks have compared their builds before, so this is a fault.
pub fn decode<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Error> {
    postcard::from_bytes(bytes.get()).map_err(|error| undecodable(&error))
}

fn undecodable(error: &dyn fmt::Display) -> Error {
    // The decompressor runs out of memory with this message.
    if error.to_string().starts_with("Allocation error") {
        return Error::starved("no room for a message between ranks");
    }
    Error::engine(format_args!(
        "a message between ranks cannot be decoded ({error}): it differs from the one that was sent"
    ))
}

/// A block of queries, as ranks exchange it.
#[derive(Debug, Serialize, Deserialize)]
pub struct QueryBlock {
    /// The queries in the order of the input.
    pub queries: Vec<WireQuery>,
    /// The preparation of each query, so that ranks need not compute masks and statistics again.
    /// Empty before a rank has prepared the queries.
    pub preparations: Vec<QueryPreparation>,
    /// Number of consecutive queries in each batch of BLAST+.
    pub batches: Vec<u32>,
    /// How the queries are searched; `None` before a rank has prepared them.
    pub batch_grouping: Option<BatchGrouping>,
    /// PSSM and masks of each query; empty if the queries have no PSSM.
    pub pssm_queries: Vec<PssmQuery>,
    /// The link to the I/O site, as measured when the queries were read.
    pub link: Option<LinkStatistics>,
}

/// The PSSM of a query, and its masks. The masks may differ from those of the query as read.
#[derive(Debug, Serialize, Deserialize)]
pub struct PssmQuery {
    /// Letters of the query before this iteration masks them. Earlier iterations may have masked
    /// some of them.
    unmasked: Vec<u8>,
    lower_case: Vec<std::ops::Range<u32>>,
    pssm: Pssm,
}

impl PssmQuery {
    /// Returns PSSM and masks of a query; `None` if the query has no PSSM. Omits the statistics of
    /// columns, which a search does not need.
    pub fn from_query(query: &Prepared) -> Option<Self> {
        let (pssm, context) = (query.pssm.as_ref()?, query.first());
        let (unmasked, lower_case) = (context.unmasked.to_vec(), context.lower_case.clone());
        let Pssm { query, scores, frequencies, ungapped, gapped, .. } = Pssm::clone(pssm);
        let pssm = Pssm { query, scores, frequencies, ungapped, gapped, observed: None };
        Some(PssmQuery { unmasked, lower_case, pssm })
    }

    /// Restores the query from its cached masks and statistics.
    pub fn into_query(self, engine: &Search, preparation: QueryPreparation) -> Prepared {
        let PssmQuery { unmasked, lower_case, pssm } = self;
        let input = QueryInput { letters: unmasked, lower_case, ..QueryInput::default() };
        engine.query_from_preparation(&input, preparation).with_pssm(Arc::new(pssm))
    }
}

/// How the queries of a block are searched, as far as it depends on their batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchGrouping {
    /// How the engine groups the queries.
    pub grouping: Grouping,
    /// For each query, whether its batch has a searchable query.
    pub searched: Vec<bool>,
}

/// Statistics of a searched block. With these, the supermaster verifies the predicted batches.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExtensionStatistics {
    /// Number of extensions of each query. BLAST+ derives the sizes of batches from them.
    pub extensions: Vec<u64>,
    /// Whether an extension reached letters of neighbouring queries that the grouping did not
    /// include.
    pub reached_unknown_letters: bool,
}

/// The outcome of a block's iterations, for the supermaster: data to print and to store.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct IterationOutcome {
    /// For each query, the warning of BLAST+ about each part of its iterations, if there is one.
    /// Ends with the last query that is reported.
    pub warnings: Vec<Vec<Option<Vec<u8>>>>,
    /// Number of those parts in `warnings` that do not count as iterations.
    pub uncounted: u64,
    /// PSSMs to write to files, in the order of writing.
    pub pssms: Vec<EncodedPssm>,
    /// Exit code and message of the error that ended the last iteration.
    pub failure: Option<(u8, String)>,
}

/// Number of iterations that are reported before a block. `None` if the report ended before the
/// block.
pub type PrecedingSearches = Option<u64>;

/// The supermaster's answer to the statistics of a block.
#[derive(Debug, Serialize, Deserialize)]
pub enum Verification {
    /// The predicted batches were correct.
    Correct,
    /// The predicted batches are correct for this number of queries. Later queries are not
    /// reported, and neither are later blocks.
    CorrectUntil(u32),
    /// The predicted batches are wrong, or an extension reached farther than the included letters.
    /// The queries must be searched again with this grouping.
    SearchAgain(BatchGrouping),
}

/// A query as read, like [`QueryRecord`]. Its warnings from reading were already printed.
#[derive(Debug, Serialize, Deserialize)]
pub struct WireQuery {
    title: Vec<u8>,
    ids: Vec<SeqId>,
    residues: Vec<u8>,
    lower_case: Vec<std::ops::Range<u32>>,
    number: u64,
    unnamed: u64,
    pssm_name: Option<Vec<u8>>,
    range: Option<std::ops::Range<u32>>,
    repeats: Vec<std::ops::Range<u32>>,
    messages: Vec<String>,
    /// The definition line, unless it is equal to the title.
    defline: Option<Vec<u8>>,
    follows_searchable: bool,
    reading_warnings: Vec<String>,
}

impl From<QueryRecord> for WireQuery {
    fn from(record: QueryRecord) -> Self {
        let QueryRecord {
            record,
            number,
            unnamed,
            pssm_name,
            range,
            repeats,
            messages,
            follows_searchable,
            // Only `blast_formatter` reads archives.
            archived: _,
            reading_warnings,
        } = record;
        let Record { title, ids, residues, lower_case, defline, .. } = record;
        let (number, unnamed) = (number as u64, unnamed as u64);
        let defline = Some(defline).filter(|line| *line != title);
        WireQuery {
            title,
            ids,
            residues,
            lower_case,
            number,
            unnamed,
            pssm_name,
            range,
            repeats,
            messages,
            defline,
            follows_searchable,
            reading_warnings,
        }
    }
}

impl From<WireQuery> for QueryRecord {
    fn from(query: WireQuery) -> Self {
        let WireQuery {
            title,
            ids,
            residues,
            lower_case,
            number,
            unnamed,
            pssm_name,
            range,
            repeats,
            messages,
            defline,
            follows_searchable,
            reading_warnings,
        } = query;
        let defline = defline.unwrap_or_else(|| title.clone());
        let record = Record { defline, title, ids, residues, lower_case, ..Record::default() };
        let (number, unnamed) = (number as usize, unnamed as usize);
        QueryRecord {
            record,
            number,
            unnamed,
            pssm_name,
            range,
            repeats,
            messages,
            follows_searchable,
            archived: None,
            reading_warnings,
        }
    }
}

impl QueryBlock {
    /// Encodes and compresses the block.
    ///
    /// # Errors
    /// See [`encode`].
    pub fn encode(&self) -> Result<Bytes, Error> {
        let plain = encode(self)?;
        zstd::encode_all(plain.get(), LEVEL).map(Bytes::from).map_err(|error| undecodable(&error))
    }

    /// Decodes a compressed block.
    ///
    /// # Errors
    /// See [`decode`].
    pub fn decode(bytes: &Bytes) -> Result<Self, Error> {
        let plain = zstd::decode_all(bytes.get()).map_err(|error| undecodable(&error))?;
        decode(&plain.into())
    }
}

/// A question of a master to a worker, about hits in one partition.
#[derive(Debug, Serialize, Deserialize)]
pub enum Question {
    /// Align these hits.
    Align(Vec<HitToAlign>),
    /// Return the rows of the description table for these subjects.
    Describe(Vec<ReportedHit>),
    /// Format each of these subjects as a piece of the report.
    Format {
        /// The subjects.
        chosen: Vec<ReportedHit>,
        /// Whether to return the rows of the description table, too.
        wants_description_rows: bool,
    },
    /// Return all alignments of these subjects. The master formats or encodes them.
    SendAlignments(Vec<ReportedHit>),
    /// Return these alignments with the aligned letters of the subjects, from which a PSSM is made.
    SendAlignedLetters(Vec<ReportedHit>),
}

/// A preliminary hit to be aligned.
#[derive(Debug, Serialize, Deserialize)]
pub struct HitToAlign {
    /// Number of the query in the block.
    pub query: u32,
    /// The hit.
    pub hit: PrelimHit,
}

/// A hit that the report shows.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReportedHit {
    /// Number of the query in the block.
    pub query: u32,
    /// OID of the subject.
    pub oid: u32,
    /// Position among the printed hits of the query, from 1.
    pub rank: u32,
    /// Number of all printed subjects of the query.
    pub hit_count: u32,
    /// Indexes of the alignments to show among all alignments of the subject, in the order of the
    /// report.
    pub alignments: Vec<u32>,
    /// Hits of the same identifier that the report joins to this hit.
    pub joined: Vec<SubjectHit>,
}

/// The answer of a worker to a [`Question`] about one partition. It has one item for each hit of
/// the question, in the same order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Answers [`Question::Align`] with alignments without their columns. `None` for a subject that
    /// a restriction excludes.
    Aligned(Vec<Option<CandidateHit>>),
    /// Answers [`Question::Describe`].
    Described(Vec<DescriptionRow>),
    /// Answers [`Question::Format`].
    Formatted {
        /// Rows of the description table, if the question asks for them.
        rows: Vec<DescriptionRow>,
        /// Number of bytes of each piece.
        sizes: Vec<u64>,
    },
    /// Answers [`Question::Format`] in SAM: the lines of each subject. Each line is a piece.
    Lines(Vec<Vec<SamLine>>),
    /// Answers [`Question::SendAlignments`].
    Alignments(Vec<SubjectHit>),
    /// Answers [`Question::SendAlignedLetters`].
    AlignedLetters(Vec<AlignedLetters>),
}

/// The alignments of a subject, each with the aligned letters of the subject.
pub type AlignedLetters = Vec<(Alignment, Vec<u8>)>;

/// A formatted line of a SAM report, which the worker has stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SamLine {
    /// Key by which the lines of a query are sorted.
    pub key: SamSortKey,
    /// Length in bytes.
    pub length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_as_they_were_encoded() {
        let record = Record {
            defline: b"gi|7 a title".to_vec(),
            title: b"a title".to_vec(),
            ids: vec![SeqId::Gi(7)],
            residues: (0..200).map(|i| i % 20 + 1).collect(),
            lower_case: vec![3..5, 8..9],
            ..Record::default()
        };
        let messages = vec!["m".to_owned()];
        let (range, repeats) = (Some(2..90), vec![20..35, 40..41]);
        let (number, unnamed) = (12, 3);
        let sent = QueryRecord {
            record: record.clone(),
            number,
            unnamed,
            pssm_name: Some(b"q".to_vec()),
            range: range.clone(),
            repeats: repeats.clone(),
            messages,
            follows_searchable: true,
            archived: None,
            reading_warnings: vec!["w".to_owned()],
        };
        let preparations = Vec::new();
        let queries = QueryBlock {
            queries: vec![sent.into()],
            preparations,
            batches: vec![1],
            batch_grouping: None,
            pssm_queries: Vec::new(),
            link: None,
        };
        let mut got = QueryBlock::decode(&queries.encode().unwrap()).unwrap();
        assert_eq!(got.batches, [1]);
        let back = QueryRecord::from(got.queries.remove(0));
        assert_eq!((back.record, back.range, back.repeats), (record, range, repeats));
        assert_eq!((back.number, back.unnamed), (number, unnamed));
        assert_eq!(back.pssm_name.as_deref(), Some(&b"q"[..]));
        assert_eq!(
            (back.messages, back.reading_warnings),
            (vec!["m".to_owned()], vec!["w".to_owned()])
        );
    }

    #[test]
    fn invalid_bytes_are_an_error() {
        assert!(QueryBlock::decode(&vec![1, 2, 3].into()).is_err());
        assert!(decode::<QueryBlock>(&vec![255; 20].into()).is_err());
    }
}
