//! Karlin–Altschul statistics: e-values, bit scores, and the ungapped parameters of a query.

use std::f64::consts::LN_2;

use fleetblast_seq::alphabet::{self, SIZE};

use crate::frequencies::background;
use crate::lattice;
use crate::matrix::{self, Scores};

/// Smallest e-value that a cut-off score is computed for (blast_stat.c).
const SMALLEST_EVALUE: f64 = 1.0e-297;

/// The parameters of an extreme-value distribution of local alignment scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KarlinBlock {
    /// Scale λ, per raw score unit.
    pub lambda: f64,
    /// K.
    pub k: f64,
    /// ln K.
    pub log_k: f64,
    /// Relative entropy H in nats.
    pub h: f64,
}

impl KarlinBlock {
    /// Expected number of alignments of at least `score` in a search space (`BLAST_KarlinStoE_simple`, blast_stat.c).
    pub fn evalue(&self, score: i32, search_space: f64) -> f64 {
        search_space * (-self.lambda * f64::from(score) + self.log_k).exp()
    }

    /// Smallest score, at least 1, with an e-value of at most `evalue` in a search space (`BLAST_Cutoffs`, blast_stat.c).
    pub fn cutoff_score(&self, evalue: f64, search_space: i64) -> i32 {
        let evalue = evalue.max(SMALLEST_EVALUE);
        let score = ((self.k * search_space as f64 / evalue).ln() / self.lambda).ceil();
        (score as i32).max(1)
    }

    /// The score in bits.
    pub fn bit_score(&self, score: i32) -> f64 {
        (f64::from(score) * self.lambda - self.log_k) / LN_2
    }
}

/// Ungapped parameters of a query against subjects of background composition.
///
/// `residues` are the codes as the engine holds them (`O` and hard-masked residues already `X`); every code but `X` counts.
/// `None` if no parameters exist: the query is empty or all `X`, or its expected score is not negative, or no score is
/// positive. BLAST+ calls such a query invalid (`Blast_ScoreBlkKbpUngappedCalc`, blast_stat.c).
pub fn ungapped(residues: &[u8], scores: &Scores) -> Option<KarlinBlock> {
    let mut bytes = [0_u64; 256];
    for &residue in residues {
        bytes[usize::from(residue)] += 1;
    }
    let mut counts: [u64; SIZE] = std::array::from_fn(|code| bytes[code]);
    counts[usize::from(alphabet::X)] = 0;
    let total = counts.iter().sum::<u64>() as f64;
    if total == 0.0 {
        return None;
    }
    parameters(&counts.map(|count| count as f64 / total), scores)
}

/// Ungapped parameters of two sequences of background composition.
pub(crate) fn ideal(scores: &Scores) -> Option<KarlinBlock> {
    parameters(&background(), scores)
}

fn parameters(query: &[f64; SIZE], scores: &Scores) -> Option<KarlinBlock> {
    lattice::with_pairs(query, &background(), scores, matrix::range(scores), |distribution| {
        let lambda = distribution.lambda(0.5)?;
        let h = distribution.entropy(lambda)?;
        let k = distribution.k(lambda, h)?;
        Some(KarlinBlock { lambda, k, log_k: k.ln(), h })
    })
}
