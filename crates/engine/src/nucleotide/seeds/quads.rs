//! Groups of four query letters from each position on, and a screen that rejects weak seeds by
//! these groups.

use fleetblast_seq::nucleotide::Packed;

use super::contexts::Contexts;
#[cfg(target_arch = "x86_64")]
use super::prescreen::{self, Groups};
use super::screen_goal::ScreenGoal;
use crate::kernel::Kernel;

/// The four letters from each position on, packed as BLAST+ packs them. The upper bits of ambiguity
/// codes and sentinels spill into the letter before. Groups of positions four apart are adjacent,
/// like the packed bytes of a subject.
#[derive(Debug)]
pub(super) struct PackedQuads {
    bytes: Vec<u8>,
    /// Number of bytes for the positions with the same remainder modulo four.
    stride: usize,
    /// Number of letters in all contexts.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no screen"))]
    length: u32,
    /// Scores of four pairs of bases, by the number of pairs that differ; `None` if they do not fit
    /// a byte.
    scores: Option<[i8; 5]>,
}

impl PackedQuads {
    /// Packs the letters of contexts, with the scores of two equal bases and of two different ones.
    pub fn new(contexts: &Contexts, (equal, other): (i32, i32)) -> PackedQuads {
        let letters = contexts.letters();
        let stride = letters.len() / 4 + 1;
        let mut bytes = vec![0; 4 * stride];
        for (place, four) in letters.windows(4).enumerate() {
            bytes[place % 4 * stride + place / 4] =
                four[0] << 6 | four[1] << 4 | four[2] << 2 | four[3];
        }
        let score = |different: i32| {
            let score = i64::from(4 - different) * i64::from(equal)
                + i64::from(different) * i64::from(other);
            i8::try_from(score).ok()
        };
        let scores: Option<Vec<i8>> = (0..5).map(score).collect();
        let scores = scores.and_then(|scores| scores.try_into().ok());
        PackedQuads { bytes, stride, length: contexts.length(), scores }
    }

    /// Returns the groups before a position, the nearest one last.
    #[inline]
    pub fn before(&self, place: u32) -> &[u8] {
        let (row, column) = (place as usize % 4, place as usize / 4);
        &self.bytes[row * self.stride..][..column]
    }

    /// Returns the groups from a position on. Beyond the last letters they are arbitrary.
    #[inline]
    pub fn from(&self, place: u32) -> &[u8] {
        let (row, column) = (place as usize % 4, place as usize / 4);
        &self.bytes[row * self.stride..][..self.stride][column..]
    }

