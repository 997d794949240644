//! Computes e-values and reported scores of scaled alignments (rules 1.6, 6.5).

use fleetblast_seq::frame::Frame;
use fleetblast_stats::gumbel::GumbelParameters;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::unified;

use super::{ScaledAlignment, Traceback, TracebackContext, TracebackQuery};
use crate::hits::{Alignment, CandidateHit, HitKey};
use crate::lists::linking::uneven;
use crate::lists::linking::{Linkable, PairStatistics};
use crate::order::{Bounds, ContextHsp, Hsp, best_evalue, compare_hsps};
use crate::params::{DatabaseTotals, ProteinParams};
use crate::protein::linking;
use crate::pssm::scores::nearest;
use crate::query::{Context, Query};

/// Statistics that convert scores to e-values.
#[derive(Clone, Copy, Debug)]
pub struct Significance {
    gumbel: GumbelParameters,
    /// Gapped statistics in raw units.
    karlin: KarlinParameters,
    /// Gapped statistics in scaled units.
    scaled: KarlinParameters,
    scale: f64,
    residues: i64,
    /// Whether finite-size statistics apply; otherwise e-values follow from the search space.
    finite_size: bool,
    /// Largest e-value that is reported.
    pub limit: f64,
}

impl Significance {
    pub fn new(params: &ProteinParams, totals: &DatabaseTotals, scale: i32) -> Self {
        let karlin = params.scoring.gapped_statistics.karlin_parameters();
        Significance {
            gumbel: GumbelParameters::new(&params.scoring),
            karlin,
            scaled: KarlinParameters { lambda: karlin.lambda / f64::from(scale), ..karlin },
            scale: f64::from(scale),
            residues: totals.residues,
            finite_size: params.finite_size,
            limit: params.common.evalue,
        }
    }

    /// Returns these statistics with other gapped parameters: those of a PSSM, in raw units.
    #[must_use]
    pub fn with(&self, karlin: KarlinParameters) -> Self {
        Significance {
            gumbel: self.gumbel.with_scale_and_k(&karlin),
            karlin,
            scaled: KarlinParameters { lambda: karlin.lambda / self.scale, ..karlin },
            ..*self
        }
    }

    /// Returns the e-value of a scaled score.
    pub fn evalue(&self, score: i32, query: &TracebackContext, subject_len: usize) -> f64 {
        self.evalue_of(score, (query.residues.len(), query.search_space), subject_len)
    }

    /// Returns the e-value of a scaled score for a query, given its length and search space.
    fn evalue_of(
        &self,
        score: i32,
        (length, search_space): (usize, i64),
        subject_len: usize,
    ) -> f64 {
        if !self.finite_size {
            return self.scaled.evalue(score, search_space as f64);
        }
        let (m, n) = (length as i32, subject_len as i32);
        self.gumbel.evalue(score, self.scale, m, n, self.residues)
    }

    /// Returns the e-value of a scaled score that follows from the search space alone. The
    /// Smith–Waterman pass uses it to decide whether to continue.
    pub fn local_evalue(&self, score: i32, query: &TracebackContext) -> f64 {
        self.scaled.evalue(score, query.search_space as f64)
    }

    /// Returns the bit score of a raw score.
    pub fn bits(&self, score: i32) -> f64 {
        self.karlin.bit_score(score)
    }

    /// Returns the statistics for linked alignments, with scores in scaled units.
    pub(super) fn linked_statistics(
        &self,
        context: &TracebackContext,
        subject_len: usize,
    ) -> PairStatistics {
        let lengths = [context.residues.len(), subject_len];
        let adjustments = [context.length_adjustment; 2];
        linking::pair_statistics(&self.scaled, lengths, adjustments, context.search_space)
    }
}

/// An alignment with its e-value.
struct ScoredAlignment {
    alignment: ScaledAlignment,
    evalue: f64,
    /// Number of alignments that share the e-value.
    linked: u32,
}

impl Hsp for ScoredAlignment {
    fn bounds(&self) -> Bounds {
        self.alignment.bounds
    }
    fn score(&self) -> i32 {
        self.alignment.score
    }
}

impl ContextHsp for ScoredAlignment {
    fn context(&self) -> u8 {
        self.alignment.context
    }
}

impl Linkable for ScoredAlignment {
    fn evalue(&self) -> f64 {
        self.evalue
    }

    fn subject_frame(&self) -> Frame {
        self.alignment.frame
    }

    fn set_linked(&mut self, evalue: f64, count: u32) {
        (self.evalue, self.linked) = (evalue, count);
    }
}

/// Score statistics of a query.
#[derive(Clone, Debug)]
pub struct QueryStatistics<'a> {
    significance: &'a Significance,
    /// Length and search space of each context.
    contexts: Vec<(usize, i64)>,
}

