//! Linked HSPs in searches of proteins (rules of blastx, 7.6).

use fleetblast_stats::karlin::{KarlinParameters, truncate_to_i32};
use fleetblast_stats::sums::{SearchSpace, gap_decay_divisor};
use serde::{Deserialize, Serialize};

use crate::lists::linking::uneven::{GAPPED_DECAY, UnevenGaps};
use crate::lists::linking::{self, EvenGaps, PairStatistics};
use crate::params::{DatabaseTotals, ProteinParams};
use crate::pssm::scores::nearest;

/// E-value, before the correction for sets, from which HSPs that are linked are of use
/// (`BlastHitSavingParametersUpdate`, blast_parameters.c).
const LINKED_EVALUE: f64 = 1.0;
/// A share of one, so that the logarithm of what is divided by it exists
/// (`CalculateLinkHSPCutoffs`).
const EPSILON: f64 = 1e-9;
/// Larger than any score, and small enough that sums of such numbers fit 32 bits.
const MOST_CUTOFF: i32 = 1 << 20;

/// How HSPs are linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LinkingRule {
    /// With the same limits of gaps in both sequences; they depend on the batch and the subject.
    Even,
    /// With introns.
    Uneven(UnevenGaps),
}

/// What a batch of queries without gaps decides about even gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EvenLinking {
    /// The ungapped statistics with the smallest λ of all contexts.
    pub karlin: KarlinParameters,
    /// Average length of the contexts, in residues.
    pub average_length: i32,
    /// Least score of an ungapped HSP of all contexts.
    pub least_cutoff: i32,
}

impl ProteinParams {
    /// How HSPs are linked, if they are (`BlastHitSavingParametersNew`, blast_parameters.c).
    pub(crate) fn linking_rule(&self) -> Option<LinkingRule> {
        let max_intron_length = self.linking?.max_intron_length;
        let translates_query = self.query_translation.is_some();
        if !self.common.ungapped {
            return UnevenGaps::gapped(max_intron_length, translates_query)
                .map(LinkingRule::Uneven);
        }
        let is_both = translates_query && self.subject_translation.is_some();
        let gaps = UnevenGaps::ungapped(max_intron_length, translates_query);
        Some(gaps.filter(|_| !is_both).map_or(LinkingRule::Even, LinkingRule::Uneven))
    }

    /// The same for gapped alignments.
    pub(crate) fn linked_gaps(&self) -> Option<UnevenGaps> {
        match self.linking_rule()? {
            LinkingRule::Uneven(gaps) if !self.common.ungapped => Some(gaps),
            _ => None,
        }
    }

    /// The least score of gapped HSPs that may be linked. `average_length` is that of the contexts
    /// that are searched together. `None` if HSPs are not linked.
    pub(crate) fn linked_cutoff(
        &self,
        gapped: &KarlinParameters,
        average_length: i32,
        totals: &DatabaseTotals,
    ) -> Option<i32> {
        self.linked_gaps()?;
        // The average where there are no finite-size statistics (`BLAST_GapAlignSetUp`,
        // blast_setup.c).
        let subject = match self.finite_size {
            true => i64::from(totals.min_length),
            false => totals.mean_length,
        };
        let space = i64::from(average_length).min(subject) * subject;
        Some(gapped.cutoff_score(LINKED_EVALUE * single_divisor(GAPPED_DECAY), space))
    }
}

impl EvenLinking {
    /// The gaps in a subject of `subject_len` residues, in a database of `residues` residues
    /// (`CalculateLinkHSPCutoffs`, blast_parameters.c).
    pub(crate) fn gaps(
        &self,
        subject_len: usize,
        residues: i64,
        translates_query: bool,
    ) -> EvenGaps {
        let KarlinParameters { lambda, k, h, .. } = self.karlin;
        let (query, subject) = (f64::from(self.average_length), subject_len as f64);
        let expected = nearest((k * query * subject).ln() / h);
        let query = i64::from(self.average_length.wrapping_sub(expected).max(1));
        let subject = i64::from((subject_len as i32).wrapping_sub(expected).max(1));
        let ratio = match residues > subject {
            true => residues as f64 / subject as f64,
            false => (subject + i64::from(expected)) as f64 / subject as f64,
        };
        let y = ratio.ln() * k / linking::DECAY;
        let space = query * subject;
        let x = 0.25 * y * space as f64;
        let cutoff = |x: f64| {
            let score = truncate_to_i32((x.ln() / lambda).floor()).wrapping_add(1);
            score.clamp(-MOST_CUTOFF, MOST_CUTOFF)
        };
        let window = i64::from(linking::WINDOW).pow(2);
        // Small gaps are of use if both sequences are long.
        if space <= 8 * window {
            return EvenGaps { small_cutoff: None, large_cutoff: cutoff(x), translates_query };
        }
        let large_cutoff = cutoff(x / (1.0 - linking::SMALL_SHARE + EPSILON));
        let small = cutoff(y * window as f64 / (linking::SMALL_SHARE + EPSILON));
        let small_cutoff = Some(small.max(self.least_cutoff)).filter(|&cutoff| cutoff != 0);
        EvenGaps { small_cutoff, large_cutoff, translates_query }
    }
}

/// The divisor of e-values of single HSPs where others are linked.
pub(crate) fn single_divisor(decay: f64) -> f64 {
    gap_decay_divisor(decay, 1)
}

/// Statistics for HSPs of a context of `length` residues and a subject, linked with introns.
pub(crate) fn pair_statistics(
    length: usize,
    adjustments: (i32, i64),
    karlin: &KarlinParameters,
    subject_length: usize,
) -> PairStatistics {
    statistics(length, (adjustments.0, adjustments), karlin, subject_length)
}

/// The same for HSPs linked with even gaps. If the subject is translated, BLAST+ takes a third of
/// its length adjustment, though that is one of residues.
pub(crate) fn even_statistics(
    length: usize,
    adjustments: (i32, i64),
    karlin: &KarlinParameters,
    (subject_length, translates_subject): (usize, bool),
) -> PairStatistics {
    let of_subject = if translates_subject { adjustments.0 / 3 } else { adjustments.0 };
    statistics(length, (of_subject, adjustments), karlin, subject_length)
}

fn statistics(
    length: usize,
    (of_subject, (of_query, search_space)): (i32, (i32, i64)),
    karlin: &KarlinParameters,
    subject_length: usize,
) -> PairStatistics {
    let effective = |length: usize, adjustment: i32| (length as i32 - adjustment).max(1);
    let space = SearchSpace {
        query_length: effective(length, of_query),
        subject_length: effective(subject_length, of_subject),
        search_space,
    };
    PairStatistics { space, lambda: karlin.lambda, log_k: karlin.log_k }
}
