//! Traceback without composition adjustment (rules 6.8, `blast_traceback.c`).

use fleetblast_seq::frame::Frame;

use super::dp::{Sequences, align_from};
use super::{Traceback, TracebackContext, TracebackQuery, TracebackScratch};
use crate::containment::ContainmentTree;
use crate::hits::{Adjustment, Alignment, Candidate, HitKey, PrelimHit, PrelimHsp};
use crate::lists::linking::uneven;
use crate::order::{Bounds, Hsp, InContext, common_endpoints, order_s};
use crate::protein::linking;

/// Length of the window in which the start of an alignment is sought.
const WINDOW: u32 = 11;

/// Subjects of at least this length are aligned only near the seed (`AdjustSubjectRange`,
/// `blast_gapalign.c`).
const LONG_SUBJECT: usize = 90_000;
/// Estimated largest total length of gaps.
const MAX_TOTAL_GAPS: usize = 3000;

impl Traceback {
    pub(super) fn plain(
        &self,
        query: &TracebackQuery,
        subject: &[u8],
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> Candidate {
        scratch.subject.load(subject);
        scratch.trees.iter_mut().for_each(ContainmentTree::clear);
        let mut alignments = Vec::new();
        for hsp in &hit.hsps {
            let strand = strand_of(hsp);
            if scratch.trees[strand].encloses(&hsp.bounds(), hsp.score) {
                continue;
            }
            let context = &query.contexts[usize::from(hsp.context)];
            let Some((q_seed, s_seed)) = self.seed(context, subject, hsp) else { continue };
            let alignment = self.plain_alignment(context, q_seed, s_seed, scratch);
            scratch.trees[strand].add(&alignment.bounds(), alignment.score);
            alignments.push(alignment);
        }
        common_endpoints(&mut alignments);
        alignments.sort_by(order_s);
        scratch.trees.iter_mut().for_each(ContainmentTree::clear);
        alignments.retain(|alignment| {
            let tree = &mut scratch.trees[strand_of(alignment)];
            let bounds = alignment.bounds();
            let keep = !tree.encloses(&bounds, alignment.score);
            if keep {
                tree.add(&bounds, alignment.score);
            }
            keep
        });
        self.evaluate_plain(query, subject.len(), &mut alignments);
        alignments.retain(|alignment| alignment.evalue <= self.significance.limit);
        let key = HitKey::of_alignments(hit.oid, &alignments);
        Candidate::new(hit.oid, key, alignments)
    }

    /// Computes e-values and bit scores.
    fn evaluate_plain(
        &self,
        query: &TracebackQuery,
        subject_len: usize,
        alignments: &mut [Alignment],
    ) {
        let context_of = |number: u8| &query.contexts[usize::from(number)];
        for alignment in alignments.iter_mut() {
            let context = context_of(alignment.context);
            let evalue = context.significance.evalue(alignment.score, context, subject_len);
            alignment.evalue = match self.linked_gaps {
                Some(_) => evalue / linking::single_divisor(),
                None => evalue,
            };
            alignment.bit_score = context.significance.bits(alignment.score);
        }
        if let Some(gaps) = self.linked_gaps {
            uneven::link(alignments, gaps, |number| {
                let context = context_of(number);
                context.significance.linked(context, subject_len)
            });
        }
    }

    /// The start of the alignment: the seed of the preliminary one, unless that is the very first
    /// pair, which also means "unknown" (`BlastGetOffsetsForGappedAlignment`, `blast_gapalign.c`).
    /// `None` drops the HSP.
    fn seed(
        &self,
        query: &TracebackContext,
        subject: &[u8],
        hsp: &PrelimHsp,
    ) -> Option<(usize, usize)> {
        if (hsp.q_seed, hsp.s_seed) != (0, 0) {
            return Some((hsp.q_seed as usize, hsp.s_seed as usize));
        }
        let (q, s) = (hsp.q_start as usize, hsp.s_start as usize);
        let (q_span, s_span) = (hsp.q_end - hsp.q_start, hsp.s_end - hsp.s_start);
        if q_span <= WINDOW {
            let half = q_span as usize / 2;
            return Some((q + half, s + half));
        }
        let plain = self.plain_scores(query);
        let pairs = |q: usize, s: usize, len: usize| {
            let (q, s) = (&query.rows[q..], &subject[s..]);
            q.iter()
                .zip(s)
                .take(len)
                .map(|(&row, &letter)| plain.score(row, letter))
                .collect::<Vec<i32>>()
        };
        let scores = pairs(q, s, q_span.min(s_span).max(WINDOW) as usize);
        let window = WINDOW as usize;
        let mut best = (0, 0);
        for (i, part) in scores.windows(window).enumerate() {
            let score = part.iter().sum::<i32>();
            if score > best.0 {
                best = (score, i + window - 1);
            }
        }
        if best.0 > 0 {
            return Some((q + best.1, s + best.1));
        }
        let (q_end, s_end) = (hsp.q_end as usize, hsp.s_end as usize);
        let last = pairs(q_end - window, s_end.checked_sub(window)?, window);
        (last.iter().sum::<i32>() > 0).then_some((q_end - window / 2, s_end - window / 2))
    }

    fn plain_alignment(
        &self,
        query: &TracebackContext,
        q_seed: usize,
        s_seed: usize,
        scratch: &mut TracebackScratch,
    ) -> Alignment {
        let (forwards, backwards) = (scratch.subject.forwards(), scratch.subject.backwards());
        let total = forwards.len() - 1;
        let (shift, end) = near_seed(q_seed, query.residues.len(), s_seed, total);
        let sequences = Sequences {
            query: &query.rows,
            query_back: &query.reversed_rows,
            // One residue more than is aligned on either side, as the alignment requires.
            subject: &forwards[shift..=end],
            subject_back: &backwards[total - end..=total - shift],
        };
        let scheme = self.scheme(self.plain_scores(query));
        let traced = align_from(&sequences, q_seed, s_seed - shift, &scheme, &mut scratch.dp);
        let Bounds { q_start, q_end, s_start, s_end } = traced.bounds;
        let shift = shift as u32;
        Alignment {
            score: traced.score,
            bit_score: f64::NAN,
            evalue: f64::NAN,
            linked: 1,
            query: q_start..q_end,
            subject: s_start + shift..s_end + shift,
            context: query.number,
            frame: Frame::Protein,
            edits: traced.edits,
            number: 0,
            occurrence: 0,
            adjustment: Adjustment::None,
        }
    }
}

/// Number of the strand of an HSP. Frames of a strand are compared as if they began at the same
/// base (`s_GetQueryStrandOffset`, blast_itree.c); a protein has the first strand only.
fn strand_of(hsp: &impl InContext) -> usize {
    usize::from(hsp.context() / 3)
}

/// The part of the subject that may be aligned.
fn near_seed(q_seed: usize, q_len: usize, s_seed: usize, s_len: usize) -> (usize, usize) {
    if s_len < LONG_SUBJECT {
        return (0, s_len);
    }
    let start = s_seed.saturating_sub(q_seed + MAX_TOTAL_GAPS);
    let end = s_len.min(s_seed + q_len - q_seed + MAX_TOTAL_GAPS);
    (start, end)
}
