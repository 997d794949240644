//! Cut-offs of chains with even gaps, from a batch of queries and a subject.

use fleetblast_stats::karlin::{KarlinParameters, truncate_to_i32};
use serde::{Deserialize, Serialize};

use super::{DECAY, EvenGaps, SMALL_SHARE, WINDOW};

/// Summand that keeps a divisor from being 0 (`CalculateLinkHSPCutoffs`).
const EPSILON: f64 = 1e-9;
/// Greatest cut-off. It is larger than any score, and sums of such cut-offs fit 32 bits.
const MOST_CUTOFF: i32 = 1 << 20;

/// Properties of a batch in an ungapped search by which HSPs are linked with even gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EvenGapStatistics {
    /// The ungapped statistics with the smallest λ of all contexts.
    pub karlin: KarlinParameters,
    /// Average length of the contexts, in residues.
    pub average_length: i32,
    /// Lowest of the contexts' cut-offs: the least score of an ungapped HSP that is kept.
    pub least_cutoff: i32,
}

impl EvenGapStatistics {
    /// Computes the rules for linking HSPs in a subject of `subject_len` residues, in a database of
    /// `residues` residues (`CalculateLinkHSPCutoffs`, blast_parameters.c).
    pub(crate) fn gaps(
        &self,
        subject_len: usize,
        residues: i64,
        translates_query: bool,
    ) -> EvenGaps {
        let KarlinParameters { lambda, k, h, .. } = self.karlin;
        let (query, subject) = (f64::from(self.average_length), subject_len as f64);
        let expected = ((k * query * subject).ln() / h).round() as i32;
        let query = i64::from(self.average_length.wrapping_sub(expected).max(1));
        let subject = i64::from((subject_len as i32).wrapping_sub(expected).max(1));
        let ratio = match residues > subject {
            true => residues as f64 / subject as f64,
            false => (subject + i64::from(expected)) as f64 / subject as f64,
        };
        let y = ratio.ln() * k / DECAY;
        let space = query * subject;
        let x = 0.25 * y * space as f64;
        let cutoff = |x: f64| {
            let score = truncate_to_i32((x.ln() / lambda).floor()).wrapping_add(1);
            score.clamp(-MOST_CUTOFF, MOST_CUTOFF)
        };
        let window = i64::from(WINDOW).pow(2);
        // Chains with small gaps are formed only if both sequences are long.
        if space <= 8 * window {
            return EvenGaps { small_cutoff: None, large_cutoff: cutoff(x), translates_query };
        }
        let large_cutoff = cutoff(x / (1.0 - SMALL_SHARE + EPSILON));
        let small = cutoff(y * window as f64 / (SMALL_SHARE + EPSILON));
        let small_cutoff = Some(small.max(self.least_cutoff)).filter(|&cutoff| cutoff != 0);
        EvenGaps { small_cutoff, large_cutoff, translates_query }
    }
}
