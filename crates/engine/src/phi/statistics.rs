//! Statistics of queries and cut-offs in searches seeded by a pattern.

use std::ops::Range;

use crate::params::DatabaseTotals;
use crate::pattern::PatternSearch;
use crate::query::Query;

impl PatternSearch {
    /// Sets the statistics of a query as the pattern requires.
    pub(crate) fn with_statistics(&self, mut query: Query, totals: &DatabaseTotals) -> Query {
        let least = self.pattern.least_length();
        for context in &mut query.contexts {
            context.karlin = Some(self.statistics.karlin_parameters());
            context.length_adjustment = least as i32;
            context.search_space = totals.space_residues - totals.sequences * least as i64;
        }
        query
    }

    /// Returns the least score of alignments that are kept, not counting the letters of the pattern
    /// (`s_PhiBlastCutoffScore`, blast_parameters.c).
    pub(super) fn cutoff(&self, evalue: f64, query: &Query, occurrences: &[Range<u32>]) -> i32 {
        let space = query.first().search_space as f64;
        let count = self.effective_count(occurrences);
        let by_chance = space * self.pattern.probability();
        let expected = |score| self.statistics.evalue(score, [count, by_chance]);
        let (mut low, mut high) = (1, 100);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if expected(middle) > 5.0 * evalue {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the effective number of occurrences in the query. Occurrences that begin near each
    /// other count as one (`PhiBlastGetEffectiveNumberOfPatterns`, blast_hits.c).
    pub(super) fn effective_count(&self, occurrences: &[Range<u32>]) -> f64 {
        let (mut count, mut last) = (0, None);
        for place in occurrences {
            let start = i64::from(place.start);
            let is_near = |last: i64| (start - last) * 2 <= self.pattern.least_length() as i64;
            if !last.is_some_and(is_near) {
                last = Some(start);
                count += 1;
            }
        }
        f64::from(count)
    }
}
