//! Occurrences of a pattern in a query.

use std::ops::Range;

use crate::pattern::Pattern;
use crate::query::Query;

impl Pattern {
    /// Finds the occurrences of the pattern in the unmasked ranges of a query.
    pub fn occurrences_in(&self, query: &Query) -> Vec<Range<u32>> {
        let context = query.first();
        let mut found = Vec::new();
        let mut from = 0;
        let end = context.letters.len() as u32;
        for mask in context.masks.iter().cloned().chain(std::iter::once(end..end)) {
            if from < mask.start {
                let part = &context.letters[from as usize..mask.start as usize];
                let places = self.occurrences(part).into_iter();
                found.extend(places.map(|place| place.start + from..place.end + from));
            }
            from = mask.end;
        }
        found
    }

    /// Returns the reason why a query cannot be searched, if there is one
    /// (`Blast_SetPHIPatternInfo`, blast_setup.c).
    pub fn unsearchable_reason(&self, query: &Query) -> Option<String> {
        let found = self.occurrences_in(query);
        let shown = self.report_text();
        if found.iter().any(|place| place.start == 0 && place.end == query.length) {
            return Some(format!("The pattern ({shown}) may not cover the entire query."));
        }
        found.is_empty().then(|| format!("The pattern {shown} was not found in the query."))
    }
}
