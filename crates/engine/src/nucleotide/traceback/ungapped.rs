//! Searches without gaps: preliminary HSPs are scored on the true subject, and alignments are what they are
//! (`Blast_HSPListReevaluateUngapped`, `blast_hits.c`).

use super::{Context, Traceback, Worth, finished, rescore};
use crate::hits::{Alignment, Edit, EditOp, PrelimHsp};
use crate::order::{Bounds, Hsp, order_s};

impl Traceback {
    /// Scores HSPs without gaps on the whole subject in blastna letters, cuts them to their best stretch, drops what is below its
    /// context's cut-off or has too few identities, and sorts the rest into ORDER-S. Their e-values stay as they are.
    pub fn rescore_ungapped(
        &self,
        contexts: &[Context],
        subject: &[u8],
        hsps: &mut Vec<PrelimHsp>,
    ) {
        hsps.retain_mut(|hsp| {
            let Context { scored, unmasked, cutoff, .. } = &contexts[usize::from(hsp.context)];
            let rescored =
                rescore::rescore_ungapped(hsp.bounds(), scored, subject, &self.scores, *cutoff);
            let Some((score, bounds)) = rescored else { return false };
            let Bounds { q_start, q_end, s_start, s_end } = bounds;
            *hsp = PrelimHsp { score, q_start, q_end, s_start, s_end, ..*hsp };
            self.is_similar(bounds, &[pairs(bounds)], unmasked, subject)
        });
        hsps.sort_by(order_s);
    }

    /// The alignments of HSPs without gaps.
    pub fn ungapped(
        hsps: &[PrelimHsp],
        worth: impl Fn(u8, i32) -> Worth,
        limit: f64,
    ) -> Vec<Alignment> {
        let made = hsps.iter().map(|hsp| {
            let bounds = hsp.bounds();
            let edits = vec![pairs(bounds)];
            finished(super::Hsp { context: hsp.context, score: hsp.score, bounds, edits }, &worth)
        });
        made.filter(|alignment| alignment.evalue <= limit).collect()
    }
}

/// The columns of an alignment without gaps.
fn pairs(bounds: Bounds) -> Edit {
    Edit { op: EditOp::Substitution, len: bounds.q_end - bounds.q_start }
}
