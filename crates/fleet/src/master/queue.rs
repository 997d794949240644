//! Selects the task that a worker gets next (Algorithm 1 of Lin et al.).

use std::collections::BTreeMap;

use crate::ids::{BlockId, PartitionId, PassId};

/// The unassigned tasks of a group.
///
/// A worker gets a task of the first block that has an unassigned task on one of the worker's
/// partitions. Among these tasks of the block, it gets the one with the smallest partition. Blocks
/// are in the order in which the group received them, whatever their passes. So a block that
/// returns for another pass goes before all blocks that have not begun.
#[derive(Clone, Debug)]
pub struct TaskQueue {
    /// Blocks with unassigned tasks, by the order in which the group received them.
    blocks: BTreeMap<u64, WaitingBlock>,
    /// For each partition, the number of the first block whose task on it is unassigned, or
    /// [`NO_BLOCK`].
    first: Vec<u64>,
    unassigned: u64,
}

/// Number that stands for no block.
const NO_BLOCK: u64 = u64::MAX;

/// A block with unassigned tasks.
#[derive(Clone, Debug)]
struct WaitingBlock {
    block: BlockId,
    pass: PassId,
    /// For each partition, whether its task is unassigned.
    unassigned: Vec<bool>,
    /// Number of unassigned tasks.
    left: u32,
}

impl TaskQueue {
    /// Creates an empty queue.
    pub fn new(partitions: u32) -> TaskQueue {
        let first = vec![NO_BLOCK; partitions as usize];
        TaskQueue { blocks: BTreeMap::new(), first, unassigned: 0 }
    }

    /// Adds the tasks of a block's pass, one per partition. `number` is the number of blocks that
    /// the group received before this one. The block must have no unassigned task.
    pub fn push(&mut self, number: u64, block: BlockId, pass: PassId) {
        let partitions = self.first.len();
        let unassigned = vec![true; partitions];
        let waiting = WaitingBlock { block, pass, unassigned, left: partitions as u32 };
        let before = self.blocks.insert(number, waiting);
        debug_assert!(before.is_none(), "block {block} comes back while its tasks wait");
        for first in &mut self.first {
            *first = number.min(*first);
        }
        self.unassigned += partitions as u64;
    }

    /// Returns the number of unassigned tasks.
    pub fn unassigned_tasks(&self) -> u64 {
        self.unassigned
    }

    /// Removes and returns the next task for a worker that holds these partitions, or `None` if it
    /// has none.
    pub fn assign_next(&mut self, held: &[PartitionId]) -> Option<(BlockId, PassId, PartitionId)> {
        let (number, partition) = held.iter().map(|p| (self.first[p.index()], *p)).min()?;
        let waiting = self.blocks.get_mut(&number)?;
        let task = (waiting.block, waiting.pass, partition);
        waiting.unassigned[partition.index()] = false;
        waiting.left -= 1;
        if waiting.left == 0 {
            self.blocks.remove(&number);
        }
        self.unassigned -= 1;
        let mut later = self.blocks.range(number + 1..);
        let next = later.find(|(_, waiting)| waiting.unassigned[partition.index()]);
        self.first[partition.index()] = next.map_or(NO_BLOCK, |(&number, _)| number);
        Some(task)
    }

