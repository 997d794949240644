//! Sequences and scores for tests.

use fleetblast_seq::nucleotide::blastna;

use crate::scores::{NEVER, ScoreRows};

/// A small pseudo-random generator (xorshift*), so that a failing test can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end as u64) as usize
    }

    /// Random bases.
    pub fn bases(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(4) as u8).collect()
    }

    /// A sequence with repeats of short units in it.
    pub fn repetitive(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < len {
            if self.below(3) == 0 {
                let part = 1 + self.below(30);
                out.extend(self.bases(part));
            } else {
                let unit = 1 + self.below(5);
                let (unit, times) = (self.bases(unit), 2 + self.below(8));
                out.extend(unit.iter().cycle().take(unit.len() * times));
            }
        }
        out.truncate(len);
        out
    }

    /// The sequence with one of `one_in` positions changed.
    pub fn mutated(&mut self, bases: &[u8], one_in: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for &base in bases {
            match self.below(one_in * 10) {
                0 => {}
                1 => {
                    let extra = 1 + self.below(6);
                    out.extend(self.bases(extra));
                    out.push(base);
                }
                2 => out.extend([base; 3]),
                3..=9 => out.push(self.below(4) as u8),
                _ => out.push(base),
            }
        }
        out
    }

    /// Makes one of `one_in` letters ambiguous.
    pub fn blur(&mut self, letters: &mut [u8], one_in: usize) {
        for letter in letters {
            if self.below(one_in) == 0 {
                *letter = 4 + self.below(11) as u8;
            }
        }
    }
}

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
            let members = blastna::ncbi4na(a.max(b)).count_ones() as i32;
            let shared = blastna::ncbi4na(a) & blastna::ncbi4na(b) != 0;
            let mean = f64::from((members - 1) * penalty + reward) / f64::from(members);
            row[usize::from(b)] = if shared { mean.round() as i32 } else { penalty };
        }
    }
    ScoreRows::new(rows)
}
