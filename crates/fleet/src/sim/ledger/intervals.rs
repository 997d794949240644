//! Sets of byte offsets, stored as intervals.

use std::collections::BTreeMap;

/// A set of byte offsets, stored as disjoint intervals.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// End of each interval, by its start. Intervals neither overlap nor touch.
    spans: BTreeMap<u64, u64>,
}

impl Intervals {
    /// Adds `length` bytes from `start` on. Returns false if some of them are in the set already.
    pub fn add(&mut self, start: u64, length: u64) -> bool {
        if length == 0 {
            return true;
        }
        let mut end = start + length;
        let mut start = start;
        if let Some((&next, &next_end)) = self.spans.range(start..).next() {
            if next < end {
                return false;
            }
            if next == end {
                self.spans.remove(&next);
                end = next_end;
            }
        }
        if let Some((&before, &before_end)) = self.spans.range(..start).next_back() {
            if before_end > start {
                return false;
            }
            if before_end == start {
                start = before;
            }
        }
        self.spans.insert(start, end);
        true
    }

    /// Whether the set has exactly the bytes from `start` to `end`, without `end`.
    pub fn is_exactly(&self, start: u64, end: u64) -> bool {
        if start == end {
            self.spans.is_empty()
        } else {
            self.spans.len() == 1 && self.spans.get(&start) == Some(&end)
        }
    }

    /// Returns the end of the consecutive bytes that begin at `start`, or `start` if there are
    /// none.
    pub fn end_of_span(&self, start: u64) -> u64 {
        let span = self.spans.range(..=start).next_back();
        span.map_or(start, |(_, &end)| end.max(start))
    }

    /// Whether `length` bytes from `start` on are in the set.
    pub fn contains(&self, start: u64, length: u64) -> bool {
        let span = self.spans.range(..=start).next_back();
        length == 0 || span.is_some_and(|(_, &end)| end >= start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_join_and_refuse() {
        let mut bytes = Intervals::default();
        assert!(bytes.add(10, 10) && bytes.add(30, 10) && bytes.add(20, 10));
        assert!(bytes.is_exactly(10, 40));
        assert!(!bytes.add(39, 1) && !bytes.add(5, 6) && !bytes.add(0, 100) && !bytes.add(15, 5));
        assert!(bytes.add(0, 5) && bytes.contains(12, 28) && !bytes.contains(4, 8));
        assert_eq!([0, 7, 12, 40].map(|start| bytes.end_of_span(start)), [5, 7, 40, 40]);
        assert!(!bytes.is_exactly(0, 40));
    }
}
