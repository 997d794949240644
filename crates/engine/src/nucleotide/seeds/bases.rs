//! Bases at two bits each in machine words.

/// The bases from a place on, the first in the highest bits. At least 29 of them count; those after the last one are A.
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

/// Number of bases beside a word that [`Flanks`] hold, on each side.
pub(super) const FLANK: usize = 8;

/// The bases just beside a word. Where there are none they may be any, which is why what they tell is only that a pair cannot match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flanks(pub u32);

impl Flanks {
    /// Those of the word of `width` bases at a place.
    #[inline]
    pub fn of(bytes: &[u8], at: usize, width: u32) -> Flanks {
        let from_left = match at.checked_sub(FLANK) {
            Some(left) => window(bytes, left),
            None => window(bytes, 0) >> (2 * (FLANK - at)),
        };
        let left = (from_left >> 48) as u32;
        let right = (from_left << (2 * (FLANK as u32 + width)) >> 48) as u32;
        Flanks(left << 16 | right)
    }

    /// Whether so many more bases may match, beside two equal words.
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

/// A bit for each place.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// So many bits, none of them set.
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count / 64 + 1])
    }

    /// Sets a bit.
    #[inline]
    pub fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Whether a bit is set; those beyond the last one are not.
    #[inline]
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Where bits are set, ascending.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        (0..).step_by(64).zip(&self.0).flat_map(|(start, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let at = (left != 0).then(|| start + left.trailing_zeros());
                left &= left.wrapping_sub(1);
                at
            })
        })
    }

    /// The next 64 bits from a place on, the first in the lowest; those beyond the last one are not set.
    #[inline(always)]
    pub fn from(&self, at: usize) -> u64 {
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0);
        let bits = u128::from(word(at / 64 + 1)) << 64 | u128::from(word(at / 64));
        (bits >> (at % 64)) as u64
    }

    /// Whether so many bits, fewer than 64, are all set from a place on.
    #[inline]
    pub fn has_all(&self, at: usize, count: u32) -> bool {
        (!self.from(at)) << (64 - count) == 0
    }

    /// The bits by 64, the first in the lowest.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }
}
