//! The reports of queries that were searched in rounds, one query after the other.

use fleetblast_engine::query::Query;

use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::InRounds;
use crate::iteration::{CONVERGED, Rules, Searched};
use crate::output::Pages;
use crate::queries::QueryRecord;
use crate::reports::{self, Reporter};

/// How far the reports are.
#[derive(Default)]
pub struct RoundReports {
    /// Searches reported so far.
    searches: u64,
}

impl RoundReports {
    /// Writes what is reported of a query, in the form in which it was searched at first, as far as that comes: `keep` hears of each
    /// search before it is reported, and of the end of all.
    ///
    /// # Errors
    /// A report that cannot be made or written, what ends `keep`.
    pub fn query(
        &mut self,
        rules: &Rules,
        (record, query): (&QueryRecord, &Query),
        InRounds { searches, converged }: InRounds,
        (reporter, output): (&mut Reporter, &mut impl Pages),
        audience: &dyn Audience,
        mut keep: impl FnMut(Option<&Searched>) -> Result<(), Error>,
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

    /// The report of a search.
    fn search(
        &mut self,
        (rules, record, number): (&Rules, &QueryRecord, usize),
        searched: &Searched,
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
        // BLAST+ does not count what it reports of a pattern.
        reporter.pass_over(usize::from(!has_pattern || !rules.is_plain()));
        Ok(report)
    }

    /// So many searches are not reported, but count.
    pub fn pass_over(&mut self, searches: u64) {
        self.searches = self.searches.saturating_add(searches);
    }

    /// So many are reported, or counted, elsewhere.
    pub fn go_on(&mut self, searches: u64) {
        self.searches = searches;
    }
}
