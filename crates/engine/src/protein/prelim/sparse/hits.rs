//! Word hits of a stretch of a subject, collected before their diagonals are looked up.
//!
//! The list of a word is short, and its end would often be mispredicted. So the lists are copied in
//! strides of a fixed size. The next list overwrites the excess, and the loop over the diagonals is
//! long.

use super::position::Position;

/// Positions that are copied at a time.
pub(super) const STRIDE: usize = 16;
/// The hits of a word are the last if there are as many as this.
const ENOUGH: usize = 1024;

/// Collected hits.
#[derive(Debug, Default)]
pub(super) struct Hits<P> {
    /// The number of each hit's diagonal, and room for more.
    diagonals: Vec<P>,
    /// The subject offsets, from the first on.
    offsets: Vec<u16>,
    len: usize,
    /// The first subject offset.
    first: usize,
    /// The mask of diagonals.
    mask: u32,
}

impl<P: Position> Hits<P> {
    /// Removes all hits. The next ones are at the offset `first` or at most 65,535 later, have
    /// diagonals of a table with this mask, and are at most `longest` at an offset.
    pub fn begin(&mut self, first: usize, mask: u32, longest: usize) {
        (self.len, self.first, self.mask) = (0, first, mask);
        let room = ENOUGH + longest + STRIDE;
        if self.diagonals.len() < room {
            self.diagonals.resize(room, P::default());
            self.offsets.resize(room, 0);
        }
    }

    /// Whether there may be no room for more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len >= ENOUGH
    }

    /// Adds the hits of a subject offset at the first `count` positions, which a stride follows.
    /// Writes a stride even if there are none.
    #[inline(always)]
    pub fn push(&mut self, offset: usize, count: usize, positions: &[P]) {
        let mut end = self.len + STRIDE;
        self.len += count;
        self.copy(end, offset, positions);
        // The first stride takes most words, so that this is well predicted.
        for start in (STRIDE..count).step_by(STRIDE) {
            end += STRIDE;
            self.copy(end, offset, &positions[start..]);
        }
    }

    /// Copies the hits of a subject offset at the first positions, a stride, up to the index `end`.
    #[inline(always)]
    fn copy(&mut self, end: usize, offset: usize, positions: &[P]) {
        let positions: [P; STRIDE] = *positions.first_chunk().expect("at least a stride");
        let diagonals = positions.map(|position| position.diagonal(offset as u32, self.mask));
        self.diagonals[end - STRIDE..end].copy_from_slice(&diagonals);
        self.offsets[end - STRIDE..end].fill((offset - self.first) as u16);
    }

    /// The first subject offset.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The diagonals of the hits, in the order in which they were added, and their subject offsets
    /// from the first one on.
    pub fn parts(&self) -> (&[P], &[u16]) {
        (&self.diagonals[..self.len], &self.offsets[..self.len])
    }
}
