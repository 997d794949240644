//! Screens eight seeds at a time with AVX-512, by ungapped extension over groups of four bases.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use fleetblast_seq::nucleotide::Packed;

use super::screen_goal::{SIDE_BY_SIDE, ScreenGoal};
use crate::kernel::Avx512;

/// Number of seeds in a register.
const LANES: usize = 8;

/// Number of groups that are read on each side of a seed, one byte of a lane for each.
const GROUPS: usize = 8;
/// Number of bases in the groups on one side of a seed.
const REACH: u64 = 4 * GROUPS as u64;

/// The query letters from each position on, in groups of four.
#[derive(Clone, Copy)]
pub(super) struct Groups<'a> {
    /// Four rows of `stride` bytes; a row has the groups of positions with the same remainder
    /// modulo four.
    pub bytes: &'a [u8],
    /// Number of bytes in a row.
    pub stride: usize,
    /// Number of letters.
    pub length: u32,
}

impl Groups<'_> {
    /// Panics unless there are four rows.
    fn assert_rows(&self) {
        let Groups { bytes, stride, .. } = *self;
        let rows = stride.checked_mul(4);
        assert!(rows.is_some_and(|rows| rows <= bytes.len()), "four rows of {stride} bytes");
    }
}

/// Returns a bit for each seed that is too weak, the first seed in the lowest bit
/// ([`PackedQuads::screen`](super::quads::PackedQuads::screen)). `groups` also has the scores of
/// groups, indexed by the number of different bases.
pub(super) fn screen(
    _: Avx512,
    groups: (Groups<'_>, [i8; 5]),
    seeds: &[[u32; 2]],
    subject: Packed<'_>,
    goal: ScreenGoal,
) -> u64 {
    groups.0.assert_rows();
    let mut found = 0;
    for (number, eight) in seeds[..seeds.len().min(SIDE_BY_SIDE)].chunks(LANES).enumerate() {
        let mut lanes = [[0; 2]; LANES];
        lanes[..eight.len()].copy_from_slice(eight);
        // SAFETY: the proof says that the CPU has the instructions, and there are four rows of
        // groups.
        let too_weak = unsafe { eight_seeds(groups, &lanes, subject, goal) };
        found |= u64::from(too_weak) << (LANES * number);
    }
    // Lanes without a seed have position 0. No groups come before it, so that these lanes are never
    // too weak.
    found
}

/// State of the extension to one side.
#[derive(Clone, Copy)]
struct SideExtension {
    /// Scores of the remaining groups, the next one in the highest byte of its lane.
    scores: __m512i,
    best: __m512i,
    sum: __m512i,
    /// The lanes whose scores have not fallen by more than the X-drop.
    goes_on: u8,
}

/// Screens eight seeds. Returns a bit for each that is too weak.
///
/// # Safety
/// The CPU has AVX-512F and AVX-512BW, and the groups have four rows ([`Groups::assert_rows`]).
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn eight_seeds(
    (groups, scores): (Groups<'_>, [i8; 5]),
    seeds: &[[u32; 2]; LANES],
    subject: Packed<'_>,
    goal: ScreenGoal,
) -> u8 {
    let Groups { bytes: groups, stride, length } = groups;
    let bytes = subject.bytes();
    let all = |number: u64| _mm512_set1_epi64(number as i64);
    // SAFETY: 64 bytes are read from an array of 64 bytes.
    let pairs = unsafe { _mm512_loadu_si512(seeds.as_ptr().cast()) };
    let (q, s) = (_mm512_and_si512(pairs, all(u64::from(u32::MAX))), _mm512_srli_epi64(pairs, 32));
    // The first group starts at a whole byte of the subject.
    let pad = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), s), all(3));
    let (q, s) = (_mm512_add_epi64(q, pad), _mm512_add_epi64(s, pad));

    // Positions with all groups on both sides.
    let end = |letters: u32, groups: usize| u64::from(letters).min(4 * groups as u64);
    let (q_end, s_end) = (end(length, stride), end(subject.length(), bytes.len()));
    let inner = |place: __m512i, end: u64| {
        _mm512_cmpge_epu64_mask(place, all(REACH))
            & _mm512_cmple_epu64_mask(_mm512_add_epi64(place, all(REACH + 4)), all(end))
    };
    let known = inner(q, q_end) & inner(s, s_end);

    let row_start = _mm512_mul_epu32(_mm512_and_si512(q, all(3)), all(stride as u64));
    let of_query = _mm512_add_epi64(row_start, _mm512_srli_epi64(q, 2));
    let of_subject = _mm512_srli_epi64(s, 2);
    let zero = _mm512_setzero_si512();
    let gather = |bytes: &[u8], at: __m512i| {
        // SAFETY: only lanes of known positions are read, eight bytes from the position's group on
        // or from eight groups before it. A known position is `REACH` or more from the start, and
        // `REACH + 4` or more from `q_end` and `s_end`. So these bytes lie in the bytes of the
        // subject, and in one row of `stride` bytes. There are four rows, and the CPU has the
        // instructions, as the caller promises.
        unsafe { _mm512_mask_i64gather_epi64::<1>(zero, known, at, bytes.as_ptr().cast()) }
    };
    let back = all(GROUPS as u64);
    let left = _mm512_xor_si512(
        gather(groups, _mm512_sub_epi64(of_query, back)),
        gather(bytes, _mm512_sub_epi64(of_subject, back)),
    );
    let right = _mm512_xor_si512(gather(groups, of_query), gather(bytes, of_subject));

    let (low, high) = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F);
    let swap = _mm512_set4_epi64(high, low, high, low);
    let mut left =
        SideExtension { scores: group_scores(left, scores), best: zero, sum: zero, goes_on: known };
    let right = _mm512_shuffle_epi8(group_scores(right, scores), swap);
    let mut right = SideExtension { scores: right, best: zero, sum: zero, goes_on: known };
    let lowest = _mm512_set1_epi64(-i64::from(goal.x_drop));
    for _ in 0..GROUPS {
        left.step(lowest);
        right.step(lowest);
    }
    let score = _mm512_add_epi64(left.best, right.best);
    let is_low = _mm512_cmplt_epi64_mask(score, _mm512_set1_epi64(i64::from(goal.least)));
    known & is_low & !left.goes_on & !right.goes_on
}

