//! The bases of a packed subject, one after the other from a start.

use fleetblast_seq::nucleotide::Packed;

use crate::scores::RowNumber;
use crate::xdrop::frames::Rows;

/// The bases from a place on, or those before it, the nearest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases<'a> {
    subject: Packed<'a>,
    start: u32,
    backward: bool,
}

impl<'a> Bases<'a> {
    /// From a place on.
    pub fn forward(subject: Packed<'a>, start: u32) -> Self {
        Bases { subject, start, backward: false }
    }

    /// Before a place.
    pub fn backward(subject: Packed<'a>, start: u32) -> Self {
        Bases { subject, start, backward: true }
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
        // A place before the first one is beyond the last one, too.
        let place =
            if self.backward { self.start.wrapping_sub(taken + 1) } else { self.start + taken };
        (place < self.subject.length()).then(|| self.subject.base(place).into())
    }
}
