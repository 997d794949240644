//! The cells of a lookup table, with the positions of words in the queries.

use std::ops::Range;

use super::bases::Bits;

/// Bit of a slot that marks a cell with several positions.
const SEVERAL: u32 = 1 << 31;

/// A word of the queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Number of the word's cell in the lookup table.
    pub cell: u32,
    /// Position of the word in the queries.
    pub place: u32,
}

/// The cells of a lookup table.
///
/// One bit for each cell says whether the cell is in use. So a scan reads little memory for most of
/// a subject. The number of used cells before a cell, counted from these bits, is the index of its
/// slot. A slot holds the query position itself if there is just one, as for most words.
#[derive(Debug)]
pub(super) struct Cells {
    present: Bits,
    /// Number of used cells before each group of 64 cells.
    before: Vec<u32>,
    /// For each used cell its only position, or [`SEVERAL`] plus the index of its positions in
    /// `several`.
    slots: Vec<u32>,
    /// For each cell with several positions: their number, then the positions.
    several: Vec<u32>,
}

/// Consecutive cells of a table that is being made. Indexes in the fields count from the first of
/// these cells.
#[derive(Debug, Default)]
pub(super) struct CellsPart {
    /// Number of the part's first cell in the table; a multiple of 64.
    first: usize,
    present: Vec<u64>,
    before: Vec<u32>,
    slots: Vec<u32>,
    several: Vec<u32>,
}

/// Returns whether a slot is that of a cell with several positions.
#[inline(always)]
pub(super) fn has_several(slot: u32) -> bool {
    slot & SEVERAL != 0
}

/// Returns the number of used cells before a cell, from the bits of used cells and the number of
/// used cells before each group of 64.
#[inline(always)]
fn rank(present: &[u64], before: &[u32], cell: usize) -> usize {
    let below = present[cell / 64] & ((1 << (cell % 64)) - 1);
    (before[cell / 64] + below.count_ones()) as usize
}

impl Cells {
    /// Makes the cells of a table from a part that has them all.
    pub fn from_whole(all: CellsPart) -> Cells {
        let CellsPart { mut present, mut before, slots, several, .. } = all;
        before.push(slots.len() as u32);
        present.push(0);
        Cells { present: Bits::from_words(present), before, slots, several }
    }

    /// Returns a bit for each cell, set if the cell is in use.
    pub fn present(&self) -> &Bits {
        &self.present
    }

    /// Returns the slot of a cell in use.
    #[inline(always)]
    pub fn slot(&self, cell: usize) -> u32 {
        self.slots[rank(self.present.words(), &self.before, cell)]
    }

    /// Returns the query positions of a slot.
    #[inline]
    pub fn places<'a>(&'a self, slot: &'a u32) -> &'a [u32] {
        if !has_several(*slot) {
            return std::slice::from_ref(slot);
        }
        let start = (slot & !SEVERAL) as usize;
        &self.several[start + 1..][..self.several[start] as usize]
    }

    /// Returns the number of positions of words with several positions, plus one for each of these
    /// words.
    pub fn overflow(&self) -> usize {
        self.several.len()
    }
}

impl CellsPart {
    /// Creates the cells with the numbers `cells` without words. Both bounds are multiples of 64.
    pub fn new(cells: Range<usize>) -> CellsPart {
        let present = vec![0; cells.len() / 64];
        CellsPart { first: cells.start, present, ..CellsPart::default() }
    }

    /// Adds the words of the next run of cells. The positions of a cell keep the order of `words`.
    #[inline(always)]
    pub fn add<'a>(&mut self, run: Range<usize>, words: impl Iterator<Item = &'a Word> + Clone) {
        words.clone().for_each(|word| {
            let cell = self.local(word);
            self.present[cell / 64] |= 1 << (cell % 64);
        });
        let first = self.slots.len();
        let mut used = first;
        for bits in &self.present[(run.start - self.first) / 64..(run.end - self.first) / 64] {
            self.before.push(used as u32);
            used += bits.count_ones() as usize;
        }
        self.slots.resize(used, 0);
        self.make_room(first, words.clone());
        words.for_each(|word| self.place(word));
    }

    /// Makes room for the positions of cells with several positions, from slot number `first` on.
    /// Meanwhile a slot counts the positions of its cell.
    #[inline(always)]
    fn make_room<'a>(&mut self, first: usize, words: impl Iterator<Item = &'a Word>) {
        words.for_each(|word| {
            let rank = rank(&self.present, &self.before, self.local(word));
            self.slots[rank] += 1;
        });
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
    #[inline(always)]
    fn place(&mut self, word: &Word) {
        let rank = rank(&self.present, &self.before, self.local(word));
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

    #[inline(always)]
    fn local(&self, word: &Word) -> usize {
        word.cell as usize - self.first
    }

    /// Reserves memory for the parts of a table of `cells` cells and at most `words` words. Memory
    /// that is reserved too much is never touched.
    pub fn reserve(&mut self, cells: usize, words: usize) {
        self.present.reserve_exact(cells / 64 + 1);
        self.before.reserve_exact(cells / 64 + 1);
        self.slots.reserve_exact(words.min(cells));
    }

    /// Appends the cells that follow in the table.
    pub fn append(&mut self, next: CellsPart) {
        // The only part of a small table is not copied.
        if self.present.capacity() == 0 {
            *self = next;
            return;
        }
        let (slots, several) = (self.slots.len() as u32, self.several.len() as u32);
        self.present.extend(next.present);
        self.before.extend(next.before.iter().map(|before| before + slots));
        let moved = |slot: &u32| if has_several(*slot) { slot + several } else { *slot };
        self.slots.extend(next.slots.iter().map(moved));
        self.several.extend(next.several);
    }
}
