//! The iterations of psiblast (`CPsiBlastApp::x_RunLocalPsiBlastIterations`, psiblast_app.cpp): the
//! rules by which the results of an iteration become the PSSM of the next one, for one process and
//! for ranks.

mod files;
mod progress;
mod reported;
mod reports;

use std::borrow::{Borrow, Cow};
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
use fleetblast_report::scoremat::PssmStatistics;
use fleetblast_report::stored_evalue;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::Frame;
use fleetblast_stats::program::BlastProgram;

pub use self::files::{EncodedPssm, PssmFiles};
pub use self::progress::{IterationStart, KeptPssm, QueryProgress, hide_masks};
pub use self::reported::{IteratedQuery, ReportPart, ReportedIteration};
pub use self::reports::IterationReports;
use crate::audience::Audience;
use crate::error::Error;
use crate::plan::{Format, IterationPlan, Plan};
use crate::queries::{QueryRecord, sort_warnings};
use crate::subjects::SubjectDatabase;

/// Warning of BLAST+ about composition-based statistics that cannot be used with a PSSM.
const COMPOSITION_RESET: &str = "Composition-based score adjustment conditioned on sequence properties and unconditional composition-based \
    score adjustment is not supported with PSSMs, resetting to default value of standard composition-based statistics";
/// Text after the report of a query whose last iteration found no new subject.
pub const CONVERGED: &[u8] = b"\nSearch has CONVERGED!\n";
/// Upper limit of e-values in the comparison with the inclusion threshold: larger e-values are
/// reduced to it. BLAST+ starts its search for the lowest e-value of a subject with this value
/// (`GetLowestEvalue`, psiblast_aux_priv.cpp).
const WORST_EVALUE: f64 = 10.0;
/// Largest frequency that counts as 0.
const NO_FREQUENCY: f64 = 0.0001;

/// Returns the letters of a subject that an alignment covers.
///
/// # Errors
/// A subject that cannot be read.
pub fn subject_letters<'t>(
    subjects: &'t SubjectDatabase,
    oid: u32,
    alignment: &Alignment,
) -> Result<Cow<'t, [u8]>, Error> {
    let origin = subjects.extent(oid).searched_range.start;
    let range = origin + alignment.subject.start..origin + alignment.subject.end;
    let unread = || Error::database(format_args!("subject {oid} cannot be read"));
    subjects.report_letters(oid, Frame::Protein, range).ok_or_else(unread)
}

/// Returns BLAST+'s messages before the first iteration of a query: those from reading the query,
/// then those about the options.
pub fn messages_before<'m>(
    iteration: &'m IterationPlan,
    record: &'m QueryRecord,
) -> impl Iterator<Item = &'m String> {
    record.reading_warnings.iter().chain(&iteration.warnings)
}

/// The rules of a plan for the iterations of its queries.
pub struct IterationRules<'a> {
    plan: &'a Plan,
    iteration: &'a IterationPlan,
    /// The engine for queries without a PSSM, and the engine for queries with one.
    engines: [&'a Search; 2],
    maker: Option<PssmMaker>,
}

impl<'a> IterationRules<'a> {
    /// Creates the rules of a plan. `engines` are the engine for queries without a PSSM and the one
    /// for queries with a PSSM.
    pub fn new(plan: &'a Plan, iteration: &'a IterationPlan, engines: [&'a Search; 2]) -> Self {
        let maker = PssmMaker::new(&iteration.params.scoring, iteration.pseudocount);
        IterationRules { plan, iteration, engines, maker }
    }

    /// Creates the rules of a plan; `None` if it has no iterations. `engine` is for queries without
    /// a PSSM, `next` for those with one.
    pub fn from_plan(plan: &'a Plan, engine: &'a Search, next: Option<&'a Search>) -> Option<Self> {
        Some(IterationRules::new(plan, plan.iteration.as_ref()?, [engine, next?]))
    }

    /// Returns the engine for queries without a PSSM, or with one.
    pub fn engine(&self, with_pssm: bool) -> &'a Search {
        self.engines[usize::from(with_pssm)]
    }

