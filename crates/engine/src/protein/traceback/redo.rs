//! Repeats alignments with a matrix adjusted to the two compositions (rules 6.3,
//! `redo_alignment.c`).

use std::ops::Range;

use fleetblast_seq::frame::Frame;

use super::dp::{Sequences, align_from};
use super::source::SubjectResidues;
use super::windows::{self, Window, composed_range};
use super::{
    LN_2, NEAR_IDENTICAL_BITS, ScaledAlignment, Traceback, TracebackContext, TracebackQuery,
    TracebackScratch, near,
};
use crate::hits::{Adjustment, PrelimHit, PrelimHsp};
use crate::order::{Bounds, Hsp};
use crate::protein::composition::composition_of;
use crate::subjects::FramedSubject;

/// Number of bits by which an alignment must score above an HSP inside it to make the HSP
/// redundant.
const CONTAINED_BITS: f64 = 2.0;

/// Least length of the subject range of nearly identical sequences, unless the query is shorter.
const NEAR_IDENTICAL_LENGTH: i64 = 50;

impl Traceback {
    /// Aligns the HSPs of a hit again. Returns the alignments in scaled units, by context, the
    /// latest alignment of a context first. Also returns the p-value of the compositions if it was
    /// computed.
    pub(super) fn redo(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> (Vec<ScaledAlignment>, Option<f64>) {
        let (mut aligned, mut pair_p) = (Vec::new(), None);
        for context in &query.contexts {
            let windows = windows::of_context(context, &hit.hsps, |frame| subject.length(frame));
            let mut accepted: Vec<ScaledAlignment> = Vec::new();
            for window in &windows {
                let place = (context, window);
                let residues = subject.part(window.frame, window.subject.clone());
                let subject = (hit.oid, &*residues);
                let least_score = query.least_score;
                self.redo_window(place, subject, least_score, &mut accepted, &mut pair_p, scratch);
            }
            aligned.append(&mut accepted);
        }
        (aligned, pair_p)
    }

    /// Aligns the HSPs of a window again, and adds the alignments to those of earlier windows.
    fn redo_window(
        &self,
        (query, window): (&TracebackContext, &Window),
        (oid, subject): (u32, &[u8]),
        least_score: i32,
        accepted: &mut Vec<ScaledAlignment>,
        pair_p: &mut Option<f64>,
        scratch: &mut TracebackScratch,
    ) {
        let (mut near, mut was_near, mut maybe_biased) = (false, false, true);
        let mut adjustments = 0;
        let mut rule = None;
        let is_translated = window.frame != Frame::Protein;
        let first = window.hsps[0].relative_to(window.subject.start as u32);
        let part = (query, &window.query);
        for (k, hsp) in window.hsps.iter().enumerate() {
            let placed = hsp.relative_to(window.subject.start as u32);
            if k == 0 || maybe_biased {
                near = self.maybe_near_identical(query, hsp);
            }
            let changed = k == 0 || near != was_near;
            if changed && maybe_biased {
                let view = FramedSubject { oid, frame: window.frame };
                maybe_biased = self.prepare(part, subject, (view, &first), near, scratch);
            }
            if !self.is_covered(hsp, accepted) {
                if changed || is_translated {
                    rule = self.adjust(part, &placed, scratch, pair_p);
                    adjustments += 1;
                }
                if let Some(adjustment) = rule {
                    let new = self.realign((query, window), &placed, adjustment, scratch);
                    if new.score >= least_score {
                        insert_distinct(new, accepted, adjustments == 1);
                    }
                }
            }
            was_near = near;
        }
    }

    /// Returns whether the length and the score per residue of an HSP allow nearly identical
    /// sequences. This is a cheap test before the sequences are compared.
    pub(super) fn maybe_near_identical(&self, query: &TracebackContext, hsp: &PrelimHsp) -> bool {
        let q_span = i64::from(hsp.q_end) - i64::from(hsp.q_start);
        let s_span = i64::from(hsp.s_end) - i64::from(hsp.s_start);
        if s_span + 1 < (query.residues.len() as i64).min(NEAR_IDENTICAL_LENGTH) {
            return false;
        }
        let cutoff = NEAR_IDENTICAL_BITS * LN_2 / self.lambda;
        let density = f64::from(hsp.score * self.scale) / q_span.min(s_span) as f64;
        density >= cutoff
    }

    /// Returns whether an HSP lies inside an accepted alignment of much higher score.
    fn is_covered(&self, hsp: &PrelimHsp, accepted: &[ScaledAlignment]) -> bool {
        let enough = f64::from(hsp.score * self.scale) + CONTAINED_BITS * LN_2 / self.lambda;
        let (bounds, strand) = (hsp.bounds(), hsp.frame.strand());
        let covers = |a: &ScaledAlignment| a.frame.strand() == strand && a.bounds.encloses(&bounds);
        accepted.iter().any(|a| covers(a) && enough <= f64::from(a.score))
    }

    /// Computes the matrix for an HSP, from a range of the query and the loaded subject. Without
    /// adjustment it is the plain matrix. Returns `None` if one of the sequences has no true
    /// residues.
    pub(super) fn adjust(
        &self,
        (query, range): (&TracebackContext, &Range<usize>),
        hsp: &PrelimHsp,
        scratch: &mut TracebackScratch,
        pair_p: &mut Option<f64>,
    ) -> Option<Adjustment> {
        let Some(adjuster) = &self.adjuster else {
            scratch.padded.clone_from(self.plain_scores(query));
            return Some(Adjustment::None);
        };
        let residues = scratch.subject.residues();
        let composed = match hsp.frame {
            Frame::Protein => 0..residues.len(),
            _ => composed_range(residues, &(0..residues.len()), hsp.s_start..hsp.s_end),
        };
        let subject = composition_of(&residues[composed]);
        let composition = query.composition.unwrap_or_else(|| {
            let near = composed_range(&query.residues, range, hsp.q_start..hsp.q_end);
            composition_of(&query.residues[near])
        });
        if let Some(positions) = &query.positions {
            let TracebackScratch { workspace, positions: scores, padded, .. } = scratch;
            let adjusted = positions.adjust(&composition, &subject, workspace.table(), scores);
            padded.set_positions(scores);
            return adjusted.then_some(Adjustment::Scaled);
        }
        scratch.padded.set_letters();
        let rule = adjuster.adjust(
            self.mode,
            &composition,
            range.len(),
            &subject,
            residues.len(),
            &mut scratch.workspace,
            &mut scratch.matrix,
        )?;
        scratch.padded.set_matrix(&scratch.matrix);
        if let Some(pvalues) = &self.pair_pvalues {
            *pair_p = Some(pvalues.p_value(&composition, &subject));
        }
        Some(rule)
    }

    /// Aligns an HSP again within a window. Subject positions of `hsp` are relative to the window.
    fn realign(
        &self,
        (query, window): (&TracebackContext, &Window),
        hsp: &PrelimHsp,
        adjustment: Adjustment,
        scratch: &mut TracebackScratch,
    ) -> ScaledAlignment {
        let (length, range) = (query.rows.len(), &window.query);
        let sequences = Sequences {
            query: &query.rows[range.clone()],
            query_back: &query.reversed_rows[length - range.end..length - range.start],
            subject: scratch.subject.forwards(),
            subject_back: scratch.subject.backwards(),
        };
        let scheme = self.scheme(&scratch.padded);
        let (q, s) = (hsp.q_seed as usize - range.start, hsp.s_seed as usize);
        let traced = align_from(&sequences, q, s, &scheme, &mut scratch.dp);
        let Bounds { q_start, q_end, s_start, s_end } = traced.bounds;
        let (q_from, s_from) = (range.start as u32, window.subject.start as u32);
        let bounds = Bounds {
            q_start: q_start + q_from,
            q_end: q_end + q_from,
            s_start: s_start + s_from,
            s_end: s_end + s_from,
        };
        let (context, frame, score) = (query.number, window.frame, traced.score);
        ScaledAlignment { context, frame, score, bounds, edits: traced.edits, adjustment }
    }

    /// Loads the subject. Masks it, unless its first HSP shows that it is nearly identical to the
    /// range of the query. Returns false if there was nothing to mask.
    pub(super) fn prepare(
        &self,
        (query, range): (&TracebackContext, &Range<usize>),
        subject: &[u8],
        (view, first): (FramedSubject, &PrelimHsp),
        near: bool,
        scratch: &mut TracebackScratch,
    ) -> bool {
        let from = range.start as u32;
        let placed =
            PrelimHsp { q_start: first.q_start - from, q_end: first.q_end - from, ..*first };
        // The words are those of the whole query: BLAST+ looks up positions in the range as if they
        // were positions in the query (`s_TestNearIdentical`, blast_kappa.c).
        let (residues, letters) = (&query.residues[range.clone()], &query.letters);
        let share = self.near_identical;
        if near && near::nearly_identical(residues, letters, subject, &placed, share) {
            scratch.subject.load(subject);
            true
        } else {
            // Windows of a frame differ from query to query, so they are not cached.
            let known = (view.frame == Frame::Protein).then_some(&self.segments);
            scratch.subject.load_masked(view, subject, known)
        }
    }
}

/// Inserts a new alignment before the accepted ones, unless it conflicts with an accepted one of at
/// least its score. With `same_matrix`, alignments of one frame conflict if they share a start or
/// an end. Otherwise the new one conflicts if one of its ends lies in the box of the accepted one,
/// on the diagonal of the same end. The new alignment replaces accepted ones that share a start or
/// an end with it.
fn insert_distinct(new: ScaledAlignment, accepted: &mut Vec<ScaledAlignment>, same_matrix: bool) {
    let conflict = |old: &ScaledAlignment| {
        if old.frame != new.frame {
            false
        } else if same_matrix {
            shares_end(&new.bounds, &old.bounds)
        } else {
            has_similar_end(&new.bounds, &old.bounds)
        }
    };
    if accepted.iter().any(|old| conflict(old) && new.score <= old.score) {
        return;
    }
    accepted.retain(|old| old.frame != new.frame || !shares_end(&new.bounds, &old.bounds));
    accepted.insert(0, new);
}

fn shares_end(a: &Bounds, b: &Bounds) -> bool {
    (a.q_start, a.s_start) == (b.q_start, b.s_start) || (a.q_end, a.s_end) == (b.q_end, b.s_end)
}

/// Returns whether an end of `new` lies in the closed box of `old`, on the diagonal of the same end
/// of `old`.
fn has_similar_end(new: &Bounds, old: &Bounds) -> bool {
    let inside = |q: u32, s: u32| {
        (old.q_start..=old.q_end).contains(&q) && (old.s_start..=old.s_end).contains(&s)
    };
    let diagonal = |q: u32, s: u32| i64::from(q) - i64::from(s);
    let start = inside(new.q_start, new.s_start)
        && diagonal(new.q_start, new.s_start) == diagonal(old.q_start, old.s_start);
    let end = inside(new.q_end, new.s_end)
        && diagonal(new.q_end, new.s_end) == diagonal(old.q_end, old.s_end);
    start || end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled_hsp(score: i32, q: (u32, u32), s: (u32, u32)) -> ScaledAlignment {
        ScaledAlignment {
            context: 0,
            frame: Frame::Protein,
            score,
            bounds: Bounds { q_start: q.0, q_end: q.1, s_start: s.0, s_end: s.1 },
            edits: Vec::new(),
            adjustment: Adjustment::Matrix,
        }
    }

    fn scores(list: &[ScaledAlignment]) -> Vec<i32> {
        list.iter().map(|a| a.score).collect()
    }

    #[test]
    fn a_better_alignment_replaces_those_with_a_common_end() {
        let mut list = Vec::new();
        insert_distinct(scaled_hsp(50, (0, 10), (0, 10)), &mut list, true);
        insert_distinct(scaled_hsp(40, (2, 20), (3, 20)), &mut list, true);
        insert_distinct(scaled_hsp(50, (0, 30), (0, 30)), &mut list, true);
        assert_eq!(scores(&list), [40, 50], "an equal score does not replace");
        insert_distinct(scaled_hsp(51, (0, 20), (0, 20)), &mut list, true);
        assert_eq!(scores(&list), [51]);
    }

    #[test]
    fn similar_ends_refuse_but_do_not_replace() {
        let mut list = vec![scaled_hsp(50, (0, 30), (0, 30))];
        insert_distinct(scaled_hsp(40, (5, 40), (5, 45)), &mut list, false);
        assert_eq!(scores(&list), [50]);
        insert_distinct(scaled_hsp(40, (5, 40), (5, 45)), &mut list, true);
        assert_eq!(scores(&list), [40, 50]);
        insert_distinct(scaled_hsp(60, (5, 29), (5, 33)), &mut list, false);
        assert_eq!(scores(&list), [60, 50], "only the one with the same start is replaced");
    }
}
