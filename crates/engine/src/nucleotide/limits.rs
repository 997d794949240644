//! Cut-offs and X-drops of nucleotide searches (`blast_parameters.c`).

use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::sums::{SearchSpace, gap_decay_divisor};

use super::traceback::Evaluation;
use crate::lists::linking::{DECAY, EvenGaps, PairStatistics};
use crate::params::{DatabaseTotals, NucleotideParams, truncate_to_i32};
use crate::query::QueryRules;

const LN_2: f64 = std::f64::consts::LN_2;

/// E-value from which the cut-off of an ungapped search is computed (`CUTOFF_E_BLASTN`).
const UNGAPPED_EVALUE: f64 = 0.05;
/// E-value in one subject from which the cut-off of HSPs that may be linked is computed.
const LINKED_EVALUE: f64 = 1.0;

/// Limits and statistics of one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContextLimits {
    /// X-drop of ungapped extensions, in raw score units.
    pub x_drop: i32,
    /// Least score of an ungapped HSP that is kept.
    pub cutoff_ungapped: i32,
    /// Least score of a gapped HSP that is kept.
    pub cutoff_gapped: i32,
    /// Statistics for e-values and bit scores.
    pub statistics: Statistics,
    /// Parameters of linked sets; `None` without sum statistics.
    pub linking: Option<LinkingParams>,
}

/// Parameters for e-values of linked sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkingParams {
    /// Number of letters of the context; `adjustment` is its length adjustment.
    length: i32,
    adjustment: i32,
    lambda: f64,
    log_k: f64,
    search_space: i64,
}

/// Statistics that convert the scores of a context to bit scores and e-values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    block: KarlinParameters,
    search_space: f64,
    /// Whether the e-value of an odd score is that of the next lower even score.
    even_scores: bool,
}

impl ContextLimits {
    /// Computes the limits of a context of `length` letters from its ungapped statistics. With sum
    /// statistics they also depend on `mean_length`, the mean length of the contexts that are
    /// searched together.
    pub fn new(
        length: u32,
        karlin: &KarlinParameters,
        search_space: i64,
        mean_length: i32,
        (params, totals): (&NucleotideParams, &DatabaseTotals),
    ) -> ContextLimits {
        let common = &params.common;
        let block = block(karlin, params);
        let by_evalue = params.least_score;
        let by_evalue =
            by_evalue.unwrap_or_else(|| block.cutoff_score(common.evalue, search_space));
        let mut cutoff_gapped = by_evalue;
        if params.sum_stats && !common.ungapped && params.least_score.is_none() {
            cutoff_gapped = cutoff_gapped.min(linked_cutoff(&block, mean_length, totals));
        }
        let trigger = ((common.gap_trigger_bits * LN_2 + karlin.log_k) / karlin.lambda) as i32;
        let first = match common.ungapped {
            true => ungapped_cutoff(length, karlin, params.sum_stats, totals),
            false => trigger,
        };
        let cutoff_ungapped = first.min(by_evalue);
        let x_drop = if common.xdrop_ungapped_bits == 0.0 {
            cutoff_ungapped
        } else {
            limit_x_drop(truncate_to_i32(
                (common.xdrop_ungapped_bits * LN_2 / karlin.lambda).ceil(),
            ))
            .max(0)
        };
        let even_scores = params.scoring.rounds_scores_down && !common.ungapped;
        let statistics = Statistics { block, search_space: search_space as f64, even_scores };
        let linking = params.sum_stats.then(|| {
            let (residues, sequences) = (totals.space_residues, totals.sequences);
            let model = params.length_model(karlin);
            LinkingParams {
                length: length as i32,
                adjustment: model.length_adjustment(length as i32, residues, sequences),
                lambda: block.lambda,
                log_k: block.log_k,
                search_space,
            }
        });
        ContextLimits { x_drop, cutoff_ungapped, cutoff_gapped, statistics, linking }
    }
}

/// Creates the rules for linking HSPs. In BLAST+ chains of blastn with gaps of any length have no
/// cut-off.
pub(super) fn even_gaps(small_cutoff: Option<i32>) -> EvenGaps {
    EvenGaps { small_cutoff, large_cutoff: 0, translates_query: false }
}

impl LinkingParams {
    /// Returns the statistics for linked HSPs of this context in a subject of `subject_length`
    /// bases.
    pub fn pair_statistics(&self, subject_length: u32) -> PairStatistics {
        let &LinkingParams { length, adjustment, lambda, log_k, search_space } = self;
        let lengths = [length, subject_length as i32];
        let space = SearchSpace::new(lengths, [adjustment; 2], search_space);
        PairStatistics { space, lambda, log_k }
    }
}

impl Statistics {
    /// Computes the e-value of a score. Where `even_scores` is set, BLAST+ rounds odd scores down
    /// for e-values, but not for bit scores (`Blast_HSPListGetEvalues`, blast_hits.c).
    pub fn evalue(&self, score: i32) -> f64 {
        let score = if self.even_scores { score & !1 } else { score };
        self.block.evalue(score, self.search_space)
    }

    /// Computes the e-value and the bit score of a score.
    pub fn evaluate(&self, score: i32) -> Evaluation {
        Evaluation { evalue: self.evalue(score), bit_score: self.block.bit_score(score) }
    }
}

/// Returns the Karlin-Altschul parameters for e-values: the ungapped ones in an ungapped search,
/// otherwise the gapped ones.
fn block(karlin: &KarlinParameters, params: &NucleotideParams) -> KarlinParameters {
    if params.common.ungapped { *karlin } else { params.scoring.gapped_parameters(karlin).0 }
}

/// Computes the cut-off of an ungapped search from the mean length of the subjects.
fn ungapped_cutoff(
    length: u32,
    karlin: &KarlinParameters,
    sum_stats: bool,
    totals: &DatabaseTotals,
) -> i32 {
    let mean = totals.mean_length;
    let decay = if sum_stats { gap_decay_divisor(DECAY, 1) } else { 1.0 };
    karlin.cutoff_score(UNGAPPED_EVALUE * decay, mean.min(2 * i64::from(length)) * mean)
}

/// Computes the cut-off of HSPs that may be linked, from the mean lengths of contexts and subjects.
fn linked_cutoff(block: &KarlinParameters, mean_length: i32, totals: &DatabaseTotals) -> i32 {
    let subject = totals.mean_length;
    let space = i64::from(mean_length).min(subject) * subject;
    block.cutoff_score(LINKED_EVALUE * gap_decay_divisor(DECAY, 1), space)
}

/// Computes the preliminary and the final X-drop of gapped extensions, in raw score units, from the
/// ungapped statistics of all contexts.
pub(super) fn gapped_x_drops<'a>(
    contexts: impl IntoIterator<Item = &'a KarlinParameters>,
    params: &NucleotideParams,
) -> (i32, i32) {
    let lambdas =
        contexts.into_iter().map(|karlin| params.scoring.gapped_parameters(karlin).0.lambda);
    let lambda = lambdas.fold(f64::MAX, f64::min);
    let preliminary =
        limit_x_drop(truncate_to_i32(params.common.xdrop_gapped_bits * LN_2 / lambda));
    let last = params.common.xdrop_final_bits * LN_2 / lambda;
    (preliminary, limit_x_drop(truncate_to_i32(last.max(f64::from(preliminary)))))
}

/// Limits a raw X-drop so that its sums with scores fit 32 bits. The largest X-drop never stops an
/// extension.
fn limit_x_drop(x_drop: i32) -> i32 {
    const MOST: i32 = 1 << 29;
    x_drop.clamp(-MOST, MOST)
}