    /// Returns the pattern of the first iteration, if it has one.
    pub fn pattern(&self) -> Option<&'a Pattern> {
        self.plan.params.pattern()
    }

    /// Returns whether the search for a pattern is the only iteration, so that no PSSM is made
    /// (`run_token`, psiblast_app.cpp).
    fn is_pattern_alone(&self) -> bool {
        self.pattern().is_some() && self.has_single_iteration()
    }

    /// Prints BLAST+'s messages before the first iteration of a query.
    pub fn print_messages(&self, record: &QueryRecord, audience: &dyn Audience) {
        let messages = messages_before(self.iteration, record);
        messages.for_each(|message| audience.print_message(message));
    }

    /// Returns whether each query has exactly one iteration.
    pub fn has_single_iteration(&self) -> bool {
        self.iteration.max_iterations == Some(1)
    }

    /// Returns the ranges of the query in which the pattern occurs. Empty without a pattern, and
    /// for an iteration with a PSSM.
    fn occurrences(&self, query: &Query) -> Vec<Range<u32>> {
        let pattern = self.pattern().filter(|_| query.pssm.is_none());
        pattern.map(|pattern| pattern.occurrences_in(query)).unwrap_or_default()
    }

    /// Returns the maximum number of subjects that the report of an iteration shows.
    pub fn max_reported_subjects(&self) -> usize {
        self.iteration.params.common.hitlist_size
    }

    /// Returns whether the report shows all subjects that the search kept, even beyond
    /// [`max_reported_subjects`](Self::max_reported_subjects): BLAST+ shortens the list for each of
    /// the other formats, but not for the organism report (`CBlastFormat::x_PrintTaxReport`) and
    /// archives (`CBlastFormat::WriteArchive`).
    pub fn reports_all_subjects(&self) -> bool {
        matches!(self.plan.report.format, Format::Organisms | Format::Archive)
    }

    /// Returns whether the report has the PSSMs themselves.
    pub fn reports_pssms(&self) -> bool {
        self.plan.report.format == Format::Archive
    }

    /// Returns whether the next PSSM leaves out the subjects that the report does not show.
    fn drops_hidden_subjects(&self) -> bool {
        matches!(self.plan.report.format, Format::Xml | Format::Output2 { .. })
    }

    /// Returns whether the report consists of independent parts. Reports in XML, JSON and ASN.1 do
    /// not.
    pub fn has_independent_parts(&self) -> bool {
        !self.plan.report.format.is_document()
    }

    /// Splits the hits of an iteration into the parts that are reported separately: one for each
    /// occurrence of a pattern, or a single part without a pattern. The next PSSM is made from the
    /// first part. For XML and JSON, subjects that the report does not show are dropped first
    /// (`CSearchResults::TrimSeqAlign`). Other reports drop them only from a copy of the hits.
    fn split_parts(
        &self,
        begun: &mut IterationStart,
        mut hits: Vec<SubjectHit>,
    ) -> Vec<Vec<SubjectHit>> {
        begun.exceeds = hits.len() > self.max_reported_subjects();
        if self.drops_hidden_subjects() {
            hits.truncate(self.max_reported_subjects());
        }
        match begun.places.len() {
            0 => vec![hits],
            count => phi::split_by_occurrence(&hits, count),
        }
    }

    /// Returns the alignments of a subject that go into the next PSSM: those below the inclusion
    /// threshold.
    pub fn alignments_for_pssm<'h>(
        &self,
        hit: &'h SubjectHit,
    ) -> impl Iterator<Item = &'h Alignment> + use<'h> {
        let limit = self.iteration.params.common.inclusion_evalue;
        let stored = |evalue| stored_evalue(evalue).min(WORST_EVALUE);
        hit.alignments.iter().filter(move |alignment| stored(alignment.evalue) < limit)
    }

    /// Returns the OIDs of the subjects with alignments below the inclusion threshold.
    pub fn below_threshold<'h>(
        &self,
        hits: impl IntoIterator<Item = &'h SubjectHit>,
    ) -> BTreeSet<u32> {
        let included =
            hits.into_iter().filter(|hit| self.alignments_for_pssm(hit).next().is_some());
        included.map(|hit| hit.oid).collect()
    }

    /// Returns the error of BLAST+ about options that it checks only when it makes a PSSM
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
        // Only the files with ASCII tables show the observations of the columns.
        let rules = AlignmentRules {
            keeps_observed: self.iteration.table.is_some(),
            ..AlignmentRules::default()
        };
        maker.make(alignment, rules).map_err(Error::engine)
    }

    fn refuse_chunks(&self, query: &Query) -> Result<(), Error> {
        let next = std::slice::from_ref(query);
        match self.engine(true).grouping(next, &[1]).has_chunked_queries() {
            // A PSSM covers the whole query, so the engine cannot search it in chunks.
            true => {
                let what = "a PSSM of a query that is searched in pieces";
                Err(Error::unsupported(BlastProgram::Psiblast.name(), what))
            }
            false => Ok(()),
        }
    }

    /// Returns the query as BLAST+ searches it in the next iteration. BLAST+ keeps the masked
    /// letters (`IQueryFactory::MakeLocalQueryData`) and masks them again, so it may find new low
    /// complexity next to a masked range. Lower case masks only once, because
    /// `s_GetFilteringLocationsForOneContext` (blast_filter.c) uses it up.
    pub fn masked_again(&self, query: &Query) -> Query {
        let context = query.first();
        // The statistics of a pattern do not apply to the next iteration.
        let has_pattern = self.pattern().is_some() && query.pssm.is_none();
        if !has_pattern && context.letters == context.unmasked && context.lower_case.is_empty() {
            return query.clone();
        }
        let input = QueryInput { letters: context.letters.to_vec(), ..Default::default() };
        self.engine(true).query(&input)
    }

    /// Returns BLAST+'s warnings about the next iteration of a query.
    fn messages(&self, progress: &mut QueryProgress, record: &QueryRecord) -> Vec<String> {
        let mut messages = record.messages.clone();
        let Some(pssm) = &progress.query.pssm else { return messages };
        if self.iteration.resets_composition && !progress.has_warned_of_reset {
            progress.has_warned_of_reset = true;
            messages.push(COMPOSITION_RESET.to_owned());
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
        sort_warnings(&mut messages);
        messages
    }

    /// Returns the Karlin-Altschul statistics with which a query is searched; `None` for a query
    /// without statistics.
    fn statistics(&self, query: &Query) -> Option<PssmStatistics> {
        let letters = query.first().karlin?;
        let psi = match &query.pssm {
            Some(pssm) => [pssm.ungapped, pssm.gapped],
            // A search for a pattern has the same statistics with and without gaps, and none of a
            // PSSM.
            None if self.pattern().is_some() => {
                return Some(PssmStatistics { standard: Some([letters; 2]), psi: None });
            }
            None => [letters, self.iteration.params.scoring.gapped_statistics.karlin_parameters()],
        };
        Some(PssmStatistics { standard: Some([letters, psi[1]]), psi: Some(psi) })
    }

    /// Creates the progress of a query before its first iteration. It has failed already if the
    /// options or the query cannot be searched.
    pub fn start(&self, query: Query) -> QueryProgress {
        let mut progress = QueryProgress::new(query);
        let missing = || self.pattern()?.unsearchable_reason(&progress.query).map(Error::warning);
        if let Some(fault) = self.iteration.fault.clone().or_else(missing) {
            progress.fail(fault);
        }
        if let Some(pssm) = &progress.query.pssm {
            // No earlier iteration has set the statistics.
            progress.statistics =
                Some(PssmStatistics { standard: None, psi: Some([pssm.ungapped, pssm.gapped]) });
            if let Err(error) = self.refuse_chunks(&progress.query) {
                progress.fail(error);
            }
        }
        progress
    }

    /// Records the hits of a query's iteration; outlines of their alignments suffice. Returns the
    /// data for the report of the iteration. If [`make_pssm`](Self::make_pssm) must make a PSSM,
    /// this calls `use_hits` with the hits for the PSSM, and also returns the result.
    pub fn record_iteration<T>(
        &self,
        progress: &mut QueryProgress,
        record: &QueryRecord,
        hits: Vec<SubjectHit>,
        use_hits: impl FnOnce(&mut QueryProgress, &[SubjectHit]) -> T,
    ) -> (ReportedIteration, Option<T>) {
        let mut start = self.begin(progress, record);
        let parts = self.split_parts(&mut start, hits);
        let makes_pssm = self.record_hits(progress, &parts[0]);
        let used = makes_pssm.then(|| use_hits(progress, &parts[0]));
        (ReportedIteration::new(self, record, start, parts), used)
    }

    /// Starts the next iteration of a query, and returns the data for the report of the iteration.
    fn begin(&self, progress: &mut QueryProgress, record: &QueryRecord) -> IterationStart {
        let kept = if self.saves_pssms() { progress.current_pssm() } else { None };
        let messages = self.messages(progress, record);
        let places = self.occurrences(&progress.query);
        let (query, known, exceeds) = (progress.query.clone(), progress.found.clone(), false);
        IterationStart { kept, query, known, exceeds, places, messages }
    }

    /// Records the hits of the first [part](Self::split_parts) of an iteration. Returns whether a
    /// PSSM is made from them.
    fn record_hits(&self, progress: &mut QueryProgress, hits: &[SubjectHit]) -> bool {
        if hits.is_empty() {
            progress.end(self.iteration.save_last);
            return false;
        }
        progress.statistics = self.statistics(&progress.query);
        let found = self.below_threshold(hits);
        let has_more = self
            .iteration
            .max_iterations
            .is_none_or(|max_iterations| progress.done + 1 < max_iterations);
        progress.count(found, has_more);
        if progress.has_next || self.iteration.save_last && !self.is_pattern_alone() {
            return true;
        }
        progress.end(false);
        false
    }

    /// Makes the next PSSM of a query from `subjects`, the subjects of its last iteration. Each
    /// subject comes as its [alignments](Self::alignments_for_pssm), each with the letters of the
    /// subject that it covers.
    pub fn make_pssm<A: Borrow<Alignment>, L: AsRef<[u8]>>(
        &self,
        progress: &mut QueryProgress,
        record: &QueryRecord,
        subjects: impl IntoIterator<Item = Result<Vec<(A, L)>, Error>>,
    ) {
        let aligned = align_to_query(record, subjects);
        if let Err(error) = aligned.and_then(|alignment| self.advance(progress, alignment)) {
            progress.fail(error);
        }
    }

    fn advance(
        &self,
        progress: &mut QueryProgress,
        alignment: QueryAlignment,
    ) -> Result<(), Error> {
        let mut pssm = self.pssm(alignment)?;
        if let Some(before) = &progress.query.pssm {
            // A PSSM takes λ and H of gapped alignments from the PSSM before it
            // (`_PSIUpdateLambdaK`, blast_psi_priv.c), which may be for other gap costs.
            pssm.gapped = before.gapped.with_k_of(pssm.gapped);
        }
        progress.query = self.masked_again(&progress.query).with_pssm(Arc::new(pssm));
        if !progress.has_next {
            progress.end(self.iteration.save_last);
            return Ok(());
        }
        self.refuse_chunks(&progress.query)
    }

    /// Returns whether each PSSM gets its own files.
    pub fn saves_each(&self) -> bool {
        self.iteration.save_each
    }

    /// Returns whether PSSMs are written to files.
    fn saves_pssms(&self) -> bool {
        self.iteration.checkpoint.is_some() || self.iteration.table.is_some()
    }

    /// Formats a PSSM for its files; `None` if the plan writes no such files.
    pub fn encode_pssm(&self, kept: &KeptPssm, record: &QueryRecord) -> Option<EncodedPssm> {
        self.saves_pssms().then(|| EncodedPssm::new(self.plan, self.iteration, kept, record))
    }
}

/// Builds the multiple alignment for a PSSM, with the query as its first row. Subjects without
/// alignments have no row.
fn align_to_query<A: Borrow<Alignment>, L: AsRef<[u8]>>(
    record: &QueryRecord,
    subjects: impl IntoIterator<Item = Result<Vec<(A, L)>, Error>>,
) -> Result<QueryAlignment, Error> {
    let query: Vec<u8> = record.record.residues.iter().map(|&code| pssm_letter(code)).collect();
    let mut aligned = QueryAlignment::new(&query);
    for subject in subjects {
        let rows = subject?;
        if !rows.is_empty() {
            aligned.add(
                rows.iter().map(|(alignment, letters)| (alignment.borrow(), letters.as_ref())),
            );
        }
    }
    Ok(aligned)
}

/// Returns the letter that BLAST+ uses in a PSSM for this letter of the query: `X` for `O`.
fn pssm_letter(code: u8) -> u8 {
    if code == alphabet::O { alphabet::X } else { code }
}
