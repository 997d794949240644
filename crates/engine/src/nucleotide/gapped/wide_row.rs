//! Rows of 128 lanes, as two rows of 64.
//!
//! There are no closures, since they would not be compiled for the kernel's instructions.

use super::row::{self, Cells, Row, Table};

/// Number of diagonals in the frame.
pub(super) const LANES: usize = 2 * row::LANES;

/// The lanes of a row, the lower half first.
#[derive(Clone, Copy)]
pub(super) struct WideRow<R>(pub [R; 2]);

/// Joins the lane masks of the halves.
#[inline(always)]
fn join_masks([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

impl<R: Row> WideRow<R> {
    #[inline(always)]
    pub fn splat(proof: R::Proof, byte: i8) -> Self {
        WideRow([R::splat(proof, byte); 2])
    }

    #[inline(always)]
    pub fn load(proof: R::Proof, cells: &[Cells; 2]) -> Self {
        WideRow([R::load(proof, &cells[0]), R::load(proof, &cells[1])])
    }

    #[inline(always)]
    pub fn store(self) -> [Cells; 2] {
        [self.0[0].store(), self.0[1].store()]
    }

    /// Looks up the scores of letters. The codes of the letters are below 16.
    #[inline(always)]
    pub fn look_up(proof: R::Proof, table: &Table, letters: &[u8; LANES]) -> Self {
        let (halves, _) = letters.as_chunks();
        WideRow([R::look_up(proof, table, &halves[0]), R::look_up(proof, table, &halves[1])])
    }

    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        WideRow([self.0[0].plus(other.0[0]), self.0[1].plus(other.0[1])])
    }

    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        WideRow([self.0[0].minus(other.0[0]), self.0[1].minus(other.0[1])])
    }

    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        WideRow([self.0[0].max(other.0[0]), self.0[1].max(other.0[1])])
    }

    /// Returns a bit for each lane, set if the lane is greater than the same lane of `other`.
    #[inline(always)]
    pub fn above(self, other: Self) -> u128 {
        join_masks([self.0[0].above(other.0[0]), self.0[1].above(other.0[1])])
    }

    /// Returns a bit for each lane, set if the lane is equal to the same lane of `other`.
    #[inline(always)]
    pub fn equal(self, other: Self) -> u128 {
        join_masks([self.0[0].equal(other.0[0]), self.0[1].equal(other.0[1])])
    }

    /// Drops each lane that is below the same lane of `floor`. Returns the row, and a bit for each
    /// lane that was kept.
    #[inline(always)]
    pub fn keep(self, floor: Self) -> (Self, u128) {
        let [(low, low_lanes), (high, high_lanes)] =
            [self.0[0].keep(floor.0[0]), self.0[1].keep(floor.0[1])];
        (WideRow([low, high]), join_masks([low_lanes, high_lanes]))
    }

    /// Moves the byte of each lane one lane down. Dropped cells enter, here and in the other
    /// shifts.
    #[inline(always)]
    pub fn down(self) -> Self {
        let [low, high] = self.0;
        WideRow([low.down_from(high), high.down()])
    }

    /// Moves the byte of each lane one lane up within its section.
    #[inline(always)]
    pub fn up(self) -> Self {
        WideRow([self.0[0].up::<1>(), self.0[1].up::<1>()])
    }

    /// Copies the last byte of each section to all its lanes.
    #[inline(always)]
    pub fn spread_ends(self) -> Self {
        WideRow([self.0[0].spread_ends(), self.0[1].spread_ends()])
    }

    /// Moves the byte of each lane `BY` (1 or 2) sections up.
    #[inline(always)]
    pub fn sections_up<const BY: usize>(self) -> Self {
        let [low, high] = self.0;
        WideRow([low.sections_up::<BY>(), high.sections_up_from::<BY>(low)])
    }

    /// Returns the maximum of each lane and the lanes below it in its section.
    #[inline(always)]
    pub fn running_maximum(self) -> Self {
        WideRow([self.0[0].running_maximum(), self.0[1].running_maximum()])
    }

    /// Returns the maximum of each lane and all lanes below it. Also returns the maximum of the
    /// whole row, in all lanes.
    #[inline(always)]
    pub fn running_maximum_of_all(self) -> (Self, Self) {
        let (low, lowest) = self.0[0].running_maximum_of_all();
        let (high, highest) = self.0[1].running_maximum_of_all();
        let all = lowest.max(highest);
        (WideRow([low, high.max(lowest)]), WideRow([all, all]))
    }
}
