//! The filter with AVX2: 32 lanes per register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Advance, SLACK, Steps};
use crate::kernel::Avx2;

/// Maximum number of registers for scores. The other four of the sixteen hold maxima and temporary
/// values.
pub(super) const MAX_ELEMENTS: usize = 12;
/// Number of lanes per register.
pub(super) const LANES: usize = 32;

/// Implements [`super::Stepper::advance`] with AVX2.
pub(super) fn advance(
    _: Avx2,
    elements: usize,
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe {
        with_elements!(elements, [1 2 3 4 5 6 7 8 9 10 11 12], run(steps, before, after, leaving))
    }
}

/// Does the work of [`advance`] with the scores in `E` registers.
#[target_feature(enable = "avx2")]
fn run<const E: usize>(
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    let (before, _) = before.as_chunks_mut::<LANES>();
    let (profile, _) = steps.profile.as_chunks::<LANES>();
    let mut scores: [__m256i; E] = std::array::from_fn(|e| load(&before[e]));
    let mut reached = false;
    let mut at = 0;
    while at < steps.count && !reached {
        store(before, &scores);
        let mut best = [_mm256_set1_epi8(i8::MIN); 2];
        let end = at + steps.test_every;
        let (entering, leaving) = (&steps.entering[at..end], &mut leaving[at..end + SLACK]);
        for (t, &code) in steps.codes[at..end].iter().enumerate() {
            let row: &[[i8; LANES]; E] =
                profile[code as usize * E..][..E].try_into().expect("E vectors");
            let last = scores[E - 1];
            let out: &mut [i8; SLACK] =
                (&mut leaving[t..t + SLACK]).try_into().expect("SLACK bytes");
            // SAFETY: `out` holds 16 bytes; the store needs no alignment.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(last)) };
            // Each lane's byte moves to the lane before it; the entering byte goes to the last.
            // First halves of 16 bytes move, then bytes.
            let halves = _mm256_permute2x128_si256::<0x21>(last, _mm256_set1_epi8(entering[t]));
            let moved = _mm256_alignr_epi8::<1>(halves, last);
            for e in (1..E).rev() {
                scores[e] = _mm256_adds_epi8(scores[e - 1], load(&row[e]));
            }
            scores[0] = _mm256_adds_epi8(moved, load(&row[0]));
            for (e, &score) in scores.iter().enumerate() {
                best[e % 2] = _mm256_max_epi8(best[e % 2], score);
            }
        }
        let below =
            _mm256_cmpgt_epi8(_mm256_set1_epi8(steps.threshold), _mm256_max_epi8(best[0], best[1]));
        reached = _mm256_movemask_epi8(below) != -1;
        at = end;
    }
    let (after, _) = after.as_chunks_mut::<LANES>();
    store(after, &scores);
    Advance { steps: at, reached }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store<const E: usize>(to: &mut [[i8; LANES]], scores: &[__m256i; E]) {
    for (to, &score) in to.iter_mut().zip(scores) {
        // SAFETY: `to` holds 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), score) };
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[i8; LANES]) -> __m256i {
    // SAFETY: `bytes` holds 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}
