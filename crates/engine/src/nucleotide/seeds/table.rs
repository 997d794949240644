//! Lookup table: the words of the queries and their positions.

use std::ops::Range;

use super::bases::{Bits, Flanks, window};
use super::runs::{self, Word};
use super::words::Words;

/// A lookup table: a cell for each possible word, with the positions of the word in the queries.
/// The number of a cell is the word itself.
///
/// One bit for each cell says whether the cell is in use. So a scan reads little memory for most of
/// a subject. The number of used cells before a cell, counted from these bits, is the index of its
/// slot. A slot holds the query position itself if there is just one, as for most words. Flanking
/// bases are compared with the queries, which are small at two bits a base.
#[derive(Debug)]
pub(super) struct Table {
    numbering: Numbering,
    cells: Cells,
}

#[derive(Debug)]
struct Cells {
    present: Bits,
    /// Number of used cells before each group of 64 cells.
    before: Vec<u32>,
    /// For each used cell its only position, or [`SEVERAL`] plus the index of its positions in
    /// `several`.
    slots: Vec<u32>,
    /// For each cell with several positions: their number, then the positions.
    several: Vec<u32>,
}

/// Bit of a slot that marks a cell with several positions.
const SEVERAL: u32 = 1 << 31;

/// Greatest number of words that are sorted together while a table is made. It limits the memory
/// for genomes.
const SORTED_AT_ONCE: usize = 1 << 22;

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
        match self {
            Numbering::Contiguous { shift } => (bases >> shift) as usize,
            Numbering::Template(gathered) => gathered.cell(bases),
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
    ///
    /// Words are first sorted by runs of cells, so that all writes to a run stay in the nearest
    /// caches.
    pub fn new(
        query: &[u8],
        places: &Bits,
        span: u32,
        mask: Option<u64>,
        descending: bool,
    ) -> Table {
        let (numbering, bits) = match mask {
            None => (Numbering::Contiguous { shift: 64 - 2 * span }, 2 * span),
            Some(mask) => {
                (Numbering::Template(Box::new(BitGatherer::new(mask))), mask.count_ones())
            }
        };
        let words = || {
            let cell = |place: u32| numbering.cell(window(query, place as usize)) as u32;
            places.places().map(move |place| Word { cell: cell(place), place })
        };
        let mut cells = Cells::new(bits);
        runs::of_words(bits, SORTED_AT_ONCE, words, |run, words| {
            if descending {
                words.reverse();
            }
            cells.add(run, words);
        });
        cells.before.push(cells.slots.len() as u32);
        Table { numbering, cells }
    }

    /// Returns a bit for each cell, set if the cell is in use.
    pub fn present(&self) -> &Bits {
        &self.cells.present
    }

    /// Returns the rule by which words are numbered.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Returns whether the word at the start of these bases occurs in the queries.
    #[inline(always)]
    pub fn has(&self, bases: u64) -> bool {
        self.cells.present.has(self.numbering.cell(bases))
    }

    /// Returns whether two windows of bases start with the same word.
    pub fn same(&self, one: u64, other: u64) -> bool {
        self.numbering.cell(one) == self.numbering.cell(other)
    }

    /// Returns the slot of the word at the start of these bases. The word must occur in the
    /// queries.
    #[inline(always)]
    pub fn slot(&self, bases: u64) -> u32 {
        self.cells.slots[self.cells.rank(self.numbering.cell(bases))]
    }

    /// Returns whether a match may be part of a seed.
    #[inline(always)]
    pub fn may_be_in_seed(&self, hit: WordMatch, subject: &[u8], words: &Words) -> bool {
        hit.slot & SEVERAL != 0 || self.may_match(hit.slot, subject, hit.at, words)
    }

    /// Returns the query positions of a match.
    #[inline]
    pub fn places<'a>(&'a self, hit: &'a WordMatch) -> &'a [u32] {
        if hit.slot & SEVERAL == 0 {
            return std::slice::from_ref(&hit.slot);
        }
        let (start, several) = ((hit.slot & !SEVERAL) as usize, &self.cells.several);
        &several[start + 1..][..several[start] as usize]
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
        self.cells.several.len()
    }
}

impl Cells {
    /// Creates cells whose numbers have this many bits. Words are added by ascending runs of cells.
    fn new(bits: u32) -> Cells {
        let present = Bits::new(1 << bits);
        let before = Vec::with_capacity(present.words().len());
        Cells { present, before, slots: Vec::new(), several: Vec::new() }
    }

    /// Adds the words of a run of cells.
    fn add(&mut self, run: Range<usize>, words: &[Word]) {
        words.iter().for_each(|word| self.present.set(word.cell as usize));
        let first = self.slots.len();
        let mut used = first;
        for bits in &self.present.words()[run.start / 64..run.end / 64] {
            self.before.push(used as u32);
            used += bits.count_ones() as usize;
        }
        self.slots.resize(used, 0);
        self.make_room(first, words);
        for word in words {
            self.place(word);
        }
    }

    /// Makes room for cells with several positions, from slot number `first` on. Meanwhile a slot
    /// counts the positions of its cell.
    fn make_room(&mut self, first: usize, words: &[Word]) {
        for word in words {
            let rank = self.rank(word.cell as usize);
            self.slots[rank] += 1;
        }
        for slot in &mut self.slots[first..] {
            let count = std::mem::take(slot) as usize;
            if count > 1 {
                let start = self.several.len();
                *slot = SEVERAL | start as u32;
                self.several.resize(start + 1 + count, 0);
            }
        }
    }

    /// Stores a word in its prepared cell. A cell with several positions counts the stored ones.
    fn place(&mut self, word: &Word) {
        let rank = self.rank(word.cell as usize);
        let slot = &mut self.slots[rank];
        if *slot & SEVERAL == 0 {
            *slot = word.place;
            return;
        }
        let start = (*slot & !SEVERAL) as usize;
        let count = self.several[start] + 1;
        self.several[start] = count;
        self.several[start + count as usize] = word.place;
    }

    /// Returns the number of used cells before a cell.
    #[inline(always)]
    fn rank(&self, cell: usize) -> usize {
        let below = self.present.words()[cell / 64] & ((1 << (cell % 64)) - 1);
        (self.before[cell / 64] + below.count_ones()) as usize
    }
}
