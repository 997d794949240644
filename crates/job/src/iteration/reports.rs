//! Writes the reports of iterations, one query after the other.

use fleetblast_engine::query::Query;

use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::IteratedQuery;
use crate::iteration::{CONVERGED, ReportedIteration, Rules};
use crate::output::Pages;
use crate::queries::QueryRecord;
use crate::reports::{self, Reporter};

/// The progress of the reports.
#[derive(Default)]
pub struct IterationReports {
    /// Number of iterations reported so far.
    searches: u64,
}

impl IterationReports {
    /// Writes the report of a query, which is given as in its first iteration. Calls `keep` before
    /// each iteration is reported, and with `None` after the last; an error of `keep` ends the
    /// report.
    ///
    /// # Errors
    /// A report that cannot be made or written; an error of `keep`.
    pub fn query(
        &mut self,
        rules: &Rules,
        (record, query): (&QueryRecord, &Query),
        IteratedQuery { searches, converged }: IteratedQuery,
        (reporter, output): (&mut Reporter, &mut impl Pages),
        audience: &dyn Audience,
        mut keep: impl FnMut(Option<&ReportedIteration>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_plain = rules.is_plain();
        if searches.is_empty() && is_plain && !reporter.is_open() {
            reporter.open(&reports::result(record, query), output)?;
        }
        let mut report = Vec::new();
        let mut numbered = searches.iter().zip(1..);
        let reported = numbered.try_for_each(|(searched, number)| {
            keep(Some(searched))?;
            let place = (rules, record, number);
            report.extend(self.search(place, searched, (reporter, output), audience)?);
            Ok(())
        });
        let reported = reported.and_then(|()| keep(None));
        if reported.is_ok() && converged && is_plain {
            report.extend_from_slice(CONVERGED);
        }
        output.query(&report)?;
        reported
    }

    /// Formats the report of an iteration.
    fn search(
        &mut self,
        (rules, record, number): (&Rules, &QueryRecord, usize),
        searched: &ReportedIteration,
        (reporter, output): (&mut Reporter, &mut impl Pages),
        audience: &dyn Audience,
    ) -> Result<Vec<u8>, Error> {
        let results = searched.results(rules, record, number, self.searches as usize);
        self.searches += results.len() as u64;
        if !reporter.is_open() {
            reporter.open(&results[0], output)?;
        }
        let has_pattern = searched.has_pattern();
        let report = match has_pattern {
            true => reporter.pattern(&results, searched.warning.as_deref())?,
            false => reporter.round(&results[0])?,
        };
        searched.warnings().into_iter().for_each(|warning| reporter.tell(warning, audience));
        // BLAST+ does not count the report of a pattern.
        reporter.pass_over(usize::from(!has_pattern || !rules.is_plain()));
        Ok(report)
    }

    /// Counts iterations that are not reported here.
    pub fn pass_over(&mut self, searches: u64) {
        self.searches = self.searches.saturating_add(searches);
    }

    /// Sets the number of iterations before, which were reported or counted elsewhere.
    pub fn go_on(&mut self, searches: u64) {
        self.searches = searches;
    }
}
