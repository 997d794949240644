//! The queue of blocks that wait for a group. A query segment is the blocks that a group gets at
//! once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, SEQUENCE_WEIGHT, Schedule};
use crate::ids::BlockId;
use crate::payload::{Payload, Queries, Weight};

/// The blocks that a group gets at once, with their queries.
pub type QuerySegment<P> = Vec<(BlockId, Queries<P>)>;

/// Blocks that the supermaster has read and not handed out.
#[derive(Debug)]
pub struct BlockQueue<P> {
    blocks: BTreeMap<BlockId, Queries<P>>,
    /// The blocks of `blocks`, sorted by residues. Among blocks of equal length the first block
    /// comes last.
    by_length: BTreeSet<(u64, Reverse<BlockId>)>,
    bytes: u64,
    waiting: Weight,
    handed: Weight,
    /// Weight of all queries, if known.
    total: Option<Weight>,
    /// Most residues and queries of a query segment.
    largest: Weight,
    segment_divisor: f64,
    /// The longest block is handed out early if its residues × `urgency` are not less than all
    /// residues that remain.
    urgency: f64,
    /// Whether blocks are handed out one by one, in their order.
    one_by_one: bool,
}

impl<P: Payload> BlockQueue<P> {
    /// Creates an empty queue, for `workers` workers that search each block in `partitions`
    /// partitions.
    pub fn new(config: &Config, workers: usize, partitions: u32) -> BlockQueue<P> {
        let at_once = workers as f64 / f64::from(partitions);
        BlockQueue {
            blocks: BTreeMap::new(),
            by_length: BTreeSet::new(),
            bytes: 0,
            waiting: Weight::default(),
            handed: Weight::default(),
            total: config.total,
            largest: Weight {
                sequences: config.segment_queries,
                residues: config.segment_residues,
            },
            segment_divisor: config.segment_divisor,
            urgency: config.longest_first * at_once,
            one_by_one: config.verifies_blocks,
        }
    }

    /// Adds a block that has been read.
    pub fn push(&mut self, block: BlockId, queries: Queries<P>) {
        self.waiting = plus(self.waiting, queries.weight);
        self.bytes += queries.payload.bytes();
        self.by_length.insert((queries.weight.residues, Reverse(block)));
        self.blocks.insert(block, queries);
    }

    /// Counts a block that an earlier run finished, so that it needs no search.
    pub fn skip(&mut self, weight: Weight) {
        self.handed = plus(self.handed, weight);
    }

    /// Returns the size of the waiting queries in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether no block waits to be handed out.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Notes that the input has ended, so that the total weight is known.
    pub fn end(&mut self) {
        self.total = Some(plus(self.handed, self.waiting));
    }

    /// Returns the number of residues that are not handed out, if the total is known.
    fn remaining(&self) -> Option<u64> {
        Some(self.total?.residues.saturating_sub(self.handed.residues))
    }

    /// Returns the next block to hand out. It is the first one, or the longest as soon as the
    /// longest might otherwise end last.
    ///
    /// `at_once` (workers / partitions) blocks are searched at the same time. So all workers
    /// together search `n` residues in the time of one task of a block with `n / at_once` residues.
    /// A block may take longer than its residues suggest, by the factor [`Config::longest_first`].
    /// Handing out all blocks by length would end the job as early, but all output would wait.
    fn next(&self) -> Option<BlockId> {
        let &(residues, Reverse(longest)) = self.by_length.last()?;
        let is_urgent = |remaining| residues as f64 * self.urgency >= remaining as f64;
        match self.remaining() {
            Some(remaining) if is_urgent(remaining) && !self.one_by_one => Some(longest),
            _ => self.blocks.keys().next().copied(),
        }
    }

    /// Removes and returns a block out of turn, or `None` if it does not wait.
    pub fn take_block(&mut self, wanted: BlockId) -> Option<QuerySegment<P>> {
        let queries = self.blocks.remove(&wanted)?;
        self.by_length.remove(&(queries.weight.residues, Reverse(wanted)));
        self.waiting = minus(self.waiting, queries.weight);
        self.handed = plus(self.handed, queries.weight);
        self.bytes -= queries.payload.bytes();
        Some(vec![(wanted, queries)])
    }

    /// Removes and returns a query segment for one of `groups` groups, by guided self-scheduling: a
    /// share of the remaining blocks. It has at least one block, and no further block that would
    /// exceed the share.
    pub fn take_query_segment(&mut self, groups: u32) -> QuerySegment<P> {
        let target = match self.remaining() {
            Some(remaining) => {
                let share = remaining as f64 / (f64::from(groups) * self.segment_divisor);
                self.largest.residues.min(share as u64)
            }
            None => self.largest.residues,
        };
        let mut segment = Vec::new();
        let mut weight = Weight::default();
        while let Some(next) = self.next() {
            weight = plus(weight, self.blocks[&next].weight);
            let is_large = weight.residues > target || weight.sequences > self.largest.sequences;
            if !segment.is_empty() && (is_large || self.one_by_one) {
                break;
            }
            segment.extend(self.take_block(next).into_iter().flatten());
        }
        segment
    }

