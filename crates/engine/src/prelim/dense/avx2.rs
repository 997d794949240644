//! The filter with AVX2: 32 lanes per register.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Candidate, Group};

/// Lanes per register.
const WIDTH: usize = 32;
/// Registers of scores per pass; as many again hold the maxima.
const MAX_REGISTERS: usize = 6;

/// See [`Group::filter`].
pub(super) fn filter(group: &Group, subjects: &[&[u8]], candidates: &mut Vec<Candidate>) {
    let mut lane = 0;
    while lane < group.circle {
        let registers = ((group.circle - lane) / WIDTH).min(MAX_REGISTERS);
        // SAFETY: the caller chose this kernel after detecting the CPU feature ([`crate::prelim::Kernel::detect`]).
        unsafe {
            match registers {
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
#[target_feature(enable = "avx2")]
fn block<const R: usize>(
    group: &Group,
    subjects: &[&[u8]],
    lane: usize,
    candidates: &mut Vec<Candidate>,
) {
    let threshold = _mm256_set1_epi8(group.threshold());
    for (index, subject) in subjects.iter().enumerate() {
        let best = strip::<R>(group, subject, lane);
        for (r, &best) in best.iter().enumerate() {
            let below = _mm256_cmpgt_epi8(threshold, best);
            let mask = u64::from(!_mm256_movemask_epi8(below) as u32);
            if mask != 0 {
                group.note(index, lane + r * WIDTH, mask, candidates);
            }
        }
    }
}

/// Best biased score of each lane of `R` registers from `lane` on.
#[target_feature(enable = "avx2")]
fn strip<const R: usize>(group: &Group, subject: &[u8], lane: usize) -> [__m256i; R] {
    let floor = _mm256_set1_epi8(i8::MIN);
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
                let scores = unsafe { _mm256_loadu_si256(row.as_ptr().add(r * WIDTH).cast()) };
                score[r] = _mm256_adds_epi8(score[r], scores);
                best[r] = _mm256_max_epi8(best[r], score[r]);
            }
        }
        rest = after;
        position = 0;
    }
    best
}
