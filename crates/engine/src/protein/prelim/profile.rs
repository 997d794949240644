//! Scores laid out for look-up by residue codes without bounds checks.

use fleetblast_seq::alphabet;
use fleetblast_stats::matrix::Scores;

/// A score matrix padded to 32 by 32, so that a code masked to five bits is always in range.
pub(super) type PaddedScores = [[i32; 32]; 32];

/// Pads `scores`; codes that do not exist score as the sentinel does.
pub(super) fn pad(scores: &Scores) -> Box<PaddedScores> {
    let never = scores[alphabet::SENTINEL as usize][alphabet::SENTINEL as usize];
    let mut padded = Box::new([[never; 32]; 32]);
    for (row, from) in padded.iter_mut().zip(scores) {
        row[..alphabet::SIZE].copy_from_slice(from);
    }
    padded
}
