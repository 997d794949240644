//! Computes the offsets of blocks in the output.

use std::collections::BTreeMap;

use crate::ids::{BlockId, GroupId};

/// Output sizes of a finished block, and the group that has its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedBlock {
    /// Bytes of the block's output.
    pub size: u64,
    /// Bytes that the group holds for the block, in memory and files.
    pub held: u64,
    /// The group whose workers have the output; `None` if an earlier run finished the block.
    pub group: Option<GroupId>,
}

/// Computes offsets from the sizes of finished blocks.
#[derive(Debug)]
pub struct BlockOffsets {
    /// The first unfinished block, and its offset in the output (`offset`).
    next: BlockId,
    offset: u64,
    /// Finished blocks that come after the first unfinished one.
    waiting: BTreeMap<BlockId, FinishedBlock>,
    /// Bytes that groups hold for the blocks in `waiting`.
    bytes: u64,
}

impl BlockOffsets {
    /// Creates the offsets of an output whose first block begins at offset `base`.
    pub fn new(base: u64) -> BlockOffsets {
        BlockOffsets { next: BlockId(0), offset: base, waiting: BTreeMap::new(), bytes: 0 }
    }

    /// Returns the first unfinished block; the offsets of all blocks before it are known.
    pub fn next(&self) -> BlockId {
        self.next
    }

    /// Returns the offset of the first unfinished block.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes that groups hold for finished blocks that wait for an earlier block.
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a finished block. Returns the blocks whose offsets have become known, with their
    /// offsets.
    pub fn finish_block(
        &mut self,
        block: BlockId,
        finished: FinishedBlock,
    ) -> Vec<(BlockId, u64, FinishedBlock)> {
        self.waiting.insert(block, finished);
        self.bytes += finished.held;
        let mut known = Vec::new();
        while let Some(finished) = self.waiting.remove(&self.next) {
            self.bytes -= finished.held;
            known.push((self.next, self.offset, finished));
            self.offset += finished.size;
            self.next = self.next.next();
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_order_of_blocks() {
        let mut offsets = BlockOffsets::new(100);
        let finished = |size, group: Option<u32>| {
            let held = if group.is_some() { size + 1 } else { 0 };
            FinishedBlock { size, held, group: group.map(GroupId) }
        };
        assert_eq!(offsets.finish_block(BlockId(2), finished(7, Some(1))), []);
        assert_eq!(offsets.finish_block(BlockId(1), finished(50, None)), []);
        assert_eq!(offsets.waiting_bytes(), 8);
        assert_eq!(
            offsets.finish_block(BlockId(0), finished(3, Some(0))),
            [
                (BlockId(0), 100, finished(3, Some(0))),
                (BlockId(1), 103, finished(50, None)),
                (BlockId(2), 153, finished(7, Some(1))),
            ]
        );
        assert_eq!(
            (offsets.waiting_bytes(), offsets.next(), offsets.offset()),
            (0, BlockId(3), 160)
        );
    }
}
