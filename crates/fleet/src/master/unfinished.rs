//! The blocks that a master has received and not finished.

use std::collections::BTreeMap;

use crate::ids::BlockId;

/// Number of queries of each unfinished block. A block is unfinished from the arrival of its
/// queries until its output is finished.
#[derive(Debug, Default)]
pub struct UnfinishedBlocks {
    blocks: BTreeMap<BlockId, u64>,
    queries: u64,
}

impl UnfinishedBlocks {
    /// Adds a block with this many queries.
    pub fn insert(&mut self, block: BlockId, queries: u64) {
        let before = self.blocks.insert(block, queries).unwrap_or(0);
        self.queries = self.queries + queries - before;
    }

    /// Removes a block, if it is unfinished.
    pub fn remove(&mut self, block: BlockId) {
        self.queries -= self.blocks.remove(&block).unwrap_or(0);
    }

    /// Returns the number of unfinished blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of queries in all unfinished blocks.
    pub fn queries(&self) -> u64 {
        self.queries
    }
}
