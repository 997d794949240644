//! Encodes the data that ranks exchange.

use std::fmt;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::hits::{Alignment, Candidate, PrelimHit, SubjectHit};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::{Findings, Query as Prepared, QueryInput};
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
use crate::iteration::Matrix;
use crate::queries::QueryRecord;

/// Compression level of queries. They are read once and sent to many ranks.
const LEVEL: i32 = 3;

/// Bytes with several owners.
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
    // The decompressor has a memory error of its own, with this message.
    if error.to_string().starts_with("Allocation error") {
        return Error::starved("no room for a message between ranks");
    }
    Error::engine(format_args!(
        "a message between ranks cannot be decoded ({error}): it differs from the one that was sent"
    ))
}

/// A block of queries.
#[derive(Debug, Serialize, Deserialize)]
pub struct QueryBlock {
    /// The queries, in their order.
    pub queries: Vec<RawQuery>,
    /// The cached preparation of each query; empty before they are prepared.
    pub findings: Vec<Findings>,
    /// Number of consecutive queries in each batch that BLAST+ would search together.
    pub batches: Vec<u32>,
    /// How the queries are searched; `None` before they are prepared.
    pub batch_grouping: Option<BatchGrouping>,
    /// The matrix of each query, if queries score by matrices of their own.
    pub position_scores: Vec<PositionScores>,
    /// The link to another site, as measured when the queries were read.
    pub link: Option<LinkStatistics>,
}

/// A query with a position-specific matrix, and its masks, which may differ from those of the query
/// as read.
#[derive(Debug, Serialize, Deserialize)]
pub struct PositionScores {
    /// Letters before masking in this iteration; earlier masks may be in them.
    unmasked: Vec<u8>,
    lower_case: Vec<std::ops::Range<u32>>,
    pssm: Pssm,
}

impl PositionScores {
    /// Takes the matrix and masks of a query; `None` if it has no matrix. Statistics of the columns
    /// are left out: a search does not need them.
    pub fn from_query(query: &Prepared) -> Option<Self> {
        let (pssm, context) = (query.pssm.as_ref()?, query.first());
        let (unmasked, lower_case) = (context.unmasked.to_vec(), context.lower_case.clone());
        let Pssm { query, scores, frequencies, ungapped, gapped, .. } = Pssm::clone(pssm);
        let pssm = Pssm { query, scores, frequencies, ungapped, gapped, observed: None };
        Some(PositionScores { unmasked, lower_case, pssm })
    }

    /// Prepares the query again, from its cached preparation.
    pub fn into_query(self, engine: &Search, findings: Findings) -> Prepared {
        let PositionScores { unmasked, lower_case, pssm } = self;
        let input = QueryInput { letters: unmasked, lower_case, ..QueryInput::default() };
        engine.query_from_findings(&input, findings).with_pssm(Arc::new(pssm))
    }
}

/// How the queries of a block are searched, depending on the batches that they are in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchGrouping {
    /// The parameters that the engine needs.
    pub grouping: Grouping,
    /// For each query, whether some query of its batch can be searched.
    pub searched: Vec<bool>,
}

/// Statistics of a searched block, by which the supermaster verifies its predicted batches.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExtensionStatistics {
    /// Extensions of each query. BLAST+ derives the size of batches from them.
    pub extensions: Vec<u64>,
    /// Whether an extension reached letters of neighbouring queries that were not sent.
    pub strayed: bool,
}

/// The results of a block's iterations that the supermaster prints and keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct IterationOutcome {
    /// Warnings of BLAST+: for each query, for each part of its searches. Ends with the last query
    /// that is reported.
    pub warnings: Vec<Vec<Option<Vec<u8>>>>,
    /// Number of these parts that do not count as searches.
    pub uncounted: u64,
    /// Matrices to be kept, in their order.
    pub matrices: Vec<Matrix>,
    /// Exit code and message of the error that ended the last search.
    pub failure: Option<(u8, String)>,
}

/// Number of searches that are reported before the block. `None` if the report ended before it.
pub type PrecedingSearches = Option<u64>;

/// The supermaster's answer to the statistics of a block.
#[derive(Debug, Serialize, Deserialize)]
pub enum Verification {
    /// The predicted batches were correct.
    Correct,
    /// They were correct for this many queries. The later ones are not reported, nor are later
    /// blocks.
    CorrectUntil(u32),
    /// They were wrong, or an extension needed more neighbouring letters. The queries are to be
    /// searched again with this grouping.
    SearchAgain(BatchGrouping),
}

