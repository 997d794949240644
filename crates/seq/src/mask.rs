//! Masked intervals: how BLAST+ combines them, and what they leave.

use std::ops::Range;

/// Sorts the intervals and joins those that share more than one residue (`BlastSeqLocCombine`): neighbours that touch in a single
/// residue stay apart.
pub fn combine(mut intervals: Vec<Range<u32>>) -> Vec<Range<u32>> {
    intervals.sort_by_key(|interval| interval.start);
    let mut combined: Vec<Range<u32>> = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match combined.last_mut() {
            Some(last) if last.end > interval.start + 1 => last.end = last.end.max(interval.end),
            _ => combined.push(interval),
        }
    }
    combined
}

/// What combined intervals leave of a sequence of `len` residues.
pub fn complement(intervals: &[Range<u32>], len: u32) -> Vec<Range<u32>> {
    let mut start = 0;
    let mut rest = Vec::with_capacity(intervals.len() + 1);
    for interval in intervals {
        if start < interval.start {
            rest.push(start..interval.start);
        }
        start = start.max(interval.end);
    }
    if start < len {
        rest.push(start..len);
    }
    rest
}
