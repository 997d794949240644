//! Ungapped extensions to one side that jump from one mismatch to the next.

/// Number of pairs on one side that are compared at once.
pub(super) const RUN: u32 = 28;

/// State of an extension to one side.
#[derive(Default)]
pub(super) struct SideExtension {
    /// The best score.
    pub score: i32,
    /// Number of pairs up to the best score.
    pub best: u32,
    /// Sum of the scores of the pairs after the best score; not above 0.
    sum: i32,
}

impl SideExtension {
    /// Adds pairs with the total score `score`; `pairs` is the number of all pairs of the
    /// extension, with these.
    #[inline(always)]
    pub fn add_pairs(&mut self, score: i32, pairs: u32) {
        self.sum += score;
        // Gains are unpredictable, hence no branches.
        let gains = self.sum > 0;
        self.score += if gains { self.sum } else { 0 };
        self.best = if gains { pairs } else { self.best };
        self.sum = if gains { 0 } else { self.sum };
    }

    /// Adds the pairs from number `at` on, up to the last mismatch, and sets `at` to the number
    /// after it. Returns true if the score fell too far at a mismatch. `differences` has bits at
    /// mismatches.
    #[inline(always)]
    pub fn add_run<W: PairOrder>(
        &mut self,
        mut differences: u64,
        at: &mut u32,
        (equal, other): (i32, i32),
        limit: impl Fn(i32) -> i32,
    ) -> bool {
        while differences != 0 {
            let pairs = W::equal_pairs(differences);
            differences = W::beyond(differences, pairs);
            self.add_pairs(pairs as i32 * equal, *at + pairs);
            *at += pairs + 1;
            if self.add_mismatch(other, limit(self.score)) {
                return true;
            }
        }
        false
    }

    /// Adds a mismatch. Returns true if the score fell too far.
    #[inline(always)]
    pub fn add_mismatch(&mut self, score: i32, limit: i32) -> bool {
        self.sum += score;
        self.sum < -limit
    }
}

/// Compares two windows. The lower bit of each pair of bits is set where the bases differ.
#[inline(always)]
pub(super) fn differences(one: u64, other: u64) -> u64 {
    let bits = one ^ other;
    (bits | bits >> 1) & 0x5555_5555_5555_5555
}

/// The order of pairs in the bits of a window, two bits each.
pub(super) trait PairOrder {
    /// Returns the number of equal pairs before the first mismatch.
    fn equal_pairs(differences: u64) -> u32;
    /// Removes the first `pairs` pairs and the pair after them from `differences`.
    fn beyond(differences: u64, pairs: u32) -> u64;
}

/// Order of an extension to the left: the first pair is in the lowest bits.
pub(super) struct ToTheLeft;

/// Order of an extension to the right: the first pair is in the highest bits.
pub(super) struct ToTheRight;

impl PairOrder for ToTheLeft {
    #[inline(always)]
    fn equal_pairs(differences: u64) -> u32 {
        differences.trailing_zeros() / 2
    }

    #[inline(always)]
    fn beyond(differences: u64, pairs: u32) -> u64 {
        differences >> (2 * pairs) >> 2
    }
}

impl PairOrder for ToTheRight {
    #[inline(always)]
    fn equal_pairs(differences: u64) -> u32 {
        differences.leading_zeros() / 2
    }

    #[inline(always)]
    fn beyond(differences: u64, pairs: u32) -> u64 {
        differences << (2 * pairs) << 2
    }
}

/// Extends to one side. Returns the number of pairs up to the best score, and this score; `None` if
/// the extension does not end within [`RUN`] pairs. `pairs` is below [`RUN`] if a sentinel follows
/// that number of pairs. `differences` has bits at mismatches.
#[inline(always)]
pub(super) fn one_side<W: PairOrder>(
    (differences, pairs): (u64, u32),
    (equal, other): (i32, i32),
    limit: impl Fn(i32) -> i32,
) -> Option<(u32, i32)> {
    let (mut side, mut at) = (SideExtension::default(), 0);
    if side.add_run::<W>(differences, &mut at, (equal, other), limit) {
        return Some((side.best, side.score));
    }
    if pairs == RUN {
        return None;
    }
    side.add_pairs((pairs - at) as i32 * equal, pairs);
    Some((side.best, side.score))
}
