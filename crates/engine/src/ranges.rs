//! A set of positions that grows by ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of positions: the start and the end of each range. Ranges are disjoint and do not touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet(BTreeMap<usize, usize>);

impl RangeSet {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a range. Passes the parts that were not in the set to `fill`, in ascending order. The
    /// time depends on the number of such parts, not on the length of the range.
    pub fn add(&mut self, range: Range<usize>, mut fill: impl FnMut(Range<usize>)) {
        let before = self.0.range(..=range.start).next_back().map(|(&start, &end)| start..end);
        let before = before.filter(|before| before.end >= range.start);
        if range.is_empty() || before.as_ref().is_some_and(|before| before.end >= range.end) {
            return;
        }
        let first = before.map_or(range.start, |before| before.start);
        let (mut joined, mut next) = (first..range.end, range.start);
        while let Some((&start, &end)) = self.0.range(first..=range.end).next() {
            self.0.remove(&start);
            if next < start {
                fill(next..start);
            }
            next = next.max(end);
            joined.end = joined.end.max(end);
        }
        if next < range.end {
            fill(next..range.end);
        }
        self.0.insert(joined.start, joined.end);
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn add(set: &mut RangeSet, range: Range<usize>) -> Vec<Range<usize>> {
        let mut filled = Vec::new();
        set.add(range, |part| filled.push(part));
        filled
    }

    #[test]
    fn each_position_is_filled_once() {
        let mut random = fastrand::Rng::with_seed(1);
        for span in [10, 60, 300] {
            let (mut set, mut held) = (RangeSet::default(), vec![false; 2 * span]);
            for round in 0..60 {
                let start = random.usize(..span);
                let range = start..start + random.usize(..=span / 4);
                for part in add(&mut set, range.clone()) {
                    assert!(!part.is_empty() && part.start >= range.start, "{range:?} {part:?}");
                    for position in part {
                        assert!(range.contains(&position) && !held[position], "round {round}");
                        held[position] = true;
                    }
                }
                assert!(held[range].iter().all(|&held| held), "round {round}");
                let ranges: Vec<_> = set.0.iter().collect();
                assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
                let length: usize = ranges.iter().map(|&(start, end)| end - start).sum();
                assert_eq!(length, held.iter().filter(|&&held| held).count(), "round {round}");
            }
        }
    }

    #[test]
    fn parts_between_ranges_are_filled_in_order() {
        let mut set = RangeSet::default();
        assert_eq!(add(&mut set, 10..20), from_ref(&(10..20)));
        assert_eq!(add(&mut set, 40..50), from_ref(&(40..50)));
        assert_eq!(add(&mut set, 5..60), [5..10, 20..40, 50..60]);
        assert_eq!(add(&mut set, 5..60), []);
        assert_eq!(add(&mut set, 60..60), []);
        set.clear();
        assert_eq!(add(&mut set, 12..13), from_ref(&(12..13)));
    }
}
