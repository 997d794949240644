//! The blocks that a master has under way.

use std::collections::BTreeMap;

use crate::ids::BlockId;

/// Blocks from when their queries come until their output is finished, each with its number of queries.
#[derive(Debug, Default)]
pub struct Unfinished {
    blocks: BTreeMap<BlockId, u64>,
    queries: u64,
}

impl Unfinished {
    /// Adds a block with this many queries.
    pub fn insert(&mut self, block: BlockId, queries: u64) {
        let before = self.blocks.insert(block, queries).unwrap_or(0);
        self.queries = self.queries + queries - before;
    }

    /// Removes a block, if it is there.
    pub fn remove(&mut self, block: BlockId) {
        self.queries -= self.blocks.remove(&block).unwrap_or(0);
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of their queries.
    pub fn queries(&self) -> u64 {
        self.queries
    }
}
