//! Words of the queries and where they stand.

use std::ops::Range;

use super::bases::{Bits, Flanks, window};
use super::runs::{self, Word};
use super::words::Words;

/// Cells with the places of words; the number of a cell is the word itself.
///
/// A bit for each cell tells whether there are any, so that most of a subject is passed over in little memory; the number of such
/// cells before, counted from these bits, where its slot is. What is found there is the one place itself, as most words stand at one.
/// Whether the bases around agree is read from the queries, which are small at two bits a base.
#[derive(Debug)]
pub(super) struct Table {
    numbering: Numbering,
    cells: Cells,
}

#[derive(Debug)]
struct Cells {
    present: Bits,
    /// Number of cells in use before each 64 of them.
    before: Vec<u32>,
    /// Of each cell in use the one place, or with [`SEVERAL`] where in `several` its places are.
    slots: Vec<u32>,
    /// The number of places of a cell, and the places.
    several: Vec<u32>,
}

/// The mark of a cell with several places.
const SEVERAL: u32 = 1 << 31;

/// Words that are sorted together while a table is made: all of a genome would be much memory.
const TOGETHER: usize = 1 << 22;

/// How words are numbered.
#[derive(Debug)]
pub(super) enum Numbering {
    /// The bases in a row, of which so many bits are none of the word.
    Contiguous { shift: u32 },
    /// The bases that count.
    Template(Box<Gathered>),
}

/// The bits of a mask, closed up.
#[derive(Debug)]
pub(super) struct Gathered {
    mask: u64,
    /// What each nine bits of the bases contribute.
    parts: [[u32; 512]; 5],
}

impl Gathered {
    fn new(mask: u64) -> Gathered {
        let mut chunks = [[0; 512]; 5];
        let mut above = mask.count_ones();
        for (i, chunk) in chunks.iter_mut().enumerate() {
            let part = (mask >> Gathered::shift(i)) as u32 & 511;
            above -= part.count_ones();
            for (bits, gathered) in (0..).zip(chunk) {
                *gathered = close_up(bits, part) << above;
            }
        }
        Gathered { mask, parts: chunks }
    }

    /// The bits that count.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Where a chunk lies in the bases.
    fn shift(chunk: usize) -> u32 {
        55 - 9 * chunk as u32
    }

    #[inline]
    pub fn cell(&self, bases: u64) -> usize {
        let part = |i: usize| self.parts[i][(bases >> Gathered::shift(i)) as usize & 511];
        (part(0) | part(1) | part(2) | part(3) | part(4)) as usize
    }
}

/// Those bits that a mask has, next to each other.
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

/// A word of the queries at a place of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hit {
    /// The place.
    pub at: u32,
    /// The number of the table.
    pub table: u32,
    /// Where the word stands in the queries, as its slot tells it.
    pub slot: u32,
}

impl Table {
    /// A table of the words at these places, below 2^31. `mask` is that of a template. Places of a word ascend, or descend.
    ///
    /// Words are sorted by runs of cells first, so that all that is written of a run stays in the nearest caches.
    pub fn new(
        query: &[u8],
        places: &Bits,
        span: u32,
        mask: Option<u64>,
        descending: bool,
    ) -> Table {
        let (numbering, bits) = match mask {
            None => (Numbering::Contiguous { shift: 64 - 2 * span }, 2 * span),
            Some(mask) => (Numbering::Template(Box::new(Gathered::new(mask))), mask.count_ones()),
        };
        let words = || {
            let cell = |place: u32| numbering.cell(window(query, place as usize)) as u32;
            places.places().map(move |place| Word { cell: cell(place), place })
        };
        let mut cells = Cells::new(bits);
        runs::of_words(bits, TOGETHER, words, |run, words| {
            if descending {
                words.reverse();
            }
            cells.add(run, words);
        });
        cells.before.push(cells.slots.len() as u32);
        Table { numbering, cells }
    }

    /// Which cells are in use.
    pub fn present(&self) -> &Bits {
        &self.cells.present
    }

    /// How words are numbered.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Whether the word that these bases start with is one of the queries.
    #[inline(always)]
    pub fn has(&self, bases: u64) -> bool {
        self.cells.present.has(self.numbering.cell(bases))
    }

    /// Whether words are the same that bases start with.
    pub fn same(&self, one: u64, other: u64) -> bool {
        self.numbering.cell(one) == self.numbering.cell(other)
    }

    /// The slot of the word that these bases start with, which must be one of the queries.
    #[inline(always)]
    pub fn slot(&self, bases: u64) -> u32 {
        self.cells.slots[self.cells.rank(self.numbering.cell(bases))]
    }

    /// Whether the word of a subject may be part of a seed.
    #[inline(always)]
    pub fn is_worth(&self, hit: Hit, subject: &[u8], words: &Words) -> bool {
        hit.slot & SEVERAL != 0 || self.may_match(hit.slot, subject, hit.at, words)
    }

    /// The places of a word of a subject.
    #[inline]
    pub fn places<'a>(&'a self, hit: &'a Hit) -> &'a [u32] {
        if hit.slot & SEVERAL == 0 {
            return std::slice::from_ref(&hit.slot);
        }
        let (start, several) = ((hit.slot & !SEVERAL) as usize, &self.cells.several);
        &several[start + 1..][..several[start] as usize]
    }

    /// Whether what is beside the same word in the queries and in a subject allows for a seed.
    #[inline(always)]
    pub fn may_match(&self, place: u32, subject: &[u8], at: u32, words: &Words) -> bool {
        if words.extra == 0 {
            return true;
        }
        let flanks = |bytes: &[u8], at: u32| Flanks::of(bytes, at as usize, words.span);
        flanks(&words.query, place).may_match(flanks(subject, at), words.extra)
    }

    /// Number of overflow cells that the small table of BLAST+ would need: those of words that stand at more than one place, and one
    /// for the end of each.
    pub fn overflow(&self) -> usize {
        self.cells.several.len()
    }
}

impl Cells {
    /// Cells with numbers of so many bits, to which words are added by ascending runs of them.
    fn new(bits: u32) -> Cells {
        let present = Bits::new(1 << bits);
        let before = Vec::with_capacity(present.words().len());
        Cells { present, before, slots: Vec::new(), several: Vec::new() }
    }

    /// Adds the words of the next cells.
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

    /// Makes room for cells with several places, from this slot on; a slot counts the places of its cell meanwhile.
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

    /// Puts a word where there is room for it. Cells with several places count what they have.
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

    /// Number of cells in use before this one.
    #[inline(always)]
    fn rank(&self, cell: usize) -> usize {
        let below = self.present.words()[cell / 64] & ((1 << (cell % 64)) - 1);
        (self.before[cell / 64] + below.count_ones()) as usize
    }
}
