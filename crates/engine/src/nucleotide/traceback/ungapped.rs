//! Makes the alignments of ungapped searches, which are the HSPs themselves.

use super::{Evaluation, Traceback, finished};
use crate::hits::{Alignment, Edit, EditOp, PrelimHsp};
use crate::order::{Bounds, Hsp};

impl Traceback {
    /// Converts ungapped HSPs to alignments.
    pub fn ungapped(
        hsps: &[PrelimHsp],
        evaluate: impl Fn(u8, i32) -> Evaluation,
    ) -> Vec<Alignment> {
        let made = hsps.iter().map(|hsp| {
            let bounds = hsp.bounds();
            let edits = vec![pairs(bounds)];
            let made = super::Hsp { context: hsp.context, score: hsp.score, bounds, edits };
            // Keep these values: some HSPs of the linked set may have been dropped.
            let (evalue, linked) = (hsp.evalue, hsp.linked);
            Alignment { evalue, linked, ..finished(made, &evaluate) }
        });
        made.collect()
    }
}

/// Returns the columns of an ungapped alignment.
fn pairs(bounds: Bounds) -> Edit {
    Edit { op: EditOp::Substitution, len: bounds.q_end - bounds.q_start }
}
