//! Linked HSPs in searches of proteins (rules of blastx, 7.6).

use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::sums::{SearchSpace, gap_decay_divisor};

use crate::lists::linking::uneven::{self, PairStatistics, UnevenGaps};
use crate::params::{DatabaseTotals, ProteinParams};

/// E-value, before the correction for sets, from which HSPs that are linked are of use
/// (`BlastHitSavingParametersUpdate`, blast_parameters.c).
const LINKED_EVALUE: f64 = 1.0;

impl ProteinParams {
    /// How HSPs are linked, if they are.
    pub(crate) fn linked_gaps(&self) -> Option<UnevenGaps> {
        UnevenGaps::new(self.linking?.max_intron_length, self.query_translation.is_some())
    }

    /// The least score of HSPs that may be linked. `average_length` is that of the contexts that
    /// are searched together. `None` if HSPs are not linked.
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
        Some(gapped.cutoff_score(LINKED_EVALUE * single_divisor(), space))
    }
}

/// The divisor of e-values of single HSPs where others are linked.
pub(crate) fn single_divisor() -> f64 {
    gap_decay_divisor(uneven::DECAY, 1)
}

/// Statistics for linked HSPs of a context of `length` residues and a subject.
pub(crate) fn pair_statistics(
    length: usize,
    (length_adjustment, search): (i32, i64),
    gapped: &KarlinParameters,
    subject_length: usize,
) -> PairStatistics {
    let effective = |length: usize| (length as i32 - length_adjustment).max(1);
    let space = SearchSpace {
        query_length: effective(length),
        subject_length: effective(subject_length),
        search_space: search,
    };
    PairStatistics { space, lambda: gapped.lambda, log_k: gapped.log_k }
}