impl QueryStatistics<'_> {
    /// Returns the number of units of a scaled score in one unit of a reported score. E-values
    /// follow from scaled scores.
    pub fn scale(&self) -> i32 {
        self.significance.scale as i32
    }

    /// Returns the e-value of a scaled score in a context.
    pub fn evalue(&self, context: u8, score: i32, subject_len: usize) -> f64 {
        let context = self.contexts[usize::from(context)];
        self.significance.evalue_of(score, context, subject_len)
    }

    /// Returns the bit score of a reported score.
    pub fn bits(&self, score: i32) -> f64 {
        self.significance.bits(score)
    }
}

impl Traceback {
    /// Returns the score statistics of a query. They do not apply if e-values are combined with
    /// p-values of compositions.
    pub fn statistics(&self, query: &Query) -> QueryStatistics<'_> {
        let context = |context: &Context| (context.letters.len(), context.search_space);
        QueryStatistics {
            significance: &self.significance,
            contexts: query.contexts.iter().map(context).collect(),
        }
    }

    /// Sorts scaled alignments. Drops those inside a better one and insignificant ones. Rounds the
    /// scores of the rest.
    pub(super) fn evaluate(
        &self,
        query: &TracebackQuery,
        subject_len: usize,
        oid: u32,
        mut alignments: Vec<ScaledAlignment>,
        pair_p: Option<f64>,
    ) -> CandidateHit {
        alignments.sort_by(compare_hsps);
        drop_contained(&mut alignments);
        let context_of = |number: u8| &query.contexts[usize::from(number)];
        let score = |alignment: ScaledAlignment| {
            let context = context_of(alignment.context);
            let evalue = context.significance.evalue(alignment.score, context, subject_len);
            let evalue = match self.linked_gaps {
                Some(gaps) => evalue / gaps.single_divisor(),
                None => self.unite_evalues(evalue, pair_p, context, subject_len),
            };
            ScoredAlignment { alignment, evalue, linked: 1 }
        };
        let mut scored: Vec<ScoredAlignment> = alignments.into_iter().map(score).collect();
        if let Some(gaps) = self.linked_gaps {
            uneven::link(&mut scored, gaps, |number| {
                let context = context_of(number);
                context.significance.linked_statistics(context, subject_len)
            });
        }
        scored.retain(|scored| scored.evalue <= self.significance.limit);
        let evalues = scored.iter().map(|scored| scored.evalue);
        // Combined e-values have no upper limit (`s_AdjustEvaluesForComposition`, `blast_kappa.c`).
        let evalue = match pair_p {
            Some(_) => evalues.fold(f64::INFINITY, f64::min),
            None => best_evalue(evalues),
        };
        let key = scored.first().map(|first| HitKey { evalue, score: first.score(), oid });
        let report =
            |scored: ScoredAlignment| self.to_alignment(context_of(scored.context()), scored);
        let alignments = scored.into_iter().map(report).collect();
        CandidateHit::new(oid, key, alignments)
    }

    /// Returns the e-value, combined with the p-value of the two compositions if the search asks
    /// for that.
    fn unite_evalues(
        &self,
        evalue: f64,
        pair_p: Option<f64>,
        query: &TracebackContext,
        subject_len: usize,
    ) -> f64 {
        let Some(pair_p) = pair_p else { return evalue };
        let factor = unified::sequence_factor(
            query.residues.len() as i32,
            subject_len as i32,
            query.length_adjustment,
            query.search_space,
        );
        unified::combine_pvalues(evalue, pair_p, factor)
    }

    /// Returns the alignment with its reported scores. The bit score follows from the rounded
    /// score, the e-value does not.
    fn to_alignment(&self, query: &TracebackContext, scored: ScoredAlignment) -> Alignment {
        let ScoredAlignment { alignment: scaled, evalue, linked } = scored;
        let score = nearest(f64::from(scaled.score) / f64::from(self.scale));
        let bounds = scaled.bounds;
        Alignment {
            score,
            bit_score: query.significance.bits(score),
            evalue,
            linked,
            query: bounds.q_start..bounds.q_end,
            subject: bounds.s_start..bounds.s_end,
            context: query.number,
            frame: scaled.frame,
            edits: scaled.edits,
            computation_index: 0,
            pattern_occurrence: 0,
            adjustment: scaled.adjustment,
            positives: None,
            stored: None,
        }
    }
}

/// Drops every alignment that lies in an earlier one of its context and frame. The list is in
/// ORDER-S, so that the earlier one has at least its score.
fn drop_contained(alignments: &mut Vec<ScaledAlignment>) {
    let mut kept: Vec<ScaledAlignment> = Vec::with_capacity(alignments.len());
    for alignment in alignments.drain(..) {
        let encloses = |other: &ScaledAlignment| {
            let frames = (other.context, other.frame);
            frames == (alignment.context, alignment.frame)
                && other.bounds.encloses(&alignment.bounds)
        };
        if !kept.iter().any(encloses) {
            kept.push(alignment);
        }
    }
    *alignments = kept;
}
