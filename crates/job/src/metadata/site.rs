//! The I/O site: the searched database, and all that is needed to make reports of results.

use fleetblast_db::SequenceKind;
use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::Database;
use fleetblast_metadata::{BlockResults, Encoding, Header, hits, subjects};
use fleetblast_report::model::{DatabaseParagraph, DatabaseSummary};
use fleetblast_seq::alphabet;
use rayon::prelude::*;

use super::fingerprint;
use super::iterations::{DecodeError, decode_iterations};
use super::statistics::BlockStatistics;
use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::IterationReports;
use crate::iteration::IterationRules;
use crate::output::ReportSink;
use crate::plan::Plan;
use crate::queries::{PreparedBlock, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhaseSearch;
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// The I/O site's database, with the search and the reporter that make the report of results.
pub struct IoSite<'a> {
    search: TwoPhaseSearch<'a>,
    /// Writes the report.
    pub reporter: Reporter<'a>,
    engine: &'a Search,
    /// The rules of psiblast's iterations, and the progress of their report; `None` for other
    /// programs.
    iterations: Option<(IterationRules<'a>, IterationReports)>,
    subjects: &'a SubjectDatabase,
    /// Number of letter codes that queries may have.
    codes: u8,
}

/// Opens the database, verifies that it equals the searched database, and calls `run` with the
/// site. `searched` identifies the search in messages.
///
/// # Errors
/// Another database, or one that cannot be read; an error of `run`.
pub fn open_site<T>(
    plan: &Plan,
    header: &Header,
    searched: &str,
    audience: &dyn Audience,
    run: impl FnOnce(IoSite) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut subjects = SubjectDatabase::open(plan, audience)?;
    verify_database(&header.database, searched, &subjects)?;
    subjects.summary = summary(&header.database, plan.subject_kind);
    let engine = plan.engine(subjects.totals);
    let next = plan.iteration.as_ref().map(|it| it.engine(subjects.totals, plan.kernel));
    let iterations = IterationRules::from_plan(plan, &engine, next.as_ref())
        .map(|rules| (rules, IterationReports::default()));
    let recorder = Recorder::default();
    let search = TwoPhaseSearch::new(&subjects, &engine, plan, audience, recorder.clone())?;
    let reporter = Reporter::new(plan, &subjects, recorder);
    let codes = match plan.query_kind {
        SequenceKind::Protein => alphabet::SIZE as u8,
        _ => BLASTNA_CODES,
    };
    run(IoSite { search, reporter, engine: &engine, iterations, subjects: &subjects, codes })
}

/// Verifies that the database of the I/O site equals the searched database.
fn verify_database(
    database: &Database,
    searched: &str,
    subjects: &SubjectDatabase,
) -> Result<(), Error> {
    let own = fingerprint::fingerprint_database(subjects)?;
    let Some(difference) = fingerprint::difference(&database.fingerprint, &own) else {
        return Ok(());
    };
    Err(Error::database(format_args!(
        "{} is not the database that was searched {searched} ({}): {difference}",
        String::from_utf8_lossy(&subjects.summary.label),
        String::from_utf8_lossy(&database.label),
    )))
}

/// Converts the description of the searched database for reports.
fn summary(database: &Database, kind: SequenceKind) -> DatabaseSummary {
    let paragraphs = database.paragraphs.iter().map(|paragraph| DatabaseParagraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    DatabaseSummary {
        kind,
        label: database.label.clone(),
        paragraphs: paragraphs.collect(),
        is_subject: database.is_subject,
    }
}

impl IoSite<'_> {
    /// Returns whether all letters of the queries are valid.
    pub fn has_valid_letters(&self, records: &[QueryRecord]) -> bool {
        let is_letter = |&letter: &u8| letter < self.codes;
        records.iter().all(|record| record.record.residues.iter().all(is_letter))
    }

    /// Prepares a query as the search site does.
    pub fn prepare(&self, record: &QueryRecord) -> Query {
        record.prepare(self.engine)
    }

    /// Prepares queries on all threads of the current pool.
    pub fn prepare_all(&self, records: &[QueryRecord]) -> Vec<Query> {
        records.par_iter().map(|record| self.prepare(record)).collect()
    }

    /// Returns the hits of a block: decodes them, or searches the shown subjects again. Verifies
    /// that they equal the hits of the search site.
    ///
    /// # Errors
    /// Results that cannot be decoded, or hits that differ at this site, converted by `to_error`.
    pub fn reproduce_hits(
        &mut self,
        block: &PreparedBlock,
        results: &BlockResults,
        to_error: &dyn Fn(&'static str) -> Error,
    ) -> Result<Vec<Vec<SubjectHit>>, Error> {
        let queries = block.prepared.len();
        let hits = if results.encoding == Encoding::Hits {
            let statistics = BlockStatistics::new(self.engine, &block.prepared, self.subjects);
            hits::decode(&results.bytes, queries, &statistics).ok_or_else(|| to_error(NO_HITS))?
        } else {
            let count = self.subjects.searched.oid_count();
            let shown = subjects::decode(&results.bytes, queries, count);
            let shown = shown.ok_or_else(|| to_error(NO_HITS))?;
            self.search.search_known_subjects(&block.prepared, &block.batches, &shown)?
        };
        match hits::digest(&hits) == results.digest {
            true => Ok(hits),
            false => Err(to_error(OTHER_HITS)),
        }
    }

    /// Returns whether the search has iterations (psiblast).
    pub fn is_iterated(&self) -> bool {
        self.iterations.is_some()
    }

    /// Reports the wanted queries of a block with iterations.
    ///
    /// # Errors
    /// Results that cannot be decoded, or hits that differ at this site, converted by `to_error`; a
    /// report format for which the iterations would be different; a report that cannot be made or
    /// written.
    pub fn report_iterations(
        &mut self,
        (records, wanted): (&[QueryRecord], &[bool]),
        results: &BlockResults,
        to_error: &dyn Fn(&'static str) -> Error,
        output: &mut impl ReportSink,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let prepared = self.prepare_all(records);
        let IoSite { iterations, subjects, reporter, .. } = self;
        let Some((rules, reports)) = iterations else { return Err(to_error(NO_HITS)) };
        audience.open_block(0, records.len() as u64);
        let queries = records.iter().zip(&prepared).collect();
        let (before, decoded) =
            decode_iterations(rules, subjects, queries, results).map_err(|error| match error {
                DecodeError::Unreadable => to_error(NO_HITS),
                DecodeError::Different => to_error(OTHER_HITS),
                DecodeError::OtherFormat => Error::query_options(OTHER_FORMAT),
            })?;
        reports.set_iteration_count(before);
        for (((record, query), iterated), &wanted) in
            records.iter().zip(&prepared).zip(decoded).zip(wanted)
        {
            if !wanted {
                reports.count_iterations(iterated.iterations.len() as u64);
                continue;
            }
            let place = (&mut *reporter, &mut *output);
            reports.write_query(rules, (record, query), iterated, place, audience, |_| Ok(()))?;
        }
        audience.close_block(0);
        Ok(())
    }

    /// Warns of definition lines in the database that cannot be printed as they are.
    pub fn warn_of_odd_headers(&self, audience: &dyn Audience) {
        self.subjects.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
    }
}

const OTHER_FORMAT: &str = "the search found more subjects than are shown; with formats 5, 15 and 16 the next matrix is made of those that are \
    shown, with other formats of all: choose one of these formats here if the search had one, and only then, or another \
    -max_target_seqs there; format 18 shows all subjects, so choose it for the search, too";
/// Number of letter codes in blastna, the alphabet of nucleotides.
const BLASTNA_CODES: u8 = 16;
const NO_HITS: &str = "what was found of a block of queries cannot be read";
const OTHER_HITS: &str = "what was found of a block of queries is not found here: another build of FleetBLAST, or other \
    arithmetic";
