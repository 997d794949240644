//! Computes the share of the query that a subject covers if each base of the subject counts once,
//! for the column `qcovus` (`GetUniqSeqCoverage`, align_format_util.cpp).

use std::ops::Range;

use fleetblast_engine::hits::{Alignment, SubjectHit};

use crate::model::QueryResult;
use crate::pair::residues;

/// Counts the bases of the query that are aligned to bases of the subject which no earlier
/// alignment covers. It skips a range of such bases that begins or ends opposite a gap in the
/// query.
pub fn count_uniquely_covered(query: &QueryResult, hit: &SubjectHit) -> usize {
    let (mut seen, mut covered) = (Vec::new(), Vec::new());
    let origin = query.extent().searched_range.start;
    for (_, alignment) in hit.all_alignments() {
        let frame = query.context(alignment).frame;
        let place = |read: Range<u32>| {
            let place = frame.to_sequence_range(read, query.query.length);
            origin + place.start..origin + place.end
        };
        let new = beyond(&alignment.subject, &seen);
        if new == [alignment.subject.clone()] {
            add(&mut covered, place(alignment.query.clone()));
        } else {
            for stretch in new {
                let ends = [stretch.start, stretch.end - 1];
                let [first, last] = ends.map(|base| opposite(alignment, base));
                let range = match (first, last) {
                    (Some(first), Some(last)) => place(first..last + 1),
                    // In BLAST+ the end of such a range precedes its start, and the start decides
                    // where it is inserted.
                    (Some(base), None) | (None, Some(base)) => place(base..base + 1).start..0,
                    (None, None) => Range { start: u32::MAX, end: 0 },
                };
                add(&mut covered, range);
            }
        }
        add(&mut seen, alignment.subject.clone());
    }
    covered.iter().map(ExactSizeIterator::len).sum()
}

/// Returns the parts of a range that lie outside of `others`, which ascend and do not overlap.
fn beyond(range: &Range<u32>, others: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut parts = Vec::new();
    let mut from = range.start;
    let first = others.partition_point(|other| other.end <= range.start);
    for other in &others[first..] {
        if other.start >= range.end {
            break;
        }
        if from < other.start {
            parts.push(from..other.start);
        }
        from = other.end;
    }
    if from < range.end {
        parts.push(from..range.end);
    }
    parts
}

/// Adds a range to ranges that ascend and do not overlap, and joins those that touch.
///
/// A range whose end precedes its start disturbs this order. The result then depends on the search
/// algorithm, so this is that of `std::lower_bound`, as in BLAST+ (`CRangeCollection`,
/// range_coll.hpp).
fn add(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    let at = ending_after(ranges, 0, range.start.saturating_sub(1));
    let Some(first) = ranges.get_mut(at).filter(|first| first.start <= range.end) else {
        ranges.insert(at, range);
        return;
    };
    let is_empty = |range: &Range<u32>| range.start >= range.end;
    *first = match (is_empty(first), is_empty(&range)) {
        (_, true) => first.clone(),
        (true, false) => range.clone(),
        (false, false) => first.start.min(range.start)..first.end.max(range.end),
    };
    let mut end = ending_after(ranges, at, range.end);
    if let Some(last) = ranges.get(end).filter(|last| last.start <= range.end) {
        ranges[at].end = last.end;
        end += 1;
    }
    if end > at + 1 {
        ranges.drain(at + 1..end);
    }
}

/// Returns the index of the first range, from index `from` on, that ends after a position.
fn ending_after(ranges: &[Range<u32>], from: usize, position: u32) -> usize {
    let (mut first, mut length) = (from, ranges.len() - from);
    while length > 0 {
        let half = length / 2;
        if ranges[first + half].end <= position {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    first
}

/// Returns the position of the query letter that is aligned to a letter of the subject; `None` if
/// that letter is opposite a gap.
fn opposite(alignment: &Alignment, letter: u32) -> Option<u32> {
    let (mut query, mut subject) = (alignment.query.start, alignment.subject.start);
    for edit in &alignment.edits {
        let (from_query, from_subject) = residues(edit);
        if letter < subject + from_subject as u32 {
            return (from_query > 0).then_some(query + (letter - subject));
        }
        query += from_query as u32;
        subject += from_subject as u32;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(ranges: &[Range<u32>]) -> Vec<[u32; 2]> {
        ranges.iter().map(|range| [range.start, range.end]).collect()
    }

    #[test]
    fn ranges_are_united_and_taken_away() {
        let mut ranges = Vec::new();
        [10..20, 40..50, 20..25, 60..70].into_iter().for_each(|range| add(&mut ranges, range));
        assert_eq!(ranges, [10..25, 40..50, 60..70]);
        let new = |range| ends(&beyond(&range, &ranges));
        assert_eq!(new(0..100), [[0, 10], [25, 40], [50, 60], [70, 100]]);
        assert_eq!(new(12..45), [[25, 40]]);
        assert_eq!(new(11..20), [[0; 2]; 0]);
        assert_eq!(new(26..30), [[26, 30]]);
        add(&mut ranges, 45..60);
        assert_eq!(ranges, [10..25, 40..70]);
        add(&mut ranges, 0..80);
        assert_eq!(ends(&ranges), [[0, 80]]);
    }
}