    /// Returns a bit for each seed whose score cannot reach the goal, as the groups nearby prove;
    /// the first seed in the lowest bit. A seed is a query position and a subject position. There
    /// are at most [`SIDE_BY_SIDE`](super::screen_goal::SIDE_BY_SIDE) seeds.
    #[inline]
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "no screen"))]
    pub fn screen(
        &self,
        kernel: Kernel,
        seeds: &[[u32; 2]],
        subject: Packed<'_>,
        goal: ScreenGoal,
    ) -> u64 {
        match (kernel, self.scores) {
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx512(proof), Some(scores)) => {
                let groups =
                    Groups { bytes: &self.bytes, stride: self.stride, length: self.length };
                prescreen::screen(proof, (groups, scores), seeds, subject, goal)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen_goal::SIDE_BY_SIDE;
    use super::*;
    use crate::nucleotide::testing::packed;
    use crate::testing::RandomSequences;
    use fastrand::Rng;

    /// Returns the best total score of groups from the first one on; `None` if further groups could
    /// raise it.
    fn best(groups: &[i32], x_drop: i32) -> Option<i32> {
        let (mut best, mut sum) = (0, 0);
        for &score in groups {
            sum += score;
            best += sum.max(0);
            sum = sum.min(0);
            if sum < -x_drop {
                return Some(best);
            }
        }
        None
    }

    /// Returns the score of a seed, if eight groups on each side suffice to know it.
    fn score(letters: &[u8], subject: &[u8], [q, s]: [usize; 2], x_drop: i32) -> Option<i32> {
        let pad = s.wrapping_neg() % 4;
        let (q, s) = (q + pad, s + pad);
        if q.min(s) < 32 || q + 36 > letters.len() - 1 || s + 36 > subject.len() {
            return None;
        }
        let byte = |w: &[u8]| w[0] << 6 | w[1] << 4 | w[2] << 2 | w[3];
        let group = |back: usize, i: usize| {
            let (q, s) = (q + 4 * i - 4 * back, s + 4 * i - 4 * back);
            let bits = byte(&letters[q..q + 4]) ^ byte(&subject[s..s + 4]);
            (0..4).map(|at| if bits >> (2 * at) & 3 == 0 { 2 } else { -3 }).sum()
        };
        let left: Vec<i32> = (1..=8).map(|back| group(back, 0)).collect();
        let right: Vec<i32> = (0..8).map(|i| group(0, i)).collect();
        Some(best(&left, x_drop)? + best(&right, x_drop)?)
    }

    #[test]
    fn seeds_are_too_weak_by_the_groups_nearby() {
        let mut random = Rng::with_seed(9);
        let mut of_kernels = Vec::new();
        for kernel in Kernel::available() {
            let (mut too_weak, mut others) = (0, 0);
            for length in [20, 60, 70, 300, 1001] {
                let mut query = random.bases(length);
                random.blur(&mut query, 40);
                let contexts = Contexts::new([(&query[..], None), (&query[..length / 2], None)]);
                let letters = random.mutated(&query, 5);
                let bytes = packed(&letters);
                let subject = Packed::new(&bytes, letters.len() as u32);
                let subject_letters: Vec<u8> = letters.iter().map(|letter| letter & 3).collect();
                let quads = PackedQuads::new(&contexts, (2, -3));
                let goal = ScreenGoal { x_drop: 16, least: 25 };
                let place = |random: &mut Rng| {
                    let at = random.usize(..letters.len().saturating_sub(11)) as u32;
                    let near = (at + random.u32(..7)).min(contexts.length() - 11);
                    [
                        if random.usize(..4) == 0 {
                            random.usize(..=near as usize) as u32
                        } else {
                            near
                        },
                        at,
                    ]
                };
                for count in (0..300).map(|round| round % (SIDE_BY_SIDE + 1)) {
                    let seeds: Vec<[u32; 2]> = (0..count).map(|_| place(&mut random)).collect();
                    let found = quads.screen(kernel, &seeds, subject, goal);
                    for (number, seed) in seeds.iter().enumerate() {
                        let places = seed.map(|place| place as usize);
                        let score =
                            score(contexts.letters(), &subject_letters, places, goal.x_drop);
                        let is_low = score.is_some_and(|score| score < goal.least);
                        let is_known = matches!(kernel.name(), "avx512") && is_low;
                        assert_eq!(found >> number & 1 != 0, is_known, "{seed:?} {score:?}");
                        *if is_known { &mut too_weak } else { &mut others } += 1;
                    }
                    assert!(count == SIDE_BY_SIDE || found >> count == 0);
                }
            }
            of_kernels.push((kernel.name(), too_weak, others));
        }
        let is_rich = |&(name, too_weak, others): &(&str, i32, i32)| {
            others > 1000 && (too_weak > 1000) == (name == "avx512")
        };
        assert!(of_kernels.iter().all(is_rich), "{of_kernels:?}");
    }

    #[test]
    fn scores_beyond_a_byte_reject_nothing() {
        let query = vec![0; 500];
        let contexts = Contexts::new([(&query[..], None)]);
        assert!(PackedQuads::new(&contexts, (32, -3)).scores.is_none());
        assert!(PackedQuads::new(&contexts, (1, -33)).scores.is_none());
        assert!(PackedQuads::new(&contexts, (31, -32)).scores.is_some());
    }
}
