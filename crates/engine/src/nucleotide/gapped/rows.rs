//! The bases of a packed subject, one after the other from a start.

use fleetblast_seq::nucleotide::Packed;

/// The bases from a place on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forward<'a> {
    subject: Packed<'a>,
    at: u32,
}

impl<'a> Forward<'a> {
    pub fn new(subject: Packed<'a>, at: u32) -> Self {
        Forward { subject, at }
    }
}

impl Iterator for Forward<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let base = (self.at < self.subject.length()).then(|| self.subject.base(self.at))?;
        self.at += 1;
        Some(base)
    }
}

/// The bases before a place, the nearest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward<'a> {
    subject: Packed<'a>,
    at: u32,
}

impl<'a> Backward<'a> {
    pub fn new(subject: Packed<'a>, at: u32) -> Self {
        Backward { subject, at }
    }
}

impl Iterator for Backward<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.at = self.at.checked_sub(1)?;
        Some(self.subject.base(self.at))
    }
}
