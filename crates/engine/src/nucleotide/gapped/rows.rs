//! The bases of a packed subject, in either direction from a start.

use fleetblast_seq::nucleotide::Packed;

use crate::scores::RowNumber;
use crate::xdrop::frames::Rows;

/// The bases from a position on, or the bases before it, with the nearest one first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bases<'a> {
    bytes: &'a [u8],
    /// Position of the first base.
    first: u32,
    count: u32,
    /// Distance from a base to the next, modulo 2^32.
    step: u32,
}

impl<'a> Bases<'a> {
    /// Creates a reader of the bases from a position on.
    pub fn forward(subject: Packed<'a>, start: u32) -> Self {
        let count = subject.length().saturating_sub(start);
        Bases { bytes: subject.bytes(), first: start, count, step: 1 }
    }

    /// Creates a reader of the bases before a position, the nearest first.
    pub fn backward(subject: Packed<'a>, start: u32) -> Self {
        let first = start.wrapping_sub(1);
        Bases { bytes: subject.bytes(), first, count: start, step: u32::MAX }
    }

    /// Returns the number of bases.
    pub fn count(self) -> usize {
        self.count as usize
    }

    /// Returns sixteen bases after the first `taken` ones, the first in the lowest two bits. Bases
    /// after the last one are arbitrary.
    #[inline(always)]
    pub fn word(self, taken: usize) -> u32 {
        let taken = taken as u32;
        let place = self.first.wrapping_add(self.step.wrapping_mul(taken));
        let byte = place as usize / 4;
        let after = 6 - 2 * (place & 3);
        if self.step == 1 {
            if let Some(bytes) = self.bytes.get(byte..).and_then(|bytes| bytes.first_chunk()) {
                return reverse_bases((u64::from_be_bytes(*bytes) >> (26 + after)) as u32);
            }
        } else if let Some(bytes) =
            self.bytes.get(..byte.wrapping_add(1)).and_then(|bytes| bytes.last_chunk())
        {
            return (u64::from_be_bytes(*bytes) >> after) as u32;
        }
        let number = |base| self.number(taken as usize + base).unwrap_or(0);
        (0..16).fold(0, |word, base| word | number(base) << (2 * base))
    }

    /// Iterates over the bases.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..).map_while(move |taken| self.number(taken)).map(|base| base as u8)
    }
}

/// Reverses the bases of a word.
#[inline(always)]
fn reverse_bases(word: u32) -> u32 {
    let bits = word.reverse_bits();
    (bits >> 1 & 0x5555_5555) | (bits & 0x5555_5555) << 1
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nucleotide::testing::packed;
    use crate::testing::RandomSequences;
    use fastrand::Rng;

    #[test]
    fn words_are_the_bases_one_after_the_other() {
        let letters = Rng::with_seed(3).bases(101);
        let bytes = packed(&letters);
        let subject = Packed::new(&bytes, 101);
        for start in 0..=101 {
            for bases in [Bases::forward(subject, start), Bases::backward(subject, start)] {
                for taken in 0..bases.count() {
                    let word = bases.word(taken);
                    for base in 0..16.min(bases.count() - taken) {
                        let expected = bases.number(taken + base);
                        assert_eq!(
                            Some(word >> (2 * base) & 3),
                            expected,
                            "{start} {taken} {base}"
                        );
                    }
                }
            }
        }
    }
}
