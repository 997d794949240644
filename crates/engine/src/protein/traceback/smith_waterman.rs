//! Optimal local alignments, which replace those of the X-drop heuristic (`-use_sw_tback`, rules
//! 6.6, `redo_alignment.c`).

use super::dp::{Scheme, align_forward};
use super::local::Peak;
use super::source::SubjectResidues;
use super::windows::{self, Window};
use super::{ScaledAlignment, Traceback, TracebackContext, TracebackQuery, TracebackScratch};
use crate::hits::{Adjustment, HitKey, PrelimHit};
use crate::order::Bounds;
use crate::params::CompositionMode;
use crate::subjects::FramedSubject;

/// Maximum number of attempts to reach the score by dynamic programming. Each further attempt
/// doubles the X-drop.
const TRIES: i32 = 3;

/// The alignments of a subject.
#[derive(Default)]
pub(super) struct LocalAlignments {
    /// Alignments in scaled units, the latest first.
    pub alignments: Vec<ScaledAlignment>,
    /// Key of the first alignment, with the e-value that follows from the search space alone.
    /// `None` if it is not significant, or if alignments are linked.
    pub first: Option<HitKey>,
    pub pair_p: Option<f64>,
}

impl Traceback {
    /// Finds all significant local alignments of a hit.
    pub(super) fn smith_waterman(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> LocalAlignments {
        let mut found = LocalAlignments::default();
        for context in &query.contexts {
            let windows = windows::of_context(context, &hit.hsps, |frame| subject.length(frame));
            for window in &windows {
                let residues = subject.part(window.frame, window.subject.clone());
                let subject = (hit.oid, &*residues);
                let place = (context, window);
                self.align_window(place, subject, query.least_score, &mut found, scratch);
            }
        }
        found
    }

    /// Finds the local alignments of a window. It finds only the best one if there was just one
    /// preliminary HSP.
    fn align_window(
        &self,
        (query, window): (&TracebackContext, &Window),
        (oid, subject): (u32, &[u8]),
        least_score: i32,
        found: &mut LocalAlignments,
        scratch: &mut TracebackScratch,
    ) {
        let part = (query, &window.query);
        let first = window.hsps[0].relative_to(window.subject.start as u32);
        if self.mode == CompositionMode::Off {
            scratch.subject.load(subject);
        } else {
            let near = self.maybe_near_identical(query, &first);
            let view = FramedSubject { oid, frame: window.frame };
            self.prepare(part, subject, (view, &first), near, scratch);
        }
        let adjusted = self.adjust(part, &first, scratch, &mut found.pair_p);
        let Some(adjustment) = adjusted else { return };
        let TracebackScratch { local, forbidden, padded, subject, dp, .. } = scratch;
        forbidden.clear(query.residues.len());
        let scheme = self.scheme(padded);
        loop {
            let end = local.best_end(&query.rows, subject.residues(), &scheme, forbidden);
            let evalue = query.significance.local_evalue(end.score, query);
            let is_significant = match self.linked_gaps {
                Some(_) => end.score >= least_score,
                None => evalue < self.significance.limit,
            };
            // A score of 0 aligns nothing; BLAST+ would loop forever here.
            if end.score <= 0 || !is_significant {
                return;
            }
            if self.linked_gaps.is_none() {
                found.first.get_or_insert(HitKey { evalue, score: end.score, oid });
            }
            let start = local.start_of(&query.rows, subject.residues(), &scheme, forbidden, &end);
            let place = (query, window);
            let aligned = trace(place, adjustment, subject.forwards(), &scheme, (&start, &end), dp);
            let Bounds { q_start, q_end, s_start, s_end } = aligned.bounds;
            let [s_start, s_end] = [s_start, s_end].map(|at| at as usize - window.subject.start);
            forbidden.push(q_start as usize..q_end as usize, s_start..s_end);
            found.alignments.insert(0, aligned);
            if window.hsps.len() == 1 || q_start == q_end {
                return;
            }
        }
    }
}

/// Computes the alignment from `start` to `end`, which are positions in the window. `subject` holds
/// the residues of the window.
fn trace(
    (query, window): (&TracebackContext, &Window),
    adjustment: Adjustment,
    subject: &[u8],
    scheme: &Scheme<'_>,
    (start, end): (&Peak, &Peak),
    dp: &mut super::DpScratch,
) -> ScaledAlignment {
    let rows = &query.rows[start.query..=end.query];
    let columns = &subject[start.subject..end.subject + 2];
    let mut edits = Vec::new();
    let mut scheme = *scheme;
    let mut extent = align_forward(rows, columns, &scheme, dp, &mut edits);
    for _ in 1..TRIES {
        if extent.score >= end.score {
            break;
        }
        scheme.x_drop = scheme.x_drop.saturating_mul(2);
        extent = align_forward(rows, columns, &scheme, dp, &mut edits);
    }
    let s_start = window.subject.start + start.subject;
    ScaledAlignment {
        context: query.number,
        frame: window.frame,
        score: extent.score,
        bounds: Bounds {
            q_start: start.query as u32,
            q_end: (start.query + extent.query) as u32,
            s_start: s_start as u32,
            s_end: (s_start + extent.subject) as u32,
        },
        edits,
        adjustment,
    }
}
