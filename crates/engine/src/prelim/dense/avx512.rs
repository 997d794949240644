//! The filter with AVX-512BW: 64 lanes per register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Candidate, Group};

/// Lanes per register.
const WIDTH: usize = 64;
/// Registers of scores per pass; as many again hold the maxima.
const MAX_REGISTERS: usize = 12;

/// See [`Group::filter`].
pub(super) fn filter(group: &Group, subjects: &[&[u8]], candidates: &mut Vec<Candidate>) {
    let mut lane = 0;
    while lane < group.circle {
        let registers = ((group.circle - lane) / WIDTH).min(MAX_REGISTERS);
        // SAFETY: the caller chose this kernel after detecting the CPU feature ([`crate::prelim::Kernel::detect`]).
        unsafe {
            match registers {
                12 => block::<12>(group, subjects, lane, candidates),
                11 => block::<11>(group, subjects, lane, candidates),
                10 => block::<10>(group, subjects, lane, candidates),
                9 => block::<9>(group, subjects, lane, candidates),
                8 => block::<8>(group, subjects, lane, candidates),
                7 => block::<7>(group, subjects, lane, candidates),
                6 => block::<6>(group, subjects, lane, candidates),
                5 => block::<5>(group, subjects, lane, candidates),
                4 => block::<4>(group, subjects, lane, candidates),
                3 => block::<3>(group, subjects, lane, candidates),
                2 => block::<2>(group, subjects, lane, candidates),
                _ => block::<1>(group, subjects, lane, candidates),
            }
        }
        lane += registers * WIDTH;
    }
}

/// All subjects against the lanes of `R` registers.
#[target_feature(enable = "avx512bw")]
fn block<const R: usize>(
    group: &Group,
    subjects: &[&[u8]],
    lane: usize,
    candidates: &mut Vec<Candidate>,
) {
    let threshold = _mm512_set1_epi8(group.threshold());
    for (index, subject) in subjects.iter().enumerate() {
        let best = strip::<R>(group, subject, lane);
        for (r, &best) in best.iter().enumerate() {
            let mask = _mm512_cmpge_epi8_mask(best, threshold);
            if mask != 0 {
                group.note(index, lane + r * WIDTH, mask, candidates);
            }
        }
    }
}

/// Best biased score of each lane of `R` registers from `lane` on.
#[target_feature(enable = "avx512bw")]
fn strip<const R: usize>(group: &Group, subject: &[u8], lane: usize) -> [__m512i; R] {
    let floor = _mm512_set1_epi8(i8::MIN);
    let (mut score, mut best) = ([floor; R], [floor; R]);
    let mut rest = subject;
    let mut position = lane;
    while !rest.is_empty() {
        // As far as the circle goes without a wrap.
        let (run, after) = rest.split_at(rest.len().min(group.circle - position));
        for (i, &code) in run.iter().enumerate() {
            let start = code as usize * group.stride + position + i;
            let row = &group.profile[start..start + R * WIDTH];
            for r in 0..R {
                // SAFETY: `row` holds R * WIDTH bytes; the load needs no alignment.
                let scores = unsafe { _mm512_loadu_epi8(row.as_ptr().add(r * WIDTH).cast()) };
                score[r] = _mm512_adds_epi8(score[r], scores);
                best[r] = _mm512_max_epi8(best[r], score[r]);
            }
        }
        rest = after;
        position = 0;
    }
    best
}
