//! The filter in plain Rust, the reference for tests of the vector kernels.

use super::{Advance, CODES, Steps};

/// Number of lanes per vector.
pub(super) const LANES: usize = 16;
/// Maximum number of vectors per piece. The other five of the sixteen registers of x86-64 are
/// needed for other values.
pub(super) const MAX_ELEMENTS: usize = 11;

/// Implements [`super::Stepper::advance`] in plain Rust.
pub(super) fn advance(
    elements: usize,
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    with_elements!(elements, [1 2 3 4 5 6 7 8 9 10 11], run(steps, before, after, leaving))
}

/// Does the work of [`advance`] with `E` vectors of scores.
fn run<const E: usize>(
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    let mut scores = [[0; LANES]; E];
    scores.as_flattened_mut().copy_from_slice(before);
    let mut reached = false;
    let mut at = 0;
    while at < steps.count && !reached {
        before.copy_from_slice(scores.as_flattened());
        let end = at + steps.test_every;
        let (some, leaving) = (steps.range(at..end), &mut leaving[at..end]);
        reached = if steps.rises_are_negative {
            few::<E, true>(&some, &mut scores, leaving)
        } else {
            few::<E, false>(&some, &mut scores, leaving)
        };
        at = end;
    }
    after.copy_from_slice(scores.as_flattened());
    Advance { steps: at, reached }
}

/// Runs a few steps. Returns whether a score reached the watched score after any step.
///
/// The oldest vector instructions of x86-64 have no maximum of signed bytes. The unsigned maximum
/// works for scores below 128, whose bytes are negative. Bytes of higher scores are the lowest
/// unsigned ones. With `NEGATIVE` a rise is visible before scores get that high. Otherwise
/// comparisons are used.
#[inline(always)]
fn few<const E: usize, const NEGATIVE: bool>(
    steps: &Steps,
    scores: &mut [[i8; LANES]; E],
    leaving: &mut [i8],
) -> bool {
    let (rows, _) = steps.profile.as_chunks::<LANES>().0.as_chunks::<E>();
    let rows: &[_; CODES] = rows.first_chunk().expect("a row for each code");
    let below = steps.watched - 1;
    let mut highest = [0; LANES];
    let mut now = *scores;
    for ((&code, &entering), leaving) in steps.codes.iter().zip(steps.entering).zip(leaving) {
        let row = &rows[code as usize % CODES];
        *leaving = now[E - 1][0];
        let mut moving = next_lanes(now[E - 1], entering);
        for (cell, row) in now.iter_mut().zip(row) {
            let score = add(moving, row);
            for (highest, &score) in highest.iter_mut().zip(&score) {
                if NEGATIVE {
                    *highest = (*highest).max(score as u8);
                } else {
                    *highest |= if score > below { u8::MAX } else { 0 };
                }
            }
            moving = std::mem::replace(cell, score);
        }
    }
    *scores = now;
    let least = if NEGATIVE { steps.watched as u8 } else { u8::MAX };
    highest.iter().any(|&highest| highest >= least)
}

/// Moves each lane's byte to the lane before it; `entering` goes to the last lane.
#[inline(always)]
pub(super) fn next_lanes<const N: usize>(scores: [i8; N], entering: i8) -> [i8; N] {
    let mut out = [entering; N];
    out[..N - 1].copy_from_slice(&scores[1..]);
    out
}

/// Adds bytes with saturation.
#[inline(always)]
pub(super) fn add<const N: usize>(a: [i8; N], b: &[i8; N]) -> [i8; N] {
    let mut out = a;
    for (out, &b) in out.iter_mut().zip(b) {
        *out = out.saturating_add(b);
    }
    out
}
