//! Properties of queries that are searched together: their lookup table, and how the state of
//! diagonals is stored.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SeedRules;
use super::choice::{TableChoice, TableKind};
use super::contexts::{Contexts, are_long};
use super::extension::LONG_WORD;
use super::table::Table;
use super::words;
use crate::kernel::Kernel;

/// Properties that depend on all contexts searched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Indexing {
    pub(super) kind: TableKind,
    /// Number of bases that an indexed word spans.
    pub(super) span: u32,
    /// Whether BLAST+ uses the hash of diagonals, as for long contexts.
    pub(super) hashes_diagonals: bool,
    /// Whether ungapped extensions advance by groups of bases. Such groups also contain letters of
    /// neighbouring contexts.
    pub(super) in_groups: bool,
}

impl Indexing {
    /// Derives the properties from the letters and unmasked regions of the contexts.
    ///
    /// The regions are those of `BLAST_ComplementMaskLocations`, in order. For a completely masked
    /// context they include an empty region, which counts as -1 letters in the choice of the table.
    /// The regions of a context without statistics, such as one of `N`, count as well.
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
        let choice = TableChoice::new(rules, &all);
        let cells = || {
            let laid = Contexts::new(contexts.map(|(letters, _)| (letters, None)));
            let places = words::indexed_positions(&laid, &all, rules.word_size, choice.span);
            // Small tables are made in no time with any kernel.
            let kernel = Kernel::Portable;
            Table::new(&laid.packed(), &places, choice.span, None, false, kernel).overflow()
        };
        let kind = if choice.may_overflow { choice.with_overflow(cells()) } else { choice.kind };
        // The word length in bases from the start of a seed to its end.
        let word_length = if rules.template.is_some() { choice.span } else { rules.word_size };
        let in_groups = word_length >= LONG_WORD;
        Indexing { kind, span: choice.span, hashes_diagonals: are_long(end), in_groups }
    }

    /// Returns whether neighbouring contexts can change the results.
    pub fn depends_on_neighbours(self) -> bool {
        self.in_groups
    }
}
