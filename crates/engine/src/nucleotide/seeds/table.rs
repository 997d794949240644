//! Words of the queries and where they stand.

use super::bases::{Bits, Flanks, window};
use super::words::Words;

/// Spreads words of templates over cells (2^64 by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Cells with the places of words.
///
/// A bit for each cell tells whether there are any, so that most of a subject is passed over in little memory; the number of such
/// cells before, counted from these bits, where they are. A contiguous word is the number of its cell. Words of a template are
/// spread over cells; what shares a cell by chance is told apart by 32 bits more, and then by the bases.
#[derive(Debug)]
pub(super) struct Table {
    spread: Spread,
    template: bool,
    present: Bits,
    /// Number of cells in use before each 64 of them.
    before: Vec<u32>,
    /// Where the entries of each cell in use start, and where the last ones end.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

/// How words are spread over cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    mask: u64,
    multiplier: u64,
    /// This alone, where words are contiguous.
    pub shift: u32,
}

impl Spread {
    /// The cell of the word that these bases start with.
    #[inline]
    pub fn cell(self, bases: u64) -> usize {
        ((bases & self.mask).wrapping_mul(self.multiplier) >> self.shift) as usize
    }
}

/// A word of the queries at a place of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hit {
    /// The place.
    pub at: u32,
    /// The number of the table.
    pub table: u32,
    /// The tag of the word there.
    pub tag: u32,
    start: u32,
    end: u32,
}

/// A place of a word in the queries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub place: u32,
    /// What tells, without a look at the query, that a pair is none: the flanks of a contiguous word, more of the spread word of a
    /// template.
    pub tag: u32,
}

impl Table {
    /// A table of the words at these places. `mask` is that of a template. Entries of a word are in the order of `places`, or in the
    /// opposite one.
    pub fn new(
        query: &[u8],
        places: &[u32],
        span: u32,
        mask: Option<u64>,
        descending: bool,
    ) -> Table {
        let bits = match mask {
            None => 2 * span,
            // Sixteen cells or more for a word, as far as they stay in a cache.
            Some(_) => (usize::BITS - places.len().leading_zeros() + 4).clamp(10, 24),
        };
        let mut table = Table {
            spread: Spread {
                mask: mask.unwrap_or(u64::MAX),
                multiplier: if mask.is_some() { SPREAD } else { 1 },
                shift: 64 - bits,
            },
            template: mask.is_some(),
            present: Bits::new(1 << bits),
            before: Vec::new(),
            starts: Vec::new(),
            entries: vec![Entry::default(); places.len()],
        };
        table.count(query, places);
        table.fill(query, places, span, descending);
        table
    }

    /// Notes which cells are in use, and where their entries will end.
    fn count(&mut self, query: &[u8], places: &[u32]) {
        for &place in places {
            self.present.set(self.spread.cell(window(query, place as usize)));
        }
        let mut used = 0;
        for word in self.present.words() {
            self.before.push(used);
            used += word.count_ones();
        }
        self.starts = vec![0; used as usize + 1];
        for &place in places {
            let rank = self.rank(self.spread.cell(window(query, place as usize)));
            self.starts[rank] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
    }

    /// Fills cells from their ends on, which thereby become starts.
    fn fill(&mut self, query: &[u8], places: &[u32], span: u32, descending: bool) {
        for i in 0..places.len() {
            let place = places[if descending { i } else { places.len() - 1 - i }];
            let bases = window(query, place as usize);
            let tag = self.tag(query, place as usize, bases, span);
            let rank = self.rank(self.spread.cell(bases));
            self.starts[rank] -= 1;
            self.entries[self.starts[rank] as usize] = Entry { place, tag };
        }
    }

    /// Which cells are in use.
    pub fn present(&self) -> &Bits {
        &self.present
    }

    /// How words are spread over cells.
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// The word at a place of a subject, and whether it is one of the queries that may be part of a seed there.
    #[inline]
    pub fn hit(&self, table: u32, bytes: &[u8], at: u32, words: &Words) -> (Hit, bool) {
        let bases = window(bytes, at as usize);
        let cell = self.spread.cell(bases);
        if !self.present.has(cell) {
            return (Hit::default(), false);
        }
        let rank = self.rank(cell);
        let (start, end) = (self.starts[rank], self.starts[rank + 1]);
        let tag = self.tag(bytes, at as usize, bases, words.span);
        let first = self.entries[start as usize];
        let is_worth = (end - start > 1) | self.may_match(first, tag, words.extra);
        (Hit { at, table, tag, start, end }, is_worth)
    }

    /// The entries of a word of a subject.
    #[inline]
    pub fn entries(&self, hit: Hit) -> &[Entry] {
        &self.entries[hit.start as usize..hit.end as usize]
    }

    /// Whether the tags of a word of the queries and of one of a subject allow for a seed.
    #[inline]
    pub fn may_match(&self, entry: Entry, tag: u32, extra: u32) -> bool {
        if self.template {
            entry.tag == tag
        } else {
            Flanks(entry.tag).may_match(Flanks(tag), extra)
        }
    }

    /// Number of cells in use before this one.
    #[inline]
    fn rank(&self, cell: usize) -> usize {
        let below = self.present.words()[cell / 64] & ((1 << (cell % 64)) - 1);
        (self.before[cell / 64] + below.count_ones()) as usize
    }

    /// The tag of a word at a place of a sequence; `bases` start there.
    #[inline]
    fn tag(&self, bytes: &[u8], at: usize, bases: u64, span: u32) -> u32 {
        if self.template {
            let Spread { mask, multiplier, shift } = self.spread;
            ((bases & mask).wrapping_mul(multiplier) << (64 - shift) >> 32) as u32
        } else {
            Flanks::of(bytes, at, span).0
        }
    }

    /// Whether an entry with the same tag stands for the same word of the template.
    #[inline]
    pub fn is_word(&self, query: &[u8], entry: Entry, bases: u64) -> bool {
        (window(query, entry.place as usize) ^ bases) & self.spread.mask == 0
    }

    /// Whether it is the table of a template.
    pub fn is_template(&self) -> bool {
        self.template
    }

    /// Number of overflow cells that the small table of BLAST+ would need: those of words that stand at more than one place, and one
    /// for the end of each.
    pub fn overflow(&self) -> usize {
        let counts = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        counts.filter(|&count| count > 1).map(|count| count as usize + 1).sum()
    }
}
