//! Which table the words of queries that are searched together are in, and how diagonals are remembered.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SeedRules;
use super::choice::{Choice, Kind};
use super::contexts::{Contexts, are_long};
use super::extension::LONG_WORD;
use super::table::Table;
use super::words;

/// What the contexts that are searched together decide for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Indexing {
    pub(super) kind: Kind,
    /// Number of bases that an indexed word spans.
    pub(super) span: u32,
    /// The contexts are so long that BLAST+ remembers diagonals in a hash.
    pub(super) long: bool,
    /// Ungapped extensions go by groups of bases, of which they take those beside a context for its own.
    pub(super) in_groups: bool,
}

impl Indexing {
    /// For contexts with these letters and unmasked regions.
    ///
    /// The regions are those that `BLAST_ComplementMaskLocations` makes: in order, and the empty one that it leaves of a context
    /// that is masked from its start to its end is there, too, since it counts (by -1) when the table is chosen. A context that is not
    /// valid has none.
    pub fn new<'a>(
        contexts: impl Iterator<Item = (&'a [u8], &'a [Range<u32>])> + Clone,
        rules: &SeedRules,
    ) -> Indexing {
        let mut offset = 0;
        let mut end = 0;
        let mut all = Vec::new();
        for (letters, regions) in contexts.clone() {
            all.extend(regions.iter().map(|region| region.start + offset..region.end + offset));
            end = offset + letters.len() as u32;
            offset = end + u32::from(!letters.is_empty());
        }
        let choice = Choice::new(rules, &all);
        let cells = || {
            let laid = Contexts::new(contexts.map(|(letters, _)| (letters, None)));
            let places = words::places(&laid, &all, rules.word_size, choice.span);
            Table::new(&laid.packed(), &places, choice.span, None, false).overflow()
        };
        let kind = if choice.may_overflow { choice.with_overflow(cells()) } else { choice.kind };
        // Of bases from the start of a seed to its end.
        let word_length = if rules.template.is_some() { choice.span } else { rules.word_size };
        let in_groups = word_length >= LONG_WORD;
        Indexing { kind, span: choice.span, long: are_long(end), in_groups }
    }

    /// Whether what lies beside the contexts matters.
    pub fn looks_beside(self) -> bool {
        self.in_groups
    }
}
