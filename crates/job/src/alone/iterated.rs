//! Queries that are searched again and again on the threads of this process.
//!
//! BLAST+ takes one query after the other. Here the queries of a block are searched together: first all of them, then those that go
//! on, and so forth. What each brings about is kept, and written when it is that query's turn.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::alignment::QueryAlignment;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::{
    IteratedQuery, IterationReports, PssmFiles, QueryProgress, ReportedIteration, Rules,
    subject_letters,
};
use crate::output::Pages;
use crate::plan::{Iteration, Plan};
use crate::queries::{Block, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhases;
use crate::subjects::Target;

/// The searches of all queries.
pub struct Rounds<'a> {
    target: &'a Target,
    rules: Rules<'a>,
    files: PssmFiles<'a>,
    reports: IterationReports,
}

/// A query, and what its searches brought about.
struct Followed<'a> {
    record: &'a QueryRecord,
    course: QueryProgress,
    searches: Vec<ReportedIteration>,
}

impl<'a> Rounds<'a> {
    /// Searches by these engines: without a matrix, and with one.
    pub fn new(
        plan: &'a Plan,
        iteration: &'a Iteration,
        target: &'a Target,
        engines: [&'a Search; 2],
    ) -> Self {
        let (rules, files) = (Rules::new(plan, iteration, engines), PssmFiles::new(iteration));
        Rounds { target, rules, files, reports: IterationReports::default() }
    }

    /// Searches the queries of a block, and writes what is found.
    ///
    /// # Errors
    /// A search that was halted or is refused, what cannot be read or written; a query that ends the report.
    pub fn block(
        &mut self,
        block: &Block,
        search: &mut TwoPhases<'a>,
        (reporter, output): (&mut Reporter, &mut impl Pages),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open(0, block.prepared.len() as u64);
        for query in self.follow(block, search)? {
            self.write(query, (reporter, output), audience)?;
        }
        audience.close(0);
        block.failure.clone().map_or(Ok(()), Err)
    }

    /// Searches the queries of a block, and gives `tell` what was found, of those up to one that ends the report.
    ///
    /// # Errors
    /// See [`block`](Self::block); what ends `tell`.
    pub fn block_told(
        &mut self,
        block: &Block,
        search: &mut TwoPhases<'a>,
        tell: impl FnOnce(&Rules, Vec<IteratedQuery>) -> Result<(), Error>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open(0, block.prepared.len() as u64);
        let (mut found, mut ended) = (Vec::new(), Ok(()));
        for query in self.follow(block, search)? {
            let (in_rounds, kept) = self.pass_on(query, audience);
            found.push(in_rounds);
            if kept.is_err() {
                ended = kept;
                break;
            }
        }
        tell(&self.rules, found)?;
        ended?;
        audience.close(0);
        block.failure.clone().map_or(Ok(()), Err)
    }

    /// Makes all searches of a block's queries.
    fn follow<'b>(
        &self,
        block: &'b Block,
        search: &mut TwoPhases<'a>,
    ) -> Result<Vec<Followed<'b>>, Error> {
        let follow = |(record, query): (_, &Query)| {
            let course = self.rules.start(query.clone());
            Followed { record, course, searches: Vec::new() }
        };
        let mut queries: Vec<Followed> =
            block.records.iter().zip(&block.prepared).map(follow).collect();
        loop {
            queries.iter_mut().for_each(|query| query.course.end_if_lost());
            let mut active: Vec<&mut Followed> =
                queries.iter_mut().filter(|query| !query.course.ended).collect();
            if active.is_empty() {
                return Ok(queries);
            }
            self.search(&mut active, search)?;
        }
    }

    /// The next search of some queries, which are all without a matrix or all with one.
    fn search(
        &self,
        active: &mut [&mut Followed],
        search: &mut TwoPhases<'a>,
    ) -> Result<(), Error> {
        let with_pssm = active.iter().any(|followed| followed.course.query.pssm.is_some());
        search.search_by(self.rules.engine(with_pssm));
        let queries: Vec<Query> = active.iter().map(|it| it.course.query.clone()).collect();
        // BLAST+ searches each alone.
        let hits = search.run(&queries, &vec![1; queries.len()])?;
        if search.is_halted() {
            return Err(Error::engine("nobody wants what is found any more"));
        }
        active.par_iter_mut().zip(hits).for_each(|(query, hits)| self.advance(query, hits));
        Ok(())
    }

    /// Takes what a search of a query found.
    fn advance(&self, query: &mut Followed, hits: Vec<SubjectHit>) {
        let Followed { record, course, searches } = query;
        let mut begun = self.rules.begin(course, record);
        let parts = self.rules.parts(&mut begun, hits);
        let hits = &parts[0];
        if self.rules.record_hits(course, hits) {
            match self.lay(record, hits) {
                Ok(alignment) => self.rules.advance(course, alignment),
                Err(error) => course.fail(error),
            }
        }
        searches.push(ReportedIteration::new(&self.rules, record, begun, parts));
    }

    /// Lays what a search found on its query.
    fn lay(&self, record: &QueryRecord, hits: &[SubjectHit]) -> Result<QueryAlignment, Error> {
        let mut alignment = Rules::alignment(record);
        for hit in hits {
            let rows = self.rules.included(hit).map(|alignment| {
                Ok((alignment, subject_letters(self.target, hit.oid, alignment)?))
            });
            let rows = rows.collect::<Result<Vec<_>, Error>>()?;
            if !rows.is_empty() {
                alignment.add(rows.iter().map(|(alignment, letters)| (*alignment, &letters[..])));
            }
        }
        Ok(alignment)
    }

    /// Writes what became of a query.
    fn write(
        &mut self,
        query: Followed,
        (reporter, output): (&mut Reporter, &mut impl Pages),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let Rounds { rules, files, reports, .. } = self;
        rules.print_warnings(query.record, audience);
        let Followed { record, course, searches } = query;
        let converged = course.has_converged();
        let keep = |searched: Option<&ReportedIteration>| match searched {
            Some(searched) => files.keep_of(rules, searched.begun.kept.as_ref(), record),
            None => files.keep_of(rules, &course.last, record),
        };
        let found = IteratedQuery { searches, converged };
        reports.query(rules, (record, &course.query), found, (reporter, output), audience, keep)?;
        course.failure.map_or(Ok(()), Err)
    }

    /// Keeps the matrices of a query, whose report is made elsewhere.
    fn pass_on(
        &mut self,
        query: Followed,
        audience: &dyn Audience,
    ) -> (IteratedQuery, Result<(), Error>) {
        let Rounds { rules, files, .. } = self;
        rules.print_warnings(query.record, audience);
        let Followed { record, course, searches } = query;
        let matrices = searches.iter().filter_map(|searched| searched.begun.kept.as_ref());
        let kept = files.keep_of(rules, matrices.chain(&course.last), record);
        let converged = course.has_converged();
        let ended = kept.and(course.failure.map_or(Ok(()), Err));
        (IteratedQuery { searches, converged }, ended)
    }
}
