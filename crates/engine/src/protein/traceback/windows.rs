//! The parts of two sequences that are aligned again together: whole proteins, or windows around
//! the HSPs of a translated sequence (`s_WindowsFromAligns`, redo_alignment.c).

use std::ops::Range;

use fleetblast_seq::alphabet::STOP;
use fleetblast_seq::frame::Frame;

use super::TracebackContext;
use crate::hits::PrelimHsp;
use crate::order::compare_hsps;

/// Number of residues of a frame around an HSP that are aligned with it (`kWindowBorder`).
const BORDER: usize = 200;
/// Number of residues next to a stop that do not count for the composition (`kCompositionMargin`).
const MARGIN: usize = 20;

/// HSPs that are aligned again within ranges of their context and of the subject.
#[derive(Debug)]
pub(super) struct Window {
    /// Range of the context.
    pub query: Range<usize>,
    /// Frame of the subject.
    pub frame: Frame,
    /// Range of the frame.
    pub subject: Range<usize>,
    /// HSPs in ORDER-S; never empty.
    pub hsps: Vec<PrelimHsp>,
}

impl Window {
    /// Joins the next window by position to this one. Returns it as an error if the frames differ
    /// or a gap lies between the two. Proteins are never divided, so that only the ranges of the
    /// translated sequence can differ.
    fn join(&mut self, next: Window) -> Result<(), Window> {
        let touches = |range: &Range<usize>, next: &Range<usize>| range.end >= next.start;
        if self.frame != next.frame
            || !touches(&self.query, &next.query)
            || !touches(&self.subject, &next.subject)
        {
            return Err(next);
        }
        self.query.end = self.query.end.max(next.query.end);
        self.subject.end = self.subject.end.max(next.subject.end);
        self.hsps.extend(next.hsps);
        Ok(())
    }
}

/// Returns the windows of a context, by position. `hsps` holds the HSPs of all contexts, in
/// ORDER-S. `subject_length` returns the length of a frame of the subject.
pub(super) fn of_context(
    context: &TracebackContext,
    hsps: &[PrelimHsp],
    subject_length: impl Fn(Frame) -> usize,
) -> Vec<Window> {
    let length = context.residues.len();
    let around = |start: u32, end: u32, length: usize| {
        (start as usize).saturating_sub(BORDER)..length.min(end as usize + BORDER)
    };
    let window = |hsp: PrelimHsp| {
        let whole = 0..subject_length(hsp.frame);
        let (query, subject) = match hsp.frame {
            Frame::Protein if context.composition.is_some() => (0..length, whole),
            Frame::Protein => (around(hsp.q_start, hsp.q_end, length), whole),
            _ => (0..length, around(hsp.s_start, hsp.s_end, whole.end)),
        };
        Window { query, frame: hsp.frame, subject, hsps: vec![hsp] }
    };
    let own = hsps.iter().filter(|hsp| hsp.context == context.number).copied();
    let mut single: Vec<Window> = own.map(window).collect();
    single.sort_by_key(|window| {
        let Window { query, frame, subject, .. } = window;
        (frame.number(), subject.start, subject.end, query.start, query.end)
    });
    let mut joined: Vec<Window> = Vec::new();
    for window in single {
        let rest = match joined.last_mut() {
            Some(last) => last.join(window),
            None => Err(window),
        };
        joined.extend(rest.err());
    }
    for window in &mut joined {
        window.hsps.sort_by(compare_hsps);
    }
    joined.sort_by_key(|window| {
        let Window { query, frame, subject, .. } = window;
        (subject.start, subject.end, frame.number(), query.start, query.end)
    });
    joined
}

/// Returns the range of a translation whose composition counts for an HSP in the range `aligned`.
/// It extends on both sides to a margin before the next stop, or to the end of the window
/// (`Blast_GetCompositionRange`, redo_alignment.c).
pub(super) fn composed_range(
    residues: &[u8],
    window: &Range<usize>,
    aligned: Range<u32>,
) -> Range<usize> {
    let (start, end) = (aligned.start as usize, aligned.end as usize);
    let is_stop = |&residue: &u8| residue == STOP;
    let before = &residues[window.start..start.max(window.start)];
    let left = match before.iter().rposition(is_stop) {
        Some(stop) => {
            let margin = window.start + stop + 1 + MARGIN;
            if margin < start { margin } else { start }
        }
        None => window.start,
    };
    let after = &residues[end.min(window.end)..window.end];
    let right = match after.iter().position(is_stop) {
        Some(stop) => {
            let stop = end + stop;
            if stop > end + MARGIN { stop - MARGIN } else { end }
        }
        None => window.end,
    };
    left..right
}
