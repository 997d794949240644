//! Linked HSPs in searches of proteins (rules of blastx, 7.6).

use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::sums::SearchSpace;

use crate::lists::linking::PairStatistics;
use crate::lists::linking::uneven::UnevenGaps;
use crate::params::{DatabaseTotals, HspLinking, ProteinParams};

/// E-value, before the correction for sets, from which HSPs that are linked are of use
/// (`BlastHitSavingParametersUpdate`, blast_parameters.c).
const LINKED_EVALUE: f64 = 1.0;

/// How HSPs are linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LinkingRule {
    /// With the same limits of gaps in both sequences; they depend on the batch and the subject.
    Even,
    /// With introns.
    Uneven(UnevenGaps),
}

impl HspLinking {
    /// Whether gapped HSPs are linked: a short intron has no room for a residue.
    pub fn links_gapped(self) -> bool {
        UnevenGaps::gapped(self.max_intron_length, false).is_some()
    }
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
        let gaps = self.linked_gaps()?;
        // The average where there are no finite-size statistics (`BLAST_GapAlignSetUp`,
        // blast_setup.c).
        let subject = match self.finite_size {
            true => i64::from(totals.min_length),
            false => totals.mean_length,
        };
        let space = i64::from(average_length).min(subject) * subject;
        Some(gapped.cutoff_score(LINKED_EVALUE * gaps.single_divisor(), space))
    }
}

/// Statistics for linked HSPs of a context and a subject of these lengths, in residues, less these
/// adjustments.
pub(crate) fn pair_statistics(
    karlin: &KarlinParameters,
    lengths: [usize; 2],
    adjustments: [i32; 2],
    search_space: i64,
) -> PairStatistics {
    let lengths = lengths.map(|length| length as i32);
    let space = SearchSpace::new(lengths, adjustments, search_space);
    PairStatistics { space, lambda: karlin.lambda, log_k: karlin.log_k }
}
