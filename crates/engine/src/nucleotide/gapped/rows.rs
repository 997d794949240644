//! The bases of a packed subject, one after the other from a start.

use fleetblast_seq::nucleotide::Packed;

use crate::scores::RowNumber;
use crate::xdrop::frames::Rows;

/// The bases from a place on, or those before it, the nearest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases<'a> {
    bytes: &'a [u8],
    /// Place of the first one.
    first: u32,
    count: u32,
    /// From a place to the next, modulo 2^32.
    step: u32,
}

impl<'a> Bases<'a> {
    /// From a place on.
    pub fn forward(subject: Packed<'a>, start: u32) -> Self {
        let count = subject.length().saturating_sub(start);
        Bases { bytes: subject.bytes(), first: start, count, step: 1 }
    }

    /// Before a place.
    pub fn backward(subject: Packed<'a>, start: u32) -> Self {
        let first = start.wrapping_sub(1);
        Bases { bytes: subject.bytes(), first, count: start, step: u32::MAX }
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..).map_while(move |taken| self.number(taken)).map(|base| base as u8)
    }
}

impl Rows for Bases<'_> {
    #[inline(always)]
    fn number(&self, taken: usize) -> Option<RowNumber> {
        let taken = taken as u32;
        if taken >= self.count {
            return None;
        }
        let place = self.first.wrapping_add(self.step.wrapping_mul(taken));
        let byte = self.bytes.get(place as usize / 4)?;
        Some((byte >> (6 - 2 * (place & 3)) & 3).into())
    }
}
