//! Optimal local alignments in place of those of the X-drop heuristic (`-use_sw_tback`, rules 6.6,
//! `redo_alignment.c`).

use fleetblast_seq::frame::Frame;

use super::dp::{Scheme, align_forward};
use super::local::Peak;
use super::{Scaled, Traceback, TracebackContext, TracebackScratch};
use crate::hits::{Adjustment, HitKey, PrelimHit};
use crate::order::Bounds;

/// Number of attempts with a doubled X-drop, if the dynamic programming misses the score.
const TRIES: i32 = 3;

/// The alignments of a subject.
pub(super) struct LocalAlignments {
    /// Latest first.
    pub alignments: Vec<Scaled>,
    /// Key of the first alignment by the e-value of the search space; `None` if it is not
    /// significant.
    pub first: Option<HitKey>,
    pub pair_p: Option<f64>,
}

impl Traceback {
    /// All significant local alignments; only the best one if there was just one preliminary HSP.
    pub(super) fn smith_waterman(
        &self,
        query: &TracebackContext,
        subject: &[u8],
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> LocalAlignments {
        let mut found = LocalAlignments { alignments: Vec::new(), first: None, pair_p: None };
        let Some(first) = hit.hsps.first() else { return found };
        self.prepare_once(query, subject, (hit.oid, first), scratch);
        let whole = 0..query.residues.len();
        let adjusted = self.adjust((query, &whole), first, scratch, &mut found.pair_p);
        let Some(adjustment) = adjusted else { return found };
        let TracebackScratch { local, forbidden, padded, subject, dp, .. } = scratch;
        forbidden.clear(query.residues.len());
        let scheme = self.scheme(padded);
        loop {
            let end = local.best_end(&query.rows, subject.residues(), &scheme, forbidden);
            let evalue = query.significance.local_evalue(end.score, query);
            // A score of 0 aligns nothing; BLAST+ would loop forever here.
            if end.score <= 0 || evalue >= self.significance.limit {
                return found;
            }
            found.first.get_or_insert(HitKey { evalue, score: end.score, oid: hit.oid });
            let start = local.start_of(&query.rows, subject.residues(), &scheme, forbidden, &end);
            let aligned = trace(query, subject.forwards(), &scheme, &start, &end, dp);
            let b = aligned.bounds;
            forbidden
                .push(b.q_start as usize..b.q_end as usize, b.s_start as usize..b.s_end as usize);
            let empty = b.q_start == b.q_end;
            found.alignments.insert(0, Scaled { adjustment, ..aligned });
            if hit.hsps.len() == 1 || empty {
                return found;
            }
        }
    }
}

/// The columns of the alignment from `start` to `end`.
fn trace(
    query: &TracebackContext,
    subject: &[u8],
    scheme: &Scheme<'_>,
    start: &Peak,
    end: &Peak,
    dp: &mut super::DpScratch,
) -> Scaled {
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
    Scaled {
        context: query.number,
        frame: Frame::Protein,
        score: extent.score,
        bounds: Bounds {
            q_start: start.query as u32,
            q_end: (start.query + extent.query) as u32,
            s_start: start.subject as u32,
            s_end: (start.subject + extent.subject) as u32,
        },
        edits,
        adjustment: Adjustment::None,
    }
}
