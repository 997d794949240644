//! Rows of 64 bytes in vector registers, and what works with them.

mod avx2;
mod avx512;

use crate::kernel::Kernel;

/// Lanes of a row.
pub(super) const LANES: usize = 64;
/// Lanes that moves within a register do not cross.
pub(super) const SECTION: usize = 16;
/// The score of a dropped cell.
pub(super) const NEVER: i8 = i8::MIN;

/// Bytes of the lanes.
pub(super) type Cells = [i8; LANES];
/// What a base scores against each letter of a query.
pub(super) type Table = [i8; 16];

/// A score as a byte; what is too low for one is dropped.
pub(super) fn clipped(score: i32) -> i8 {
    score.max(i32::from(NEVER)) as i8
}

/// The lanes of a row. Sums and differences stop at the ends of a byte's range.
pub(super) trait Row: Copy {
    /// Proof of the instructions.
    type Proof: Copy;
    fn splat(proof: Self::Proof, byte: i8) -> Self;
    fn load(proof: Self::Proof, cells: &Cells) -> Self;
    fn load_letters(proof: Self::Proof, letters: &[u8; LANES]) -> Self;
    fn store_to(self, cells: &mut Cells);
    #[inline(always)]
    fn store(self) -> Cells {
        let mut cells = [0; LANES];
        self.store_to(&mut cells);
        cells
    }
    /// Scores of letters, which are below 16.
    fn look_up(proof: Self::Proof, table: &Table, letters: &[u8; LANES]) -> Self;
    /// Scores by what the letters of two rows differ in, which is below 16.
    fn differing(self, other: Self, table: &Table) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Which lanes are greater than those of the other.
    fn above(self, other: Self) -> u64;
    /// Which lanes are equal to those of the other.
    fn equal(self, other: Self) -> u64;
    /// The lanes of `other` where those of `high` are greater than those of `low`.
    fn where_above(self, high: Self, low: Self, other: Self) -> Self;
    /// The row with lanes below those of `floor` dropped, and which ones were kept.
    fn keep(self, floor: Self) -> (Self, u64);
    /// Each lane's byte moves `BY` (1, 2, 4 or 8) lanes up in its section; [`NEVER`] enters.
    fn up<const BY: usize>(self) -> Self;
    /// Each lane's byte moves one lane down; the first of `above` enters.
    fn down_from(self, above: Self) -> Self;
    /// The last byte of each section in all lanes of the section.
    fn spread_ends(self) -> Self;
    /// Each lane's byte moves `BY` (1 or 2) sections up; the last of `below` enter.
    fn sections_up_from<const BY: usize>(self, below: Self) -> Self;
    /// The last section in all sections.
    fn spread_last(self) -> Self;
    /// [`NEVER`] in all lanes.
    fn never(self) -> Self;

    /// Each lane's byte moves one lane down; [`NEVER`] enters.
    #[inline(always)]
    fn down(self) -> Self {
        self.down_from(self.never())
    }

    /// Each lane's byte moves `BY` (1 or 2) sections up; [`NEVER`] enters.
    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        self.sections_up_from::<BY>(self.never())
    }

    /// The highest of each lane and those below it in its section.
    #[inline(always)]
    fn running_maximum(self) -> Self {
        let two = self.max(self.up::<1>());
        let four = two.max(two.up::<2>());
        let eight = four.max(four.up::<4>());
        eight.max(eight.up::<8>())
    }

    /// The highest of each lane and all those below it, and the highest of all in all lanes.
    #[inline(always)]
    fn running_maximum_of_all(self) -> (Self, Self) {
        let within = self.running_maximum();
        let ends = within.spread_ends();
        let two = ends.max(ends.sections_up::<1>());
        let four = two.max(two.sections_up::<2>());
        (within.max(four.sections_up::<1>()), four.spread_last())
    }
}

/// What is done with rows, whatever instructions they take.
pub(super) trait Work {
    /// What it finds.
    type Found;
    /// Does it; to be inlined, so that it is compiled for the instructions.
    fn run<R: Row>(self, proof: R::Proof) -> Self::Found;
}

/// Does work with these instructions; `None` where there are no vectors.
pub(super) fn perform<W: Work>(kernel: Kernel, work: W) -> Option<W::Found> {
    match kernel {
        Kernel::Avx512(proof) => Some(avx512::perform(proof, work)),
        Kernel::Avx2(proof) => Some(avx2::perform(proof, work)),
        Kernel::Portable => None,
    }
}
