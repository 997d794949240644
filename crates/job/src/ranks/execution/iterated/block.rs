//! The queries of a block of psiblast, and the results of their iterations.

use std::collections::BTreeSet;
use std::mem::take;

use fleetblast_fleet::ids::PassId;
use fleetblast_fleet::work::PieceOwner;
use fleetblast_report::model::{QueryResult, RepeatedSearch};
use fleetblast_report::pieces;
use rayon::prelude::*;

use super::super::block_layout::BlockLayout;
use super::super::questions::FormattedPiece;
use crate::error::Error;
use crate::iteration::IteratedQuery;
use crate::iteration::{CONVERGED, EncodedPssm, IterationRules, QueryProgress, ReportedIteration};
use crate::queries::QueryRecord;
use crate::ranks::job::RankJob;
use crate::ranks::wire::{self, Bytes, IterationOutcome};
use crate::reports::{self, report_failure};

/// The queries of a block of psiblast.
pub struct IteratedBlock {
    queries: Vec<TrackedQuery>,
}

/// A query, and the results of its iterations.
pub struct TrackedQuery {
    /// The query as read.
    pub record: QueryRecord,
    /// The PSSM of the query, and whether its iterations have ended.
    pub progress: QueryProgress,
    /// The report of each iteration. In XML, an iteration with a pattern has one report for each
    /// occurrence of the pattern.
    pub reports: Vec<IterationReport>,
    /// Bytes of the report before this query. Empty unless it is the first query of the job.
    pub bytes_before: Vec<u8>,
    /// Results of the iterations, if the I/O site makes the report.
    pub reported_iterations: Vec<ReportedIteration>,
}

/// The report of an iteration. In XML, it may be the report of one occurrence of a pattern.
pub struct IterationReport {
    /// The pass with the iteration.
    pub pass: PassId,
    /// Number of the iteration among those of the query, from 1.
    pub number: usize,
    /// Bytes of the report before the subjects. In XML (5), the number of the iteration among all
    /// iterations of the job is still missing.
    pub head: Vec<u8>,
    /// Locations of the formatted subjects, in the order of printing.
    pub subjects: Vec<FormattedPiece>,
    /// Bytes of the report after the subjects.
    pub tail: Vec<u8>,
    /// For each part of the iteration (occurrence of a pattern), its warning, if there is one.
    pub warnings: Vec<Option<Vec<u8>>>,
    /// Whether the report counts as an iteration. BLAST+ does not count a report of all occurrences
    /// of a pattern.
    pub is_counted: bool,
    /// The PSSM to be written to files before this iteration.
    pub pssm_to_save: Option<EncodedPssm>,
}

impl IteratedBlock {
    /// Prepares queries for their first iteration, on all threads of the current pool.
    ///
    /// # Errors
    /// The bytes come from another build of the program.
    pub fn new(job: &RankJob, rules: &IterationRules, queries: &Bytes) -> Result<Self, Error> {
        let records = wire::QueryBlock::decode(queries)?.queries.into_par_iter();
        let follow = |query| {
            let record = QueryRecord::from(query);
            let mut progress = rules.start(record.prepare(&job.engine));
            progress.fail_if_unsearchable();
            TrackedQuery {
                record,
                progress,
                reports: Vec::new(),
                bytes_before: Vec::new(),
                reported_iterations: Vec::new(),
            }
        };
        Ok(IteratedBlock { queries: records.map(follow).collect() })
    }

