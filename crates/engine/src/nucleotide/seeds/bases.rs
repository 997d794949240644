//! Bases packed at two bits each in machine words.

/// Returns the bases from `at` on, the first in the highest bits. At least 29 of them are valid;
/// bases after the last one read as A.
#[inline]
pub(super) fn window(bytes: &[u8], at: usize) -> u64 {
    let first = at / 4;
    let word = match bytes.get(first..).and_then(<[u8]>::first_chunk::<8>) {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => last_window(bytes, first),
    };
    word << (2 * (at % 4))
}

#[cold]
fn last_window(bytes: &[u8], first: usize) -> u64 {
    let mut chunk = [0; 8];
    let rest = bytes.get(first..).unwrap_or_default();
    chunk[..rest.len()].copy_from_slice(rest);
    u64::from_be_bytes(chunk)
}

/// Number of bases on each side of a word that [`Flanks`] holds.
pub(super) const FLANK: usize = 8;

/// The bases next to a word, on both sides. Beyond the ends of the sequence they are arbitrary. So
/// they can only prove that a pair of words cannot match, never that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flanks(pub u32);

impl Flanks {
    /// Reads the flanks of the word of `width` bases at `at`.
    #[inline]
    pub fn read(bytes: &[u8], at: usize, width: u32) -> Flanks {
        let from_left = match at.checked_sub(FLANK) {
            Some(left) => window(bytes, left),
            None => window(bytes, 0) >> (2 * (FLANK - at)),
        };
        let left = (from_left >> 48) as u32;
        let right = (from_left << (2 * (FLANK as u32 + width)) >> 48) as u32;
        Flanks(left << 16 | right)
    }

    /// Returns whether at least `extra` bases in all may match on both sides of two equal words.
    #[inline]
    pub fn may_match(self, other: Flanks, extra: u32) -> bool {
        let differences = self.0 ^ other.0;
        // A bit beyond the last base ends each count.
        let left = (differences >> 16 | 1 << 16).trailing_zeros() / 2;
        let right = (differences << 16 | 1 << 15).leading_zeros() / 2;
        let flank = FLANK as u32;
        (left + right >= extra) | ((extra > flank) & ((left == flank) | (right == flank)))
    }
}

/// A set of bits, one for each position.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Creates `count` bits, none of them set.
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count / 64 + 1])
    }

    /// Creates the bits of these words, the first in the lowest bit of the first word.
    pub fn from_words(words: Vec<u64>) -> Bits {
        Bits(words)
    }

    /// Sets a bit.
    #[inline]
    pub fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Returns whether a bit is set; false for bits beyond the last one.
    #[inline]
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Returns the 64 bits from `at` on, the first in the lowest bit. Bits beyond the last one are
    /// not set.
    #[inline(always)]
    pub fn from(&self, at: usize) -> u64 {
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0);
        let bits = u128::from(word(at / 64 + 1)) << 64 | u128::from(word(at / 64));
        (bits >> (at % 64)) as u64
    }

    /// Returns whether all of the `count` bits from `at` on are set. `count` is 1 to 63.
    #[inline]
    pub fn has_all(&self, at: usize, count: u32) -> bool {
        (!self.from(at)) << (64 - count) == 0
    }

    /// Returns the bits in words of 64, the first in the lowest bit.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }
}
