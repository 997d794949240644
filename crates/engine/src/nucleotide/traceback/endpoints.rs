//! Removes alignments that begin or end at the same pair as a better one
//! (`Blast_HSPListPurgeHSPsWithCommonEndpoints`, `blast_hits.c`). The part of an alignment that
//! extends beyond the better one may be kept.

use std::cmp::Ordering;

use super::Hsp;
use crate::hits::{Edit, EditOp};

/// The end of alignments that is compared: their begin or their end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndPoint {
    Begin,
    End,
}

impl EndPoint {
    fn position(self, hsp: &Hsp) -> (u8, u32, u32) {
        let b = hsp.bounds;
        match self {
            EndPoint::Begin => (hsp.context, b.q_start, b.s_start),
            EndPoint::End => (hsp.context, b.q_end, b.s_end),
        }
    }

    /// Compares two HSPs by end point. Of HSPs with the same end point, the best one comes first.
    fn order(self, a: &Hsp, b: &Hsp) -> Ordering {
        let wide = |hsp: &Hsp| match self {
            EndPoint::Begin => (hsp.bounds.q_end, hsp.bounds.s_end),
            EndPoint::End => (hsp.bounds.q_start, hsp.bounds.s_start),
        };
        self.position(a)
            .cmp(&self.position(b))
            .then(b.score.cmp(&a.score))
            .then(wide(b).cmp(&wide(a)))
    }

    /// Returns whether an HSP extends beyond another one with the same end point.
    fn reaches_beyond(self, hsp: &Hsp, other: &Hsp) -> bool {
        match self {
            EndPoint::Begin => hsp.bounds.q_end > other.bounds.q_end,
            EndPoint::End => hsp.bounds.q_start < other.bounds.q_start,
        }
    }

    /// Cuts off the part that an HSP shares with another.
    fn cut(self, hsp: &mut Hsp, other: &Hsp) {
        match self {
            EndPoint::Begin => cut(hsp, other.bounds.q_end, other.bounds.s_end, self),
            EndPoint::End => cut(hsp, other.bounds.q_start, other.bounds.s_start, self),
        }
    }
}

/// Drops all but the best of the HSPs that begin or end at the same pair.
pub(super) fn purge(hsps: &mut Vec<Hsp>) {
    for side in [EndPoint::Begin, EndPoint::End] {
        group(hsps, side, |_, _| None);
    }
}

/// Does the same as [`purge`], but keeps the parts that extend beyond the best HSP. These parts
/// follow all other HSPs, whose number is returned.
pub(super) fn purge_keeping_tails(hsps: &mut Vec<Hsp>) -> usize {
    let mut cut_off = Vec::new();
    for side in [EndPoint::Begin, EndPoint::End] {
        let mut tails = Vec::new();
        group(hsps, side, |mut hsp, best| {
            if side.reaches_beyond(&hsp, best) {
                side.cut(&mut hsp, best);
                tails.push(hsp);
            }
            None
        });
        // BLAST+ puts each part before the parts that it cut off earlier.
        tails.reverse();
        tails.append(&mut cut_off);
        cut_off = tails;
    }
    let whole = hsps.len();
    hsps.append(&mut cut_off);
    whole
}

/// Sorts by end points and passes each HSP that is not the best of its group to `rest`, together
/// with the best.
fn group(hsps: &mut Vec<Hsp>, side: EndPoint, mut rest: impl FnMut(Hsp, &Hsp) -> Option<Hsp>) {
    hsps.sort_by(|a, b| side.order(a, b));
    let mut kept: Vec<Hsp> = Vec::with_capacity(hsps.len());
    for hsp in hsps.drain(..) {
        match kept.last() {
            Some(best) if side.position(best) == side.position(&hsp) => {
                kept.extend(rest(hsp, best))
            }
            _ => kept.push(hsp),
        }
    }
    *hsps = kept;
}

/// Cuts an alignment after the first column that reaches or passes a position in both sequences. A
/// gap is not divided. Keeps the columns after the cut for a common begin, and those before it for
/// a common end. Without such a column the alignment stays unchanged.
fn cut(hsp: &mut Hsp, q_cut: u32, s_cut: u32, side: EndPoint) {
    let (q_cut, s_cut) = (
        i64::from(q_cut) - i64::from(hsp.bounds.q_start),
        i64::from(s_cut) - i64::from(hsp.bounds.s_start),
    );
    let (mut q, mut s) = (0, 0);
    for at in 0..hsp.edits.len() {
        let Edit { op, len } = hsp.edits[at];
        let len = i64::from(len);
        let taken = match op {
            // At least one pair, and as many as are missing.
            EditOp::Substitution => (q_cut - q).max(s_cut - s).clamp(1, len),
            _ => len,
        };
        q += if op == EditOp::GapInQuery { 0 } else { taken };
        s += if op == EditOp::GapInSubject { 0 } else { taken };
        if q < q_cut || s < s_cut {
            continue;
        }
        let (q, s) = (q as u32, s as u32);
        match side {
            EndPoint::Begin => {
                hsp.edits[at].len -= taken as u32;
                hsp.edits.drain(..at + usize::from(taken == len));
                hsp.bounds.q_start += q;
                hsp.bounds.s_start += s;
            }
            EndPoint::End => {
                hsp.edits[at].len = taken as u32;
                hsp.edits.truncate(at + 1);
                hsp.bounds.q_end = hsp.bounds.q_start + q;
                hsp.bounds.s_end = hsp.bounds.s_start + s;
            }
        }
        return;
    }
}
