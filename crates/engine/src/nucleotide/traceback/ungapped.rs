//! Alignments of searches without gaps: HSPs as they are.

use super::{Traceback, Worth, finished};
use crate::hits::{Alignment, Edit, EditOp, PrelimHsp};
use crate::order::{Bounds, Hsp};

impl Traceback {
    /// The alignments of HSPs without gaps.
    pub fn ungapped(hsps: &[PrelimHsp], worth: impl Fn(u8, i32) -> Worth) -> Vec<Alignment> {
        let made = hsps.iter().map(|hsp| {
            let bounds = hsp.bounds();
            let edits = vec![pairs(bounds)];
            let made = super::Hsp { context: hsp.context, score: hsp.score, bounds, edits };
            // What was linked with it is no longer all here.
            let (evalue, linked) = (hsp.evalue, hsp.linked);
            Alignment { evalue, linked, ..finished(made, &worth) }
        });
        made.collect()
    }
}

/// The columns of an alignment without gaps.
fn pairs(bounds: Bounds) -> Edit {
    Edit { op: EditOp::Substitution, len: bounds.q_end - bounds.q_start }
}
