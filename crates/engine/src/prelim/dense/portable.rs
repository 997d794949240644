//! The filter in plain Rust, the twin that the vector kernels are tested against.

use super::Steps;

/// Lanes per vector.
pub(super) const LANES: usize = 16;
/// Vectors per piece; the scores of more would not stay in the nearest cache.
pub(super) const MAX_ELEMENTS: usize = 32;

/// See [`super::Group::advance`].
pub(super) fn advance(steps: &Steps, before: &[i8], after: &mut [i8], leaving: &mut [i8]) -> bool {
    after.copy_from_slice(before);
    let (scores, _) = after.as_chunks_mut::<LANES>();
    let (profile, _) = steps.profile.as_chunks::<LANES>();
    let mut best = [i8::MIN; LANES];
    for (t, &code) in steps.codes.iter().enumerate() {
        let row = &profile[code as usize * scores.len()..][..scores.len()];
        leaving[t] = scores[scores.len() - 1][LANES - 1];
        let mut moving = next_lanes(scores[scores.len() - 1], steps.entering[t]);
        for (cell, row) in scores.iter_mut().zip(row) {
            let score = add(moving, row);
            for (best, &score) in best.iter_mut().zip(&score) {
                *best = (*best).max(score);
            }
            moving = std::mem::replace(cell, score);
        }
    }
    best.iter().any(|&score| score >= steps.threshold)
}

/// Each lane's byte moves to the next lane; `entering` comes into the first.
#[inline(always)]
pub(super) fn next_lanes<const N: usize>(scores: [i8; N], entering: i8) -> [i8; N] {
    let mut out = [entering; N];
    out[1..].copy_from_slice(&scores[..N - 1]);
    out
}

/// Saturating sums.
#[inline(always)]
pub(super) fn add<const N: usize>(a: [i8; N], b: &[i8; N]) -> [i8; N] {
    let mut out = a;
    for (out, &b) in out.iter_mut().zip(b) {
        *out = out.saturating_add(b);
    }
    out
}
