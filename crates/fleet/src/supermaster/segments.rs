//! The queue of blocks, and how much of it a group gets.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::config::{Config, SEQUENCE_WEIGHT, Schedule};
use crate::ids::BlockId;
use crate::payload::{Payload, Queries, Weight};

/// Blocks with their queries.
pub type Segment<P> = Vec<(BlockId, Queries<P>)>;

/// Blocks that were read and not handed out.
#[derive(Debug)]
pub struct Segments<P> {
    blocks: VecDeque<(BlockId, Queries<P>)>,
    bytes: u64,
    waiting: Weight,
    handed: Weight,
    handed_blocks: u64,
    /// All queries, if known.
    total: Option<Weight>,
    largest: u64,
    shrink: f64,
    longest_first: f64,
}

impl<P: Payload> Segments<P> {
    /// An empty queue.
    pub fn new(config: &Config) -> Segments<P> {
        let dynamic = config.schedule == Schedule::Dynamic;
        Segments {
            blocks: VecDeque::new(),
            bytes: 0,
            waiting: Weight::default(),
            handed: Weight::default(),
            handed_blocks: 0,
            total: config.total,
            largest: config.segment_residues,
            shrink: config.shrink,
            longest_first: if dynamic { config.longest_first } else { 0.0 },
        }
    }

    /// Appends a block.
    pub fn push(&mut self, block: BlockId, queries: Queries<P>) {
        self.waiting = plus(self.waiting, queries.weight);
        self.bytes += queries.payload.bytes();
        self.blocks.push_back((block, queries));
    }

    /// Notes a block that needs no search.
    pub fn skip(&mut self, weight: Weight) {
        self.handed_blocks += 1;
        self.handed = plus(self.handed, weight);
    }

    /// Bytes of the queries that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if none waits.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Nothing more will be appended: now the total is known. Of the blocks that wait, the last that make up a share of
    /// [`Config::longest_first`] of all residues are put in the order of their lengths, so that groups end together.
    /// Doing that to earlier ones would only make finished output wait for longer.
    pub fn end(&mut self) {
        let total = plus(self.handed, self.waiting);
        self.total = Some(total);
        let last = (total.residues as f64 * self.longest_first) as u64;
        let mut residues = 0;
        let fits = |(_, queries): &&(BlockId, Queries<P>)| {
            residues += queries.weight.residues;
            residues <= last
        };
        let count = self.blocks.iter().rev().take_while(fits).count();
        let first = self.blocks.len() - count;
        let key =
            |(block, queries): &(BlockId, Queries<P>)| (Reverse(queries.weight.residues), *block);
        self.blocks.make_contiguous()[first..].sort_by_key(key);
    }

    /// Blocks that each of `groups` would get of what is left, if that is known: those to be read are taken to be like
    /// those handed out.
    pub fn left(&self, groups: u32) -> Option<f64> {
        let residues = self.total?.residues.saturating_sub(self.handed.residues);
        let blocks =
            residues as f64 * self.handed_blocks as f64 / self.handed.residues.max(1) as f64;
        Some(blocks / f64::from(groups))
    }

    /// Takes one block out of its turn, if it waits.
    pub fn take_block(&mut self, wanted: BlockId) -> Option<Segment<P>> {
        let place = self.blocks.iter().position(|&(block, _)| block == wanted)?;
        let (block, queries) = self.blocks.remove(place)?;
        self.hand(&queries);
        Some(vec![(block, queries)])
    }

    /// Takes a segment for one of `groups` (guided self-scheduling: a share of what remains): at least a block, and no
    /// further one that would make it larger than it should be.
    pub fn take(&mut self, groups: u32) -> Segment<P> {
        let target = match self.total {
            Some(total) => {
                let remaining = total.residues.saturating_sub(self.handed.residues);
                let share = remaining as f64 / (f64::from(groups) * self.shrink);
                self.largest.min(share as u64)
            }
            None => self.largest,
        };
        let mut segment = Vec::new();
        let mut residues = 0;
        while let Some((block, queries)) = self.blocks.pop_front() {
            residues += queries.weight.residues;
            if !segment.is_empty() && residues > target {
                self.blocks.push_front((block, queries));
                break;
            }
            self.hand(&queries);
            segment.push((block, queries));
        }
        segment
    }

    fn hand(&mut self, queries: &Queries<P>) {
        self.handed_blocks += 1;
        self.waiting = minus(self.waiting, queries.weight);
        self.handed = plus(self.handed, queries.weight);
        self.bytes -= queries.payload.bytes();
    }

