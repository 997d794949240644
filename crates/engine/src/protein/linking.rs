//! Linked HSPs in searches of proteins (rules of blastx, 7.6).

use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::sums::SearchSpace;

use crate::lists::linking::PairStatistics;
use crate::lists::linking::uneven::UnevenGaps;
use crate::params::{DatabaseTotals, HspLinking, ProteinParams};

/// E-value up to which an HSP may be linked, before the correction for linked sets
/// (`BlastHitSavingParametersUpdate`, blast_parameters.c).
const LINKED_EVALUE: f64 = 1.0;

/// Rule by which HSPs are linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LinkingRule {
    /// Even gaps: the limits are the same in both sequences, and depend on the batch and the
    /// subject.
    Even,
    /// Uneven gaps, which may be introns.
    Uneven(UnevenGaps),
}

impl HspLinking {
    /// Returns whether gapped HSPs are linked. They are not if the longest intron has no room for a
    /// residue.
    pub fn links_gapped(self) -> bool {
        UnevenGaps::gapped(self.max_intron_length, false).is_some()
    }
}

impl ProteinParams {
    /// Returns the rule by which HSPs are linked, if they are linked
    /// (`BlastHitSavingParametersNew`, blast_parameters.c).
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

    /// Returns the limits of gaps between gapped HSPs, if those are linked.
    pub(crate) fn linked_gaps(&self) -> Option<UnevenGaps> {
        match self.linking_rule()? {
            LinkingRule::Uneven(gaps) if !self.common.ungapped => Some(gaps),
            _ => None,
        }
    }

    /// Returns the least score of gapped HSPs that may be linked, or `None` if HSPs are not linked.
    /// `average_length` is the average length of the contexts that are searched together.
    pub(crate) fn linked_cutoff(
        &self,
        gapped: &KarlinParameters,
        average_length: i32,
        totals: &DatabaseTotals,
    ) -> Option<i32> {
        let gaps = self.linked_gaps()?;
        // The mean length, where there are no finite-size statistics (`BLAST_GapAlignSetUp`,
        // blast_setup.c).
        let subject = match self.finite_size {
            true => i64::from(totals.min_length),
            false => totals.mean_length,
        };
        let space = i64::from(average_length).min(subject) * subject;
        Some(gapped.cutoff_score(LINKED_EVALUE * gaps.single_divisor(), space))
    }
}

/// Returns statistics for linked HSPs of a context and a subject. `lengths` are their lengths in
/// residues, which `adjustments` shorten.
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
