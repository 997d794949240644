//! Aligns by dynamic programming, with scores in bytes if bytes suffice, otherwise in 32 bits.

#[cfg(test)]
mod tests;

use fleetblast_seq::nucleotide::blastna;

use super::Traceback;
use super::window::SubjectWindow;
use crate::kernel::Kernel;
use crate::nucleotide::gapped::traced::{TracebackExtender, TracebackSteps, TracedDirection};
use crate::scores::{RowNumber, ScoreRows};
use crate::xdrop::GapCosts;
use crate::xdrop::frames::MARGIN;
use crate::xdrop::traced::{DpScratch, Scheme, Sequences, Traced, align_from, joined};

/// Parameters of extensions with bytes; empty if bytes do not suffice.
#[derive(Clone, Debug)]
pub(crate) struct ByteTracer {
    extender: Option<TracebackExtender>,
}

impl ByteTracer {
    /// Prepares the parameters for these scores of blastna codes.
    pub fn new(scores: &ScoreRows, gaps: GapCosts, x_drop: i32) -> ByteTracer {
        ByteTracer { extender: TracebackExtender::new(scores, gaps, x_drop, blastna::SENTINEL) }
    }
}

/// Work space that alignments reuse.
#[derive(Debug)]
pub(super) struct DynamicScratch {
    dp: DpScratch,
    trails: [TracebackSteps; 2],
    edits: [Vec<crate::hits::Edit>; 2],
}

impl DynamicScratch {
    pub fn new(kernel: Kernel) -> DynamicScratch {
        DynamicScratch {
            dp: DpScratch::new(kernel),
            trails: Default::default(),
            edits: Default::default(),
        }
    }
}

/// Aligns a query with the letters of the window, in both directions from the pair `start`. `rows`
/// has the score rows of the query, forwards and backwards.
pub(super) fn align(
    traceback: &Traceback,
    kernel: Kernel,
    rows: [&[RowNumber]; 2],
    window: &SubjectWindow,
    start: (usize, usize),
    scratch: &mut DynamicScratch,
) -> Traced {
    if let Some(traced) = in_bytes(traceback, kernel, rows, window, start, scratch) {
        return traced;
    }
    // The letters of the window and one sentinel.
    let letters = MARGIN..MARGIN + window.length() + 1;
    let sequences = Sequences {
        query: rows[0],
        query_back: rows[1],
        subject: &window.forward()[letters.clone()],
        subject_back: &window.backward()[letters],
    };
    let scheme = Scheme {
        scores: &traceback.scores,
        gaps: traceback.scoring.gaps,
        x_drop: traceback.x_drop,
    };
    align_from(&sequences, start.0, start.1, &scheme, &mut scratch.dp)
}

fn in_bytes(
    traceback: &Traceback,
    kernel: Kernel,
    [rows, rows_back]: [&[RowNumber]; 2],
    window: &SubjectWindow,
    (q, s): (usize, usize),
    scratch: &mut DynamicScratch,
) -> Option<Traced> {
    let extender = traceback.vectors.extender.as_ref()?;
    let before = window.length() - 1 - s;
    let left = TracedDirection {
        query: &rows_back[rows.len() - 1 - q..],
        subject: window.backward(),
        at: MARGIN + before,
    };
    let right =
        TracedDirection { query: &rows[q + 1..], subject: window.forward(), at: MARGIN + s + 1 };
    let DynamicScratch { trails, edits: [edits, tail], .. } = scratch;
    let extents = extender.extend(kernel, [left, right], trails)?;
    trails[0].back(extents[0], edits);
    trails[1].back(extents[1], tail);
    Some(joined((q, s), extents, [edits, tail], traceback.scoring.gaps))
}