    /// Deals all blocks out in as many consecutive shares as there are groups, of equal residues or weight.
    pub fn split(&mut self, schedule: Schedule, groups: u32) -> Vec<Segment<P>> {
        let units = |weight: Weight| match schedule {
            Schedule::Weight => weight.residues + SEQUENCE_WEIGHT * weight.sequences,
            Schedule::Dynamic | Schedule::Length => weight.residues,
        };
        let total = u128::from(units(self.waiting)).max(1);
        let mut shares: Vec<Segment<P>> = (0..groups).map(|_| Vec::new()).collect();
        let mut before = 0;
        for (block, queries) in self.blocks.drain(..) {
            let own = u128::from(units(queries.weight));
            // A block goes where its middle lies.
            let place = (2 * before + own) * u128::from(groups) / (2 * total);
            shares[(place as usize).min(groups as usize - 1)].push((block, queries));
            before += own;
        }
        self.handed = plus(self.handed, self.waiting);
        self.waiting = Weight::default();
        self.bytes = 0;
        shares
    }
}

fn plus(a: Weight, b: Weight) -> Weight {
    Weight { sequences: a.sequences + b.sequences, residues: a.residues + b.residues }
}

fn minus(a: Weight, b: Weight) -> Weight {
    Weight { sequences: a.sequences - b.sequences, residues: a.residues - b.residues }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn segments(config: &Config, lengths: &[u64]) -> Segments<Arc<[u8]>> {
        let mut segments = Segments::new(config);
        for (number, &residues) in lengths.iter().enumerate() {
            let weight = Weight { sequences: 1, residues };
            segments.push(BlockId(number as u32), Queries { payload: Arc::default(), weight });
        }
        segments
    }

    fn lengths(segment: &Segment<Arc<[u8]>>) -> Vec<u64> {
        segment.iter().map(|(_, queries)| queries.weight.residues).collect()
    }

    #[test]
    fn segments_shrink_towards_the_end() {
        let config =
            Config { shrink: 2.0, segment_residues: 300, longest_first: 0.0, ..Config::default() };
        let mut segments = segments(&config, &[100; 16]);
        assert_eq!(segments.take(2).len(), 3, "as long as the total is unknown, the largest");
        segments.end();
        let sizes: Vec<usize> =
            (0..).map(|_| segments.take(2).len()).take_while(|&n| n > 0).collect();
        assert_eq!(sizes, [3, 2, 2, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_segment_has_at_least_a_block() {
        let config = Config { segment_residues: 10, ..Config::default() };
        let mut segments = segments(&config, &[500, 3, 4, 5]);
        assert_eq!(lengths(&segments.take(1)), [500]);
        assert_eq!(lengths(&segments.take(1)), [3, 4]);
        assert_eq!(lengths(&segments.take(1)), [5]);
    }

    #[test]
    fn the_longest_of_the_last_go_first() {
        let config = Config { segment_residues: 1, longest_first: 0.5, ..Config::default() };
        let mut segments = segments(&config, &[10, 100, 50, 10, 40, 20]);
        segments.end();
        let order: Vec<u64> = (0..6).flat_map(|_| lengths(&segments.take(1))).collect();
        assert_eq!(order, [10, 100, 50, 40, 20, 10]);
        assert!(segments.is_empty());
    }

    #[test]
    fn a_block_can_be_taken_out_of_turn() {
        let mut segments = segments(&Config::default(), &[1, 2, 3]);
        assert_eq!(segments.take_block(BlockId(1)).map(|segment| lengths(&segment)), Some(vec![2]));
        assert_eq!(segments.take_block(BlockId(1)).map(|segment| lengths(&segment)), None);
        assert_eq!(lengths(&segments.take(1)), [1, 3]);
    }

    #[test]
    fn shares_of_equal_length_and_of_equal_weight() {
        let config = Config::default();
        let residues = [1000, 10, 10, 10, 10, 10, 950];
        let by_length = segments(&config, &residues).split(Schedule::Length, 2);
        assert_eq!(by_length.iter().map(Vec::len).collect::<Vec<_>>(), [1, 6]);
        let by_weight = segments(&config, &residues).split(Schedule::Weight, 2);
        assert_eq!(by_weight.iter().map(Vec::len).collect::<Vec<_>>(), [3, 4]);
    }
}