    /// Returns the numbers of the queries to search next. Queries after one that failed are not
    /// reported, so they are not searched.
    pub fn queries_to_search(&self) -> Vec<usize> {
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

    /// Returns the query with this number in the block, from 0.
    pub fn query(&self, number: usize) -> &TrackedQuery {
        &self.queries[number]
    }

    /// Returns whether no query has a further iteration to be searched.
    pub fn has_ended(&self) -> bool {
        self.queries_to_search().is_empty()
    }

    /// Returns the reported queries: all queries up to the first that failed.
    pub fn reported_queries(&self) -> &[TrackedQuery] {
        let failed = self.queries.iter().position(|query| query.progress.failure.is_some());
        &self.queries[..failed.map_or(self.queries.len(), |failed| failed + 1)]
    }

    /// Takes the data for the supermaster about all reported queries: warnings, PSSMs and failure.
    pub fn take_outcome(&mut self, rules: &IterationRules) -> IterationOutcome {
        let mut ended = IterationOutcome::default();
        let reported = self.reported_queries().len();
        for TrackedQuery { record, progress, reports, .. } in &mut self.queries[..reported] {
            ended.pssms.extend(reports.iter_mut().filter_map(|search| search.pssm_to_save.take()));
            let uncounted = reports.iter().filter(|search| !search.is_counted);
            ended.uncounted += uncounted.map(|search| search.warnings.len() as u64).sum::<u64>();
            ended.warnings.push(reports.iter_mut().flat_map(|it| take(&mut it.warnings)).collect());
            ended
                .pssms
                .extend(progress.last.iter().filter_map(|kept| rules.encode_pssm(kept, record)));
            let failure = progress.failure.as_ref();
            ended.failure = failure.map(|error| (error.exit_code, error.message.clone()));
        }
        if !rules.saves_each() {
            // Each PSSM replaces the previous one in the files.
            ended.pssms.drain(..ended.pssms.len().saturating_sub(1));
        }
        ended
    }

    /// Takes the results of the reported queries, which are sent to the I/O site.
    pub fn take_results(&mut self) -> Vec<IteratedQuery> {
        let reported = self.reported_queries().len();
        let queries = self.queries[..reported].iter_mut();
        let found =
            queries.map(|TrackedQuery { progress, reported_iterations, .. }| IteratedQuery {
                iterations: take(reported_iterations),
                converged: progress.has_converged(),
            });
        found.collect()
    }

    /// Returns the names of each query.
    pub fn query_names(&self) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
        self.queries.iter().map(|query| query.record.names())
    }

    /// Lays out the report of the block. `before` is the number of iterations in earlier blocks.
    ///
    /// # Errors
    /// A title cannot be written to XML.
    pub fn lay_out(
        &self,
        job: &RankJob,
        rules: &IterationRules,
        before: u64,
    ) -> Result<BlockLayout, Error> {
        let mut layout = BlockLayout::default();
        let mut serial = before as usize;
        for TrackedQuery { record, progress, reports: searches, bytes_before, .. } in
            self.reported_queries()
        {
            layout.append_bytes(bytes_before);
            let start = layout.length();
            for search in searches {
                serial += 1;
                match job.report.output.format.counts_searches() {
                    false => layout.append_bytes(&search.head),
                    true => {
                        let previous_model_oids = BTreeSet::new();
                        let round = RepeatedSearch {
                            number: search.number,
                            serial,
                            previous_model_oids: &previous_model_oids,
                            alignments: 0,
                            occurrence: None,
                        };
                        let result = reports::empty_result(record, &progress.query);
                        let result = QueryResult { repeated_search: Some(round), ..result };
                        let mut head = Vec::new();
                        pieces::query_header(&job.report, &result, &[], 0, &mut head)
                            .map_err(|error| report_failure(&error))?;
                        layout.append_bytes(&head);
                    }
                }
                for &FormattedPiece { partition, number, length } in &search.subjects {
                    layout.append_piece(
                        PieceOwner::Partition(search.pass, partition),
                        number,
                        length,
                    );
                }
                layout.append_bytes(&search.tail);
            }
            if progress.has_converged() && rules.has_independent_parts() {
                layout.append_bytes(CONVERGED);
            }
            layout.queries.push(start..layout.length());
        }
        layout.end_piece();
        Ok(layout)
    }
}