    /// Removes all unassigned tasks. Returns the blocks to which they belonged.
    pub fn clear(&mut self) -> Vec<BlockId> {
        self.first.fill(NO_BLOCK);
        self.unassigned = 0;
        std::mem::take(&mut self.blocks).into_values().map(|waiting| waiting.block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(partitions: u32, blocks: &[u32]) -> TaskQueue {
        let mut queue = TaskQueue::new(partitions);
        for (number, &block) in (0..).zip(blocks) {
            queue.push(number, BlockId(block), PassId(0));
        }
        queue
    }

    fn held(partitions: std::ops::Range<u32>) -> Vec<PartitionId> {
        partitions.map(PartitionId).collect()
    }

    fn task(block: u32, partition: u32) -> Option<(BlockId, PassId, PartitionId)> {
        with_pass(0, block, partition)
    }

    fn with_pass(pass: u32, block: u32, partition: u32) -> Option<(BlockId, PassId, PartitionId)> {
        Some((BlockId(block), PassId(pass), PartitionId(partition)))
    }

    #[test]
    fn first_block_first_smallest_partition_first() {
        let mut queue = queue(4, &[7, 3]);
        assert_eq!(queue.assign_next(&held(1..3)), task(7, 1));
        assert_eq!(queue.assign_next(&held(1..4)), task(7, 2));
        assert_eq!(queue.assign_next(&held(1..3)), task(3, 1));
        assert_eq!(queue.assign_next(&held(0..4)), task(7, 0));
        assert_eq!(queue.assign_next(&held(0..4)), task(7, 3));
        assert_eq!(queue.assign_next(&held(1..3)), task(3, 2));
        assert_eq!(queue.assign_next(&held(1..3)), None);
        assert_eq!(queue.unassigned_tasks(), 2);
    }

    #[test]
    fn replicas_share_a_block() {
        let mut queue = queue(2, &[0, 1]);
        // Both workers hold partition 0, so the second one gets the next block.
        assert_eq!(queue.assign_next(&held(0..1)), task(0, 0));
        assert_eq!(queue.assign_next(&held(0..1)), task(1, 0));
        assert_eq!(queue.assign_next(&held(0..1)), None);
        queue.push(2, BlockId(2), PassId(0));
        assert_eq!(queue.assign_next(&held(0..1)), task(2, 0));
        assert_eq!(queue.assign_next(&held(1..2)), task(0, 1));
    }

    #[test]
    fn a_block_that_comes_back_keeps_its_place() {
        let mut queue = queue(2, &[7, 3, 9]);
        for partition in [0, 1] {
            assert_eq!(queue.assign_next(&held(partition..2)), task(7, partition));
        }
        // Block 3 has begun, block 9 has not.
        assert_eq!(queue.assign_next(&held(0..1)), task(3, 0));
        queue.push(0, BlockId(7), PassId(1));
        assert_eq!(queue.unassigned_tasks(), 2 + 1 + 2);
        assert_eq!(queue.assign_next(&held(0..2)), with_pass(1, 7, 0));
        assert_eq!(queue.assign_next(&held(0..1)), task(9, 0), "not what was assigned of block 3");
        assert_eq!(queue.assign_next(&held(0..2)), with_pass(1, 7, 1));
        assert_eq!(queue.assign_next(&held(0..2)), task(3, 1));
        queue.push(1, BlockId(3), PassId(1));
        queue.push(0, BlockId(7), PassId(2));
        let rest: Vec<_> = std::iter::from_fn(|| queue.assign_next(&held(0..2))).collect();
        let expected = [
            with_pass(2, 7, 0),
            with_pass(2, 7, 1),
            with_pass(1, 3, 0),
            with_pass(1, 3, 1),
            task(9, 1),
        ];
        assert_eq!(rest.into_iter().map(Some).collect::<Vec<_>>(), expected);
        assert_eq!(queue.unassigned_tasks(), 0);
    }

    #[test]
    fn clearing_names_the_blocks_that_lose_tasks() {
        let mut queue = queue(2, &[0, 1, 2]);
        assert_eq!(queue.assign_next(&held(0..2)), task(0, 0));
        assert_eq!(queue.assign_next(&held(0..2)), task(0, 1));
        assert_eq!(queue.assign_next(&held(0..1)), task(1, 0));
        assert_eq!(queue.clear(), [BlockId(1), BlockId(2)]);
        assert_eq!(queue.assign_next(&held(0..2)), None);
        queue.push(3, BlockId(9), PassId(0));
        assert_eq!(queue.assign_next(&held(0..2)), task(9, 0));
        assert_eq!(queue.unassigned_tasks(), 1);
    }
}
