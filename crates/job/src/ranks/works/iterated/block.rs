//! The queries of a block, and what their searches brought about.

use std::collections::BTreeSet;
use std::mem::take;

use fleetblast_fleet::ids::PassId;
use fleetblast_fleet::work::Owner;
use fleetblast_report::model::{QueryResult, RepeatedSearch};
use fleetblast_report::pieces;
use rayon::prelude::*;

use super::super::laid::Laid;
use super::super::rounds::Piece;
use crate::error::Error;
use crate::iteration::IteratedQuery;
use crate::iteration::{CONVERGED, Matrix, QueryProgress, ReportedIteration, Rules};
use crate::queries::QueryRecord;
use crate::ranks::job::Job;
use crate::ranks::wire::{self, Bytes, Ended};
use crate::reports::{self, report_failure};

/// The queries of a block.
pub struct Iterated {
    queries: Vec<Followed>,
}

/// A query, and what its searches brought about.
pub struct Followed {
    /// As read.
    pub record: QueryRecord,
    /// How far it is.
    pub course: QueryProgress,
    /// Its searches.
    pub searches: Vec<Reported>,
    /// What comes before it, if it is the first of all.
    pub opening: Vec<u8>,
    /// What its searches found, if the report of that is made elsewhere.
    pub found: Vec<ReportedIteration>,
}

/// What is reported of a search; in XML, of what it found through one of the occurrences of a
/// pattern.
pub struct Reported {
    /// The pass that it was a part of.
    pub pass: PassId,
    /// Its number among the searches of the query, from 1.
    pub number: usize,
    /// What comes before the subjects, but for the number of the search among all in XML.
    pub head: Vec<u8>,
    /// The subjects, in the order of printing.
    pub subjects: Vec<Piece>,
    /// What comes after them.
    pub tail: Vec<u8>,
    /// What is warned of with each of its parts.
    pub warnings: Vec<Option<Vec<u8>>>,
    /// Whether it counts among the searches; BLAST+ does not count what it reports of a pattern.
    pub is_counted: bool,
    /// The matrix to be kept before it.
    pub kept: Option<Matrix>,
}

impl Iterated {
    /// Of queries as they were read. Prepared on all threads of the current pool.
    ///
    /// # Errors
    /// Bytes of another build of the program.
    pub fn new(job: &Job, rules: &Rules, queries: &Bytes) -> Result<Self, Error> {
        let records = wire::Queries::unpack(queries)?.queries.into_par_iter();
        let follow = |query| {
            let record = QueryRecord::from(query);
            let mut course = rules.start(record.prepare(&job.engine));
            course.fail_if_unsearchable();
            Followed {
                record,
                course,
                searches: Vec::new(),
                opening: Vec::new(),
                found: Vec::new(),
            }
        };
        Ok(Iterated { queries: records.map(follow).collect() })
    }

    /// The queries that are searched next, by their numbers: of those behind one that failed
    /// nothing is reported.
    pub fn active(&self) -> Vec<usize> {
        let goes_on = |query: &&Followed| query.course.failure.is_none();
        let alive = self.queries.iter().take_while(goes_on).count();
        (0..alive).filter(|&query| !self.queries[query].course.ended).collect()
    }

    /// The queries with these numbers, which ascend.
    pub fn at(&mut self, numbers: &[usize]) -> Vec<&mut Followed> {
        let queries = self.queries.iter_mut().enumerate();
        let wanted = queries.filter(|(number, _)| numbers.binary_search(number).is_ok());
        wanted.map(|(_, query)| query).collect()
    }

    /// One of them.
    pub fn query(&self, number: usize) -> &Followed {
        &self.queries[number]
    }

    /// Whether all searches are made.
    pub fn is_through(&self) -> bool {
        self.active().is_empty()
    }

    /// The queries that are reported: those up to one that failed.
    pub fn reported(&self) -> &[Followed] {
        let failed = self.queries.iter().position(|query| query.course.failure.is_some());
        &self.queries[..failed.map_or(self.queries.len(), |failed| failed + 1)]
    }

    /// What became of all queries.
    pub fn ended(&mut self, rules: &Rules) -> Ended {
        let mut ended = Ended::default();
        let reported = self.reported().len();
        for Followed { record, course, searches, .. } in &mut self.queries[..reported] {
            ended.matrices.extend(searches.iter_mut().filter_map(|search| search.kept.take()));
            let uncounted = searches.iter().filter(|search| !search.is_counted);
            ended.uncounted += uncounted.map(|search| search.warnings.len() as u64).sum::<u64>();
            ended
                .warnings
                .push(searches.iter_mut().flat_map(|it| take(&mut it.warnings)).collect());
            ended.matrices.extend(course.last.iter().filter_map(|kept| rules.matrix(kept, record)));
            let failure = course.failure.as_ref();
            ended.failure = failure.map(|error| (error.exit_code, error.message.clone()));
        }
        if !rules.saves_each() {
            // Each is kept in place of the one before.
            ended.matrices.drain(..ended.matrices.len().saturating_sub(1));
        }
        ended
    }

    /// What was found of the queries that are reported, to be told to who makes the report.
    pub fn found(&mut self) -> Vec<IteratedQuery> {
        let reported = self.reported().len();
        let queries = self.queries[..reported].iter_mut();
        let found = queries.map(|Followed { course, found, .. }| IteratedQuery {
            iterations: take(found),
            converged: course.has_converged(),
        });
        found.collect()
    }

    /// The names of the queries.
    pub fn names(&self) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
        self.queries.iter().map(|query| query.record.names())
    }

    /// Lays the block out, behind so many searches of the blocks before.
    ///
    /// # Errors
    /// A title that cannot be written to XML.
    pub fn lay_out(&self, job: &Job, rules: &Rules, before: u64) -> Result<Laid, Error> {
        let mut laid = Laid::default();
        let mut serial = before as usize;
        for Followed { record, course, searches, opening, .. } in self.reported() {
            laid.write(opening);
            let start = laid.length();
            for search in searches {
                serial += 1;
                match rules.is_plain() {
                    true => laid.write(&search.head),
                    false => {
                        let known = BTreeSet::new();
                        let round = RepeatedSearch {
                            number: search.number,
                            serial,
                            known: &known,
                            alignments: 0,
                            occurrence: None,
                        };
                        let result = reports::empty_result(record, &course.query);
                        let result = QueryResult { round: Some(round), ..result };
                        let mut head = Vec::new();
                        pieces::query_header(&job.report, &result, &[], 0, &mut head)
                            .map_err(|error| report_failure(&error))?;
                        laid.write(&head);
                    }
                }
                for &Piece { partition, number, length } in &search.subjects {
                    laid.add(Owner::Partition(search.pass, partition), number, length);
                }
                laid.write(&search.tail);
            }
            if course.has_converged() && rules.is_plain() {
                laid.write(CONVERGED);
            }
            laid.queries.push(start..laid.length());
        }
        laid.close();
        Ok(laid)
    }
}
