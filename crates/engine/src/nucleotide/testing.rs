//! Packed sequences and scores for tests.

use fleetblast_seq::nucleotide::blastna;

use crate::scores::{NEVER, ScoreRows};

/// Packs bases; ambiguous ones become an arbitrary base.
pub(crate) fn packed(letters: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; letters.len().div_ceil(4)];
    for (at, letter) in letters.iter().enumerate() {
        bytes[at / 4] |= (letter & 3) << (6 - 2 * (at % 4));
    }
    bytes
}

/// Scores between the blastna codes (`BlastScoreBlkNuclMatrixCreate`, `blast_stat.c`).
pub(super) fn scores(reward: i32, penalty: i32) -> ScoreRows {
    let mut rows = vec![[NEVER; 32]; blastna::SIZE];
    for (a, row) in (0u8..15).zip(&mut rows) {
        for b in 0u8..15 {
            let members = blastna::to_ncbi4na(a.max(b)).count_ones() as i32;
            let shared = blastna::to_ncbi4na(a) & blastna::to_ncbi4na(b) != 0;
            let mean = f64::from((members - 1) * penalty + reward) / f64::from(members);
            row[usize::from(b)] = if shared { mean.round() as i32 } else { penalty };
        }
    }
    ScoreRows::new(rows)
}
