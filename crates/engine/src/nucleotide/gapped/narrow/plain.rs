//! Narrow extensions in plain Rust, which compilers make vectors of.

use super::{Bases, Cells, Direction, Extent, LANES, NEVER, Narrow, Row, SECTION, Table, run};

/// [`run`] with what every CPU has.
pub(in super::super) fn extend(
    narrow: &Narrow,
    directions: [Direction<Bases>; 2],
) -> [Option<Extent>; 2] {
    run::<Bytes>((), narrow, directions)
}

/// A row in memory.
#[derive(Clone, Copy)]
struct Bytes(Cells);

impl Bytes {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(i8, i8) -> i8) -> Self {
        Bytes(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    /// What comes from other lanes; [`NEVER`] where there is none.
    #[inline(always)]
    fn moved(self, from: impl Fn(usize) -> Option<usize>) -> Self {
        Bytes(std::array::from_fn(|lane| from(lane).map_or(NEVER, |from| self.0[from])))
    }

    #[inline(always)]
    fn lanes(self, other: Self, f: impl Fn(i8, i8) -> bool) -> u64 {
        let lanes = self.0.iter().zip(&other.0).enumerate();
        lanes.fold(0, |bits, (lane, (&a, &b))| bits | u64::from(f(a, b)) << lane)
    }
}

impl Row for Bytes {
    type Proof = ();

    #[inline(always)]
    fn splat(_: (), byte: i8) -> Self {
        Bytes([byte; LANES])
    }

    #[inline(always)]
    fn load(_: (), cells: &Cells) -> Self {
        Bytes(*cells)
    }

    #[inline(always)]
    fn store(self) -> Cells {
        self.0
    }

    #[inline(always)]
    fn look_up(_: (), table: &Table, letters: &[u8; LANES]) -> Self {
        Bytes(letters.map(|letter| table[usize::from(letter & 15)]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.zip(other, i8::saturating_add)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.zip(other, i8::saturating_sub)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, i8::max)
    }

    #[inline(always)]
    fn above(self, other: Self) -> u64 {
        self.lanes(other, |a, b| a > b)
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        self.lanes(other, |a, b| a == b)
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u64) {
        let kept = self.zip(floor, |score, floor| if score >= floor { score } else { NEVER });
        (kept, self.lanes(floor, |score, floor| score >= floor))
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        self.moved(|lane| (lane % SECTION >= BY).then(|| lane - BY))
    }

    #[inline(always)]
    fn down(self) -> Self {
        self.moved(|lane| (lane + 1 < LANES).then_some(lane + 1))
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        self.moved(|lane| Some(lane | (SECTION - 1)))
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        self.moved(|lane| lane.checked_sub(BY * SECTION))
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        self.moved(|lane| Some(LANES - SECTION + lane % SECTION))
    }
}
