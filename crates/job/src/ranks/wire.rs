//! What travels between ranks, as bytes.

use std::fmt;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::hits::{Alignment, Candidate, PrelimHit, SubjectHit};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::{Findings, Query as Prepared, QueryInput};
use fleetblast_engine::search::Search;
use fleetblast_fleet::payload::Payload;
use fleetblast_report::sam::RecordKey;
use fleetblast_report::table::DescriptionRow;
use fleetblast_seq::fasta::Record;
use fleetblast_seq::id::SeqId;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::iteration::Matrix;
use crate::queries::QueryRecord;

/// How hard queries are compressed: they are read once and sent to many.
const LEVEL: i32 = 3;

/// Bytes that many may hold.
#[derive(Clone, Debug)]
pub struct Bytes(Arc<[u8]>);

impl Bytes {
    /// The bytes.
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
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.into()))
            }
        }
        deserializer.deserialize_bytes(Whole)
    }
}

/// A value as bytes.
///
/// # Errors
/// None for the types of this module; they have no parts that cannot be written.
pub fn pack<T: Serialize>(value: &T) -> Result<Bytes, Error> {
    postcard::to_allocvec(value).map(Bytes::from).map_err(|error| broken(&error))
}

/// A value from bytes.
///
/// # Errors
/// Bytes that no rank sent; that all run the same build is known before.
pub fn unpack<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Error> {
    postcard::from_bytes(bytes.get()).map_err(|error| broken(&error))
}

fn broken(error: &dyn fmt::Display) -> Error {
    // The word of the library that decompresses, which takes its memory elsewhere.
    if error.to_string().starts_with("Allocation error") {
        return Error::starved("no room for a message between ranks");
    }
    Error::engine(format_args!(
        "a message between ranks cannot be read ({error}): it is not what was sent"
    ))
}

/// A block of queries.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queries {
    /// One after the other.
    pub queries: Vec<Query>,
    /// What was found of each when it was prepared; nothing before.
    pub findings: Vec<Findings>,
    /// How many of them, one after the other, BLAST+ would search together.
    pub batches: Vec<u32>,
    /// How they are searched; nothing before they are prepared.
    pub together: Option<Together>,
    /// The positions of each, if they score by matrices of their own.
    pub positions: Vec<Positions>,
    /// The link to another site, as it was seen when they were read.
    pub link: Option<LinkStatistics>,
}

/// A query whose positions score by a matrix of their own, and what else makes it another one than
/// was read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Positions {
    /// Letters that are masked, though some of them may have been masked before.
    unmasked: Vec<u8>,
    lower_case: Vec<std::ops::Range<u32>>,
    pssm: Pssm,
}

impl Positions {
    /// Those of a query, if it has a matrix. What was found of the columns is not needed for a
    /// search.
    pub fn of(query: &Prepared) -> Option<Self> {
        let (pssm, context) = (query.pssm.as_ref()?, query.first());
        let (unmasked, lower_case) = (context.unmasked.to_vec(), context.lower_case.clone());
        let Pssm { query, scores, frequencies, ungapped, gapped, .. } = Pssm::clone(pssm);
        let pssm = Pssm { query, scores, frequencies, ungapped, gapped, observed: None };
        Some(Positions { unmasked, lower_case, pssm })
    }

    /// The query, from what was found of it when it was prepared.
    pub fn query(self, engine: &Search, findings: Findings) -> Prepared {
        let Positions { unmasked, lower_case, pssm } = self;
        let input = QueryInput { letters: unmasked, lower_case, ..QueryInput::default() };
        engine.query_from_findings(&input, findings).with_pssm(Arc::new(pssm))
    }
}

/// How the queries of a block are searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// What the search needs to know.
    pub grouping: Grouping,
    /// For each query whether some query of its batch can be searched.
    pub searched: Vec<bool>,
}

/// What a pass of a block found, for the supermaster to judge.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// Extensions of each query, by which batches are made.
    pub extensions: Vec<u64>,
    /// An extension came to where it was not known what lies beside the queries.
    pub strayed: bool,
}

/// What became of the queries of a block that were searched again and again, for the supermaster to
/// tell of and to keep.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Ended {
    /// What BLAST+ warns of with each part of the searches of each query, up to the last that is
    /// reported.
    pub warnings: Vec<Vec<Option<Vec<u8>>>>,
    /// How many of these parts do not count.
    pub uncounted: u64,
    /// Matrices to be kept, in their order.
    pub matrices: Vec<Matrix>,
    /// What ended the job with the last of the searches: exit code and message.
    pub failure: Option<(u8, String)>,
}

/// What the supermaster says of that: how many searches of queries are reported before those of the
/// block; nothing if the report ended before it.
pub type Before = Option<u64>;

