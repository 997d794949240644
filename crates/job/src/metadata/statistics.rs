//! Statistics of the queries of a block, and bounds of their alignments, for encoding and decoding.

use fleetblast_engine::hits::Alignment;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::{self, Search};
use fleetblast_metadata::hits::{HitBounds, ScoreStatistics};
use fleetblast_seq::frame::Frame;

use crate::subjects::SubjectDatabase;

/// The score statistics of the queries of a block, and the bounds of their alignments.
pub struct BlockStatistics<'a> {
    queries: &'a [Query],
    statistics: Vec<search::ScoreStatistics<'a>>,
    subjects: &'a SubjectDatabase,
}

impl<'a> BlockStatistics<'a> {
    /// Creates the statistics of queries that are compared with `subjects`.
    pub fn new(engine: &'a Search, queries: &'a [Query], subjects: &'a SubjectDatabase) -> Self {
        Self::with_engines(|_| engine, queries, subjects)
    }

    /// Creates the statistics of queries. `engine` returns the engine of each query.
    pub fn with_engines(
        engine: impl Fn(&Query) -> &'a Search,
        queries: &'a [Query],
        subjects: &'a SubjectDatabase,
    ) -> Self {
        let statistics =
            queries.iter().map(|query| engine(query).score_statistics(query)).collect();
        BlockStatistics { queries, statistics, subjects }
    }
}

impl ScoreStatistics for BlockStatistics<'_> {
    fn scale(&self, query: usize) -> i32 {
        self.statistics[query].scale()
    }

    fn bit_score(&self, query: usize, context: u8, score: i32) -> f64 {
        self.statistics[query].bit_score(context, score)
    }

    fn evalue(&self, query: usize, context: u8, oid: u32, score: i32) -> f64 {
        self.statistics[query].evalue(context, score, self.subjects.searched.length_of(oid))
    }
}

impl HitBounds for BlockStatistics<'_> {
    fn sequences(&self) -> u32 {
        self.subjects.searched.oid_count()
    }

    fn contexts(&self, query: usize) -> usize {
        self.queries.get(query).map_or(0, |query| query.contexts.len())
    }

    fn fits(&self, query: usize, oid: u32, alignment: &Alignment) -> bool {
        let context = &self.queries[query].contexts[usize::from(alignment.context)];
        let (length, subject) = (context.unmasked.len(), self.subjects.searched.length_of(oid));
        let is_translated = self.subjects.is_translated();
        let is_possible_frame = match (context.frame, alignment.frame) {
            (Frame::Protein | Frame::Codons(..), Frame::Protein) => !is_translated,
            (Frame::Protein | Frame::Codons(..), Frame::Codons(..)) => is_translated,
            (Frame::Strand(_), frame) => matches!(frame, Frame::Strand(_)),
            (_, Frame::Strand(_)) => false,
        };
        // Without gaps, BLAST+ also has alignments without letters.
        let is_consistent = alignment.query.is_empty() == alignment.subject.is_empty();
        is_consistent
            && is_possible_frame
            && alignment.query.end as usize <= length
            && alignment
                .frame
                .required_length(alignment.subject.end)
                .is_some_and(|end| end <= subject)
    }
}
