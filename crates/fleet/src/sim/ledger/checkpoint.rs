//! What outlives a run.

use std::collections::BTreeMap;

use crate::ids::{BlockId, PassId};
use crate::work::Run;

use super::intervals::Intervals;

/// What the checkpoint has.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// Of each block the bytes stored, and the size of its output.
    stored: BTreeMap<BlockId, (Intervals, u64)>,
    /// The passes of each block that are kept.
    kept: BTreeMap<BlockId, u32>,
}

impl Checkpoint {
    /// The blocks that are whole, with the bytes of their output: what a run can start from.
    pub fn finished(&self) -> BTreeMap<BlockId, u64> {
        let whole = self.stored.iter().filter(|(_, (bytes, size))| bytes.is_exactly(0, *size));
        whole.map(|(&block, &(_, size))| (block, size)).collect()
    }

    /// Number of blocks that are whole, and of passes that are kept.
    pub fn progress(&self) -> u64 {
        self.finished().len() as u64
            + self.kept.values().map(|&passes| u64::from(passes)).sum::<u64>()
    }

    /// Drops what is not whole, as a run does that starts from it.
    pub fn trim(&mut self) {
        self.stored.retain(|_, (bytes, size)| bytes.is_exactly(0, *size));
    }

    /// The passes of a block up to this one are over; what is needed of them is kept.
    pub fn keep(&mut self, block: BlockId, pass: PassId) {
        self.kept.insert(block, pass.next().0);
    }

    /// The pass with which a run that starts from here begins a block.
    pub fn first_pass(&self, block: BlockId) -> PassId {
        PassId(self.kept.get(&block).copied().unwrap_or(0))
    }

    /// Whether these bytes of a block's output are stored.
    pub fn has_bytes(&self, block: BlockId, start: u64, length: u64) -> bool {
        self.stored.get(&block).is_some_and(|(bytes, _)| bytes.contains(start, length))
    }

    /// Stores bytes of a block whose output has `size` bytes; false if some are there already, or the size was another.
    pub fn store(&mut self, block: BlockId, runs: &[Run], size: u64) -> bool {
        let stored = self.stored.entry(block).or_insert((Intervals::default(), size));
        stored.1 == size && runs.iter().all(|run| stored.0.add(run.offset, run.length()))
    }
}
