//! Who writes where two stretches of the output meet.
//!
//! Hosts that write to one file may each keep pages of it for a while. Some file systems, NFS above all, do not keep these
//! pages in step: a host that writes a few bytes of a page may later write all of it back, with what it took the rest to be,
//! and so erase what a neighbour has written there meanwhile, without an error anywhere. So the output is cut into grains,
//! each of which one rank alone writes: those that lie within the output of a block the worker that writes the block, those
//! in which something ends and something else begins the supermaster. The worker hands these ends over to it. They are
//! less than two grains of a block's output.

use std::ops::Range;

use crate::work::{Run, Slice};

/// Bytes of a grain: the largest pages that systems have by default.
pub const GRAIN: u64 = 64 << 10;

/// The grains that lie within a stretch of the output, which may be none.
pub fn within(stretch: &Range<u64>, grain: u64) -> Range<u64> {
    let (start, end) = (stretch.start.next_multiple_of(grain), stretch.end / grain * grain);
    if start < end { start..end } else { stretch.start..stretch.start }
}

/// A run, cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The grains that lie within it.
    pub inner: Option<Run>,
    /// What is before and after these.
    pub ends: Vec<Run>,
}

/// Cuts a run into what its writer writes and what it hands over.
pub fn cut(run: Run, grain: u64) -> Cut {
    let inner = within(&(run.offset..run.offset + run.length()), grain);
    let (before, rest) = split(run, inner.start);
    let (inner, after) = split(rest, inner.end);
    let some = |run: &Run| !run.slices.is_empty();
    Cut {
        inner: Some(inner).filter(some),
        ends: [before, after].into_iter().filter(some).collect(),
    }
}

/// Cuts a run at an offset, which lies within it or at one of its ends.
fn split(run: Run, at: u64) -> (Run, Run) {
    let Run { block, offset, slices } = run;
    let mut parts = [Vec::new(), Vec::new()];
    let mut place = offset;
    for slice in slices {
        let first = at.saturating_sub(place).min(slice.length);
        place += slice.length;
        let rest = slice.length - first;
        for (part, start, length) in [(0, slice.start, first), (1, slice.start + first, rest)] {
            if length > 0 {
                parts[part].push(Slice { start, length, ..slice });
            }
        }
    }
    let [before, after] = parts;
    (Run { block, offset, slices: before }, Run { block, offset: at, slices: after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;
    use crate::work::Holder;

    /// A run with pieces of these lengths.
    fn run(offset: u64, lengths: &[u64]) -> Run {
        let slice = |(piece, &length)| Slice { holder: Holder::Master, piece, start: 3, length };
        Run { block: BlockId(0), offset, slices: (0..).zip(lengths).map(slice).collect() }
    }

    /// Where each byte of runs goes, and which one it is.
    fn bytes<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<(u64, u32, u64)> {
        let mut bytes = Vec::new();
        for run in runs {
            let mut place = run.offset;
            for slice in &run.slices {
                for byte in slice.start..slice.start + slice.length {
                    bytes.push((place, slice.piece, byte));
                    place += 1;
                }
            }
        }
        bytes.sort_unstable();
        bytes
    }

    #[test]
    fn every_byte_keeps_its_place_and_only_whole_grains_stay() {
        let mut inner_seen = 0;
        for offset in 0..25 {
            for lengths in [&[1][..], &[9], &[10], &[3, 4, 5], &[30, 1, 1], &[7, 40], &[10, 10, 10]]
            {
                let whole = run(offset, lengths);
                let (end, all) = (offset + whole.length(), bytes([&whole]));
                let Cut { inner, ends } = cut(whole, 10);
                assert_eq!(bytes(inner.iter().chain(&ends)), all);
                if let Some(run) = &inner {
                    assert!(run.offset % 10 == 0 && run.length() % 10 == 0 && run.length() > 0);
                    inner_seen += 1;
                }
                assert!(ends.len() <= 2 && ends.iter().map(Run::length).sum::<u64>() < 20);
                let handed: u64 = ends.iter().map(Run::length).sum();
                let kept = within(&(offset..end), 10);
                assert_eq!(handed, end - offset - (kept.end - kept.start));
            }
        }
        assert!(inner_seen > 50);
    }

    #[test]
    fn with_grains_of_a_byte_nothing_is_handed_over() {
        let whole = run(7, &[5, 6]);
        assert_eq!(cut(whole.clone(), 1), Cut { inner: Some(whole), ends: Vec::new() });
    }
}
