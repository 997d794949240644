//! Decides which rank writes the bytes at the borders between the outputs of two blocks.
//!
//! Hosts that write to one file may each keep pages of it in memory for a while. Some file systems,
//! NFS above all, do not keep these pages consistent. A host that writes a few bytes of a page may
//! later write the whole page back, with old bytes in the rest of it. Bytes that another host wrote
//! there meanwhile are lost, and no host gets an error.
//!
//! So the output is cut into grains, and only one rank writes each grain. A grain that lies within
//! the output of one block is written by the worker that writes the block. A grain in which one
//! block ends and the next begins is a partial grain of both blocks. The workers hand their bytes
//! of partial grains over to the supermaster, which writes them. These are less than two grains per
//! block.

use std::ops::Range;

use crate::work::{OutputRun, Slice};

/// Default size of a grain in bytes: the largest page size that systems have by default.
pub const GRAIN: u64 = 64 << 10;

/// Returns the range of whole grains within a range of the output, in bytes. It may be empty.
pub fn whole_grains(stretch: &Range<u64>, grain: u64) -> Range<u64> {
    let (start, end) = (stretch.start.next_multiple_of(grain), stretch.end / grain * grain);
    if start < end { start..end } else { stretch.start..stretch.start }
}

/// A run, split at the borders of grains.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SplitRun {
    /// The whole grains of the run.
    pub inner: Option<OutputRun>,
    /// The bytes of the run before and after its whole grains.
    pub partial_grains: Vec<OutputRun>,
}

/// Splits a run into the whole grains, which its worker writes, and the partial grains, which the
/// worker hands over.
pub fn split_at_grains(run: OutputRun, grain: u64) -> SplitRun {
    let inner = whole_grains(&(run.offset..run.offset + run.length()), grain);
    let (before, rest) = split(run, inner.start);
    let (inner, after) = split(rest, inner.end);
    let some = |run: &OutputRun| !run.slices.is_empty();
    SplitRun {
        inner: Some(inner).filter(some),
        partial_grains: [before, after].into_iter().filter(some).collect(),
    }
}

/// Splits a run at an offset `at` from its start to its end, both included.
fn split(run: OutputRun, at: u64) -> (OutputRun, OutputRun) {
    let OutputRun { block, offset, slices } = run;
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
    (OutputRun { block, offset, slices: before }, OutputRun { block, offset: at, slices: after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;
    use crate::work::PieceLocation;

    /// Returns a run whose slices have these lengths.
    fn run(offset: u64, lengths: &[u64]) -> OutputRun {
        let slice =
            |(piece, &length)| Slice { location: PieceLocation::Master, piece, start: 3, length };
        OutputRun { block: BlockId(0), offset, slices: (0..).zip(lengths).map(slice).collect() }
    }

    /// Returns, for each byte of the runs, its offset in the output, its piece, and its offset in
    /// the piece.
    fn bytes<'a>(runs: impl IntoIterator<Item = &'a OutputRun>) -> Vec<(u64, u32, u64)> {
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
                let SplitRun { inner, partial_grains } = split_at_grains(whole, 10);
                assert_eq!(bytes(inner.iter().chain(&partial_grains)), all);
                if let Some(run) = &inner {
                    assert!(run.offset % 10 == 0 && run.length() % 10 == 0 && run.length() > 0);
                    inner_seen += 1;
                }
                assert!(
                    partial_grains.len() <= 2
                        && partial_grains.iter().map(OutputRun::length).sum::<u64>() < 20
                );
                let handed: u64 = partial_grains.iter().map(OutputRun::length).sum();
                let kept = whole_grains(&(offset..end), 10);
                assert_eq!(handed, end - offset - (kept.end - kept.start));
            }
        }
        assert!(inner_seen > 50);
    }

    #[test]
    fn with_grains_of_one_byte_nothing_is_handed_over() {
        let whole = run(7, &[5, 6]);
        assert_eq!(
            split_at_grains(whole.clone(), 1),
            SplitRun { inner: Some(whole), partial_grains: Vec::new() }
        );
    }
}
