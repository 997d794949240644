//! The filter with NEON: 16 lanes per register.
//!
//! Arm's and Apple's CPUs run additions and maxima on the same pipes, so only the second of two
//! steps has maxima of all elements, where that suffices ([`Steps::tests_pairs`]). This follows
//! from the number of instructions; it was not measured.

use super::{Advance, CODES, Steps};
use crate::kernel::Neon;
use crate::neon::{
    int8x16_t, load_s8, store_s8, vdupq_n_s8, vextq_s8, vgetq_lane_s8, vmaxq_s8, vmaxvq_s8,
    vqaddq_s8,
};

/// Maximum number of registers for scores. There are 32, but compilers also load scores of the
/// profile early: with more elements they store some of the scores in each step, and take more
/// instructions for each element.
pub(super) const MAX_ELEMENTS: usize = 14;
/// Number of lanes per register.
pub(super) const LANES: usize = 16;
/// Number of registers of maxima. They are used in turn, so that no maximum waits for the previous
/// one.
const MAXIMA: usize = 4;

/// Implements [`super::Stepper::advance`] with NEON.
pub(super) fn advance(
    _: Neon,
    elements: usize,
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    with_elements!(
        elements,
        [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
        run(steps, before, after, leaving)
    )
}

/// Does the work of [`advance`] with `E` registers of scores.
fn run<const E: usize>(
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    let mut scores = load(before);
    let mut reached = false;
    let mut at = 0;
    while at < steps.count && !reached {
        store(&scores, before);
        let end = at + steps.test_every;
        let (some, leaving) = (steps.range(at..end), &mut leaving[at..end]);
        reached = if steps.tests_pairs() {
            few::<E, true>(&some, &mut scores, leaving)
        } else {
            few::<E, false>(&some, &mut scores, leaving)
        };
        at = end;
    }
    store(&scores, after);
    Advance { steps: at, reached }
}

/// Runs a few steps. Returns whether a score reached the watched score after any step, or with
/// `PAIRS` after any second step.
#[inline(always)]
fn few<const E: usize, const PAIRS: bool>(
    steps: &Steps,
    scores: &mut [int8x16_t; E],
    leaving: &mut [i8],
) -> bool {
    let (rows, _) = steps.profile.as_chunks::<LANES>().0.as_chunks::<E>();
    let rows: &[_; CODES] = rows.first_chunk().expect("a row for each code");
    let row = |code: u8| &rows[usize::from(code) % CODES];
    let mut now = *scores;
    let mut highest = [vdupq_n_s8(i8::MIN); MAXIMA];
    let (codes, _) = steps.codes.as_chunks::<2>();
    let (entering, _) = steps.entering.as_chunks::<2>();
    let (leaving, _) = leaving.as_chunks_mut::<2>();
    for ((codes, entering), leaving) in codes.iter().zip(entering).zip(leaving) {
        leaving[0] = step(row(codes[0]), entering[0], &mut now, &mut highest, !PAIRS);
        leaving[1] = step(row(codes[1]), entering[1], &mut now, &mut highest, true);
    }
    *scores = now;
    let highest = vmaxq_s8(vmaxq_s8(highest[0], highest[1]), vmaxq_s8(highest[2], highest[3]));
    vmaxvq_s8(highest) >= steps.watched
}

/// Runs a step and returns the score that leaves the piece. Tests the last element, from which
/// scores leave the piece, and with `tests_all` also the other elements.
#[inline(always)]
fn step<const E: usize>(
    row: &[[i8; LANES]; E],
    entering: i8,
    scores: &mut [int8x16_t; E],
    highest: &mut [int8x16_t; MAXIMA],
    tests_all: bool,
) -> i8 {
    let last = scores[E - 1];
    // Each lane's byte moves to the lane before it.
    let moving = vextq_s8::<1>(last, vdupq_n_s8(entering));
    // From the last element on, so that a score takes the register of one that is not needed again.
    for element in (0..E).rev() {
        let from = if element == 0 { moving } else { scores[element - 1] };
        let score = vqaddq_s8(from, load_s8(&row[element]));
        if tests_all || element == E - 1 {
            highest[element % MAXIMA] = vmaxq_s8(highest[element % MAXIMA], score);
        }
        scores[element] = score;
    }
    vgetq_lane_s8::<0>(last)
}

/// Loads the scores of a piece.
#[inline(always)]
fn load<const E: usize>(from: &[i8]) -> [int8x16_t; E] {
    let (from, _) = from.as_chunks();
    std::array::from_fn(|element| load_s8(&from[element]))
}

/// Stores the scores of a piece.
#[inline(always)]
fn store(scores: &[int8x16_t], to: &mut [i8]) {
    let (to, _) = to.as_chunks_mut();
    for (to, &scores) in to.iter_mut().zip(scores) {
        store_s8(to, scores);
    }
}
