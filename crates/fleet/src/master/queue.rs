//! Algorithm 1 of Lin et al.: which task a worker gets.

use std::collections::VecDeque;

use crate::ids::{BlockId, PartitionId};

/// The tasks of a group that are not assigned.
///
/// A worker gets a task of the first block that still has one on a partition the worker holds; of those the one with
/// the smallest partition. Since tasks of a partition are assigned in the order of the blocks and none comes back, a
/// cursor per partition says it all.
#[derive(Clone, Debug)]
pub struct TaskQueue {
    /// Blocks with unassigned tasks, and how many.
    blocks: VecDeque<(BlockId, u32)>,
    /// How many blocks were taken off the front.
    passed: u64,
    /// Per partition: the number, from the very first, of the first block whose task is unassigned.
    next: Vec<u64>,
    unassigned: u64,
}

impl TaskQueue {
    /// No tasks.
    pub fn new(partitions: u32) -> TaskQueue {
        let next = vec![0; partitions as usize];
        TaskQueue { blocks: VecDeque::new(), passed: 0, next, unassigned: 0 }
    }

    /// Appends a block: one task per partition.
    pub fn push(&mut self, block: BlockId) {
        self.blocks.push_back((block, self.next.len() as u32));
        self.unassigned += self.next.len() as u64;
    }

    /// Tasks that are not assigned.
    pub fn unassigned(&self) -> u64 {
        self.unassigned
    }

    /// Takes out the task for a worker that holds these partitions.
    pub fn take(&mut self, held: &[PartitionId]) -> Option<(BlockId, PartitionId)> {
        let end = self.passed + self.blocks.len() as u64;
        let (number, partition) = held.iter().map(|p| (self.next[p.index()], *p)).min()?;
        if number == end {
            return None;
        }
        self.next[partition.index()] += 1;
        self.unassigned -= 1;
        let (block, left) = &mut self.blocks[(number - self.passed) as usize];
        *left -= 1;
        let block = *block;
        while self.blocks.front().is_some_and(|&(_, left)| left == 0) {
            self.blocks.pop_front();
            self.passed += 1;
        }
        Some((block, partition))
    }

    /// Gives up all unassigned tasks; returns their blocks.
    pub fn clear(&mut self) -> Vec<BlockId> {
        self.passed += self.blocks.len() as u64;
        self.next.fill(self.passed);
        self.unassigned = 0;
        self.blocks.drain(..).filter(|&(_, left)| left > 0).map(|(block, _)| block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(partitions: u32, blocks: &[u32]) -> TaskQueue {
        let mut queue = TaskQueue::new(partitions);
        blocks.iter().for_each(|&block| queue.push(BlockId(block)));
        queue
    }

    fn held(partitions: std::ops::Range<u32>) -> Vec<PartitionId> {
        partitions.map(PartitionId).collect()
    }

    fn task(block: u32, partition: u32) -> Option<(BlockId, PartitionId)> {
        Some((BlockId(block), PartitionId(partition)))
    }

    #[test]
    fn first_block_first_smallest_partition_first() {
        let mut queue = queue(4, &[7, 3]);
        assert_eq!(queue.take(&held(1..3)), task(7, 1));
        assert_eq!(queue.take(&held(1..4)), task(7, 2));
        assert_eq!(queue.take(&held(1..3)), task(3, 1));
        assert_eq!(queue.take(&held(0..4)), task(7, 0));
        assert_eq!(queue.take(&held(0..4)), task(7, 3));
        assert_eq!(queue.take(&held(1..3)), task(3, 2));
        assert_eq!(queue.take(&held(1..3)), None);
        assert_eq!(queue.unassigned(), 2);
    }

    #[test]
    fn replicas_share_a_block() {
        let mut queue = queue(2, &[0, 1]);
        // Two workers that both hold partition 0: the second goes on with the next block.
        assert_eq!(queue.take(&held(0..1)), task(0, 0));
        assert_eq!(queue.take(&held(0..1)), task(1, 0));
        assert_eq!(queue.take(&held(0..1)), None);
        queue.push(BlockId(2));
        assert_eq!(queue.take(&held(0..1)), task(2, 0));
        assert_eq!(queue.take(&held(1..2)), task(0, 1));
    }

    #[test]
    fn clearing_names_the_blocks_that_lose_tasks() {
        let mut queue = queue(2, &[0, 1, 2]);
        assert_eq!(queue.take(&held(0..2)), task(0, 0));
        assert_eq!(queue.take(&held(0..2)), task(0, 1));
        assert_eq!(queue.take(&held(0..1)), task(1, 0));
        assert_eq!(queue.clear(), [BlockId(1), BlockId(2)]);
        assert_eq!(queue.take(&held(0..2)), None);
        queue.push(BlockId(9));
        assert_eq!(queue.take(&held(0..2)), task(9, 0));
        assert_eq!(queue.unassigned(), 1);
    }
}