    /// Removes all blocks and divides them into consecutive shares of equal residues or weight, one
    /// per group.
    pub fn split(&mut self, schedule: Schedule, groups: u32) -> Vec<QuerySegment<P>> {
        let units = |weight: Weight| match schedule {
            Schedule::Weight => weight.residues + SEQUENCE_WEIGHT * weight.sequences,
            Schedule::Dynamic | Schedule::Length => weight.residues,
        };
        let total = u128::from(units(self.waiting)).max(1);
        let mut shares: Vec<QuerySegment<P>> = (0..groups).map(|_| Vec::new()).collect();
        let mut before = 0;
        for (block, queries) in std::mem::take(&mut self.blocks) {
            let own = u128::from(units(queries.weight));
            // A block goes to the share in which the middle of the block lies.
            let place = (2 * before + own) * u128::from(groups) / (2 * total);
            shares[(place as usize).min(groups as usize - 1)].push((block, queries));
            before += own;
        }
        self.by_length.clear();
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

    fn queue(config: &Config, lengths: &[u64]) -> BlockQueue<Arc<[u8]>> {
        // There are as many workers as partitions, so one block is searched at a time.
        let mut queue = BlockQueue::new(config, 4, 4);
        for (number, &residues) in lengths.iter().enumerate() {
            let weight = Weight { sequences: 1, residues };
            queue.push(BlockId(number as u32), Queries { payload: Arc::default(), weight });
        }
        queue
    }

    fn lengths(segment: &QuerySegment<Arc<[u8]>>) -> Vec<u64> {
        segment.iter().map(|(_, queries)| queries.weight.residues).collect()
    }

    #[test]
    fn segments_shrink_towards_the_end() {
        let config = Config {
            segment_divisor: 2.0,
            segment_residues: 300,
            longest_first: 0.0,
            ..Config::default()
        };
        let mut queue = queue(&config, &[100; 16]);
        assert_eq!(
            queue.take_query_segment(2).len(),
            3,
            "as long as the total is unknown, the largest"
        );
        queue.end();
        let sizes: Vec<usize> =
            (0..).map(|_| queue.take_query_segment(2).len()).take_while(|&n| n > 0).collect();
        assert_eq!(sizes, [3, 2, 2, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_segment_has_at_least_a_block() {
        let config = Config { segment_residues: 10, ..Config::default() };
        let mut queue = queue(&config, &[500, 3, 4, 5]);
        assert_eq!(lengths(&queue.take_query_segment(1)), [500]);
        assert_eq!(lengths(&queue.take_query_segment(1)), [3, 4]);
        assert_eq!(lengths(&queue.take_query_segment(1)), [5]);
    }

    #[test]
    fn a_segment_of_tiny_queries_has_few_blocks() {
        let config = Config { segment_queries: 2, ..Config::default() };
        let mut queue = queue(&config, &[1; 5]);
        let sizes = [(); 3].map(|()| queue.take_query_segment(1).len());
        assert_eq!(sizes, [2, 2, 1]);
    }

    #[test]
    fn the_longest_goes_first_as_soon_as_it_might_end_last() {
        let config = Config { segment_residues: 1, longest_first: 2.0, ..Config::default() };
        let mut queue = queue(&config, &[10, 100, 50, 10, 120, 20]);
        assert_eq!(lengths(&queue.take_query_segment(1)), [10], "how much remains is not known");
        queue.end();
        let order: Vec<u64> = (0..5).flat_map(|_| lengths(&queue.take_query_segment(1))).collect();
        // 300 residues remain, and the next block in turn has 100: the longest, 120, is not urgent.
        // Then 200 remain, less than 2 × 120. Then 80 remain, less than 2 × 50.
        assert_eq!(order, [100, 120, 50, 20, 10]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_block_can_be_taken_out_of_turn() {
        let mut queue = queue(&Config::default(), &[1, 2, 3]);
        assert_eq!(queue.take_block(BlockId(1)).map(|segment| lengths(&segment)), Some(vec![2]));
        assert_eq!(queue.take_block(BlockId(1)).map(|segment| lengths(&segment)), None);
        assert_eq!(lengths(&queue.take_query_segment(1)), [1, 3]);
    }

    #[test]
    fn shares_of_equal_length_and_of_equal_weight() {
        let config = Config::default();
        let residues = [1000, 10, 10, 10, 10, 10, 950];
        let by_length = queue(&config, &residues).split(Schedule::Length, 2);
        assert_eq!(by_length.iter().map(Vec::len).collect::<Vec<_>>(), [1, 6]);
        let by_weight = queue(&config, &residues).split(Schedule::Weight, 2);
        assert_eq!(by_weight.iter().map(Vec::len).collect::<Vec<_>>(), [3, 4]);
    }
}
