//! Queries that are searched again and again on the threads of this process.
//!
//! BLAST+ takes one query after the other. Here the queries of a block are searched together: first all of them, then those that go
//! on, and so forth. What each brings about is kept, and written when it is that query's turn.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::alignment::QueryAlignment;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use super::reporter::Reporter;
use super::two_phases::TwoPhases;
use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::{CONVERGED, Course, Kept, PssmFiles, Rules, Searched, subject_letters};
use crate::output::Pages;
use crate::plan::{Iteration, Plan};
use crate::queries::{Block, QueryRecord};
use crate::reporting;
use crate::subjects::Target;

/// The searches of all queries.
pub struct Rounds<'a> {
    target: &'a Target,
    rules: Rules<'a>,
    files: PssmFiles<'a>,
    /// Searches reported so far.
    reported: usize,
}

/// A query, and what its searches brought about.
struct Followed<'a> {
    record: &'a QueryRecord,
    course: Course,
    searches: Vec<Searched>,
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
        Rounds { target, rules, files, reported: 0 }
    }

    /// Searches the queries of a block, and writes what is found.
    ///
    /// # Errors
    /// A search that was halted or is refused, what cannot be read or written; a query that ends the report.
    pub fn block(
        &mut self,
        block: &Block,
        search: &mut TwoPhases<'a>,
        reporter: &mut Reporter,
        output: &mut impl Pages,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open(0, block.prepared.len() as u64);
        let follow = |(record, query): (_, &Query)| {
            let course = self.rules.course(query.clone());
            Followed { record, course, searches: Vec::new() }
        };
        let mut queries: Vec<Followed> =
            block.records.iter().zip(&block.prepared).map(follow).collect();
        loop {
            queries.iter_mut().for_each(|query| query.course.end_if_lost());
            let mut active: Vec<&mut Followed> =
                queries.iter_mut().filter(|query| !query.course.ended).collect();
            if active.is_empty() {
                break;
            }
            self.search(&mut active, search)?;
        }
        for query in queries {
            self.write(query, reporter, output, audience)?;
        }
        audience.close(0);
        block.failure.clone().map_or(Ok(()), Err)
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
        let begun = self.rules.begin(course, record);
        let parts = self.rules.parts(&begun, hits);
        let hits = &parts[0];
        if self.rules.take(course, hits) {
            match self.lay(record, hits) {
                Ok(alignment) => self.rules.advance(course, alignment),
                Err(error) => course.fail(error),
            }
        }
        searches.push(Searched::new(&self.rules, record, begun, parts));
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
        Followed { record, course, searches }: Followed,
        reporter: &mut Reporter,
        output: &mut impl Pages,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        record.tell_warnings(audience);
        self.rules.warnings().iter().for_each(|warning| audience.complain(warning));
        let is_plain = self.rules.is_plain();
        if course.failure.is_some() && self.reported == 0 && searches.is_empty() && is_plain {
            reporter.open(&reporting::result(record, &course.query), output)?;
        }
        let mut report = Vec::new();
        let kept = self.report(
            (record, &course.last),
            searches,
            reporter,
            (output, &mut report),
            audience,
        );
        if kept.is_ok() && course.failure.is_none() && course.converged && is_plain {
            report.extend_from_slice(CONVERGED);
        }
        // As far as it comes.
        output.query(&report)?;
        kept?;
        course.failure.map_or(Ok(()), Err)
    }

    /// The reports of a query's searches, before the first of which `output` gets what begins all; their matrices are kept, and at last those
    /// behind all of them.
    fn report(
        &mut self,
        (record, last): (&QueryRecord, &[Kept]),
        searches: Vec<Searched>,
        reporter: &mut Reporter,
        (output, report): (&mut impl Pages, &mut Vec<u8>),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        for (round, searched) in searches.into_iter().enumerate() {
            self.keep(searched.begun.kept.as_ref(), record)?;
            let place = (record, round + 1);
            report.extend(self.report_search(place, searched, reporter, output, audience)?);
        }
        self.keep(last, record)
    }

    /// The report of a search.
    fn report_search(
        &mut self,
        (record, number): (&QueryRecord, usize),
        searched: Searched,
        reporter: &mut Reporter,
        output: &mut impl Pages,
        audience: &dyn Audience,
    ) -> Result<Vec<u8>, Error> {
        let before = self.reported;
        let results = searched.results(&self.rules, record, number, before);
        self.reported += results.len();
        if before == 0 {
            reporter.open(&results[0], output)?;
        }
        let has_pattern = searched.has_pattern();
        let report = match has_pattern {
            true => reporter.pattern(&results, searched.warning.as_deref())?,
            false => reporter.round(&results[0])?,
        };
        searched.warnings().into_iter().for_each(|warning| reporter.tell(warning, audience));
        // BLAST+ does not count what it reports of a pattern.
        reporter.pass_over(usize::from(!has_pattern || !self.rules.is_plain()));
        Ok(report)
    }

    fn keep<'k>(
        &mut self,
        kept: impl IntoIterator<Item = &'k Kept>,
        record: &QueryRecord,
    ) -> Result<(), Error> {
        let mut matrices = kept.into_iter().filter_map(|kept| self.rules.matrix(kept, record));
        matrices.try_for_each(|matrix| self.files.keep(&matrix))
    }
}
