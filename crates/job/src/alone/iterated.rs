//! Runs the iterations of psiblast on the threads of this process.
//!
//! BLAST+ iterates one query after the other. This module searches the queries of a block together:
//! first all of them, then those that need another iteration, and so on. It keeps the results and
//! writes them in the order of the queries.

use std::borrow::Cow;

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::{
    IteratedQuery, IterationReports, IterationRules, PssmFiles, QueryProgress, ReportedIteration,
    subject_letters,
};
use crate::output::ReportSink;
use crate::plan::{IterationPlan, Plan};
use crate::queries::{PreparedBlock, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhaseSearch;
use crate::subjects::SubjectDatabase;

/// Iterative searcher for one block of queries after the other.
pub struct IteratedSearch<'a> {
    subjects: &'a SubjectDatabase,
    rules: IterationRules<'a>,
    files: PssmFiles<'a>,
    reports: IterationReports,
}

/// Alignments of a subject, each with the letters of the subject that it covers.
type AlignedRows<'h, 'a> = Vec<(&'h Alignment, Cow<'a, [u8]>)>;

/// A query, its progress, and the results of its iterations so far.
struct IteratingQuery<'a> {
    record: &'a QueryRecord,
    progress: QueryProgress,
    iterations: Vec<ReportedIteration>,
}

impl<'a> IteratedSearch<'a> {
    /// Creates the searcher. `engines` are the engine for queries without a PSSM and the one for
    /// queries with a PSSM.
    pub fn new(
        plan: &'a Plan,
        iteration: &'a IterationPlan,
        subjects: &'a SubjectDatabase,
        engines: [&'a Search; 2],
    ) -> Self {
        let (rules, files) =
            (IterationRules::new(plan, iteration, engines), PssmFiles::new(iteration));
        IteratedSearch { subjects, rules, files, reports: IterationReports::default() }
    }

    /// Searches the queries of a block and writes their reports.
    ///
    /// # Errors
    /// A search that was halted or refused; input or output that fails; a query whose error ends
    /// the report.
    pub fn report_block(
        &mut self,
        block: &PreparedBlock,
        search: &mut TwoPhaseSearch<'a>,
        (reporter, output): (&mut Reporter, &mut impl ReportSink),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open_block(0, block.prepared.len() as u64);
        for query in self.iterate(block, search)? {
            self.write(query, (reporter, output), audience)?;
        }
        audience.close_block(0);
        block.failure.clone().map_or(Ok(()), Err)
    }

    /// Searches the queries of a block and passes their iterations to `send`. A query whose error
    /// ends the report is the last one that is passed.
    ///
    /// # Errors
    /// As [`report_block`](Self::report_block); an error of `send`.
    pub fn send_block(
        &mut self,
        block: &PreparedBlock,
        search: &mut TwoPhaseSearch<'a>,
        send: impl FnOnce(&IterationRules, Vec<IteratedQuery>) -> Result<(), Error>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open_block(0, block.prepared.len() as u64);
        let (mut found, mut ended) = (Vec::new(), Ok(()));
        for query in self.iterate(block, search)? {
            let (iterated, saved) = self.save_pssms(query, audience);
            found.push(iterated);
            if saved.is_err() {
                ended = saved;
                break;
            }
        }
        send(&self.rules, found)?;
        ended?;
        audience.close_block(0);
        block.failure.clone().map_or(Ok(()), Err)
    }

    /// Runs all iterations of a block's queries.
    fn iterate<'b>(
        &self,
        block: &'b PreparedBlock,
        search: &mut TwoPhaseSearch<'a>,
    ) -> Result<Vec<IteratingQuery<'b>>, Error> {
        let iterate = |(record, query): (_, &Query)| {
            let progress = self.rules.start(query.clone());
            IteratingQuery { record, progress, iterations: Vec::new() }
        };
        let mut queries: Vec<IteratingQuery> =
            block.records.iter().zip(&block.prepared).map(iterate).collect();
        loop {
            queries.iter_mut().for_each(|query| query.progress.fail_if_unsearchable());
            let mut active: Vec<&mut IteratingQuery> =
                queries.iter_mut().filter(|query| !query.progress.ended).collect();
            if active.is_empty() {
                return Ok(queries);
            }
            self.search(&mut active, search)?;
        }
    }

    /// Runs the next iteration of the `active` queries. Either all of them have a PSSM, or none
    /// has.
    fn search(
        &self,
        active: &mut [&mut IteratingQuery],
        search: &mut TwoPhaseSearch<'a>,
    ) -> Result<(), Error> {
        let with_pssm = active.iter().any(|query| query.progress.query.pssm.is_some());
        search.set_engine(self.rules.engine(with_pssm));
        let queries: Vec<Query> = active.iter().map(|it| it.progress.query.clone()).collect();
        // BLAST+ searches each query alone, so each query is a batch.
        let hits = search.search_block(&queries, &vec![1; queries.len()])?;
        if search.is_halted() {
            return Err(Error::engine("nobody wants what is found any more"));
        }
        active.par_iter_mut().zip(hits).for_each(|(query, hits)| {
            let IteratingQuery { record, progress, iterations } = &mut **query;
            let make_pssm = |progress: &mut QueryProgress, hits: &[SubjectHit]| {
                let subjects = hits.iter().map(|hit| self.letters_for_pssm(hit));
                self.rules.make_pssm(progress, record, subjects);
            };
            iterations.push(self.rules.record_iteration(progress, record, hits, make_pssm).0);
        });
        Ok(())
    }

    /// Returns the alignments of a subject that go into the next PSSM, each with the letters of the
    /// subject that it covers.
    fn letters_for_pssm<'h>(&self, hit: &'h SubjectHit) -> Result<AlignedRows<'h, 'a>, Error> {
        let letters = |alignment| subject_letters(self.subjects, hit.oid, alignment);
        let alignments = self.rules.alignments_for_pssm(hit);
        alignments.map(|alignment| Ok((alignment, letters(alignment)?))).collect()
    }

    /// Writes the report of a query, and saves its PSSMs.
    fn write(
        &mut self,
        query: IteratingQuery,
        (reporter, output): (&mut Reporter, &mut impl ReportSink),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let IteratedSearch { rules, files, reports, .. } = self;
        rules.print_messages(query.record, audience);
        let IteratingQuery { record, progress, iterations } = query;
        let converged = progress.has_converged();
        let keep = |searched: Option<&ReportedIteration>| match searched {
            Some(searched) => files.save_all(rules, searched.start.kept.as_ref(), record),
            None => files.save_all(rules, &progress.last, record),
        };
        let found = IteratedQuery { iterations, converged };
        reports.write_query(
            rules,
            (record, &progress.query),
            found,
            (reporter, output),
            audience,
            keep,
        )?;
        progress.failure.map_or(Ok(()), Err)
    }

    /// Saves the PSSMs of a query whose report another site makes. Returns the query's iterations,
    /// and the error that ends the report, if any.
    fn save_pssms(
        &mut self,
        query: IteratingQuery,
        audience: &dyn Audience,
    ) -> (IteratedQuery, Result<(), Error>) {
        let IteratedSearch { rules, files, .. } = self;
        rules.print_messages(query.record, audience);
        let IteratingQuery { record, progress, iterations } = query;
        let pssms = iterations.iter().filter_map(|searched| searched.start.kept.as_ref());
        let saved = files.save_all(rules, pssms.chain(&progress.last), record);
        let converged = progress.has_converged();
        let ended = saved.and(progress.failure.map_or(Ok(()), Err));
        (IteratedQuery { iterations, converged }, ended)
    }
}
