//! The traceback of nucleotide searches: aligns selected hits.

use std::sync::Arc;

use fleetblast_seq::mask;

use super::batch_context::TracebackContext;
use super::greedy::Scoring;
use super::limits::{self, ContextLimits, Statistics};
use super::traceback::{self, Context};
use crate::hits::{Alignment, CandidateHit, HitKey, PrelimHit, PrelimHsp};
use crate::kernel::Kernel;
use crate::lists::linking;
use crate::params::{DatabaseTotals, NucleotideParams};
use crate::query::Query;
use crate::scores::ScoreRows;
use crate::subjects::{PlacedLetters, SubjectLetters};
use crate::xdrop::GapCosts;

/// Greatest length, in letters, of the part of a subject around the HSPs that may be aligned
/// instead of the whole subject.
const SHORT: u32 = 6000;

/// Parameters of the traceback that all queries and subjects share.
#[derive(Debug)]
pub(crate) struct Traceback {
    params: NucleotideParams,
    totals: DatabaseTotals,
    scores: ScoreRows,
}

/// A query prepared for the traceback.
#[derive(Debug)]
pub(crate) struct Aligner<'a> {
    params: &'a NucleotideParams,
    /// Number of letters of the query.
    length: u32,
    contexts: Vec<Context>,
    limits: Vec<Option<ContextLimits>>,
    traceback: traceback::Traceback,
}

/// Score statistics of a query's contexts.
#[derive(Debug)]
pub(crate) struct QueryStatistics(Vec<Option<Statistics>>);

impl QueryStatistics {
    /// Returns the bit score and e-value of a score in a context; `None` if the context is not
    /// searched.
    pub fn evaluate(&self, context: u8, score: i32) -> Option<(f64, f64)> {
        let evaluation = self.0.get(usize::from(context))?.as_ref()?.evaluate(score);
        Some((evaluation.bit_score, evaluation.evalue))
    }
}

/// Work space of a thread that aligns.
#[derive(Debug)]
pub(crate) struct AlignScratch {
    traceback: traceback::Scratch,
    letters: PlacedLetters,
}

impl AlignScratch {
    /// Creates an empty work space for a kernel.
    pub fn new(kernel: Kernel) -> AlignScratch {
        AlignScratch {
            traceback: traceback::Scratch::new(kernel),
            letters: PlacedLetters::default(),
        }
    }
}

impl Traceback {
    /// Prepares the traceback of a search. `totals` are those of the database.
    pub fn new(params: &NucleotideParams, totals: &DatabaseTotals) -> Traceback {
        let scores = ScoreRows::of_blastna(&params.scoring.scores);
        Traceback { params: params.clone(), totals: *totals, scores }
    }

    /// Prepares a query for alignment, with the traceback parameters of its batch.
    pub fn aligner(&self, query: &Query, batch_params: TracebackContext) -> Aligner<'_> {
        let (params, limits) = (&self.params, self.limits(query, batch_params.mean_length));
        let contexts = query.contexts.iter().zip(&limits).map(|(context, limits)| {
            let cutoff = limits.as_ref().map_or(0, |limits| limits.cutoff_gapped);
            Context::new(Arc::clone(&context.letters), Arc::clone(&context.unmasked), cutoff)
        });
        let traceback = self.traceback(batch_params.x_drop);
        Aligner { params, length: query.length, contexts: contexts.collect(), limits, traceback }
    }

    /// Returns the score statistics of a query.
    pub fn statistics(&self, query: &Query) -> QueryStatistics {
        // E-values and bit scores do not depend on the lengths of other contexts.
        let limits = self.limits(query, 0).into_iter();
        QueryStatistics(limits.map(|limits| limits.map(|limits| limits.statistics)).collect())
    }

    /// Computes the limits of each context; `None` for a context without statistics.
    fn limits(&self, query: &Query, mean_length: i32) -> Vec<Option<ContextLimits>> {
        let limits = |context: &crate::query::Context| {
            let (length, karlin) = (context.letters.len() as u32, context.karlin?);
            let (space, rules) = (context.search_space, (&self.params, &self.totals));
            Some(ContextLimits::new(length, &karlin, space, mean_length, rules))
        };
        query.contexts.iter().map(limits).collect()
    }

    fn traceback(&self, x_drop: i32) -> traceback::Traceback {
        let params = &self.params;
        let scoring = &params.scoring;
        let gaps = match params.common.ungapped {
            // An ungapped search accepts any gap costs, even those that overflow in extensions.
            true => GapCosts { open: 0, extend: 0 },
            false => GapCosts { open: scoring.gap_open, extend: scoring.gap_extend },
        };
        traceback::Traceback {
            aligner: match params.greedy {
                true => traceback::Aligner::Greedy,
                false => traceback::Aligner::Dynamic,
            },
            scoring: Scoring { reward: scoring.reward, penalty: scoring.penalty, gaps },
            scores: self.scores.clone(),
            vectors: traceback::ByteTracer::new(&self.scores, gaps, x_drop),
            x_drop,
            perc_identity: params.percent_identity,
            separation: params.diagonal_separation.max(0) as u32,
        }
    }
}

