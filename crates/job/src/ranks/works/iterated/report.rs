//! The reports of the searches of a pass.

use fleetblast_fleet::ids::PassId;
use fleetblast_report::model::QueryResult;
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::super::rounds::Piece;
use super::block::{Followed, Reported};
use crate::error::Error;
use crate::iteration::{Matrix, ReportedIteration, Rules};
use crate::ranks::job::Job;
use crate::reports::{self, failure};

/// Formatted subjects of a query.
pub struct Printed {
    /// The order of printing.
    pub order: Vec<usize>,
    /// The rows of the description table.
    pub rows: Vec<DescriptionRow>,
    /// The location of each subject, in the order of printing.
    pub subjects: Vec<Piece>,
}

/// The report of a search, in the order of printing.
struct Pieces {
    head: Vec<u8>,
    subjects: Vec<Piece>,
    tail: Vec<u8>,
}

/// Adds the report of each search to its query. If no worker has formatted it, it is formatted here
/// on all threads of the current pool, provided that this site makes the report.
///
/// # Errors
/// A report cannot be made.
pub fn report(
    place: (&Job, &Rules, PassId),
    queries: Vec<&mut Followed>,
    searched: Vec<ReportedIteration>,
    printed: Vec<Option<Printed>>,
) -> Result<(), Error> {
    let all = queries.into_par_iter().zip(searched).zip(printed);
    let (job, rules, pass) = place;
    all.try_for_each(|((query, searched), printed)| {
        let kept = kept(rules, query, &searched);
        match job.reports() {
            true => report_query(place, query, (&searched, kept), printed)?,
            false => pass_on(pass, query, (searched, kept)),
        }
        query.course.end_if_lost();
        Ok(())
    })
}

/// Returns the matrix to be kept before a query's search. Unless each one is kept, it replaces the
/// matrix before.
fn kept(rules: &Rules, query: &mut Followed, searched: &ReportedIteration) -> Option<Matrix> {
    let kept = rules.matrix(searched.begun.kept.as_ref()?, &query.record)?;
    if !rules.saves_each() {
        query.searches.iter_mut().for_each(|search| search.kept = None);
    }
    Some(kept)
}

/// Adds a search to a query whose report is made elsewhere.
fn pass_on(
    pass: PassId,
    query: &mut Followed,
    (searched, kept): (ReportedIteration, Option<Matrix>),
) {
    let (number, warnings, is_counted) = (query.found.len() + 1, searched.warnings(), true);
    let (head, subjects, tail) = (Vec::new(), Vec::new(), Vec::new());
    query.searches.push(Reported {
        pass,
        number,
        head,
        subjects,
        tail,
        warnings,
        is_counted,
        kept,
    });
    query.found.push(searched);
}

/// Adds the report of a search to its query. Searches with a pattern are always formatted here.
fn report_query(
    (job, rules, pass): (&Job, &Rules, PassId),
    query: &mut Followed,
    (searched, mut kept): (&ReportedIteration, Option<Matrix>),
    printed: Option<Printed>,
) -> Result<(), Error> {
    let Followed { record, searches, opening, .. } = query;
    let number = searches.last().map_or(1, |last| last.number + 1);
    // The number among all searches is not known yet.
    let results = searched.results(rules, record, number, 0);
    if record.number == 1 && number == 1 {
        pieces::opening(&job.report, &results[0], opening).map_err(|error| failure(&error))?;
    }
    let has_pattern = searched.has_pattern();
    // In this format, the parts are one report.
    let is_one = has_pattern && rules.is_plain();
    let reports = match is_one {
        true => vec![of_pattern(job, &results, searched.warning.as_deref())?],
        false => {
            let printed = std::iter::once(printed).chain(std::iter::repeat_with(|| None));
            let reports =
                results.iter().zip(printed).map(|(it, printed)| of_part(job, it, printed));
            reports.collect::<Result<_, _>>()?
        }
    };
    let mut left = searched.warnings();
    for Pieces { head, subjects, tail } in reports {
        let warnings = left.drain(..if is_one { left.len() } else { 1 }).collect();
        let kept = kept.take();
        let is_counted = !is_one;
        searches.push(Reported { pass, number, head, subjects, tail, warnings, is_counted, kept });
    }
    Ok(())
}

fn of_pattern(job: &Job, results: &[QueryResult], warning: Option<&[u8]>) -> Result<Pieces, Error> {
    let head = reports::of_pattern(&job.report, results, job.target, warning)
        .map_err(|error| failure(&error))?;
    Ok(Pieces { head, subjects: Vec::new(), tail: Vec::new() })
}

fn of_part(job: &Job, result: &QueryResult, printed: Option<Printed>) -> Result<Pieces, Error> {
    let bad = |error| failure(&error);
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let (order, rows, subjects) = match printed {
        Some(Printed { order, rows, subjects }) => (order, rows, subjects),
        None => {
            let (order, rows) =
                pieces::arrange_subjects(&job.report, result, job.target).map_err(bad)?;
            pieces::subject_blocks(&job.report, result, job.target, &order, &mut tail)
                .map_err(bad)?;
            (order, rows, Vec::new())
        }
    };
    let rows: Vec<_> = order.iter().filter_map(|&place| rows.get(place)).collect();
    let alignments = result.hits.iter().map(|hit| hit.alignments.len()).sum();
    pieces::query_header(&job.report, result, &rows, alignments, &mut head).map_err(bad)?;
    pieces::query_footer(&job.report, result, &mut tail).map_err(bad)?;
    Ok(Pieces { head, subjects, tail })
}
