//! Packed sequences and scores for tests.

use fleetblast_seq::nucleotide::blastna;

use crate::scores::{NEVER, ScoreRows};

/// Bases that [`packed`] appends, like those after a segment of a long subject. They are more than
/// are read at a time.
const FOLLOWING: [u8; 40] = {
    let mut bases = [0; 40];
    let mut at = 0;
    while at < bases.len() {
        bases[at] = [3, 2, 0, 1, 3, 0, 2, 1, 1, 0][at % 10];
        at += 1;
    }
    bases
};

/// Packs blastna letters, four bases a byte. An ambiguous letter becomes an arbitrary base. Other
/// bases follow.
pub(crate) fn packed(letters: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; (letters.len() + FOLLOWING.len()).div_ceil(4)];
    for (at, letter) in letters.iter().chain(&FOLLOWING).enumerate() {
        bytes[at / 4] |= (letter & 3) << (6 - 2 * (at % 4));
    }
    bytes
}

/// Creates the scores between the blastna codes (`BlastScoreBlkNuclMatrixCreate`, `blast_stat.c`).
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
