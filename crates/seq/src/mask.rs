//! Combines masked intervals, and returns the ranges between them.
//!
//! Intervals are half-open ranges of positions. BLAST+ uses closed ones (`blast_filter.c`), which
//! makes a difference in [`combine`].

use std::ops::Range;

/// Joins SEG and lower-case intervals as BLAST+ does (`BlastSeqLocCombine`). Sorts them by start.
/// Joins an interval to the previous one if they share more than one position.
///
/// Intervals that share a single position, or just touch, stay apart. [`unmasked_ranges`] returns
/// the same ranges for them as for a joined interval.
///
/// ```
/// use fleetblast_seq::mask::combine;
/// assert_eq!(combine(vec![8..12, 0..10]), [0..12]);
/// assert_eq!(combine(vec![0..10, 9..12]), [0..10, 9..12]);
/// assert_eq!(combine(vec![0..10, 2..4, 5..12]), [0..12]);
/// ```
pub fn combine(intervals: Vec<Range<u32>>) -> Vec<Range<u32>> {
    combine_nearby_intervals(intervals, 0)
}

/// Joins intervals like [`combine`], and also intervals at a distance below `link` positions. The
/// distance counts from the last position of the first interval to the start of the next one.
///
/// ```
/// use fleetblast_seq::mask::combine_nearby_intervals;
/// assert_eq!(combine_nearby_intervals(vec![0..10, 13..20], 5), [0..20]);
/// assert_eq!(combine_nearby_intervals(vec![0..10, 14..20], 5), [0..10, 14..20]);
/// ```
pub fn combine_nearby_intervals(mut intervals: Vec<Range<u32>>, link: u32) -> Vec<Range<u32>> {
    intervals.sort_by_key(|interval| interval.start);
    let mut kept = 0;
    for i in 0..intervals.len() {
        let next = intervals[i].clone();
        if kept > 0 {
            let last = &mut intervals[kept - 1];
            // With the closed intervals of BLAST+: last.right + link > next.left.
            if last.end + link > next.start + 1 {
                last.end = last.end.max(next.end);
                continue;
            }
        }
        intervals[kept] = next;
        kept += 1;
    }
    intervals.truncate(kept);
    intervals
}

/// Joins intervals that overlap or touch, in ascending order (`CSeq_loc::fMerge_All`).
///
/// ```
/// use fleetblast_seq::mask::merge_touching;
/// assert_eq!(merge_touching(vec![9..12, 0..10, 12..14, 15..16]), [0..14, 15..16]);
/// ```
pub fn merge_touching(intervals: Vec<Range<u32>>) -> Vec<Range<u32>> {
    // Two positions closer than BlastSeqLocCombine joins: that are adjacent, and not in common.
    combine_nearby_intervals(intervals, 2)
}

/// Returns the ranges of a sequence of `length` residues outside the combined intervals. They are
/// ascending and not empty. Words in these ranges enter the lookup table.
///
/// ```
/// use fleetblast_seq::mask::unmasked_ranges;
/// assert_eq!(unmasked_ranges(&[3..5, 8..9], 10), [0..3, 5..8, 9..10]);
/// assert_eq!(unmasked_ranges(&[0..4, 3..10], 10), []);
/// ```
pub fn unmasked_ranges(intervals: &[Range<u32>], length: u32) -> Vec<Range<u32>> {
    let mut regions = Vec::with_capacity(intervals.len() + 1);
    let mut from = 0;
    for interval in intervals {
        if from < interval.start {
            regions.push(from..interval.start.min(length));
        }
        from = from.max(interval.end);
    }
    if from < length {
        regions.push(from..length);
    }
    regions
}