/// What the supermaster says of what a pass found.
#[derive(Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// The batches were foretold right.
    Right,
    /// They were, for so many of the queries; the others, and what comes after them, are not
    /// reported.
    Until(u32),
    /// They were not, or not enough was known of what lies beside them: the queries are to be
    /// searched like this.
    Again(Together),
}

/// A query as read: what is left of a [`QueryRecord`] when its warnings are told.
#[derive(Debug, Serialize, Deserialize)]
pub struct Query {
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

impl From<QueryRecord> for Query {
    fn from(record: QueryRecord) -> Self {
        let QueryRecord { record, number, unnamed, pssm_name, range, repeats, messages } = record;
        let Record { title, ids, residues, lower_case, .. } = record;
        let (number, unnamed) = (number as u64, unnamed as u64);
        Query {
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

impl From<Query> for QueryRecord {
    fn from(query: Query) -> Self {
        let Query {
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

impl Queries {
    /// Compressed.
    ///
    /// # Errors
    /// See [`pack`].
    pub fn pack(&self) -> Result<Bytes, Error> {
        let plain = pack(self)?;
        zstd::encode_all(plain.get(), LEVEL).map(Bytes::from).map_err(|error| broken(&error))
    }

    /// From compressed bytes.
    ///
    /// # Errors
    /// See [`unpack`].
    pub fn unpack(bytes: &Bytes) -> Result<Self, Error> {
        let plain = zstd::decode_all(bytes.get()).map_err(|error| broken(&error))?;
        unpack(&plain.into())
    }
}

/// What a master asks of one partition in a round.
#[derive(Debug, Serialize, Deserialize)]
pub enum Question {
    /// Align these hits.
    Align(Vec<Wanted>),
    /// Say what the description table says of these subjects.
    Describe(Vec<Chosen>),
    /// Format these subjects, each a piece.
    Format {
        /// The subjects.
        chosen: Vec<Chosen>,
        /// Say, too, what the description table says of them.
        described: bool,
    },
    /// Tell all of these subjects' alignments, of which the report is made elsewhere.
    Tell(Vec<Chosen>),
    /// Tell these alignments, and the letters of the subjects in them, of which a matrix is made.
    Lay(Vec<Chosen>),
}

/// A chosen preliminary hit.
#[derive(Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// Number of the query in the block.
    pub query: u32,
    /// The hit.
    pub hit: PrelimHit,
}

/// A hit of the report.
#[derive(Debug, Serialize, Deserialize)]
pub struct Chosen {
    /// Number of the query in the block.
    pub query: u32,
    /// The subject.
    pub oid: u32,
    /// Its place in the printed list, from 1.
    pub rank: u32,
    /// Subjects that the query has in all.
    pub hit_count: u32,
    /// The numbers of its alignments, in their order.
    pub alignments: Vec<u32>,
}

/// What is answered for one partition; as many as were asked for, in that order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// To [`Question::Align`]: outlines of the alignments; none for a subject that a restriction
    /// does not show.
    Aligned(Vec<Option<Candidate>>),
    /// To [`Question::Describe`].
    Described(Vec<DescriptionRow>),
    /// To [`Question::Format`].
    Formatted {
        /// Rows of the description table, if asked for.
        rows: Vec<DescriptionRow>,
        /// Bytes of each piece.
        sizes: Vec<u64>,
    },
    /// To [`Question::Format`] in SAM: the lines of each subject. Each is a piece.
    Lines(Vec<Vec<Line>>),
    /// To [`Question::Tell`].
    Told(Vec<SubjectHit>),
    /// To [`Question::Lay`].
    Laid(Vec<Rows>),
}

/// Alignments of a subject, each with the subject's letters in it.
pub type Rows = Vec<(Alignment, Vec<u8>)>;

/// A line of SAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// By which it is put in order.
    pub key: RecordKey,
    /// Its bytes.
    pub length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_arrive_as_they_were() {
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
        let queries = Queries {
            queries: vec![sent.into()],
            findings,
            batches: vec![1],
            together: None,
            positions: Vec::new(),
            link: None,
        };
        let mut got = Queries::unpack(&queries.pack().unwrap()).unwrap();
        assert_eq!(got.batches, [1]);
        let back = QueryRecord::from(got.queries.remove(0));
        assert_eq!((back.record, back.range, back.repeats), (record, range, repeats));
        assert_eq!((back.number, back.unnamed), (number, unnamed));
        assert_eq!(back.pssm_name.as_deref(), Some(&b"q"[..]));
        assert_eq!(back.messages, ["m"]);
    }

    #[test]
    fn bytes_that_nobody_sent_are_an_error() {
        assert!(Queries::unpack(&vec![1, 2, 3].into()).is_err());
        assert!(unpack::<Queries>(&vec![255; 20].into()).is_err());
    }
}
