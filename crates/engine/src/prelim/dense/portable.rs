//! The filter in plain Rust, the twin that the vector kernels are tested against.

use super::{Advance, Steps};

/// Lanes per vector.
pub(super) const LANES: usize = 16;
/// Vectors per piece; the scores of more would not stay in the nearest cache.
pub(super) const MAX_ELEMENTS: usize = 32;

/// See [`super::Stepper::advance`].
pub(super) fn advance(
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    after.copy_from_slice(before);
    let mut reached = false;
    let mut at = 0;
    while at < steps.count && !reached {
        before.copy_from_slice(after);
        let end = at + steps.look_every;
        reached = few(&steps.of(at..end), after, &mut leaving[at..end]);
        at = end;
    }
    Advance { steps: at, reached }
}

/// Takes a few steps; true if a score was at the threshold on the way.
fn few(steps: &Steps, scores: &mut [i8], leaving: &mut [i8]) -> bool {
    let (scores, _) = scores.as_chunks_mut::<LANES>();
    let (profile, _) = steps.profile.as_chunks::<LANES>();
    // Comparisons, not maxima: the oldest vector instructions of x86-64 have none of signed bytes.
    let mut reached = [0; LANES];
    for (t, &code) in steps.codes[..steps.count].iter().enumerate() {
        let row = &profile[code as usize * scores.len()..][..scores.len()];
        let last = scores[scores.len() - 1];
        leaving[t] = last[0];
        let mut moving = next_lanes(last, steps.entering[t]);
        for (cell, row) in scores.iter_mut().zip(row) {
            let score = add(moving, row);
            for (reached, &score) in reached.iter_mut().zip(&score) {
                *reached |= if score >= steps.threshold { -1i8 } else { 0 };
            }
            moving = std::mem::replace(cell, score);
        }
    }
    reached != [0; LANES]
}

/// Each lane's byte moves to the lane before it; `entering` comes into the last.
#[inline(always)]
pub(super) fn next_lanes<const N: usize>(scores: [i8; N], entering: i8) -> [i8; N] {
    let mut out = [entering; N];
    out[..N - 1].copy_from_slice(&scores[1..]);
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
