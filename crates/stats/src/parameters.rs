//! Karlin–Altschul parameters, and the e-values, cut-offs and bit scores computed from them.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

/// Smallest e-value that a cut-off score is computed for (blast_stat.c).
const SMALLEST_EVALUE: f64 = 1.0e-297;

/// The parameters of an extreme-value distribution of local alignment scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KarlinParameters {
    /// Scale λ, per raw score unit.
    pub lambda: f64,
    /// Parameter K.
    pub k: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
    /// Relative entropy H in nats.
    pub h: f64,
}

impl KarlinParameters {
    /// Returns a copy of the parameters with the K of `other`.
    #[must_use]
    pub fn with_k_of(self, other: KarlinParameters) -> KarlinParameters {
        KarlinParameters { k: other.k, log_k: other.log_k, ..self }
    }

    /// Computes the expected number of alignments of at least `score` in a search space
    /// (`BLAST_KarlinStoE_simple`, blast_stat.c).
    pub fn evalue(&self, score: i32, search_space: f64) -> f64 {
        search_space * (-self.lambda * f64::from(score) + self.log_k).exp()
    }

    /// Computes the smallest score, at least 1, with an e-value of at most `evalue` in a search
    /// space (`BLAST_Cutoffs`, blast_stat.c).
    pub fn cutoff_score(&self, evalue: f64, search_space: i64) -> i32 {
        let evalue = evalue.max(SMALLEST_EVALUE);
        // If the quotient overflows, the smallest score is the cut-off.
        truncate_to_i32(((self.k * search_space as f64 / evalue).ln() / self.lambda).ceil()).max(1)
    }

    /// Converts a score to bits.
    pub fn bit_score(&self, score: i32) -> f64 {
        (f64::from(score) * self.lambda - self.log_k) / LN_2
    }
}

/// Converts a number to 32 bits as BLAST+ does on x86: the fraction is cut, and a number out of
/// range becomes the smallest one.
pub fn truncate_to_i32(value: f64) -> i32 {
    let fits = value > f64::from(i32::MIN) - 1.0 && value < f64::from(i32::MAX) + 1.0;
    if fits { value as i32 } else { i32::MIN }
}

#[cfg(test)]
mod tests {
    use super::truncate_to_i32;

    #[test]
    fn what_does_not_fit_is_the_least_number() {
        assert_eq!(
            [2.9, -2.9, 2_147_483_647.9, -2_147_483_648.9].map(truncate_to_i32),
            [2, -2, i32::MAX, i32::MIN]
        );
        for value in [2_147_483_648.0, 1e300, -1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(truncate_to_i32(value), i32::MIN, "{value}");
        }
    }
}
