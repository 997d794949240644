//! Parameters of the scores of alignments, and what they say of one.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

/// Smallest e-value that a cut-off score is computed for (blast_stat.c).
const SMALLEST_EVALUE: f64 = 1.0e-297;

/// The parameters of an extreme-value distribution of local alignment scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Other parameters with this K.
    pub fn with_k_in(self, other: KarlinBlock) -> KarlinBlock {
        KarlinBlock { k: self.k, log_k: self.log_k, ..other }
    }

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