impl Aligner<'_> {
    /// Aligns the query with one subject, from its preliminary HSPs.
    pub fn align(
        &self,
        subject: &dyn SubjectLetters,
        hit: &PrelimHit,
        scratch: &mut AlignScratch,
    ) -> CandidateHit {
        let evaluate = |context: u8, score| match &self.limits[usize::from(context)] {
            Some(limits) => limits.statistics.evaluate(score),
            None => traceback::Evaluation { evalue: f64::INFINITY, bit_score: 0.0 },
        };
        let mut alignments = if self.params.common.ungapped {
            traceback::Traceback::ungapped(&hit.hsps, evaluate)
        } else {
            match self.align_near(subject, &hit.hsps, evaluate, &mut scratch.traceback) {
                Some(alignments) => alignments,
                None => self.align_within_reach(subject, &hit.hsps, evaluate, scratch),
            }
        };
        if !self.params.common.ungapped {
            if self.params.sum_stats {
                // As in BLAST+, the traceback forms no linked sets with small gaps.
                linking::link(&mut alignments, limits::even_gaps(None), |context| {
                    let linking = self.limits[usize::from(context)].as_ref()?.linking?;
                    Some(linking.pair_statistics(subject.length()))
                });
            }
            alignments.retain(|alignment| alignment.evalue <= self.params.common.evalue);
        }
        for (number, alignment) in (0..).zip(&mut alignments) {
            alignment.computation_index = number;
        }
        let key = HitKey::of_alignments(hit.oid, &alignments);
        CandidateHit::new(hit.oid, key, alignments)
    }

    /// Aligns the query with only a short range of the subject around the HSPs, in a greedy search
    /// with linear gap costs. Returns `None` in other searches, if the range is long, or if a path
    /// reaches one of its ends.
    fn align_near(
        &self,
        subject: &dyn SubjectLetters,
        hsps: &[PrelimHsp],
        evaluate: impl Fn(u8, i32) -> traceback::Evaluation,
        scratch: &mut traceback::Scratch,
    ) -> Option<Vec<Alignment>> {
        let near = traceback::near_hsps(self.length, hsps, subject.length())?;
        let is_short = near.end - near.start <= SHORT;
        if !self.params.greedy || !self.traceback.scoring.is_linear() || !is_short {
            return None;
        }
        let moved = |hsp: &PrelimHsp| PrelimHsp {
            s_start: hsp.s_start - near.start,
            s_end: hsp.s_end - near.start,
            s_seed: hsp.s_seed - near.start,
            ..*hsp
        };
        let hsps: Vec<PrelimHsp> = hsps.iter().map(moved).collect();
        scratch.take_met_subject_end();
        let letters = subject.letters_in(near.clone());
        let mut alignments =
            self.traceback.align(&self.contexts, &letters, &hsps, evaluate, scratch);
        for Alignment { subject, .. } in &mut alignments {
            *subject = subject.start + near.start..subject.end + near.start;
        }
        (!scratch.take_met_subject_end()).then_some(alignments)
    }

    /// Aligns the query with all ranges of the subject that alignments from the HSPs can read.
    fn align_within_reach(
        &self,
        subject: &dyn SubjectLetters,
        hsps: &[PrelimHsp],
        evaluate: impl Fn(u8, i32) -> traceback::Evaluation,
        scratch: &mut AlignScratch,
    ) -> Vec<Alignment> {
        let (q_len, s_len) = (self.length, subject.length());
        let reached = hsps.iter().map(|hsp| traceback::reach(q_len, hsp, s_len));
        let AlignScratch { traceback, letters } = scratch;
        let subject = letters.place(subject, &mask::combine(reached.collect()));
        self.traceback.align(&self.contexts, subject, hsps, evaluate, traceback)
    }
}
