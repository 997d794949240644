//! Lookup table: the words of the queries and their positions.

use super::bases::{Bits, Flanks};
use super::cells::{Cells, has_several};
use super::numbering::{BitGatherer, Numbering};
use super::runs::{self, QueryWords, RunOrder};
use super::words::Words;
use crate::kernel::Kernel;

/// Greatest number of words that are sorted together while a table is made. It limits the memory
/// for genomes.
const SORTED_AT_ONCE: usize = 1 << 21;

/// A lookup table: a cell for each possible word, with the positions of the word in the queries.
/// The number of a cell is the word itself. The table stores no flanking bases: a scan compares
/// those in the queries, which are small at two bits a base.
#[derive(Debug)]
pub(super) struct Table {
    numbering: Numbering,
    cells: Cells,
}

/// A match: a position of a subject whose word occurs in the queries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordMatch {
    /// Position in the subject.
    pub at: u32,
    /// Index of the lookup table that has the word.
    pub table: u32,
    /// Slot of the word's cell.
    pub slot: u32,
}

impl Table {
    /// Creates a table of the query words of `span` bases at the positions `places`, which are
    /// below 2^31. `mask` is that of a template. `descending` sets the order of the positions of a
    /// word.
    pub fn new(
        query: &[u8],
        places: &Bits,
        span: u32,
        mask: Option<u64>,
        descending: bool,
        kernel: Kernel,
    ) -> Table {
        let (numbering, bits) = Numbering::new(span, mask);
        let words = QueryWords { query, places, numbering: &numbering };
        let order = RunOrder { bits, most: SORTED_AT_ONCE, descending };
        let cells = runs::cells(words, order, kernel);
        Table { numbering, cells }
    }

    /// Returns a bit for each cell, set if the cell is in use.
    pub fn present(&self) -> &Bits {
        self.cells.present()
    }

    /// Returns the rule by which words are numbered.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Returns the number of the cell of the word at the start of these bases. `gather` gathers the
    /// bits that a template selects.
    #[inline(always)]
    pub fn cell(&self, bases: u64, gather: impl Fn(&BitGatherer, u64) -> usize) -> usize {
        self.numbering.cell_with(bases, gather)
    }

    /// Returns whether the word of a cell occurs in the queries.
    #[inline(always)]
    pub fn has(&self, cell: usize) -> bool {
        self.cells.present().has(cell)
    }

    /// Returns whether two windows of bases start with the same word.
    pub fn same(&self, one: u64, other: u64) -> bool {
        self.numbering.cell(one) == self.numbering.cell(other)
    }

    /// Returns the slot of a cell. Its word must occur in the queries.
    #[inline(always)]
    pub fn slot(&self, cell: usize) -> u32 {
        self.cells.slot(cell)
    }

    /// Returns whether a match may be part of a seed.
    #[inline(always)]
    pub fn may_be_in_seed(&self, hit: WordMatch, subject: &[u8], words: &Words) -> bool {
        has_several(hit.slot) || self.may_match(hit.slot, subject, hit.at, words)
    }

    /// Returns the query positions of a match.
    #[inline]
    pub fn places<'a>(&'a self, hit: &'a WordMatch) -> &'a [u32] {
        self.cells.places(&hit.slot)
    }

    /// Returns whether the flanks of equal words, at query position `place` and subject position
    /// `at`, allow for a seed.
    #[inline(always)]
    pub fn may_match(&self, place: u32, subject: &[u8], at: u32, words: &Words) -> bool {
        if words.extra == 0 {
            return true;
        }
        let flanks = |bytes: &[u8], at: u32| Flanks::read(bytes, at as usize, words.span);
        flanks(&words.query, place).may_match(flanks(subject, at), words.extra)
    }

    /// Returns the number of overflow cells in BLAST+'s small table. Each word with several
    /// positions needs a cell for each of them, and one for their end.
    pub fn overflow(&self) -> usize {
        self.cells.overflow()
    }
}
