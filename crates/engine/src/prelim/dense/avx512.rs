//! The filter with AVX-512BW: 64 lanes per register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{SLACK, Steps};

/// Registers of scores.
pub(super) const MAX_ELEMENTS: usize = 16;
/// Lanes per register.
const LANES: usize = 64;
/// Masks of lanes that stayed below the threshold; one alone would be a chain of waiting comparisons.
const MASKS: usize = 4;

/// See [`super::Group::advance`].
pub(super) fn advance(
    elements: usize,
    steps: &Steps,
    before: &[i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> bool {
    macro_rules! pick {
        ($($n:literal)*) => {
            match elements {
                // SAFETY: the caller chose this kernel after detecting the CPU feature ([`crate::prelim::Kernel::detect`]).
                $($n => unsafe { run::<$n>(steps, before, after, leaving) },)*
                _ => unreachable!("a piece has 1 to {MAX_ELEMENTS} elements"),
            }
        };
    }
    pick!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

/// [`advance`] with the scores in `E` registers.
#[target_feature(enable = "avx512bw")]
fn run<const E: usize>(steps: &Steps, before: &[i8], after: &mut [i8], leaving: &mut [i8]) -> bool {
    let (before, _) = before.as_chunks::<LANES>();
    let (profile, _) = steps.profile.as_chunks::<LANES>();
    let threshold = _mm512_set1_epi8(steps.threshold);
    let mut scores: [__m512i; E] = std::array::from_fn(|e| load(&before[e]));
    let mut below = [u64::MAX; MASKS];
    let count = steps.codes.len();
    let (entering, leaving) = (&steps.entering[..count], &mut leaving[..count + SLACK]);
    for (t, &code) in steps.codes.iter().enumerate() {
        let row: &[[i8; LANES]; E] =
            profile[code as usize * E..][..E].try_into().expect("E vectors");
        // Each lane's byte moves to the next lane, the last to the first: quarters of 16 bytes move by one, then bytes.
        let last = scores[E - 1];
        let quarters = _mm512_alignr_epi64::<6>(last, last);
        let moved = _mm512_alignr_epi8::<15>(last, quarters);
        let out: &mut [i8; SLACK] = (&mut leaving[t..t + SLACK]).try_into().expect("SLACK bytes");
        // SAFETY: `out` holds 16 bytes; the store needs no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_castsi512_si128(moved)) };
        let moved = _mm512_mask_set1_epi8(moved, 1, entering[t]);
        for e in (1..E).rev() {
            scores[e] = _mm512_adds_epi8(scores[e - 1], load(&row[e]));
        }
        scores[0] = _mm512_adds_epi8(moved, load(&row[0]));
        for (e, &score) in scores.iter().enumerate() {
            let below = &mut below[e % MASKS];
            *below = _mm512_mask_cmpgt_epi8_mask(*below, threshold, score);
        }
    }
    let (after, _) = after.as_chunks_mut::<LANES>();
    for (after, score) in after.iter_mut().zip(scores) {
        // SAFETY: `after` holds 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_epi8(after.as_mut_ptr(), score) };
    }
    below.iter().any(|&lanes| lanes != u64::MAX)
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn load(bytes: &[i8; LANES]) -> __m512i {
    // SAFETY: `bytes` holds 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_epi8(bytes.as_ptr()) }
}
