//! The filter in plain Rust, the twin that the vector kernels are tested against.

use super::{Candidate, Group};

/// Lanes per pass: few enough for the compiler to keep them in registers.
const LANES: usize = 64;

/// See [`Group::filter`].
pub(super) fn filter(group: &Group, subjects: &[&[u8]], candidates: &mut Vec<Candidate>) {
    for lane in (0..group.circle).step_by(LANES) {
        for (index, subject) in subjects.iter().enumerate() {
            let best = strip(group, subject, lane);
            let mut mask = 0u64;
            for (i, &score) in best.iter().enumerate() {
                mask |= u64::from(score >= group.threshold()) << i;
            }
            group.note(index, lane, mask, candidates);
        }
    }
}

/// Best biased score of each lane from `lane` on.
fn strip(group: &Group, subject: &[u8], lane: usize) -> [i8; LANES] {
    let mut score = [i8::MIN; LANES];
    let mut best = [i8::MIN; LANES];
    let mut position = lane;
    for &code in subject {
        let start = code as usize * group.stride + position;
        let row: &[i8; LANES] =
            group.profile[start..start + LANES].try_into().expect("LANES bytes");
        for i in 0..LANES {
            score[i] = score[i].saturating_add(row[i]);
            best[i] = best[i].max(score[i]);
        }
        position += 1;
        if position == group.circle {
            position = 0;
        }
    }
    best
}
