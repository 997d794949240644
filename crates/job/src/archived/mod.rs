//! Reports of searches that were stored as BLAST archives (`blast_formatter`).
//!
//! BLAST+ makes the report of an archive from what the archive stores: the queries and their masks,
//! the alignments with their scores, and the statistics of the first query, which it shows for all
//! queries. The subjects come from the database, or from the archive if they were not in one.

mod alignments;
mod queries;

use std::collections::BTreeSet;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_report::archive_reader::StoredArchive;
use fleetblast_report::keep_first_subjects;
use fleetblast_report::model::{QueryResult, RepeatedSearch};

use self::alignments::HitReader;
use self::queries::prepare_queries;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Format, Plan};
use crate::queries::PreparedBlock;
use crate::reports::{self, Reporter, report_failure};
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// The report of a file of archives, open for writing.
pub struct ArchiveReport {
    output: Output,
    /// Number of queries reported so far in the current document.
    queries: usize,
}

/// A plan of the search that an archive stores, and its opened subjects.
pub struct ArchivedSearch<'a> {
    /// The plan, with the report options of this run.
    pub plan: &'a Plan,
    /// The subjects.
    pub subjects: &'a SubjectDatabase,
}

impl ArchiveReport {
    /// Opens the report that the plan of the first archive asks for.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn open(plan: &Plan) -> Result<ArchiveReport, Error> {
        Ok(ArchiveReport { output: Output::open(&plan.out)?, queries: 0 })
    }

    /// Whether the archives of a file make one document together, as XML and JSON do.
    pub fn is_joined(plan: &Plan) -> bool {
        matches!(plan.report.format, Format::Xml | Format::Output2 { .. })
    }

    /// Writes the reports of archives. The caller has verified that they store the same search.
    ///
    /// # Errors
    /// Archives that do not fit the database; an output that cannot be written.
    pub fn write(
        &mut self,
        search: &ArchivedSearch<'_>,
        archives: impl Iterator<Item = Result<StoredArchive, Error>>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let ArchivedSearch { plan, subjects } = *search;
        let mut reporter = Reporter::new(plan, subjects, Recorder::default());
        reporter.write_prologue(&mut self.output)?;
        let setup = reports::setup(plan, subjects);
        let engine = plan.engine(subjects.totals);
        self.queries = 0;
        for archive in archives {
            let archive = archive?;
            let block = prepare_queries(&archive, &engine, self.queries)?;
            let mut hits = HitReader::new(&setup, subjects, &block).read(&archive)?;
            if plan.report.format.is_document() {
                // Other formats do so themselves, or show all (SAM, organism report).
                let most = plan.report.num_alignments;
                let mut hits = hits.iter_mut();
                hits.try_for_each(|hits| keep_first_subjects(&setup, subjects, hits, most))
                    .map_err(|error| report_failure(&error))?;
            }
            self.queries += block.records.len();
            match archive.request.iteration() {
                Some(number) => {
                    let output = &mut self.output;
                    write_iteration(&mut reporter, (&block, &hits, number), output, audience)?;
                }
                None => {
                    let searched = vec![true; block.records.len()];
                    reporter.write_block(&block, &searched, &hits, &mut self.output, audience)?;
                }
            }
        }
        reporter.finish(&mut self.output, audience)
    }

    /// Writes a piece of a report that depends on the archive alone.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn write_piece(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.output.write(piece)
    }

    /// Completes the report, and gives its file the final name.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.output.commit()
    }
}

/// Writes the report of an iteration of psiblast. All subjects are reported as new, because
/// archives do not store the subjects of the previous iteration.
fn write_iteration(
    reporter: &mut Reporter<'_>,
    (block, hits, number): (&PreparedBlock, &[Vec<SubjectHit>], usize),
    output: &mut Output,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let known = BTreeSet::new();
    for ((record, query), hits) in block.records.iter().zip(&block.prepared).zip(hits) {
        let search = RepeatedSearch {
            number,
            serial: reporter.reported_count() + 1,
            previous_model_oids: &known,
            alignments: hits.iter().map(|hit| hit.alignments.len()).sum(),
            occurrence: None,
        };
        let result = QueryResult {
            hits,
            hit_count: hits.len(),
            repeated_search: Some(search),
            ..reports::empty_result(record, query)
        };
        if !reporter.has_written_opening() {
            reporter.write_opening(&result, output)?;
        }
        output.write(&reporter.format_iteration(&result)?)?;
        reporter.print_warning(None, audience);
        reporter.add_reported_queries(1);
    }
    Ok(())
}
