//! The seeds of a range of a subject, collected before their diagonals are looked up.
//!
//! Most words have short lists of positions, and a loop over a short list would often mispredict
//! its end. So the lists are copied in strides of a fixed size, and the next list overwrites the
//! excess. The loop over all collected diagonals is long, so that its end is rarely mispredicted.

use super::position::Position;

/// Number of positions that are copied at a time.
pub(super) const STRIDE: usize = 16;
/// Number of seeds from which on no further word is added.
const ENOUGH: usize = 1024;

/// Collected seeds.
#[derive(Debug, Default)]
pub(super) struct Hits<P> {
    /// Number of the diagonal of each seed. Elements from `len` on are unused.
    diagonals: Vec<P>,
    /// Subject offsets of the seeds, relative to `first`.
    offsets: Vec<u16>,
    len: usize,
    /// The first subject offset.
    first: usize,
    /// Mask that reduces numbers of diagonals to indexes of a table.
    mask: u32,
}

impl<P: Position> Hits<P> {
    /// Removes all seeds, and prepares for seeds with subject offsets from `first` to `first` +
    /// 65,535. `mask` reduces their diagonals to indexes of a table. At most `longest` of them have
    /// the same offset.
    pub fn begin(&mut self, first: usize, mask: u32, longest: usize) {
        (self.len, self.first, self.mask) = (0, first, mask);
        let room = ENOUGH + longest + STRIDE;
        if self.diagonals.len() < room {
            self.diagonals.resize(room, P::default());
            self.offsets.resize(room, 0);
        }
    }

    /// Returns whether the seeds of no further word may be added.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len >= ENOUGH
    }

    /// Adds seeds at a subject offset, one for each of the first `count` positions. At least a
    /// stride of positions must follow these. Writes a stride even if `count` is 0.
    #[inline(always)]
    pub fn push(&mut self, offset: usize, count: usize, positions: &[P]) {
        let mut end = self.len + STRIDE;
        self.len += count;
        self.copy(end, offset, positions);
        // One stride suffices for most words, so that this is well predicted.
        for start in (STRIDE..count).step_by(STRIDE) {
            end += STRIDE;
            self.copy(end, offset, &positions[start..]);
        }
    }

    /// Writes a stride of seeds at a subject offset, one for each of the first positions, so that
    /// they end before the index `end`.
    #[inline(always)]
    fn copy(&mut self, end: usize, offset: usize, positions: &[P]) {
        let positions: [P; STRIDE] = *positions.first_chunk().expect("at least a stride");
        let diagonals = positions.map(|position| position.diagonal(offset as u32, self.mask));
        self.diagonals[end - STRIDE..end].copy_from_slice(&diagonals);
        self.offsets[end - STRIDE..end].fill((offset - self.first) as u16);
    }

    /// Returns the first subject offset.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the diagonals of the seeds, in the order in which they were added, and their subject
    /// offsets relative to the first one.
    pub fn parts(&self) -> (&[P], &[u16]) {
        (&self.diagonals[..self.len], &self.offsets[..self.len])
    }
}
