//! Rows of 64 bytes in vector registers, and computations that use them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::kernel::Kernel;

/// Number of lanes in a row.
pub(super) const LANES: usize = 64;
/// Number of lanes in a section. Shifts within a register do not cross sections.
pub(super) const SECTION: usize = 16;
/// The score of a dropped cell.
pub(super) const NEVER: i8 = i8::MIN;

/// A byte for each lane.
pub(super) type Cells = [i8; LANES];
/// Scores of a base against each letter of a query.
pub(super) type Table = [i8; 16];

/// Converts a score to a byte; a score that is too low becomes [`NEVER`].
pub(super) fn clip(score: i32) -> i8 {
    score.max(i32::from(NEVER)) as i8
}

/// A row of lanes. Sums and differences saturate.
pub(super) trait Row: Copy {
    /// Proof that the CPU has the instructions.
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
    /// Looks up the scores of letters. The codes of the letters are below 16.
    fn look_up(proof: Self::Proof, table: &Table, letters: &[u8; LANES]) -> Self;
    /// Looks up scores by the bits in which the letters of two rows differ. The codes are below 16.
    fn differing(self, other: Self, table: &Table) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Returns a bit for each lane, set if the lane is greater than the same lane of `other`.
    fn above(self, other: Self) -> u64;
    /// Returns a bit for each lane, set if the lane is equal to the same lane of `other`.
    fn equal(self, other: Self) -> u64;
    /// Takes the lanes of `other` where `high` is greater than `low`, and its own lanes elsewhere.
    fn where_above(self, high: Self, low: Self, other: Self) -> Self;
    /// Drops each lane that is below the same lane of `floor`. Returns the row, and a bit for each
    /// lane that was kept.
    fn keep(self, floor: Self) -> (Self, u64);
    /// Moves the byte of each lane `BY` (1, 2, 4 or 8) lanes up in its section; [`NEVER`] enters.
    fn up<const BY: usize>(self) -> Self;
    /// Moves the byte of each lane one lane down; the first byte of `above` enters.
    fn down_from(self, above: Self) -> Self;
    /// Copies the last byte of each section to all its lanes.
    fn spread_ends(self) -> Self;
    /// Moves the byte of each lane `BY` (1 or 2) sections up; the last sections of `below` enter.
    fn sections_up_from<const BY: usize>(self, below: Self) -> Self;
    /// Copies the last section to all sections.
    fn spread_last(self) -> Self;
    /// Returns [`NEVER`] in all lanes.
    fn never(self) -> Self;

    /// Moves the byte of each lane one lane down; [`NEVER`] enters.
    #[inline(always)]
    fn down(self) -> Self {
        self.down_from(self.never())
    }

    /// Moves the byte of each lane `BY` (1 or 2) sections up; [`NEVER`] enters.
    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        self.sections_up_from::<BY>(self.never())
    }

    /// Returns the maximum of each lane and the lanes below it in its section.
    #[inline(always)]
    fn running_maximum(self) -> Self {
        let two = self.max(self.up::<1>());
        let four = two.max(two.up::<2>());
        let eight = four.max(four.up::<4>());
        eight.max(eight.up::<8>())
    }

    /// Returns the maximum of each lane and all lanes below it. Also returns the maximum of the
    /// whole row, in all lanes.
    #[inline(always)]
    fn running_maximum_of_all(self) -> (Self, Self) {
        let within = self.running_maximum();
        let ends = within.spread_ends();
        let two = ends.max(ends.sections_up::<1>());
        let four = two.max(two.sections_up::<2>());
        (within.max(four.sections_up::<1>()), four.spread_last())
    }
}

/// A computation with rows, generic over the instructions.
pub(super) trait Computation {
    /// Result of the computation.
    type Output;
    /// Runs the computation. It must be inlined, so that it is compiled for the kernel's
    /// instructions.
    fn run<R: Row>(self, proof: R::Proof) -> Self::Output;
}

/// Runs a computation with the instructions of a kernel. Returns `None` for the portable kernel,
/// which has no vectors.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_variables, reason = "no vectors")
)]
pub(super) fn perform<W: Computation>(kernel: Kernel, work: W) -> Option<W::Output> {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(proof) => Some(avx512::perform(proof, work)),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => Some(avx2::perform(proof, work)),
        #[cfg(target_arch = "aarch64")]
        Kernel::Neon(proof) => Some(neon::perform(proof, work)),
        _ => None,
    }
}
