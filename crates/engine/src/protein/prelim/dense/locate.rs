//! Locates where scores rise to the threshold: repeats the steps and examines every score.

use super::Steps;
use super::portable::{add, next_lanes};

/// Repeats `steps` from the scores in `before`, which it changes. Calls `found` for each rise of a
/// score to the threshold, with its position in the piece and the number of its step.
pub(super) fn portable<const N: usize>(
    steps: &Steps,
    before: &mut [i8],
    found: impl FnMut(usize, usize),
) {
    let threshold = steps.threshold;
    run::<N>(steps, before, found, next_lanes, |from, to| {
        let rises = |(&a, &b): (&i8, &i8)| (a < threshold) & (b >= threshold);
        from.iter().zip(to).map(rises).rev().fold(0, |mask, rise| mask << 1 | u64::from(rise))
    });
}

/// Does the work of [`portable`] for `N` lanes. It is compiled once for each instruction set.
/// `next` moves each byte to the lane before it; the given byte enters the last lane. `rises`
/// returns the lanes whose scores rise to the threshold, the first lane in the lowest bit.
#[inline(always)]
fn run<const N: usize>(
    steps: &Steps,
    before: &mut [i8],
    mut found: impl FnMut(usize, usize),
    next: impl Fn([i8; N], i8) -> [i8; N],
    rises: impl Fn(&[i8; N], &[i8; N]) -> u64,
) {
    let (scores, _) = before.as_chunks_mut::<N>();
    let (profile, _) = steps.profile.as_chunks::<N>();
    let elements = scores.len();
    for (t, &code) in steps.codes[..steps.count].iter().enumerate() {
        let row = &profile[code as usize * elements..][..elements];
        let mut moving = next(scores[elements - 1], steps.entering[t]);
        for (element, (cell, row)) in scores.iter_mut().zip(row).enumerate() {
            let score = add(moving, row);
            let mut rising = rises(&moving, &score);
            while rising != 0 {
                let lane = rising.trailing_zeros() as usize;
                found(element + (N - 1 - lane) * elements, t);
                rising &= rising - 1;
            }
            moving = std::mem::replace(cell, score);
        }
    }
}

/// Does the work of [`portable`] with NEON.
#[cfg(target_arch = "aarch64")]
pub(super) fn neon(
    _: crate::kernel::Neon,
    steps: &Steps,
    before: &mut [i8],
    found: impl FnMut(usize, usize),
) {
    use crate::neon::{bits, load_s8, vandq_u8, vcgeq_s8, vcgtq_s8, vdupq_n_s8};

    let threshold = vdupq_n_s8(steps.threshold);
    run::<16>(steps, before, found, next_lanes, |from, to| {
        let below = vcgtq_s8(threshold, load_s8(from));
        u64::from(bits(vandq_u8(below, vcgeq_s8(load_s8(to), threshold))))
    });
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{avx2, avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Locates rises with instructions that not every CPU has. The comparisons are intrinsics,
    //! because the compiler would do them byte by byte.
    #![allow(unsafe_code)]

    use std::arch::x86_64::*;

    use super::{Steps, next_lanes, run};
    use crate::kernel::{Avx2, Avx512};

    /// Does the work of [`super::portable`] with AVX-512BW.
    pub(in super::super) fn avx512(
        _: Avx512,
        steps: &Steps,
        before: &mut [i8],
        found: impl FnMut(usize, usize),
    ) {
        #[target_feature(enable = "avx512bw")]
        fn inner(steps: &Steps, before: &mut [i8], found: impl FnMut(usize, usize)) {
            let threshold = _mm512_set1_epi8(steps.threshold);
            let next = |last: [i8; 64], entering| {
                let mut out = [0; 64];
                // SAFETY: both arrays hold 64 bytes; load and store need no alignment.
                unsafe {
                    let last = _mm512_loadu_epi8(last.as_ptr());
                    let quarters = _mm512_alignr_epi64::<2>(_mm512_set1_epi8(entering), last);
                    let moved = _mm512_alignr_epi8::<1>(quarters, last);
                    _mm512_storeu_epi8(out.as_mut_ptr(), moved);
                }
                out
            };
            run::<64>(steps, before, found, next, |from, to| {
                // SAFETY: both arrays hold 64 bytes; the loads need no alignment.
                let (from, to) =
                    unsafe { (_mm512_loadu_epi8(from.as_ptr()), _mm512_loadu_epi8(to.as_ptr())) };
                let below = _mm512_cmplt_epi8_mask(from, threshold);
                _mm512_mask_cmpge_epi8_mask(below, to, threshold)
            });
        }
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(steps, before, found) }
    }

    /// Does the work of [`super::portable`] with AVX2.
    pub(in super::super) fn avx2(
        _: Avx2,
        steps: &Steps,
        before: &mut [i8],
        found: impl FnMut(usize, usize),
    ) {
        #[target_feature(enable = "avx2")]
        fn inner(steps: &Steps, before: &mut [i8], found: impl FnMut(usize, usize)) {
            let threshold = _mm256_set1_epi8(steps.threshold);
            run::<32>(steps, before, found, next_lanes, |from, to| {
                // SAFETY: both arrays hold 32 bytes; the loads need no alignment.
                let (from, to) = unsafe {
                    (
                        _mm256_loadu_si256(from.as_ptr().cast()),
                        _mm256_loadu_si256(to.as_ptr().cast()),
                    )
                };
                let below = _mm256_cmpgt_epi8(threshold, from);
                let still_below = _mm256_cmpgt_epi8(threshold, to);
                let rises = _mm256_andnot_si256(still_below, below);
                u64::from(_mm256_movemask_epi8(rises) as u32)
            });
        }
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(steps, before, found) }
    }
}
