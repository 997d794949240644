//! Cut-offs and X-drops of nucleotide searches (`blast_parameters.c`).

use fleetblast_stats::karlin::KarlinBlock;

use super::traceback::Worth;
use crate::params::{DatabaseTotals, NucleotideParams, whole};

const LN_2: f64 = std::f64::consts::LN_2;

/// E-value of an ungapped search's cut-off (`CUTOFF_E_BLASTN`).
const UNGAPPED_EVALUE: f64 = 0.05;

/// What holds for one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContextLimits {
    /// Ungapped X-drop, raw.
    pub x_drop: i32,
    /// Least score of an ungapped HSP that is kept.
    pub cutoff_ungapped: i32,
    /// Least score of a gapped HSP that is kept.
    pub cutoff_gapped: i32,
    /// What tells e-values and bit scores.
    pub statistics: Statistics,
}

/// What a score of a context is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    block: KarlinBlock,
    search_space: f64,
    /// E-values are those of the even score just below.
    even_scores: bool,
}

impl ContextLimits {
    /// Of a context of so many letters with these ungapped statistics.
    pub fn new(
        length: u32,
        karlin: &KarlinBlock,
        search_space: i64,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
    ) -> ContextLimits {
        let common = &params.common;
        let block = block(karlin, params);
        let by_evalue = block.cutoff_score(common.evalue, search_space);
        let cutoff_gapped = params.least_score.unwrap_or(by_evalue);
        let trigger = ((common.gap_trigger_bits * LN_2 + karlin.log_k) / karlin.lambda) as i32;
        let first = if common.ungapped { ungapped_cutoff(length, karlin, totals) } else { trigger };
        let cutoff_ungapped = first.min(cutoff_gapped);
        let x_drop = if common.xdrop_ungapped_bits == 0.0 {
            cutoff_ungapped
        } else {
            whole((common.xdrop_ungapped_bits * LN_2 / karlin.lambda).ceil()).max(0)
        };
        let even_scores = params.scoring.even_scores && !common.ungapped;
        let statistics = Statistics { block, search_space: search_space as f64, even_scores };
        ContextLimits { x_drop, cutoff_ungapped, cutoff_gapped, statistics }
    }
}

impl Statistics {
    /// The e-value of a score. BLAST+ rounds odd scores down for it, but not for bits (`Blast_HSPListGetEvalues`, blast_hits.c).
    pub fn evalue(&self, score: i32) -> f64 {
        let score = if self.even_scores { score & !1 } else { score };
        self.block.evalue(score, self.search_space)
    }

    /// The same, with the bit score.
    pub fn worth(&self, score: i32) -> Worth {
        Worth { evalue: self.evalue(score), bit_score: self.block.bit_score(score) }
    }
}

/// The parameters by which e-values are told.
fn block(karlin: &KarlinBlock, params: &NucleotideParams) -> KarlinBlock {
    if params.common.ungapped { *karlin } else { params.scoring.gapped(karlin).0 }
}

/// The cut-off of an ungapped search by the mean length of the subjects.
fn ungapped_cutoff(length: u32, karlin: &KarlinBlock, totals: &DatabaseTotals) -> i32 {
    let mean = totals.mean_length;
    karlin.cutoff_score(UNGAPPED_EVALUE, mean.min(2 * i64::from(length)) * mean)
}

/// Gapped X-drops, preliminary and final, raw, from the ungapped statistics of all contexts.
pub(super) fn gapped_x_drops<'a>(
    contexts: impl IntoIterator<Item = &'a KarlinBlock>,
    params: &NucleotideParams,
) -> (i32, i32) {
    let lambdas = contexts.into_iter().map(|karlin| params.scoring.gapped(karlin).0.lambda);
    let lambda = lambdas.fold(f64::MAX, f64::min);
    let preliminary = whole(params.common.xdrop_gapped_bits * LN_2 / lambda);
    let last = params.common.xdrop_final_bits * LN_2 / lambda;
    (preliminary, whole(last.max(f64::from(preliminary))))
}
