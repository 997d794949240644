//! What alignments of a block's queries are worth.

use fleetblast_engine::hits::Alignment;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::{self, Search};
use fleetblast_metadata::hits::{Bounds, Worth};
use fleetblast_seq::frame::Frame;

use crate::subjects::Target;

/// The statistics of a block.
pub struct Judge<'a> {
    queries: &'a [Query],
    worths: Vec<search::ScoreStatistics<'a>>,
    target: &'a Target,
}

impl<'a> Judge<'a> {
    /// Of these queries, searched in that target.
    pub fn new(engine: &'a Search, queries: &'a [Query], target: &'a Target) -> Self {
        Self::by(|_| engine, queries, target)
    }

    /// The same of queries that are not all searched by one engine.
    pub fn by(
        engine: impl Fn(&Query) -> &'a Search,
        queries: &'a [Query],
        target: &'a Target,
    ) -> Self {
        let worths = queries.iter().map(|query| engine(query).score_statistics(query)).collect();
        Judge { queries, worths, target }
    }
}

impl Worth for Judge<'_> {
    fn scale(&self, query: usize) -> i32 {
        self.worths[query].scale()
    }

    fn bit_score(&self, query: usize, context: u8, score: i32) -> f64 {
        self.worths[query].bit_score(context, score)
    }

    fn evalue(&self, query: usize, context: u8, oid: u32, score: i32) -> f64 {
        self.worths[query].evalue(context, score, self.target.searched.length_of(oid))
    }
}

impl Bounds for Judge<'_> {
    fn sequences(&self) -> u32 {
        self.target.searched.oid_count()
    }

    fn contexts(&self, query: usize) -> usize {
        self.queries.get(query).map_or(0, |query| query.contexts.len())
    }

    fn fits(&self, query: usize, oid: u32, alignment: &Alignment) -> bool {
        let context = &self.queries[query].contexts[usize::from(alignment.context)];
        let (length, subject) = (context.unmasked.len(), self.target.searched.length_of(oid));
        let read_alike = matches!(
            (context.frame, alignment.frame),
            (Frame::Protein, Frame::Protein) | (Frame::Strand(_), Frame::Strand(_))
        );
        // Without gaps BLAST+ has alignments of no letters at all, too.
        let is_there = alignment.query.is_empty() == alignment.subject.is_empty();
        is_there
            && read_alike
            && alignment.query.end as usize <= length
            && alignment.subject.end <= subject
    }
}
