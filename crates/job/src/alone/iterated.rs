//! Queries that are searched again and again with what was found (`CPsiBlastApp::x_RunLocalPsiBlastIterations`,
//! psiblast_app.cpp).
//!
//! BLAST+ takes one query after the other. Here the queries of a block are searched together: first all of them, then those that go
//! on, and so forth. What each brings about is kept, and written when it is that query's turn.

mod files;

use std::collections::BTreeSet;
use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::{CompositionMode, Params};
use fleetblast_engine::pssm::alignment::QueryAlignment;
use fleetblast_engine::pssm::{Habits, Pssm, PssmError, PssmMaker};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_engine::search::Search;
use fleetblast_report::model::{QueryResult, Round, SubjectSource};
use fleetblast_report::scoremat::Statistics;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::Frame;
use rayon::prelude::*;

use self::files::PssmFiles;
use super::reporter::Reporter;
use super::two_phases::TwoPhases;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Format, Iteration, Plan};
use crate::queries::{Block, INVALID, QueryRecord};
use crate::reporting;
use crate::subjects::Target;

/// What BLAST+ says where a matrix does not go with the composition-based statistics.
const RESET: &str = "Composition-based score adjustment conditioned on sequence properties and unconditional composition-based \
    score adjustment is not supported with PSSMs, resetting to default value of standard composition-based statistics";
/// A frequency that counts as 0.
const NO_FREQUENCY: f64 = 0.0001;

/// The searches of all queries.
pub struct Rounds<'a> {
    plan: &'a Plan,
    iteration: &'a Iteration,
    target: &'a Target,
    /// Searches without a matrix, and with one.
    engines: [&'a Search; 2],
    maker: Option<PssmMaker>,
    files: PssmFiles<'a>,
    /// Searches reported so far.
    reported: usize,
}

/// How far a query is.
struct Course<'a> {
    record: &'a QueryRecord,
    /// With the matrix of the next search.
    query: Query,
    /// Searches that found something.
    done: usize,
    /// Subjects below the threshold in the last search.
    found: BTreeSet<u32>,
    converged: bool,
    ended: bool,
    /// A search with a matrix was told that its composition-based statistics are not those asked for.
    reset: bool,
    searches: Vec<Searched>,
    /// The statistics of the last search.
    statistics: Option<Statistics>,
    /// Matrices to be kept behind the last search.
    last: Vec<Kept>,
    failure: Option<Error>,
}

/// A search of a query.
struct Searched {
    /// Matrices to be kept before it.
    kept: Vec<Kept>,
    query: Query,
    known: BTreeSet<u32>,
    hits: Vec<SubjectHit>,
    messages: Vec<String>,
}

/// A matrix to be kept, and the statistics that its table shows.
struct Kept {
    pssm: Arc<Pssm>,
    statistics: Statistics,
}

