//! The parts of a query that are aligned again together: all of a protein, or windows around the
//! HSPs of a translated query (`s_WindowsFromAligns`, redo_alignment.c).

use std::ops::Range;

use fleetblast_seq::alphabet::STOP;

use super::TracebackContext;
use crate::hits::PrelimHsp;
use crate::order::order_s;

/// Residues of a frame around an HSP that are aligned with it (`kWindowBorder`).
const BORDER: usize = 200;
/// Residues next to a stop that do not count for the composition (`kCompositionMargin`).
const MARGIN: usize = 20;

/// HSPs that are aligned again within a range of their context.
#[derive(Debug)]
pub(super) struct Window {
    pub range: Range<usize>,
    /// In ORDER-S, never empty.
    pub hsps: Vec<PrelimHsp>,
}

/// The windows of a context, by position. `hsps` are those of all contexts, in ORDER-S.
pub(super) fn of_context(context: &TracebackContext, hsps: &[PrelimHsp]) -> Vec<Window> {
    let length = context.residues.len();
    let own = hsps.iter().filter(|hsp| hsp.context == context.number).copied();
    if context.composition.is_some() {
        let hsps: Vec<PrelimHsp> = own.collect();
        let window = Window { range: 0..length, hsps };
        return if window.hsps.is_empty() { Vec::new() } else { vec![window] };
    }
    let around = |hsp: PrelimHsp| {
        let start = (hsp.q_start as usize).saturating_sub(BORDER);
        Window { range: start..length.min(hsp.q_end as usize + BORDER), hsps: vec![hsp] }
    };
    let mut single: Vec<Window> = own.map(around).collect();
    single.sort_by_key(|window| (window.range.start, window.range.end));
    let mut joined: Vec<Window> = Vec::new();
    for window in single {
        match joined.last_mut() {
            Some(last) if last.range.end >= window.range.start => {
                last.range.end = last.range.end.max(window.range.end);
                last.hsps.extend(window.hsps);
            }
            _ => joined.push(window),
        }
    }
    for window in &mut joined {
        window.hsps.sort_by(order_s);
    }
    joined
}

/// The range of a translation whose composition counts for an HSP: all of the window up to the next
/// stops, less a margin (`Blast_GetCompositionRange`, redo_alignment.c).
pub(super) fn composed_range(
    residues: &[u8],
    window: &Range<usize>,
    hsp: &PrelimHsp,
) -> Range<usize> {
    let (start, end) = (hsp.q_start as usize, hsp.q_end as usize);
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
