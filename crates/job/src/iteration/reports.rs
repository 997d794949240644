//! Writes the reports of iterations, one query after the other.

use fleetblast_engine::query::Query;

use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::IteratedQuery;
use crate::iteration::{CONVERGED, IterationRules, ReportedIteration};
use crate::output::ReportSink;
use crate::queries::QueryRecord;
use crate::reports::{self, Reporter};

/// Writer of the reports of iterated queries. It counts the reported iterations.
#[derive(Default)]
pub struct IterationReports {
    /// Number of iterations reported so far. Each part of a pattern search counts as one.
    iterations: u64,
}

impl IterationReports {
    /// Writes the report of a query. `query` is used only if there are no iterations. Calls `save`
    /// before each iteration is reported, and with `None` after the last one. An error of `save`
    /// ends the report.
    ///
    /// # Errors
    /// A report that cannot be made or written; an error of `save`.
    pub fn write_query(
        &mut self,
        rules: &IterationRules,
        (record, query): (&QueryRecord, &Query),
        IteratedQuery { iterations, converged }: IteratedQuery,
        (reporter, output): (&mut Reporter, &mut impl ReportSink),
        audience: &dyn Audience,
        mut save: impl FnMut(Option<&ReportedIteration>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_plain = rules.has_independent_parts();
        if iterations.is_empty() && is_plain && !reporter.has_written_opening() {
            reporter.write_opening(&reports::empty_result(record, query), output)?;
        }
        let mut report = Vec::new();
        let mut numbered = iterations.iter().zip(1..);
        let reported = numbered.try_for_each(|(searched, number)| {
            save(Some(searched))?;
            let place = (rules, record, number);
            report.extend(self.format_iteration(place, searched, (reporter, output), audience)?);
            Ok(())
        });
        let reported = reported.and_then(|()| save(None));
        if reported.is_ok() && converged && is_plain {
            report.extend_from_slice(CONVERGED);
        }
        output.write_query(&report)?;
        reported
    }

    /// Formats the report of an iteration, and prints its warnings.
    fn format_iteration(
        &mut self,
        (rules, record, number): (&IterationRules, &QueryRecord, usize),
        searched: &ReportedIteration,
        (reporter, output): (&mut Reporter, &mut impl ReportSink),
        audience: &dyn Audience,
    ) -> Result<Vec<u8>, Error> {
        let results = searched.results(rules, record, number, self.iterations as usize);
        self.iterations += results.len() as u64;
        if !reporter.has_written_opening() {
            reporter.write_opening(&results[0], output)?;
        }
        let has_pattern = searched.has_pattern();
        let report = match has_pattern {
            true => reporter.format_pattern(&results, searched.warning.as_deref())?,
            false => reporter.format_iteration(&results[0])?,
        };
        searched
            .warnings()
            .into_iter()
            .for_each(|warning| reporter.print_warning(warning, audience));
        // BLAST+ does not count a pattern search among the reported queries.
        reporter.add_reported_queries(usize::from(!has_pattern || !rules.has_independent_parts()));
        Ok(report)
    }

    /// Counts iterations that another process reports.
    pub fn count_iterations(&mut self, iterations: u64) {
        self.iterations = self.iterations.saturating_add(iterations);
    }

    /// Sets the number of iterations that were reported before.
    pub fn set_iteration_count(&mut self, iterations: u64) {
        self.iterations = iterations;
    }
}
