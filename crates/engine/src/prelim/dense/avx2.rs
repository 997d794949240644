//! The filter with AVX2: 32 lanes per register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{SLACK, Steps};

/// Registers of scores; the other of the sixteen hold maxima and what is on its way.
pub(super) const MAX_ELEMENTS: usize = 12;
/// Lanes per register.
const LANES: usize = 32;

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
    pick!(1 2 3 4 5 6 7 8 9 10 11 12)
}

/// [`advance`] with the scores in `E` registers.
#[target_feature(enable = "avx2")]
fn run<const E: usize>(steps: &Steps, before: &[i8], after: &mut [i8], leaving: &mut [i8]) -> bool {
    let (before, _) = before.as_chunks::<LANES>();
    let (profile, _) = steps.profile.as_chunks::<LANES>();
    let mut scores: [__m256i; E] = std::array::from_fn(|e| load(&before[e]));
    let mut best = [_mm256_set1_epi8(i8::MIN); 2];
    let first_lane = _mm256_setr_epi8(
        -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0,
    );
    let count = steps.codes.len();
    let (entering, leaving) = (&steps.entering[..count], &mut leaving[..count + SLACK]);
    for (t, &code) in steps.codes.iter().enumerate() {
        let row: &[[i8; LANES]; E] =
            profile[code as usize * E..][..E].try_into().expect("E vectors");
        // Each lane's byte moves to the next lane, the last to the first: halves of 16 bytes change places, then bytes move.
        let last = scores[E - 1];
        let halves = _mm256_permute2x128_si256::<0x01>(last, last);
        let moved = _mm256_alignr_epi8::<15>(last, halves);
        let out: &mut [i8; SLACK] = (&mut leaving[t..t + SLACK]).try_into().expect("SLACK bytes");
        // SAFETY: `out` holds 16 bytes; the store needs no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm256_castsi256_si128(moved)) };
        let moved = _mm256_blendv_epi8(moved, _mm256_set1_epi8(entering[t]), first_lane);
        for e in (1..E).rev() {
            scores[e] = _mm256_adds_epi8(scores[e - 1], load(&row[e]));
        }
        scores[0] = _mm256_adds_epi8(moved, load(&row[0]));
        for (e, &score) in scores.iter().enumerate() {
            best[e % 2] = _mm256_max_epi8(best[e % 2], score);
        }
    }
    let (after, _) = after.as_chunks_mut::<LANES>();
    for (after, score) in after.iter_mut().zip(scores) {
        // SAFETY: `after` holds 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(after.as_mut_ptr().cast(), score) };
    }
    let below =
        _mm256_cmpgt_epi8(_mm256_set1_epi8(steps.threshold), _mm256_max_epi8(best[0], best[1]));
    _mm256_movemask_epi8(below) != -1
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[i8; LANES]) -> __m256i {
    // SAFETY: `bytes` holds 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}
