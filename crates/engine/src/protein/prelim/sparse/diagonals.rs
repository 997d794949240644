//! The diagonal table: the last hit of each diagonal (rules 4.3).

use super::hits::Hits;
use super::position::Position;
use crate::protein::prelim::ungapped::Diagonal;

/// Diagonal table of a thread, for any group.
#[derive(Debug, Default)]
pub(super) struct Diagonals {
    table: Vec<Entry>,
    /// Added to subject offsets, so that entries of earlier subjects look long past.
    base: i32,
    /// Hits after this offset follow no entry that earlier subjects left.
    end: i32,
}

/// State of a diagonal in four bytes, in halves of residues: one residue less than the offset from
/// which a hit only replaces the last one. That offset is a window after the last hit; or, a half
/// less, the end of an extension.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(i32);

impl Entry {
    /// The entry for a state.
    fn new(state: Diagonal, window: i32) -> Entry {
        match state.extended || window == 0 {
            true => Entry(2 * (state.last - 1) - 1),
            false => Entry(2 * (state.last - 1 + window)),
        }
    }

    /// The state.
    fn state(self, window: i32) -> Diagonal {
        match self.0 & 1 {
            1 => Diagonal { last: (self.0 + 1) / 2 + 1, extended: window > 0 },
            _ => Diagonal { last: self.0 / 2 + 1 - window, extended: false },
        }
    }

    /// The entry after `pair` changed the state. Offsets of the subject are `base` less than those
    /// of entries.
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

/// The table while a part of a subject is searched.
pub(super) struct PartDiagonals<'a> {
    /// As many entries as there are different diagonals at a time, a power of two.
    table: &'a mut [Entry],
    base: i32,
    /// Two-hit window, 0 for one-hit mode.
    window: i32,
    word_size: i32,
}

impl Diagonals {
    /// Number of diagonals in the table of queries with `query_len` positions.
    pub fn count(query_len: usize, window: i32) -> usize {
        (query_len + window.max(1) as usize).next_power_of_two()
    }

    /// Begins a part of a subject of `subject_len` residues: makes the table large enough, and all
    /// its entries outdated.
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
        // A later hit is a window after the last one of this part, whatever its own window.
        self.end = self.base.saturating_add(subject_len as i32).saturating_add(window);
        let table = &mut self.table[..len];
        PartDiagonals { table, base: self.base, window, word_size: word_size as i32 }
    }
}

impl PartDiagonals<'_> {
    /// The mask of the diagonals' numbers.
    pub fn mask(&self) -> u32 {
        self.table.len() as u32 - 1
    }

    /// Processes the hits. Calls `pair` with the query position and the subject offset of each hit
    /// that may follow another, and the state of its diagonal.
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

    /// [`PartDiagonals::process`] in one-hit mode or in two-hit mode.
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
        // What is added to a hit's offset.
        let anew = 2 * (window - 1);
        let distances = (window - self.word_size).max(0) as u32;
        for (diagonal, &offset) in diagonals.iter().zip(offsets) {
            let at = first + 2 * i32::from(offset);
            let entry = &mut self.table[diagonal.number() as usize];
            let ahead = entry.0 - at;
            // Half of an even number; an odd or negative one becomes large.
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
                // The others are words that overlap, or are in the range of an extension.
                entry.0 = if ahead < -1 { at + anew } else { entry.0 };
            }
        }
    }
}
