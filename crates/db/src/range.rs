//! Sets of OIDs as sorted lists of ranges that neither touch nor overlap.

use std::ops::Range;

/// The union of ranges in any order.
pub(crate) fn union(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// What of the ranges lies in `window`.
pub(crate) fn clip(ranges: &[Range<u32>], window: &Range<u32>) -> Vec<Range<u32>> {
    ranges
        .iter()
        .map(|range| range.start.max(window.start)..range.end.min(window.end))
        .filter(|range| !range.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_merge_and_clips_cut() {
        let joined = union(vec![5..7, 9..9, 0..3, 3..4, 6..8]);
        assert_eq!(joined, [0..4, 5..8]);
        assert_eq!(clip(&joined, &(3..6)), [3..4, 5..6]);
        assert!(clip(&joined, &(4..5)).is_empty());
    }
}
