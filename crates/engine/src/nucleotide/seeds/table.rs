//! Words of the queries and where they stand.

use super::bases::{Bits, Flanks, window};

/// Spreads words of templates over cells (2^64 by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Cells with the places of words.
///
/// A bit for each cell tells whether there are any, so that most of a subject is passed over in little memory; the number of such
/// cells before, counted from these bits, where they are. A contiguous word is the number of its cell. Words of a template are
/// spread over cells; what shares a cell by chance is told apart by 32 bits more, and then by the bases.
#[derive(Debug)]
pub(super) struct Table {
    mask: u64,
    multiplier: u64,
    shift: u32,
    template: bool,
    present: Bits,
    /// Number of cells in use before each 64 of them.
    before: Vec<u32>,
    /// Where the entries of each cell in use start, and where the last ones end.
    starts: Vec<u32>,
    entries: Vec<Entry>,
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
            mask: mask.unwrap_or(u64::MAX),
            multiplier: if mask.is_some() { SPREAD } else { 1 },
            shift: 64 - bits,
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
            self.present.set(self.cell(window(query, place as usize)));
        }
        let mut used = 0;
        for word in self.present.words() {
            self.before.push(used);
            used += word.count_ones();
        }
        self.starts = vec![0; used as usize + 1];
        for &place in places {
            let rank = self.rank(self.cell(window(query, place as usize)));
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
            let rank = self.rank(self.cell(bases));
            self.starts[rank] -= 1;
            self.entries[self.starts[rank] as usize] = Entry { place, tag };
        }
    }

    /// The cell of the word that these bases start with.
    #[inline]
    pub fn cell(&self, bases: u64) -> usize {
        ((bases & self.mask).wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    /// Whether there are entries in the cell of the word that these bases start with.
    #[inline]
    pub fn has(&self, bases: u64) -> bool {
        self.present.has(self.cell(bases))
    }

    /// The entries of a cell.
    #[inline]
    pub fn entries(&self, cell: usize) -> &[Entry] {
        if !self.present.has(cell) {
            return &[];
        }
        let rank = self.rank(cell);
        &self.entries[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    /// Number of cells in use before this one.
    #[inline]
    fn rank(&self, cell: usize) -> usize {
        let below = self.present.words()[cell / 64] & ((1 << (cell % 64)) - 1);
        (self.before[cell / 64] + below.count_ones()) as usize
    }

    /// The tag of a word at a place of a sequence; `bases` start there.
    #[inline]
    pub fn tag(&self, bytes: &[u8], at: usize, bases: u64, span: u32) -> u32 {
        if self.template {
            ((bases & self.mask).wrapping_mul(self.multiplier) << (64 - self.shift) >> 32) as u32
        } else {
            Flanks::of(bytes, at, span).0
        }
    }

    /// Whether an entry with the same tag stands for the same word of the template.
    #[inline]
    pub fn is_word(&self, query: &[u8], entry: Entry, bases: u64) -> bool {
        (window(query, entry.place as usize) ^ bases) & self.mask == 0
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
