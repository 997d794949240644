//! Sets of OIDs as sorted ranges that neither touch nor overlap.

use std::ops::Range;

/// Returns the union of ranges that can be in any order.
pub(crate) fn sorted_union(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
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

/// Joins single OIDs, in any order, to ranges.
pub(crate) fn ranges_of_oids(mut oids: Vec<u32>) -> Vec<Range<u32>> {
    oids.sort_unstable();
    ranges_of_sorted_oids(oids)
}

/// Joins single OIDs, in ascending order, to ranges.
pub(crate) fn ranges_of_sorted_oids(oids: impl IntoIterator<Item = u32>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for oid in oids {
        match ranges.last_mut() {
            Some(last) if oid < last.end => {}
            Some(last) if oid == last.end => last.end = oid.saturating_add(1),
            _ => ranges.push(oid..oid.saturating_add(1)),
        }
    }
    ranges
}

/// Returns the first OID that is in the sorted `ranges` and not less than `oid`.
pub(crate) fn first_oid_from(ranges: &[Range<u32>], oid: u32) -> Option<u32> {
    let at = ranges.partition_point(|range| range.end <= oid);
    ranges.get(at).map(|range| range.start.max(oid))
}

/// Returns the OIDs that are in both sets of ranges.
pub(crate) fn intersection(one: &[Range<u32>], other: &[Range<u32>]) -> Vec<Range<u32>> {
    let (mut i, mut j) = (0, 0);
    let mut common = Vec::new();
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        let range = a.start.max(b.start)..a.end.min(b.end);
        if !range.is_empty() {
            common.push(range);
        }
        if a.end < b.end { i += 1 } else { j += 1 }
    }
    common
}

/// Returns the OIDs of `from` that are not in `excluded`.
pub(crate) fn difference(from: &[Range<u32>], excluded: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut gaps = Vec::new();
    let mut start = 0;
    for range in excluded {
        gaps.push(start..range.start);
        start = range.end;
    }
    gaps.push(start..u32::MAX);
    gaps.retain(|gap| !gap.is_empty());
    intersection(from, &gaps)
}

/// Returns the OIDs of `ranges` that are in `window`.
pub(crate) fn clip(ranges: &[Range<u32>], window: &Range<u32>) -> Vec<Range<u32>> {
    let first = ranges.partition_point(|range| range.end <= window.start);
    ranges[first..]
        .iter()
        .take_while(|range| range.start < window.end)
        .map(|range| range.start.max(window.start)..range.end.min(window.end))
        .filter(|range| !range.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_merge_and_clips_cut() {
        let joined = sorted_union(vec![5..7, 9..9, 0..3, 3..4, 6..8]);
        assert_eq!(joined, [0..4, 5..8]);
        assert_eq!(clip(&joined, &(3..6)), [3..4, 5..6]);
        assert!(clip(&joined, &(4..5)).is_empty());
        assert_eq!(ranges_of_oids(vec![7, 1, 2, 2, 0, 9]), [0..3, 7..8, 9..10]);
        assert_eq!(intersection(&joined, &[1..2, 3..6, 7..9]), [1..2, 3..4, 5..6, 7..8]);
        assert_eq!(difference(&joined, &[0..1, 3..6]), [1..3, 6..8]);
        assert_eq!(difference(&joined, &[]), joined);
        let firsts = [0, 3, 4, 5, 7, 8].map(|oid| first_oid_from(&joined, oid));
        assert_eq!(firsts, [Some(0), Some(3), Some(5), Some(5), Some(7), None]);
    }
}
