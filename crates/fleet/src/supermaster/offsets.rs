//! Offsets of blocks in the output.

use std::collections::BTreeMap;

use crate::ids::{BlockId, GroupId};

/// A finished block and the group that has its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedBlock {
    /// Bytes of its output.
    pub size: u64,
    /// Bytes that the group holds for the block, in memory and files.
    pub held: u64,
    /// The group whose workers have the output; `None` if an earlier run finished the block.
    pub group: Option<GroupId>,
}

/// Sizes of finished blocks, and the offsets that result from them.
#[derive(Debug)]
pub struct Offsets {
    /// The first unfinished block, and its offset.
    next: BlockId,
    offset: u64,
    /// Finished blocks after the first unfinished one.
    waiting: BTreeMap<BlockId, FinishedBlock>,
    /// Bytes held for these blocks.
    bytes: u64,
}

impl Offsets {
    /// Starts with the first block at offset `base`.
    pub fn new(base: u64) -> Offsets {
        Offsets { next: BlockId(0), offset: base, waiting: BTreeMap::new(), bytes: 0 }
    }

    /// Returns the first unfinished block; the offsets of all blocks before it are known.
    pub fn next(&self) -> BlockId {
        self.next
    }

    /// Returns the offset of the first unfinished block.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes held for blocks of this run that wait for an earlier block.
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes a finished block. Returns the blocks whose offsets are now known.
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
        let mut offsets = Offsets::new(100);
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