impl<'a> Rounds<'a> {
    /// Searches by these engines: without a matrix, and with one.
    pub fn new(
        plan: &'a Plan,
        iteration: &'a Iteration,
        target: &'a Target,
        engines: [&'a Search; 2],
    ) -> Self {
        let maker = match &iteration.params {
            Params::Protein(params) => PssmMaker::new(&params.scoring, iteration.pseudocount),
            Params::Nucleotide(_) => None,
        };
        let files = PssmFiles::new(iteration);
        Rounds { plan, iteration, target, engines, maker, files, reported: 0 }
    }

    /// Subjects of a search that are shown at most.
    fn shown(&self) -> usize {
        self.iteration.params.common().hitlist_size
    }

    /// Whether the reports are not one document.
    fn is_plain(&self) -> bool {
        self.plan.report.format != Format::Xml
    }

    /// Searches the queries of a block, and writes what is found.
    pub fn block(
        &mut self,
        block: &Block,
        search: &mut TwoPhases<'a>,
        reporter: &mut Reporter,
        output: &mut Output,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        audience.open(0, block.prepared.len() as u64);
        let queries = block.records.iter().zip(&block.prepared);
        let mut courses: Vec<Course> =
            queries.map(|(record, query)| self.course(record, query)).collect();
        loop {
            courses.iter_mut().for_each(Course::end_if_lost);
            let mut active: Vec<&mut Course> =
                courses.iter_mut().filter(|course| !course.ended).collect();
            if active.is_empty() {
                break;
            }
            self.search(&mut active, search)?;
        }
        for course in courses {
            self.write(course, reporter, output, audience)?;
        }
        audience.close(0);
        block.failure.clone().map_or(Ok(()), Err)
    }

    /// A query that was not searched yet.
    fn course<'q>(&self, record: &'q QueryRecord, query: &Query) -> Course<'q> {
        let mut course = Course::new(record, query.clone());
        if let Some(start) = &self.iteration.start {
            let pssm = start.pssm_of(query);
            let (ungapped, gapped) = (pssm.ungapped, pssm.gapped);
            // No search was before.
            course.statistics = Some(Statistics { standard: None, ungapped, gapped });
            course.query = query.clone().with_pssm(pssm);
            if let Err(error) = self.refuse_pieces(&course.query) {
                course.fail(error);
            }
        }
        course
    }

    /// The next search of some queries, which are all without a matrix or all with one.
    fn search(&self, active: &mut [&mut Course], search: &mut TwoPhases<'a>) -> Result<(), Error> {
        let with_pssm = active.iter().any(|course| course.query.pssm.is_some());
        search.search_by(self.engines[usize::from(with_pssm)]);
        let queries: Vec<Query> = active.iter().map(|course| course.query.clone()).collect();
        // BLAST+ searches each alone.
        let hits = search.run(&queries, &vec![1; queries.len()])?;
        active.par_iter_mut().zip(hits).for_each(|(course, hits)| {
            if let Err(error) = self.advance(course, hits) {
                course.fail(error);
            }
        });
        Ok(())
    }

    /// Takes what a search of a query found.
    fn advance(&self, course: &mut Course, mut hits: Vec<SubjectHit>) -> Result<(), Error> {
        let kept = course.kept().into_iter().collect();
        let messages = self.messages(course);
        let (query, known) = (course.query.clone(), course.found.clone());
        if !self.is_plain() {
            // Making the document trims what the matrix is made of (`CSearchResults::TrimSeqAlign`).
            hits.truncate(self.shown());
        }
        course.searches.push(Searched { kept, query, known, hits, messages });
        let hits = &course.searches[course.searches.len() - 1].hits;
        if hits.is_empty() {
            course.end(self.iteration.save_last);
            return Ok(());
        }
        course.statistics = self.statistics(&course.query);
        let found: BTreeSet<u32> = hits
            .iter()
            .filter(|hit| self.included(hit).next().is_some())
            .map(|hit| hit.oid)
            .collect();
        course.done += 1;
        let nothing_new = found.is_subset(&course.found);
        course.converged = course.done > 1 && nothing_new;
        course.found = found;
        let goes_on = !course.converged && self.iteration.rounds.is_none_or(|n| course.done < n);
        if goes_on || self.iteration.save_last {
            let mut pssm = self.pssm(course.record, hits)?;
            if let Some(before) = &course.query.pssm {
                // A matrix takes λ and H of alignments with gaps from the one before (`_PSIUpdateLambdaK`, blast_psi_priv.c), which
                // may have come with other gaps.
                pssm.gapped = pssm.gapped.with_k_in(before.gapped);
            }
            course.query = self.masked_again(&course.query).with_pssm(Arc::new(pssm));
        }
        if !goes_on {
            course.end(self.iteration.save_last);
            return Ok(());
        }
        self.refuse_pieces(&course.query)
    }

    fn refuse_pieces(&self, query: &Query) -> Result<(), Error> {
        let next = std::slice::from_ref(query);
        match self.engines[1].grouping(next, &[1]).has_pieces() {
            // The rows of a matrix are of the whole query.
            true => {
                Err(Error::unsupported("psiblast", "a PSSM of a query that is searched in pieces"))
            }
            false => Ok(()),
        }
    }

    /// A query as BLAST+ searches it next, whose letters are kept by the query's factory (`IQueryFactory::MakeLocalQueryData`):
    /// it masks what it has masked before, and low complexity is found beside a masked stretch where there was none; but lower
    /// case masks once only (`s_GetFilteringLocationsForOneContext`, blast_filter.c, uses it up).
    fn masked_again(&self, query: &Query) -> Query {
        let context = query.first();
        if self.iteration.start.is_some() {
            // A query that came with its matrix is made anew (`CObjMgrFree_QueryFactory`): as before.
            return query.clone();
        }
        if context.letters == context.unmasked && context.lower_case.is_empty() {
            return query.clone();
        }
        let input = QueryInput { letters: context.letters.clone(), ..Default::default() };
        self.engines[1].query(&input)
    }

    /// The alignments of a subject that go into the model.
    fn included<'h>(
        &self,
        hit: &'h SubjectHit,
    ) -> impl Iterator<Item = &'h fleetblast_engine::hits::Alignment> + use<'h> {
        let limit = self.iteration.params.common().inclusion_evalue;
        hit.alignments.iter().filter(move |alignment| alignment.evalue < limit)
    }

    /// The matrix of what a search found.
    fn pssm(&self, record: &QueryRecord, hits: &[SubjectHit]) -> Result<Pssm, Error> {
        let letters: Vec<u8> = record.record.residues.iter().map(|&code| replaced(code)).collect();
        let mut alignment = QueryAlignment::new(&letters);
        for hit in hits {
            let origin = self.target.extent(hit.oid).searched.start;
            let rows = self.included(hit).map(|alignment| {
                let range = origin + alignment.subject.start..origin + alignment.subject.end;
                let letters = self.target.view(hit.oid, Frame::Protein, range);
                let unread = || Error::database(format_args!("subject {} cannot be read", hit.oid));
                Ok((alignment, letters.ok_or_else(unread)?))
            });
            let rows = rows.collect::<Result<Vec<_>, Error>>()?;
            if !rows.is_empty() {
                alignment.add(rows.iter().map(|(alignment, letters)| (*alignment, &letters[..])));
            }
        }
        let maker = self.maker.as_ref().ok_or_else(|| {
            Error::engine("No matrix frequency ratios were found for requested matrix")
        })?;
        let failed = |error: PssmError| Error::engine(error);
        maker.make(alignment, Habits::default()).map_err(failed)
    }

    /// What BLAST+ warns of when it searches a query as it is now.
    fn messages(&self, course: &mut Course) -> Vec<String> {
        let mut messages = course.record.messages.clone();
        let Some(pssm) = &course.query.pssm else { return messages };
        if self.iteration.resets_composition && !course.reset {
            course.reset = true;
            messages.push(RESET.to_owned());
        }
        let Params::Protein(params) = &self.iteration.params else { return messages };
        let nothing_known =
            || pssm.frequencies.iter().flatten().all(|&frequency| frequency <= NO_FREQUENCY);
        if params.composition != CompositionMode::Off && nothing_known() {
            messages.push(format!(
                "Frequency ratios for PSSM are all zeros, frequency ratios for {} will be used during traceback in \
                 composition based statistics",
                self.plan.matrix_name
            ));
        }
        messages.sort_unstable();
        messages
    }

    /// The statistics by which a query is searched.
    fn statistics(&self, query: &Query) -> Option<Statistics> {
        let Params::Protein(params) = &self.iteration.params else { return None };
        let letters = query.first().karlin?;
        let (ungapped, gapped) = match &query.pssm {
            Some(pssm) => (pssm.ungapped, pssm.gapped),
            None => (letters, params.scoring.gapped.block()),
        };
        Some(Statistics { standard: Some((letters, gapped)), ungapped, gapped })
    }

    /// Writes what became of a query.
    fn write(
        &mut self,
        course: Course,
        reporter: &mut Reporter,
        output: &mut Output,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let Course { record, searches, last, failure, converged, query, .. } = course;
        record.tell_warnings(audience);
        if failure.is_some() && self.reported == 0 && searches.is_empty() && self.is_plain() {
            reporter.open(&reporting::result(record, &query), output)?;
        }
        for (round, mut searched) in searches.into_iter().enumerate() {
            // The results of psiblast know no masks (`CBlastTracebackSearch::Run`): none are shown.
            searched.query.contexts.iter_mut().for_each(|context| context.masks.clear());
            self.keep(&searched.kept, record)?;
            self.reported += 1;
            let warning = record.warning_of(&searched.messages);
            let messages = reporting::xml_message(record, warning.clone());
            let shown = &searched.hits[..searched.hits.len().min(self.shown())];
            let result = QueryResult {
                batch_searched: searched.query.is_searchable(),
                messages: &messages,
                hits: shown,
                hit_count: shown.len(),
                round: Some(Round {
                    number: round + 1,
                    serial: self.reported,
                    known: &searched.known,
                    alignments: searched.hits.iter().map(|hit| hit.alignments.len()).sum(),
                }),
                ..reporting::result(record, &searched.query)
            };
            if self.reported == 1 {
                reporter.open(&result, output)?;
            }
            let report = reporter.round(&result)?;
            reporter.write_round(warning, &report, output, audience)?;
        }
        self.keep(&last, record)?;
        if let Some(error) = failure {
            return Err(error);
        }
        if converged && self.is_plain() {
            output.write(b"\nSearch has CONVERGED!\n")?;
        }
        Ok(())
    }

    fn keep(&mut self, kept: &[Kept], record: &QueryRecord) -> Result<(), Error> {
        for Kept { pssm, statistics } in kept {
            self.files.keep(self.plan, pssm, statistics, record)?;
        }
        Ok(())
    }
}

impl<'a> Course<'a> {
    fn new(record: &'a QueryRecord, query: Query) -> Self {
        Course {
            record,
            query,
            done: 0,
            found: BTreeSet::new(),
            converged: false,
            ended: false,
            reset: false,
            searches: Vec::new(),
            statistics: None,
            last: Vec::new(),
            failure: None,
        }
    }

    /// The matrix at hand, to be kept.
    fn kept(&self) -> Option<Kept> {
        let (pssm, statistics) = (self.query.pssm.clone()?, self.statistics?);
        Some(Kept { pssm, statistics })
    }

    /// Ends if the next search cannot be made, for which its matrix is kept as for others.
    fn end_if_lost(&mut self) {
        if !self.ended && !self.query.is_searchable() {
            self.last.extend(self.kept());
            self.fail(Error::engine(INVALID));
        }
    }

    fn fail(&mut self, error: Error) {
        self.failure = Some(error);
        self.ended = true;
    }

    fn end(&mut self, save_last: bool) {
        self.ended = true;
        if save_last {
            self.last.extend(self.kept());
        }
    }
}

/// A letter as BLAST+ reads it for a matrix.
fn replaced(code: u8) -> u8 {
    if code == alphabet::O { alphabet::X } else { code }
}
