//! The blocks that a master has not finished.

use std::collections::BTreeMap;

use crate::ids::BlockId;

/// Blocks from the arrival of their queries until their output is finished, each with its number of
/// queries.
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

    /// Removes a block, if it is there.
    pub fn remove(&mut self, block: BlockId) {
        self.queries -= self.blocks.remove(&block).unwrap_or(0);
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the number of their queries.
    pub fn queries(&self) -> u64 {
        self.queries
    }
}
