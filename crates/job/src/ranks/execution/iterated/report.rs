//! Makes the reports of the iterations of a pass.

use fleetblast_fleet::ids::PassId;
use fleetblast_report::model::QueryResult;
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::super::questions::FormattedPiece;
use super::block::{IterationReport, TrackedQuery};
use crate::error::Error;
use crate::iteration::{EncodedPssm, IterationRules, ReportedIteration};
use crate::ranks::job::RankJob;
use crate::reports::{self, report_failure};

/// Subjects of a query that workers have formatted.
pub struct PrintedSubjects {
    /// Indexes into the list of hits, in the order of printing.
    pub order: Vec<usize>,
    /// The rows of the description table, one for each hit.
    pub rows: Vec<DescriptionRow>,
    /// The location of each subject, in the order of printing.
    pub subjects: Vec<FormattedPiece>,
}

/// The report of an iteration or of a part of it: bytes before, locations of formatted subjects,
/// bytes after.
struct SearchReport {
    head: Vec<u8>,
    subjects: Vec<FormattedPiece>,
    tail: Vec<u8>,
}

/// Adds the report of each iteration to its query. Formats the subjects that no worker has
/// formatted, on all threads of the current pool. If the I/O site makes the report, adds the
/// results instead.
///
/// # Errors
/// A report cannot be made.
pub fn report(
    place: (&RankJob, &IterationRules, PassId),
    queries: Vec<&mut TrackedQuery>,
    searched: Vec<ReportedIteration>,
    printed: Vec<Option<PrintedSubjects>>,
) -> Result<(), Error> {
    let all = queries.into_par_iter().zip(searched).zip(printed);
    let (job, rules, pass) = place;
    all.try_for_each(|((query, searched), printed)| {
        let kept = pssm_to_keep(rules, query, &searched);
        match job.formats_report() {
            true => report_query(place, query, (&searched, kept), printed)?,
            false => add_unreported(pass, query, (searched, kept)),
        }
        query.progress.fail_if_unsearchable();
        Ok(())
    })
}

/// Returns the PSSM to be written before a query's iteration. Unless each PSSM has its own files,
/// earlier PSSMs of the query are dropped.
fn pssm_to_keep(
    rules: &IterationRules,
    query: &mut TrackedQuery,
    searched: &ReportedIteration,
) -> Option<EncodedPssm> {
    let kept = rules.encode_pssm(searched.start.kept.as_ref()?, &query.record)?;
    if !rules.saves_each() {
        query.reports.iter_mut().for_each(|search| search.pssm_to_save = None);
    }
    Some(kept)
}

/// Adds an iteration to a query whose report the I/O site makes.
fn add_unreported(
    pass: PassId,
    query: &mut TrackedQuery,
    (searched, pssm_to_save): (ReportedIteration, Option<EncodedPssm>),
) {
    let (number, warnings, is_counted) =
        (query.reported_iterations.len() + 1, searched.warnings(), true);
    let (head, subjects, tail) = (Vec::new(), Vec::new(), Vec::new());
    query.reports.push(IterationReport {
        pass,
        number,
        head,
        subjects,
        tail,
        warnings,
        is_counted,
        pssm_to_save,
    });
    query.reported_iterations.push(searched);
}

/// Adds the report of an iteration to its query. The master formats searches with a pattern itself.
fn report_query(
    (job, rules, pass): (&RankJob, &IterationRules, PassId),
    query: &mut TrackedQuery,
    (searched, mut kept): (&ReportedIteration, Option<EncodedPssm>),
    printed: Option<PrintedSubjects>,
) -> Result<(), Error> {
    let TrackedQuery { record, reports: searches, bytes_before, .. } = query;
    let number = searches.last().map_or(1, |last| last.number + 1);
    // The number among the iterations of all queries is not known yet.
    let results = searched.results(rules, record, number, 0);
    if record.number == 1 && number == 1 {
        pieces::first_query_prologue(&job.report, &results[0], bytes_before)
            .map_err(|error| report_failure(&error))?;
    }
    let has_pattern = searched.has_pattern();
    // Except in XML, the parts of a search with a pattern form one report.
    let is_single_report = has_pattern && rules.has_independent_parts();
    let reports = match is_single_report {
        true => vec![pattern_report(job, &results, searched.warning.as_deref())?],
        false => {
            let printed = std::iter::once(printed).chain(std::iter::repeat_with(|| None));
            let reports =
                results.iter().zip(printed).map(|(it, printed)| part_report(job, it, printed));
            reports.collect::<Result<_, _>>()?
        }
    };
    let mut left = searched.warnings();
    for SearchReport { head, subjects, tail } in reports {
        let warnings = left.drain(..if is_single_report { left.len() } else { 1 }).collect();
        let pssm_to_save = kept.take();
        let is_counted = !is_single_report;
        searches.push(IterationReport {
            pass,
            number,
            head,
            subjects,
            tail,
            warnings,
            is_counted,
            pssm_to_save,
        });
    }
    Ok(())
}

fn pattern_report(
    job: &RankJob,
    results: &[QueryResult],
    warning: Option<&[u8]>,
) -> Result<SearchReport, Error> {
    let head = reports::format_pattern(&job.report, results, job.subjects, warning)
        .map_err(|error| report_failure(&error))?;
    Ok(SearchReport { head, subjects: Vec::new(), tail: Vec::new() })
}

fn part_report(
    job: &RankJob,
    result: &QueryResult,
    printed: Option<PrintedSubjects>,
) -> Result<SearchReport, Error> {
    let bad = |error| report_failure(&error);
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let batch = std::slice::from_ref(result);
    pieces::batch_header(&job.report, job.subjects, batch, &mut head).map_err(bad)?;
    let (order, rows, subjects) = match printed {
        Some(PrintedSubjects { order, rows, subjects }) => (order, rows, subjects),
        None => {
            let (order, rows) =
                pieces::arrange_subjects(&job.report, result, job.subjects).map_err(bad)?;
            pieces::subject_blocks(&job.report, result, job.subjects, &order, &mut tail)
                .map_err(bad)?;
            (order, rows, Vec::new())
        }
    };
    let [before, after] =
        pieces::query_frame(&job.report, result, result.hits, (&order, &rows)).map_err(bad)?;
    head.extend(before);
    tail.extend(after);
    pieces::batch_footer(&job.report, batch, &mut tail);
    Ok(SearchReport { head, subjects, tail })
}
