//! Rows in vectors of numbers, one lane for each diagonal of a chunk. The code is generic over the
//! instructions.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
mod narrow;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
mod row;
mod runs;

use super::Run;
use super::pairs::OutwardSequences;
use super::rows::{
    Chunk, ContinuingDiagonals, FurthestExtent, GreedyState, LANES, NarrowRow, Row, RowKernel,
};
use super::rules::Rules;

/// Number of bases that are compared at once: a word of 32 bits.
const AT_ONCE: i32 = 16;

/// Number of bytes in a window of AVX2 or NEON.
const WINDOW: usize = 32;

/// A vector of [`LANES`] numbers. Its existence proves that the CPU has the instructions.
trait Vector: Copy {
    /// Proof that the CPU has the instructions.
    type Proof: Copy;
    /// A choice of lanes.
    type Mask: Copy;
    /// Part of a sequence: words of 16 bases, two bits each, the first base in the highest bits.
    type Window: Copy;
    /// Number of words in a window.
    const WORDS: i32;

    fn splat(proof: Self::Proof, number: i32) -> Self;
    /// Returns 0, 1, 2, ... in the lanes.
    fn numbered(proof: Self::Proof) -> Self;
    fn load(proof: Self::Proof, chunk: &Chunk) -> Self;
    fn store(self) -> Chunk;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// Returns the largest lane.
    fn largest(self) -> i32;
    /// Returns the lanes that are greater than the same lanes of `other`.
    fn above(self, other: Self) -> Self::Mask;
    /// Returns the lanes that are equal to the same lanes of `other`.
    fn equals(self, other: Self) -> Self::Mask;
    /// Returns the lanes that are in both masks.
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask;
    /// Returns the lanes of a mask, the first in the lowest bit.
    fn bits(mask: Self::Mask) -> u32;
    /// Takes its own lanes where the mask has them, and the lanes of `other` elsewhere.
    fn or_else(self, mask: Self::Mask, other: Self) -> Self;
    /// Moves each lane one lane down; the first lane of `above` enters.
    fn down_from(self, above: Self) -> Self;
    /// Moves each lane one lane up; the last lane of `below` enters.
    fn up_from(self, below: Self) -> Self;
    /// Moves each lane `by` lanes down, or up if `by` is negative; `fill` enters.
    fn moved(self, by: i32, fill: i32) -> Self;

    /// Reads the words from the byte `at` on; zeros beyond the last byte.
    fn window(proof: Self::Proof, bytes: &[u8], at: usize) -> Self::Window;
    /// Extracts from a window the words that begin at the bases with these indexes. A word that
    /// does not lie completely in the window is arbitrary.
    fn extract(self, window: Self::Window) -> Self;
    /// Returns the lanes with the index of a base whose word lies completely in a window.
    fn within_window(self) -> Self::Mask;
    /// Counts in each lane the pairs of bits that are zero, from the highest pair to the first
    /// other one, or from the lowest pair on with `BACK`.
    fn zero_pairs<const BACK: bool>(self) -> Self;
}

/// Rows in vectors of this kind.
struct VectorRows<V: Vector>(V::Proof);

impl<V: Vector> Clone for VectorRows<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Vector> Copy for VectorRows<V> {}

impl<V: Vector> RowKernel for VectorRows<V> {
    const NARROW: bool = true;

    #[inline(always)]
    fn row<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        row: Row<'_>,
        continuing: &mut ContinuingDiagonals,
        longest: &mut Run,
    ) -> FurthestExtent {
        row::compute::<V, BACK>(self.0, sequences, row, continuing, longest)
    }

    #[inline(always)]
    fn narrow<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        rules: &Rules,
        best: &mut Vec<i32>,
        state: &mut GreedyState,
        row: &mut NarrowRow,
    ) -> bool {
        narrow::compute::<V, BACK>((self.0, sequences), rules, best, state, row)
    }
}

/// Moves each lane `by` lanes down, or up if `by` is negative; `fill` enters. For instructions that
/// move lanes only by a constant.
#[inline(always)]
fn moved(Chunk(lanes): Chunk, by: i32, fill: i32) -> Chunk {
    let from = |lane: usize| (lane as i32).checked_add(by).and_then(|at| at.try_into().ok());
    let lane = |lane| from(lane).and_then(|at: usize| lanes.get(at)).copied().unwrap_or(fill);
    Chunk(std::array::from_fn(lane))
}

/// Returns the last bytes of a sequence, followed by zeros.
#[cold]
fn last_bytes(rest: &[u8]) -> [u8; WINDOW] {
    let mut bytes = [0; WINDOW];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// Replaces `longest` by the first of the longest runs in the lanes `longer`, if that is longer.
#[cold]
fn lengthen(longest: &mut Run, longer: u32, query: Chunk, subject: Chunk, run: Chunk) {
    let [Chunk(query), Chunk(subject), Chunk(run)] = [query, subject, run];
    for lane in (0..LANES).filter(|lane| longer >> lane & 1 != 0) {
        if run[lane] > longest.length {
            *longest = Run { query: query[lane], subject: subject[lane], length: run[lane] };
        }
    }
}
