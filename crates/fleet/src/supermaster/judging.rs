//! What blocks found, judged one after the other where that decides how the next ones are searched.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{BlockId, GroupId, PassId};

/// What a group's master tells of a pass of a block.
type Told<P> = (GroupId, PassId, P);

/// Blocks on their way to the judge.
#[derive(Debug)]
pub struct Judging<P> {
    /// All blocks before it are right.
    next: BlockId,
    /// Later ones that an earlier run finished: they are right.
    skipped: BTreeSet<BlockId>,
    waiting: BTreeMap<BlockId, Told<P>>,
    under_way: Option<(BlockId, GroupId, PassId)>,
}

impl<P> Judging<P> {
    /// Nothing is judged.
    pub fn new() -> Judging<P> {
        Judging {
            next: BlockId(0),
            skipped: BTreeSet::new(),
            waiting: BTreeMap::new(),
            under_way: None,
        }
    }

    /// A pass of a block is to be judged.
    pub fn add(&mut self, block: BlockId, told: Told<P>) {
        self.waiting.insert(block, told);
    }

    /// Whether the first block is right.
    pub fn has_begun(&self) -> bool {
        self.next > BlockId(0)
    }

    /// Returns the block for which others wait to be judged.
    pub fn awaited(&self) -> Option<BlockId> {
        let waits = !self.waiting.is_empty() && !self.waiting.contains_key(&self.next);
        waits.then_some(self.next)
    }

    /// A block is right since an earlier run finished it.
    pub fn skip(&mut self, block: BlockId) {
        self.skipped.insert(block);
        self.advance();
    }

    /// Begins to judge the next block, if it is there.
    pub fn begin(&mut self) -> Option<(BlockId, PassId, P)> {
        let block = self.next;
        let (group, pass, found) = self.waiting.remove(&block)?;
        self.under_way = Some((block, group, pass));
        Some((block, pass, found))
    }

    /// It is judged; returns who asked. One that is not right will come again.
    pub fn end(&mut self, right: bool) -> Option<(BlockId, GroupId, PassId)> {
        let judged = self.under_way.take();
        if right && judged.is_some() {
            self.next = self.next.next();
            self.advance();
        }
        judged
    }

    fn advance(&mut self) {
        while self.skipped.remove(&self.next) {
            self.next = self.next.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_judged_in_their_order_until_they_are_right() {
        let mut judging = Judging::new();
        let told = |pass| (GroupId(pass + 3), PassId(pass), ());
        let block =
            |judging: &mut Judging<()>| judging.begin().map(|(block, pass, ())| (block.0, pass.0));
        judging.add(BlockId(3), told(0));
        judging.skip(BlockId(2));
        judging.add(BlockId(1), told(0));
        assert_eq!(block(&mut judging), None);
        assert_eq!(judging.awaited(), Some(BlockId(0)));
        judging.skip(BlockId(0));
        assert_eq!(judging.awaited(), None);
        assert_eq!(block(&mut judging), Some((1, 0)));
        assert_eq!(judging.end(false), Some((BlockId(1), GroupId(3), PassId(0))));
        assert_eq!(block(&mut judging), None, "block 1 is to come again");
        judging.add(BlockId(1), told(1));
        assert_eq!(block(&mut judging), Some((1, 1)));
        assert_eq!(judging.end(true), Some((BlockId(1), GroupId(4), PassId(1))));
        assert_eq!(block(&mut judging), Some((3, 0)));
        assert!(judging.end(true).is_some() && block(&mut judging).is_none());
        assert_eq!(judging.end(true), None);
    }
}
