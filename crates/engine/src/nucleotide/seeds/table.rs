//! Lookup table: the words of the queries and their positions.

use super::bases::{Bits, Flanks};
use super::cells::{Cells, has_several};
use super::runs::{self, QueryWords, RunOrder};
use super::words::Words;
use crate::kernel::Kernel;

/// Greatest number of words that are sorted together while a table is made. It limits the memory
/// for genomes.
const SORTED_AT_ONCE: usize = 1 << 21;

/// A lookup table: a cell for each possible word, with the positions of the word in the queries.
/// The number of a cell is the word itself. Flanking bases are compared with the queries, which are
/// small at two bits a base.
#[derive(Debug)]
pub(super) struct Table {
    numbering: Numbering,
    cells: Cells,
}

/// A rule that gives each word the number of its cell.
#[derive(Debug)]
pub(super) enum Numbering {
    /// Consecutive bases; the lowest `shift` bits do not belong to the word.
    Contiguous { shift: u32 },
    /// The bases that a template selects.
    Template(Box<BitGatherer>),
}

/// Tables for gathering the bits that a mask selects next to each other.
#[derive(Debug)]
pub(super) struct BitGatherer {
    mask: u64,
    /// Gathered bits of each group of nine bits of the bases, by the value of the group.
    parts: [[u32; 512]; 5],
}

impl BitGatherer {
    fn new(mask: u64) -> BitGatherer {
        let mut chunks = [[0; 512]; 5];
        let mut above = mask.count_ones();
        for (i, chunk) in chunks.iter_mut().enumerate() {
            let part = (mask >> BitGatherer::shift(i)) as u32 & 511;
            above -= part.count_ones();
            for (bits, gathered) in (0..).zip(chunk) {
                *gathered = close_up(bits, part) << above;
            }
        }
        BitGatherer { mask, parts: chunks }
    }

    /// Returns the mask, with bits set for the selected bases.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Returns the offset of a group of nine bits in the bases.
    fn shift(chunk: usize) -> u32 {
        55 - 9 * chunk as u32
    }

    #[inline]
    pub fn cell(&self, bases: u64) -> usize {
        let part = |i: usize| self.parts[i][(bases >> BitGatherer::shift(i)) as usize & 511];
        (part(0) | part(1) | part(2) | part(3) | part(4)) as usize
    }
}

/// Gathers the bits that a mask selects among nine bits.
fn close_up(bits: u32, mask: u32) -> u32 {
    let places = (0..9).filter(|place| mask >> place & 1 != 0);
    (0..).zip(places).map(|(to, from)| (bits >> from & 1) << to).sum()
}

impl Numbering {
    #[inline]
    fn cell(&self, bases: u64) -> usize {
        self.cell_with(bases, BitGatherer::cell)
    }

    /// Returns the number of the cell of the word at the start of these bases. `gather` gathers the
    /// bits that a template selects.
    #[inline(always)]
    pub fn cell_with(&self, bases: u64, gather: impl Fn(&BitGatherer, u64) -> usize) -> usize {
        match self {
            Numbering::Contiguous { shift } => (bases >> shift) as usize,
            Numbering::Template(gatherer) => gather(gatherer, bases),
        }
    }
}

/// A match: a word at a position of a subject that occurs in the queries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordMatch {
    /// Position in the subject.
    pub at: u32,
    /// Number of the lookup table.
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
        let (numbering, bits) = match mask {
            None => (Numbering::Contiguous { shift: 64 - 2 * span }, 2 * span),
            Some(mask) => {
                (Numbering::Template(Box::new(BitGatherer::new(mask))), mask.count_ones())
            }
        };
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
