//! The diagonal table: the last seed of each diagonal (rules 4.3).

use super::hits::Hits;
use super::position::Position;
use crate::protein::prelim::ungapped::Diagonal;

/// Diagonal table of a thread, for any group.
#[derive(Debug, Default)]
pub(super) struct Diagonals {
    table: Vec<Entry>,
    /// Number added to subject offsets, so that entries of earlier subjects are too far away for a
    /// pair.
    base: i32,
    /// Largest offset that entries of earlier subjects can affect.
    end: i32,
}

/// State of a diagonal in four bytes: twice the subject offset from which on a seed only replaces
/// the last seed, less a constant. After a seed, that offset is a window after the seed, and the
/// constant is 2. After an extension, it is the end of the extension, and the constant is 3.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(i32);

impl Entry {
    /// Creates the entry for a state.
    fn new(state: Diagonal, window: i32) -> Entry {
        match state.extended || window == 0 {
            true => Entry(2 * (state.last - 1) - 1),
            false => Entry(2 * (state.last - 1 + window)),
        }
    }

    /// Returns the state.
    fn state(self, window: i32) -> Diagonal {
        match self.0 & 1 {
            1 => Diagonal { last: (self.0 + 1) / 2 + 1, extended: window > 0 },
            _ => Diagonal { last: self.0 / 2 + 1 - window, extended: false },
        }
    }

    /// Returns the entry after `pair` changed the state. Subject offsets of the state are `base`
    /// less than those of entries.
    // Not inlined, because only then the loop over the hits has enough registers.
    #[inline(never)]
    fn after_pair(self, (base, window): (i32, i32), pair: impl FnOnce(&mut Diagonal)) -> Entry {
        let mut state = self.state(window);
        state.last -= base;
        pair(&mut state);
        state.last += base;
        Entry::new(state, window)
    }
}

/// The diagonal table while a part of a subject is searched.
pub(super) struct PartDiagonals<'a> {
    /// One entry for each diagonal that exists at the same time. The number of entries is a power
    /// of two.
    table: &'a mut [Entry],
    base: i32,
    /// Two-hit window, 0 for one-hit mode.
    window: i32,
    word_size: i32,
}

impl Diagonals {
    /// Returns the number of entries in the table, for contexts with `query_len` positions in
    /// total.
    pub fn count(query_len: usize, window: i32) -> usize {
        (query_len + window.max(1) as usize).next_power_of_two()
    }

    /// Prepares the table for a part of a subject of `subject_len` residues. It makes the table
    /// large enough, and all its entries outdated.
    pub fn begin(
        &mut self,
        query_len: usize,
        subject_len: usize,
        window: i32,
        word_size: usize,
    ) -> PartDiagonals<'_> {
        let len = Diagonals::count(query_len, window);
        if self.end > i32::MAX / 8 {
            self.table.clear();
            self.end = 0;
        }
        if self.table.len() < len {
            self.table.resize(len, Entry::default());
        }
        self.base = self.end + 1;
        // A later seed is a window after the last seed of this part, whatever its own window.
        self.end = self.base.saturating_add(subject_len as i32).saturating_add(window);
        let table = &mut self.table[..len];
        PartDiagonals { table, base: self.base, window, word_size: word_size as i32 }
    }
}

impl PartDiagonals<'_> {
    /// Returns the mask that reduces numbers of diagonals to indexes of the table.
    pub fn mask(&self) -> u32 {
        self.table.len() as u32 - 1
    }

    /// Processes seeds. For each seed that may form a pair with an earlier seed, calls `pair` with
    /// the query position, the subject offset and the state of the diagonal.
    pub fn process<P: Position>(
        &mut self,
        hits: &Hits<P>,
        pair: &mut impl FnMut(u32, usize, &mut Diagonal),
    ) {
        match self.window {
            0 => self.process_hits::<P, true>(hits, pair),
            _ => self.process_hits::<P, false>(hits, pair),
        }
    }

    /// Does the work of [`PartDiagonals::process`] in one-hit mode or in two-hit mode.
    #[inline(never)]
    fn process_hits<P: Position, const ONE_HIT: bool>(
        &mut self,
        hits: &Hits<P>,
        pair: &mut impl FnMut(u32, usize, &mut Diagonal),
    ) {
        let PartDiagonals { base, window, .. } = *self;
        let mask = self.mask();
        let (diagonals, offsets) = hits.parts();
        let first = 2 * (base + hits.first() as i32);
        // Difference between the entry after a seed and the seed's offset.
        let anew = 2 * (window - 1);
        let distances = (window - self.word_size).max(0) as u32;
        for (diagonal, &offset) in diagonals.iter().zip(offsets) {
            let at = first + 2 * i32::from(offset);
            let entry = &mut self.table[diagonal.number() as usize];
            let ahead = entry.0 - at;
            // This halves an even number. An odd or a negative number becomes large.
            let is_pair = match ONE_HIT {
                true => ahead < -1,
                false => (ahead.rotate_right(1) as u32) < distances,
            };
            if is_pair {
                let s = (at / 2 - base) as u32;
                let position = diagonal.number().wrapping_add(s) & mask;
                *entry =
                    entry.after_pair((base, window), |state| pair(position, s as usize, state));
            } else {
                // Other seeds overlap the last one, or are in the range of an extension.
                entry.0 = if ahead < -1 { at + anew } else { entry.0 };
            }
        }
    }
}
