//! Extensions to one side, from one difference to the next: equal bases between them need no look at each.

/// So many pairs to a side are looked at together.
pub(super) const RUN: u32 = 28;

/// How far an extension has come to one side.
#[derive(Default)]
pub(super) struct Side {
    /// The best score.
    pub score: i32,
    /// Number of pairs with that score.
    pub best: u32,
    /// What came after these.
    sum: i32,
}

impl Side {
    /// Takes pairs that score, up to this number of them all.
    #[inline(always)]
    pub fn gain(&mut self, score: i32, pairs: u32) {
        self.sum += score;
        // Nobody can tell beforehand whether it gains, hence no branches.
        let gains = self.sum > 0;
        self.score += if gains { self.sum } else { 0 };
        self.best = if gains { pairs } else { self.best };
        self.sum = if gains { 0 } else { self.sum };
    }

    /// Takes pairs from `at` on up to the last that differs, and moves `at` behind that one; true if it was too far at one of them. The
    /// differences are told by bits.
    #[inline(always)]
    pub fn follow<W: Way>(
        &mut self,
        mut differences: u64,
        at: &mut u32,
        (equal, other): (i32, i32),
        limit: impl Fn(i32) -> i32,
    ) -> bool {
        while differences != 0 {
            let pairs = W::equal_pairs(differences);
            differences = W::beyond(differences, pairs);
            self.gain(pairs as i32 * equal, *at + pairs);
            *at += pairs + 1;
            if self.falls(other, limit(self.score)) {
                return true;
            }
        }
        false
    }

    /// Takes a pair that does not score; true if that was too far.
    #[inline(always)]
    pub fn falls(&mut self, score: i32, limit: i32) -> bool {
        self.sum += score;
        self.sum < -limit
    }
}

/// Which of the pairs in two windows differ, a bit for each in the lower one of two.
#[inline(always)]
pub(super) fn differences(one: u64, other: u64) -> u64 {
    let bits = one ^ other;
    (bits | bits >> 1) & 0x5555_5555_5555_5555
}

/// In which order bits tell of pairs, two for each.
pub(super) trait Way {
    /// Number of equal pairs before the first that differs.
    fn equal_pairs(differences: u64) -> u32;
    /// What is beyond the pair after so many.
    fn beyond(differences: u64, pairs: u32) -> u64;
}

/// The first pair is in the lowest bits.
pub(super) struct ToTheLeft;

/// The first pair is in the highest bits.
pub(super) struct ToTheRight;

impl Way for ToTheLeft {
    #[inline(always)]
    fn equal_pairs(differences: u64) -> u32 {
        differences.trailing_zeros() / 2
    }

    #[inline(always)]
    fn beyond(differences: u64, pairs: u32) -> u64 {
        differences >> (2 * pairs) >> 2
    }
}

impl Way for ToTheRight {
    #[inline(always)]
    fn equal_pairs(differences: u64) -> u32 {
        differences.leading_zeros() / 2
    }

    #[inline(always)]
    fn beyond(differences: u64, pairs: u32) -> u64 {
        differences << (2 * pairs) << 2
    }
}

/// The best pairs to one side and their score, if that ends within [`RUN`] pairs: from one difference to the next. Of the pairs, up to
/// a sentinel if they are fewer, the differences are told by bits.
#[inline(always)]
pub(super) fn one_side<W: Way>(
    (differences, pairs): (u64, u32),
    (equal, other): (i32, i32),
    limit: impl Fn(i32) -> i32,
) -> Option<(u32, i32)> {
    let (mut side, mut at) = (Side::default(), 0);
    if side.follow::<W>(differences, &mut at, (equal, other), limit) {
        return Some((side.best, side.score));
    }
    if pairs == RUN {
        return None;
    }
    side.gain((pairs - at) as i32 * equal, pairs);
    Some((side.best, side.score))
}