impl SideExtension {
    /// Adds the score of the next group.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn step(&mut self, lowest: __m512i) {
        let zero = _mm512_setzero_si512();
        let sum = _mm512_add_epi64(self.sum, _mm512_srai_epi64(self.scores, 56));
        self.scores = _mm512_slli_epi64(self.scores, 8);
        let gain = _mm512_max_epi64(sum, zero);
        self.best = _mm512_mask_add_epi64(self.best, self.goes_on, self.best, gain);
        self.sum = _mm512_min_epi64(sum, zero);
        self.goes_on = _mm512_mask_cmpge_epi64_mask(self.goes_on, self.sum, lowest);
    }
}

/// Returns the score of each group as a byte, given the bits that differ.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn group_scores(bits: __m512i, scores: [i8; 5]) -> __m512i {
    let and = |bits: __m512i, byte: u8| _mm512_and_si512(bits, _mm512_set1_epi8(byte as i8));
    let different = and(_mm512_or_si512(bits, _mm512_srli_epi64(bits, 1)), 0x55);
    let pairs = _mm512_add_epi8(and(different, 0x11), and(_mm512_srli_epi64(different, 2), 0x11));
    let count = _mm512_add_epi8(and(pairs, 0x0F), and(_mm512_srli_epi64(pairs, 4), 0x0F));
    let mut by_count = [0; 16];
    by_count[..5].copy_from_slice(&scores);
    // SAFETY: 16 bytes are read from an array of 16 bytes.
    let by_count = unsafe { _mm_loadu_si128(by_count.as_ptr().cast()) };
    _mm512_shuffle_epi8(_mm512_broadcast_i32x4(by_count), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "four rows of 100 bytes")]
    fn groups_without_all_their_rows_are_refused() {
        Groups { bytes: &[0; 399], stride: 100, length: 397 }.assert_rows();
    }

    #[test]
    #[should_panic(expected = "four rows of")]
    fn rows_beyond_all_addresses_are_refused() {
        Groups { bytes: &[0; 399], stride: usize::MAX / 4 + 1, length: 397 }.assert_rows();
    }

    #[test]
    fn groups_with_all_their_rows_are_accepted() {
        Groups { bytes: &[0; 400], stride: 100, length: 397 }.assert_rows();
    }
}
