//! Queries that are searched again and again with what was found (`CPsiBlastApp::x_RunLocalPsiBlastIterations`,
//! psiblast_app.cpp): what each search of a query brings about, wherever it is searched.

mod course;
mod files;
mod reports;
mod searched;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::params::CompositionMode;
use fleetblast_engine::pattern::Pattern;
use fleetblast_engine::phi;
use fleetblast_engine::pssm::alignment::QueryAlignment;
use fleetblast_engine::pssm::{AlignmentRules, Pssm, PssmMaker};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_engine::search::Search;
use fleetblast_report::model::SubjectSource;
use fleetblast_report::scoremat::Statistics;
use fleetblast_report::stored_evalue;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::Frame;

pub use self::course::{Begun, Course, Kept, hide_masks};
pub use self::files::{Matrix, PssmFiles};
pub use self::reports::RoundReports;
pub use self::searched::{InRounds, Part, Searched};
use crate::audience::Audience;
use crate::error::Error;
use crate::plan::{Format, Iteration, Plan};
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// What BLAST+ says where a matrix does not go with the composition-based statistics.
const RESET: &str = "Composition-based score adjustment conditioned on sequence properties and unconditional composition-based \
    score adjustment is not supported with PSSMs, resetting to default value of standard composition-based statistics";
/// What is written behind the searches of a query of which the last found nothing new.
pub const CONVERGED: &[u8] = b"\nSearch has CONVERGED!\n";
/// The e-value of worse alignments for a matrix: where BLAST+ looks for the least one of an alignment it begins with this one
/// (`GetLowestEvalue`, psiblast_aux_priv.cpp).
const WORST_EVALUE: f64 = 10.0;
/// A frequency that counts as 0.
const NO_FREQUENCY: f64 = 0.0001;

/// The letters of a subject in an alignment.
///
/// # Errors
/// A subject that cannot be read.
pub fn subject_letters<'t>(
    target: &'t Target,
    oid: u32,
    alignment: &Alignment,
) -> Result<Cow<'t, [u8]>, Error> {
    let origin = target.extent(oid).searched.start;
    let range = origin + alignment.subject.start..origin + alignment.subject.end;
    let unread = || Error::database(format_args!("subject {oid} cannot be read"));
    target.view(oid, Frame::Protein, range).ok_or_else(unread)
}

/// How queries are searched again.
pub struct Rules<'a> {
    plan: &'a Plan,
    iteration: &'a Iteration,
    /// Searches without a matrix, and with one.
    engines: [&'a Search; 2],
    maker: Option<PssmMaker>,
}

impl<'a> Rules<'a> {
    /// Of a plan, whose searches are made by these engines: without a matrix, and with one.
    pub fn new(plan: &'a Plan, iteration: &'a Iteration, engines: [&'a Search; 2]) -> Self {
        let maker = PssmMaker::new(&iteration.params.scoring, iteration.pseudocount);
        Rules { plan, iteration, engines, maker }
    }

    /// Of a plan whose queries are searched in rounds, if they are, by an engine without a matrix and one with it.
    pub fn of(plan: &'a Plan, engine: &'a Search, next: Option<&'a Search>) -> Option<Self> {
        Some(Rules::new(plan, plan.iteration.as_ref()?, [engine, next?]))
    }

    /// What searches queries that are all without a matrix, or all with one.
    pub fn engine(&self, with_pssm: bool) -> &'a Search {
        self.engines[usize::from(with_pssm)]
    }

