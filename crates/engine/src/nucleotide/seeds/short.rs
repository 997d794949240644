//! Screens seeds in short contexts, such as primers. Both ends of such a context are near, so the
//! number of equal bases alone proves most seeds too weak.
//!
//! A seed that is too weak does not update the state of its diagonal. The update could only reject
//! later seeds that lie in the same context and have the same flanking bases. The screen rejects
//! these seeds as well.

use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::nucleotide::blastna::{BASES, SENTINEL};

use super::bases::window;
use super::contexts::Contexts;
use super::sides::{RUN, differences};

/// Distance of a position to the end of its context if the end is not near, or if an ambiguous
/// letter comes before it.
const FAR: u8 = u8::MAX;

/// Distances from each position to the ends of its context.
#[derive(Debug)]
pub(super) struct ShortContexts {
    /// For each position, the number of bases before it and from it on, up to a sentinel: each
    /// below [`RUN`], or [`FAR`].
    ends: Vec<[u8; 2]>,
    /// Score of two equal bases.
    equal: i32,
}

/// A subject position with its flanking bases, to be compared with the queries.
#[derive(Clone, Copy)]
pub(super) struct ShortContextScreen<'a> {
    ends: &'a [[u8; 2]],
    query: &'a [u8],
    /// The [`RUN`] bases before the position, and the [`RUN`] bases from the position on.
    subject: [u64; 2],
    /// The least number of equal bases of a seed that is not rejected.
    least: i32,
}

impl ShortContexts {
    /// Measures the distances of all positions. Returns `None` if no position is near both ends of
    /// its context.
    pub fn new(contexts: &Contexts, equal: i32) -> Option<ShortContexts> {
        let letters = contexts.letters();
        let mut ends = vec![[FAR; 2]; letters.len()];
        let mut left = FAR;
        for (end, &code) in ends.iter_mut().zip(letters) {
            end[0] = left;
            left = next(left, code);
        }
        let mut right = FAR;
        for (end, &code) in ends.iter_mut().zip(letters).rev() {
            right = next(right, code);
            end[1] = right;
        }
        let last = (contexts.length() as usize).saturating_sub(RUN as usize);
        for (at, end) in ends.iter_mut().enumerate() {
            if end.contains(&FAR) || at < RUN as usize || at > last {
                *end = [FAR; 2];
            }
        }
        ends.iter().any(|end| end[0] != FAR).then_some(ShortContexts { ends, equal })
    }

    /// Prepares to reject seeds at a subject position that score less than `least`. Returns `None`
    /// near the ends of the subject.
    #[inline(always)]
    pub fn prepare_screen<'a>(
        &'a self,
        query: &'a [u8],
        subject: Packed<'_>,
        at: u32,
        least: i32,
    ) -> Option<ShortContextScreen<'a>> {
        if at < RUN || subject.length() - at < RUN {
            return None;
        }
        let base = |at: u32| window(subject.bytes(), at as usize);
        let least = least.saturating_add(self.equal - 1) / self.equal;
        Some(ShortContextScreen {
            ends: &self.ends,
            query,
            subject: [base(at - RUN), base(at)],
            least,
        })
    }
}

/// Returns the number of bases since the last sentinel, with a letter of this code; `bases` is the
/// number without it. Returns [`FAR`] if they are too many or the letter is ambiguous.
fn next(bases: u8, code: u8) -> u8 {
    match code {
        SENTINEL => 0,
        code if code < BASES && u32::from(bases) + 1 < RUN => bases + 1,
        _ => FAR,
    }
}

impl ShortContextScreen<'_> {
    /// Returns whether the seed at this query position cannot reach the least score.
    #[inline(always)]
    pub fn is_too_weak(&self, place: u32) -> bool {
        let [left, right] = self.ends[place as usize];
        if left == FAR {
            return false;
        }
        let differences =
            |place: u32, subject: u64| differences(window(self.query, place as usize), subject);
        // To the left the first pair is in the lowest bits, to the right in the highest.
        let before = differences(place - RUN, self.subject[0]) >> (64 - 2 * RUN);
        let before = before & !(u64::MAX << (2 * left));
        let after = differences(place, self.subject[1]) & !(u64::MAX >> (2 * right));
        let different = before.count_ones() + after.count_ones();
        i32::from(left + right) - (different as i32) < self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nucleotide::testing::packed;
    use crate::testing::RandomSequences;
    use fastrand::Rng;

    #[test]
    fn pairs_are_too_weak_by_the_number_of_equal_bases() {
        let mut random = Rng::with_seed(7);
        let mut queries = [20, 27, 5, 60, 1, 20, 30, 26].map(|count| random.bases(count));
        queries[5][3] = 14;
        let contexts = Contexts::new(queries.iter().map(|query| (&query[..], None)));
        let letters = random.bases(200);
        let bytes = packed(&letters);
        let subject = Packed::new(&bytes, 200);
        let (short, query) = (ShortContexts::new(&contexts, 2).unwrap(), contexts.packed());
        assert!(short.prepare_screen(&query, subject, RUN - 1, 9).is_none());
        assert!(short.prepare_screen(&query, subject, 200 - RUN + 1, 9).is_none());
        let (mut too_weak, mut others) = (0, 0);
        for (number, of) in queries.iter().enumerate() {
            let start = contexts.start(number);
            for (q, s) in (0..of.len() as u32).flat_map(|q| (60..=172).map(move |s| (q, s))) {
                let around = short.prepare_screen(&query, subject, s, 17).unwrap();
                let pairs = of.iter().zip(&letters[(s - q) as usize..]);
                let is_known = of.len() - (q as usize) < RUN as usize
                    && q < RUN
                    && of.iter().all(|&code| code < BASES)
                    && (RUN..=contexts.length() - RUN).contains(&(start + q));
                let equal = pairs.filter(|(a, b)| a == b).count();
                assert_eq!(around.is_too_weak(start + q), is_known && 2 * equal < 17, "{q} {s}");
                *if is_known && 2 * equal < 17 { &mut too_weak } else { &mut others } += 1;
            }
        }
        assert!(too_weak > 1000 && others > 1000, "{too_weak} {others}");
    }
}
