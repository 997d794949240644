//! The queries of a block that are searched repeatedly, and the results of their searches.

use std::collections::BTreeSet;
use std::mem::take;

use fleetblast_fleet::ids::PassId;
use fleetblast_fleet::work::Owner;
use fleetblast_report::model::{QueryResult, RepeatedSearch};
use fleetblast_report::pieces;
use rayon::prelude::*;

use super::super::block_layout::BlockLayout;
use super::super::questions::FormattedPiece;
use crate::error::Error;
use crate::iteration::IteratedQuery;
use crate::iteration::{CONVERGED, Matrix, QueryProgress, ReportedIteration, Rules};
use crate::queries::QueryRecord;
use crate::ranks::job::RankJob;
use crate::ranks::wire::{self, Bytes, IterationOutcome};
use crate::reports::{self, report_failure};

/// The queries of a block.
pub struct IteratedBlock {
    queries: Vec<TrackedQuery>,
}

/// A query, and the results of its searches.
pub struct TrackedQuery {
    /// The query as read.
    pub record: QueryRecord,
    /// Its matrix, and whether its searches have ended.
    pub progress: QueryProgress,
    /// The reports of its searches.
    pub searches: Vec<ReportedSearch>,
    /// Bytes before the query, if it is the first of all.
    pub opening: Vec<u8>,
    /// Results of its searches, if the report is made elsewhere.
    pub found: Vec<ReportedIteration>,
}

/// The report of a search. In XML, it is that of one occurrence of a pattern.
pub struct ReportedSearch {
    /// The pass that the search was a part of.
    pub pass: PassId,
    /// Number among the searches of the query, from 1.
    pub number: usize,
    /// Bytes before the subjects. In XML, they lack the number of the search among all.
    pub head: Vec<u8>,
    /// The subjects, in the order of printing.
    pub subjects: Vec<FormattedPiece>,
    /// Bytes after the subjects.
    pub tail: Vec<u8>,
    /// Warnings of each of its parts.
    pub warnings: Vec<Option<Vec<u8>>>,
    /// Whether it counts as a search: BLAST+ does not count the reports of a pattern.
    pub is_counted: bool,
    /// The matrix to be kept before this search.
    pub kept: Option<Matrix>,
}

impl IteratedBlock {
    /// Prepares queries for their first search, on all threads of the current pool.
    ///
    /// # Errors
    /// The bytes come from another build of the program.
    pub fn new(job: &RankJob, rules: &Rules, queries: &Bytes) -> Result<Self, Error> {
        let records = wire::QueryBlock::decode(queries)?.queries.into_par_iter();
        let follow = |query| {
            let record = QueryRecord::from(query);
            let mut progress = rules.start(record.prepare(&job.engine));
            progress.fail_if_unsearchable();
            TrackedQuery {
                record,
                progress,
                searches: Vec::new(),
                opening: Vec::new(),
                found: Vec::new(),
            }
        };
        Ok(IteratedBlock { queries: records.map(follow).collect() })
    }

    /// Returns the numbers of queries that are searched next. Queries after one that failed are not
    /// reported.
    pub fn active(&self) -> Vec<usize> {
        let goes_on = |query: &&TrackedQuery| query.progress.failure.is_none();
        let alive = self.queries.iter().take_while(goes_on).count();
        (0..alive).filter(|&query| !self.queries[query].progress.ended).collect()
    }

    /// Returns the queries with these ascending numbers.
    pub fn queries_mut(&mut self, numbers: &[usize]) -> Vec<&mut TrackedQuery> {
        let queries = self.queries.iter_mut().enumerate();
        let wanted = queries.filter(|(number, _)| numbers.binary_search(number).is_ok());
        wanted.map(|(_, query)| query).collect()
    }

    /// Returns a query.
    pub fn query(&self, number: usize) -> &TrackedQuery {
        &self.queries[number]
    }

    /// Returns whether all searches have ended.
    pub fn has_ended(&self) -> bool {
        self.active().is_empty()
    }

    /// Returns the queries that are reported: those up to the first that failed.
    pub fn reported(&self) -> &[TrackedQuery] {
        let failed = self.queries.iter().position(|query| query.progress.failure.is_some());
        &self.queries[..failed.map_or(self.queries.len(), |failed| failed + 1)]
    }

    /// Takes the outcome of all reported queries.
    pub fn take_outcome(&mut self, rules: &Rules) -> IterationOutcome {
        let mut ended = IterationOutcome::default();
        let reported = self.reported().len();
        for TrackedQuery { record, progress, searches, .. } in &mut self.queries[..reported] {
            ended.matrices.extend(searches.iter_mut().filter_map(|search| search.kept.take()));
            let uncounted = searches.iter().filter(|search| !search.is_counted);
            ended.uncounted += uncounted.map(|search| search.warnings.len() as u64).sum::<u64>();
            ended
                .warnings
                .push(searches.iter_mut().flat_map(|it| take(&mut it.warnings)).collect());
            ended
                .matrices
                .extend(progress.last.iter().filter_map(|kept| rules.matrix(kept, record)));
            let failure = progress.failure.as_ref();
            ended.failure = failure.map(|error| (error.exit_code, error.message.clone()));
        }
        if !rules.saves_each() {
            // Each matrix replaces the one before.
            ended.matrices.drain(..ended.matrices.len().saturating_sub(1));
        }
        ended
    }

    /// Takes the results of reported queries, to be sent to the site that makes the report.
    pub fn take_results(&mut self) -> Vec<IteratedQuery> {
        let reported = self.reported().len();
        let queries = self.queries[..reported].iter_mut();
        let found = queries.map(|TrackedQuery { progress, found, .. }| IteratedQuery {
            iterations: take(found),
            converged: progress.has_converged(),
        });
        found.collect()
    }

    /// Returns the names of the queries.
    pub fn names(&self) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
        self.queries.iter().map(|query| query.record.names())
    }

    /// Lays out the block. `before` is the number of searches in earlier blocks.
    ///
    /// # Errors
    /// A title cannot be written to XML.
    pub fn lay_out(&self, job: &RankJob, rules: &Rules, before: u64) -> Result<BlockLayout, Error> {
        let mut layout = BlockLayout::default();
        let mut serial = before as usize;
        for TrackedQuery { record, progress, searches, opening, .. } in self.reported() {
            layout.append_bytes(opening);
            let start = layout.length();
            for search in searches {
                serial += 1;
                match rules.is_plain() {
                    true => layout.append_bytes(&search.head),
                    false => {
                        let known = BTreeSet::new();
                        let round = RepeatedSearch {
                            number: search.number,
                            serial,
                            known: &known,
                            alignments: 0,
                            occurrence: None,
                        };
                        let result = reports::empty_result(record, &progress.query);
                        let result = QueryResult { round: Some(round), ..result };
                        let mut head = Vec::new();
                        pieces::query_header(&job.report, &result, &[], 0, &mut head)
                            .map_err(|error| report_failure(&error))?;
                        layout.append_bytes(&head);
                    }
                }
                for &FormattedPiece { partition, number, length } in &search.subjects {
                    layout.append_piece(Owner::Partition(search.pass, partition), number, length);
                }
                layout.append_bytes(&search.tail);
            }
            if progress.has_converged() && rules.is_plain() {
                layout.append_bytes(CONVERGED);
            }
            layout.queries.push(start..layout.length());
        }
        layout.end_piece();
        Ok(layout)
    }
}
