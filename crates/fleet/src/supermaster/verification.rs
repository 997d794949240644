//! Orders the verification of blocks. They are verified one after the other, because the results of
//! a block decide how the next blocks are searched.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{BlockId, GroupId, PassId};

/// The group that searched a pass of a block, the pass, and its results.
type PassOfGroup<P> = (GroupId, PassId, P);

/// Passes that wait for verification.
#[derive(Debug)]
pub struct VerificationQueue<P> {
    /// The next block to verify. All blocks before it are confirmed.
    next: BlockId,
    /// Blocks after `next` that an earlier run finished, and that are therefore confirmed.
    skipped: BTreeSet<BlockId>,
    waiting: BTreeMap<BlockId, PassOfGroup<P>>,
    under_way: Option<(BlockId, GroupId, PassId)>,
}

impl<P> VerificationQueue<P> {
    /// Creates a queue in which block 0 is the next block to verify.
    pub fn new() -> VerificationQueue<P> {
        VerificationQueue {
            next: BlockId(0),
            skipped: BTreeSet::new(),
            waiting: BTreeMap::new(),
            under_way: None,
        }
    }

    /// Adds the results of a pass of a block.
    pub fn add(&mut self, block: BlockId, pass: PassOfGroup<P>) {
        self.waiting.insert(block, pass);
    }

    /// Returns whether at least the first block is verified.
    pub fn has_begun(&self) -> bool {
        self.next > BlockId(0)
    }

    /// Returns the next block to verify if its results are missing while results of other blocks
    /// wait.
    pub fn awaited_block(&self) -> Option<BlockId> {
        let waits = !self.waiting.is_empty() && !self.waiting.contains_key(&self.next);
        waits.then_some(self.next)
    }

    /// Notes that a block needs no verification because an earlier run finished it.
    pub fn skip(&mut self, block: BlockId) {
        self.skipped.insert(block);
        self.advance();
    }

    /// Begins to verify the next block, if its results have arrived. Returns the block, the pass
    /// and the results.
    pub fn begin(&mut self) -> Option<(BlockId, PassId, P)> {
        let block = self.next;
        let (group, pass, found) = self.waiting.remove(&block)?;
        self.under_way = Some((block, group, pass));
        Some((block, pass, found))
    }

    /// Ends the running verification. Returns the block, the group that searched it, and the pass.
    /// If the block is not confirmed, its group will add another pass of it.
    pub fn end(&mut self, is_confirmed: bool) -> Option<(BlockId, GroupId, PassId)> {
        let verified = self.under_way.take();
        if is_confirmed && verified.is_some() {
            self.next = self.next.next();
            self.advance();
        }
        verified
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
    fn blocks_are_verified_in_order_until_they_are_right() {
        let mut verification = VerificationQueue::new();
        let pass = |pass| (GroupId(pass + 3), PassId(pass), ());
        let block = |verification: &mut VerificationQueue<()>| {
            verification.begin().map(|(block, pass, ())| (block.0, pass.0))
        };
        verification.add(BlockId(3), pass(0));
        verification.skip(BlockId(2));
        verification.add(BlockId(1), pass(0));
        assert_eq!(block(&mut verification), None);
        assert_eq!(verification.awaited_block(), Some(BlockId(0)));
        verification.skip(BlockId(0));
        assert_eq!(verification.awaited_block(), None);
        assert_eq!(block(&mut verification), Some((1, 0)));
        assert_eq!(verification.end(false), Some((BlockId(1), GroupId(3), PassId(0))));
        assert_eq!(block(&mut verification), None, "block 1 is to come again");
        verification.add(BlockId(1), pass(1));
        assert_eq!(block(&mut verification), Some((1, 1)));
        assert_eq!(verification.end(true), Some((BlockId(1), GroupId(4), PassId(1))));
        assert_eq!(block(&mut verification), Some((3, 0)));
        assert!(verification.end(true).is_some() && block(&mut verification).is_none());
        assert_eq!(verification.end(true), None);
    }
}
