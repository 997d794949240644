//! Where blocks begin in the output.

use std::collections::BTreeMap;

use crate::ids::{BlockId, GroupId};

/// A block that is finished, and the group that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Bytes of its output.
    pub size: u64,
    /// Bytes that the group holds for it, in memory and files.
    pub held: u64,
    /// Whose workers have it; if nobody's, an earlier run finished it.
    pub group: Option<GroupId>,
}

/// Sizes of finished blocks, and the offsets that follow from them.
#[derive(Debug)]
pub struct Offsets {
    /// The first block that is not finished, and its offset.
    next: BlockId,
    offset: u64,
    /// Finished blocks after it.
    waiting: BTreeMap<BlockId, Finished>,
    /// Bytes that are held for them.
    bytes: u64,
}

impl Offsets {
    /// The first block begins at `base`.
    pub fn new(base: u64) -> Offsets {
        Offsets { next: BlockId(0), offset: base, waiting: BTreeMap::new(), bytes: 0 }
    }

    /// The first block that is not finished; all before have their offsets.
    pub fn next(&self) -> BlockId {
        self.next
    }

    /// Where it begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes held for blocks of this run that wait because an earlier block is not finished.
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes
    }

    /// A block is finished. Returns the blocks whose offsets are known now.
    pub fn finish(&mut self, block: BlockId, finished: Finished) -> Vec<(BlockId, u64, Finished)> {
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
        let of = |size, group: Option<u32>| {
            let held = if group.is_some() { size + 1 } else { 0 };
            Finished { size, held, group: group.map(GroupId) }
        };
        assert_eq!(offsets.finish(BlockId(2), of(7, Some(1))), []);
        assert_eq!(offsets.finish(BlockId(1), of(50, None)), []);
        assert_eq!(offsets.waiting_bytes(), 8);
        assert_eq!(
            offsets.finish(BlockId(0), of(3, Some(0))),
            [
                (BlockId(0), 100, of(3, Some(0))),
                (BlockId(1), 103, of(50, None)),
                (BlockId(2), 153, of(7, Some(1))),
            ]
        );
        assert_eq!(
            (offsets.waiting_bytes(), offsets.next(), offsets.offset()),
            (0, BlockId(3), 160)
        );
    }
}
