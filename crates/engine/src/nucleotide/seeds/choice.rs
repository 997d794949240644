//! Predicts which lookup table BLAST+ would use for the queries. The tables differ in the order of
//! their matches and in how they compare bases.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SeedRules;

/// A kind of lookup table of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TableKind {
    /// Small table, for short queries. It yields the matches of a word by ascending query position.
    /// Next to a word it compares only two bits of an ambiguity code. Every seed is checked by
    /// looking up all its words.
    Small,
    /// Standard table. It yields the matches of a word by ascending query position, as the small
    /// table does.
    Standard,
    /// Megablast table. It yields the matches of a word by descending query position.
    Megablast,
}

/// The chosen lookup table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableChoice {
    pub kind: TableKind,
    /// Number of bases that an indexed word spans.
    pub span: u32,
    /// Whether the small table may overflow, as it does if many words are equal.
    pub may_overflow: bool,
}

/// Query positions and the number of overflow cells of the small table must be below this limit.
const SMALL_LIMIT: i64 = 32768;

impl TableChoice {
    /// Chooses the table for these unmasked regions of the queries.
    pub fn new(rules: &SeedRules, regions: &[Range<u32>]) -> TableChoice {
        if let Some(template) = rules.template {
            let (kind, span) = (TableKind::Megablast, template.length);
            return TableChoice { kind, span, may_overflow: false };
        }
        let length = |region: &Range<u32>| i64::from(region.end) - i64::from(region.start);
        let entries: i64 = regions.iter().map(|region| length(region) - 1).sum();
        let last = regions.iter().map(|region| i64::from(region.end) - 1).max().unwrap_or(0);
        let (mut kind, span) = by_entries(rules.word_size, entries);
        if kind == TableKind::Small && (entries >= SMALL_LIMIT - 1 || last >= SMALL_LIMIT) {
            kind = TableKind::Standard;
        }
        // Two or more equal words need one more cell, for their end.
        let most_cells = entries.max(0) + entries.max(0) / 2;
        let may_overflow = kind == TableKind::Small && most_cells + 2 >= SMALL_LIMIT;
        TableChoice { kind, span, may_overflow }
    }

    /// Returns the kind of table, given the number of overflow cells that a small table would need.
    pub fn with_overflow(self, cells: usize) -> TableKind {
        if self.kind == TableKind::Small && cells as i64 + 2 >= SMALL_LIMIT {
            return TableKind::Standard;
        }
        self.kind
    }
}

/// Returns the kind of table and the width of its words in bases, given the word size and the
/// approximate number of words.
fn by_entries(word_size: u32, entries: i64) -> (TableKind, u32) {
    use TableKind::{Megablast, Small};
    let below = |steps: &[(i64, TableKind, u32)], otherwise: (TableKind, u32)| {
        let step = steps.iter().find(|step| entries < step.0);
        step.map_or(otherwise, |&(_, kind, width)| (kind, width))
    };
    match word_size {
        0..=6 => (Small, word_size.max(4)),
        7 => below(&[(250, Small, 6)], (Small, 7)),
        8 => below(&[(8500, Small, 7)], (Small, 8)),
        9 => below(&[(1250, Small, 7), (21_000, Small, 8)], (Megablast, 9)),
        10 => {
            let steps = [(1250, Small, 7), (8500, Small, 8), (18_000, Megablast, 9)];
            below(&steps, (Megablast, 10))
        }
        11 => below(&[(12_000, Small, 8), (180_000, Megablast, 10)], (Megablast, 11)),
        12 => {
            let middle = [(18_000, Megablast, 9), (60_000, Megablast, 10)];
            let steps = [(8500, Small, 8), middle[0], middle[1], (900_000, Megablast, 11)];
            below(&steps, (Megablast, 12))
        }
        _ => below(&[(8500, Small, 8), (300_000, Megablast, 11)], (Megablast, 12)),
    }
}