/// A query as read: a [`QueryRecord`] whose warnings have been printed.
#[derive(Debug, Serialize, Deserialize)]
pub struct RawQuery {
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
}

impl From<QueryRecord> for RawQuery {
    fn from(record: QueryRecord) -> Self {
        let QueryRecord { record, number, unnamed, pssm_name, range, repeats, messages } = record;
        let Record { title, ids, residues, lower_case, .. } = record;
        let (number, unnamed) = (number as u64, unnamed as u64);
        RawQuery {
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
        }
    }
}

impl From<RawQuery> for QueryRecord {
    fn from(query: RawQuery) -> Self {
        let RawQuery {
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
        } = query;
        let record = Record { title, ids, residues, lower_case, ..Record::default() };
        let (number, unnamed) = (number as usize, unnamed as usize);
        QueryRecord { record, number, unnamed, pssm_name, range, repeats, messages }
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

/// A question of a master about one partition.
#[derive(Debug, Serialize, Deserialize)]
pub enum Question {
    /// Align these hits.
    Align(Vec<HitToAlign>),
    /// Return the rows of these subjects for the description table.
    Describe(Vec<ReportedHit>),
    /// Format each of these subjects as a piece of the report.
    Format {
        /// The subjects.
        chosen: Vec<ReportedHit>,
        /// Return the rows for the description table, too.
        described: bool,
    },
    /// Return all alignments of these subjects. The report is made elsewhere.
    SendAlignments(Vec<ReportedHit>),
    /// Return these alignments with the letters of the subjects, for a matrix.
    SendMatrixRows(Vec<ReportedHit>),
}

/// A preliminary hit to be aligned.
#[derive(Debug, Serialize, Deserialize)]
pub struct HitToAlign {
    /// Number of the query in the block.
    pub query: u32,
    /// The hit.
    pub hit: PrelimHit,
}

/// A hit of the report.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReportedHit {
    /// Number of the query in the block.
    pub query: u32,
    /// OID of the subject.
    pub oid: u32,
    /// Position in the printed list, from 1.
    pub rank: u32,
    /// Number of all subjects of the query.
    pub hit_count: u32,
    /// Numbers of its alignments, in their order.
    pub alignments: Vec<u32>,
}

/// The answer of a worker for one partition. It has as many items as the question, in the same
/// order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Answers [`Question::Align`] with outlines of the alignments; `None` for a subject that a
    /// restriction hides.
    Aligned(Vec<Option<Candidate>>),
    /// Answers [`Question::Describe`].
    Described(Vec<DescriptionRow>),
    /// Answers [`Question::Format`].
    Formatted {
        /// Rows of the description table, if asked for.
        rows: Vec<DescriptionRow>,
        /// Bytes of each piece.
        sizes: Vec<u64>,
    },
    /// Answers [`Question::Format`] in SAM: the lines of each subject. Each line is a piece.
    Lines(Vec<Vec<Line>>),
    /// Answers [`Question::SendAlignments`].
    Alignments(Vec<SubjectHit>),
    /// Answers [`Question::SendMatrixRows`].
    MatrixRows(Vec<AlignedLetters>),
}

/// Alignments of a subject, each with the letters of the subject in it.
pub type AlignedLetters = Vec<(Alignment, Vec<u8>)>;

/// A line of a SAM report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Sort key.
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
        };
        let findings = Vec::new();
        let queries = QueryBlock {
            queries: vec![sent.into()],
            findings,
            batches: vec![1],
            batch_grouping: None,
            position_scores: Vec::new(),
            link: None,
        };
        let mut got = QueryBlock::decode(&queries.encode().unwrap()).unwrap();
        assert_eq!(got.batches, [1]);
        let back = QueryRecord::from(got.queries.remove(0));
        assert_eq!((back.record, back.range, back.repeats), (record, range, repeats));
        assert_eq!((back.number, back.unnamed), (number, unnamed));
        assert_eq!(back.pssm_name.as_deref(), Some(&b"q"[..]));
        assert_eq!(back.messages, ["m"]);
    }

    #[test]
    fn invalid_bytes_are_an_error() {
        assert!(QueryBlock::decode(&vec![1, 2, 3].into()).is_err());
        assert!(decode::<QueryBlock>(&vec![255; 20].into()).is_err());
    }
}
