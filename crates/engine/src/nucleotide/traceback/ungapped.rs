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
            finished(super::Hsp { context: hsp.context, score: hsp.score, bounds, edits }, &worth)
        });
        made.collect()
    }
}

/// The columns of an alignment without gaps.
fn pairs(bounds: Bounds) -> Edit {
    Edit { op: EditOp::Substitution, len: bounds.q_end - bounds.q_start }
}