    /// The pattern of the first search, if it has one.
    pub fn pattern(&self) -> Option<&'a Pattern> {
        self.plan.params.pattern()
    }

    /// Whether the search for a pattern is all there is, which brings no matrix about (`run_token`, psiblast_app.cpp).
    fn is_pattern_alone(&self) -> bool {
        self.pattern().is_some() && self.is_one_round()
    }

    /// Tells what was odd about a query, and what is warned of the options before its searches.
    pub fn tell_warnings(&self, record: &QueryRecord, audience: &dyn Audience) {
        record.tell_warnings(audience);
        self.iteration.warnings.iter().for_each(|warning| audience.complain(warning));
    }

    /// Whether each query is searched once.
    pub fn is_one_round(&self) -> bool {
        self.iteration.rounds == Some(1)
    }

    /// Where the pattern of a search occurs in the query; nowhere if it has none.
    fn occurrences(&self, query: &Query) -> Vec<Range<u32>> {
        let pattern = self.pattern().filter(|_| query.pssm.is_none());
        pattern.map(|pattern| pattern.occurrences_in(query)).unwrap_or_default()
    }

    /// Subjects of a search that are shown at most.
    pub fn shown(&self) -> usize {
        self.iteration.params.common.hitlist_size
    }

    /// Whether the reports are not one document.
    pub fn is_plain(&self) -> bool {
        self.plan.report.format != Format::Xml
    }

    /// Parts what a search found by what is reported apart; the next matrix is made of the first part. Making a document trims what may go
    /// into that (`CSearchResults::TrimSeqAlign`).
    pub fn parts(&self, begun: &mut Begun, mut hits: Vec<SubjectHit>) -> Vec<Vec<SubjectHit>> {
        begun.exceeds = hits.len() > self.shown();
        if !self.is_plain() {
            hits.truncate(self.shown());
        }
        match begun.places.len() {
            0 => vec![hits],
            count => phi::split(&hits, count),
        }
    }

    /// The alignments of a subject that go into the next matrix.
    pub fn included<'h>(
        &self,
        hit: &'h SubjectHit,
    ) -> impl Iterator<Item = &'h Alignment> + use<'h> {
        let limit = self.iteration.params.common.inclusion_evalue;
        let told = |evalue| stored_evalue(evalue).min(WORST_EVALUE);
        hit.alignments.iter().filter(move |alignment| told(alignment.evalue) < limit)
    }

    /// The subjects of which some do.
    pub fn below_threshold<'h>(
        &self,
        hits: impl IntoIterator<Item = &'h SubjectHit>,
    ) -> BTreeSet<u32> {
        let included = hits.into_iter().filter(|hit| self.included(hit).next().is_some());
        included.map(|hit| hit.oid).collect()
    }

    /// What subjects are laid on for the next matrix: the query.
    pub fn alignment(record: &QueryRecord) -> QueryAlignment {
        let letters: Vec<u8> = record.record.residues.iter().map(|&code| replaced(code)).collect();
        QueryAlignment::new(&letters)
    }

    /// What BLAST+ finds wrong with the options only when it makes a matrix
    /// (`PSIBlastOptionsValidate`, blast_options.c).
    fn invalid_option(&self) -> Option<&'static str> {
        if self.iteration.pseudocount < 0 {
            return Some("Pseudo count must be greater than or equal to 0");
        }
        let inclusion = self.iteration.params.common.inclusion_evalue;
        (inclusion <= 0.0).then_some("Inclusion threshold must be greater than 0")
    }

    fn pssm(&self, alignment: QueryAlignment) -> Result<Pssm, Error> {
        if let Some(problem) = self.invalid_option() {
            return Err(Error::pssm_options(problem));
        }
        let maker = self.maker.as_ref().ok_or_else(|| {
            Error::engine("No matrix frequency ratios were found for requested matrix")
        })?;
        // Only tables, and files beside them, show what is found of the columns.
        let rules = AlignmentRules {
            observes: self.iteration.table.is_some(),
            ..AlignmentRules::default()
        };
        maker.make(alignment, rules).map_err(Error::engine)
    }

    fn refuse_pieces(&self, query: &Query) -> Result<(), Error> {
        let next = std::slice::from_ref(query);
        match self.engine(true).grouping(next, &[1]).has_pieces() {
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
    pub fn masked_again(&self, query: &Query) -> Query {
        let context = query.first();
        // Statistics of a pattern are no others'.
        let has_pattern = self.pattern().is_some() && query.pssm.is_none();
        if !has_pattern && context.letters == context.unmasked && context.lower_case.is_empty() {
            return query.clone();
        }
        let input = QueryInput { letters: context.letters.to_vec(), ..Default::default() };
        self.engine(true).query(&input)
    }

    /// What BLAST+ warns of when it searches a query as it is now.
    fn messages(&self, course: &mut Course, record: &QueryRecord) -> Vec<String> {
        let mut messages = record.messages.clone();
        let Some(pssm) = &course.query.pssm else { return messages };
        if self.iteration.resets_composition && !course.reset {
            course.reset = true;
            messages.push(RESET.to_owned());
        }
        let nothing_known =
            || pssm.frequencies.iter().flatten().all(|&frequency| frequency <= NO_FREQUENCY);
        if self.iteration.params.composition != CompositionMode::Off && nothing_known() {
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
        let letters = query.first().karlin?;
        let psi = match &query.pssm {
            Some(pssm) => [pssm.ungapped, pssm.gapped],
            // Those of a pattern, with gaps as without, which nothing of a matrix stands beside.
            None if self.pattern().is_some() => {
                return Some(Statistics { standard: Some([letters; 2]), psi: None });
            }
            None => [letters, self.iteration.params.scoring.gapped.block()],
        };
        Some(Statistics { standard: Some([letters, psi[1]]), psi: Some(psi) })
    }

    /// A query that was not searched yet.
    pub fn course(&self, query: Query) -> Course {
        let mut course = Course::new(query);
        let missing = || self.pattern()?.unsearchable_reason(&course.query).map(Error::warning);
        if let Some(fault) = self.iteration.fault.clone().or_else(missing) {
            course.fail(fault);
        }
        if let Some(start) = &self.iteration.start {
            let pssm = start.pssm_of(&course.query);
            // No search was before.
            course.statistics =
                Some(Statistics { standard: None, psi: Some([pssm.ungapped, pssm.gapped]) });
            course.query.pssm = Some(pssm);
            if let Err(error) = self.refuse_pieces(&course.query) {
                course.fail(error);
            }
        }
        course
    }

    /// What the next search of a query is reported with.
    pub fn begin(&self, course: &mut Course, record: &QueryRecord) -> Begun {
        let kept = if self.is_kept() { course.kept() } else { None };
        let messages = self.messages(course, record);
        let places = self.occurrences(&course.query);
        let (query, known, exceeds) = (course.query.clone(), course.found.clone(), false);
        Begun { kept, query, known, exceeds, places, messages }
    }

    /// Takes what the search found, the first part of it, be it only outlines of alignments; whether a matrix is to be made of it
    /// ([`advance`](Self::advance)).
    pub fn take(&self, course: &mut Course, hits: &[SubjectHit]) -> bool {
        if hits.is_empty() {
            course.end(self.iteration.save_last);
            return false;
        }
        course.statistics = self.statistics(&course.query);
        let found = self.below_threshold(hits);
        let has_more = self.iteration.rounds.is_none_or(|rounds| course.done + 1 < rounds);
        course.count(found, has_more);
        if course.goes_on || self.iteration.save_last && !self.is_pattern_alone() {
            return true;
        }
        course.end(false);
        false
    }

    /// Makes the next matrix, of the subjects that a search found.
    pub fn advance(&self, course: &mut Course, alignment: QueryAlignment) {
        if let Err(error) = self.try_advance(course, alignment) {
            course.fail(error);
        }
    }

    fn try_advance(&self, course: &mut Course, alignment: QueryAlignment) -> Result<(), Error> {
        let mut pssm = self.pssm(alignment)?;
        if let Some(before) = &course.query.pssm {
            // A matrix takes λ and H of alignments with gaps from the one before (`_PSIUpdateLambdaK`, blast_psi_priv.c), which
            // may have come with other gaps.
            pssm.gapped = pssm.gapped.with_k_in(before.gapped);
        }
        course.query = self.masked_again(&course.query).with_pssm(Arc::new(pssm));
        if !course.goes_on {
            course.end(self.iteration.save_last);
            return Ok(());
        }
        self.refuse_pieces(&course.query)
    }

    /// Whether each matrix gets files of its own.
    pub fn saves_each(&self) -> bool {
        self.iteration.save_each
    }

    /// Whether matrices are to be in files.
    fn is_kept(&self) -> bool {
        self.iteration.checkpoint.is_some() || self.iteration.table.is_some()
    }

    /// A matrix as its files have it, if there are to be any.
    pub fn matrix(&self, kept: &Kept, record: &QueryRecord) -> Option<Matrix> {
        self.is_kept().then(|| Matrix::new(self.plan, self.iteration, kept, record))
    }
}

/// A letter as BLAST+ reads it for a matrix.
fn replaced(code: u8) -> u8 {
    if code == alphabet::O { alphabet::X } else { code }
}
