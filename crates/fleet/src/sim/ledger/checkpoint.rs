//! The simulated checkpoint: data that outlives a run.

use std::collections::BTreeMap;

use crate::ids::{BlockId, PassId};
use crate::work::Run;

use super::intervals::Intervals;

/// Contents of a checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// For each block, the stored bytes and the size of its output.
    stored: BTreeMap<BlockId, (Intervals, u64)>,
    /// Number of passes kept of each block.
    kept: BTreeMap<BlockId, u32>,
}

impl Checkpoint {
    /// Returns the complete blocks, with the bytes of their output, for the next run to start from.
    pub fn finished(&self) -> BTreeMap<BlockId, u64> {
        let whole = self.stored.iter().filter(|(_, (bytes, size))| bytes.is_exactly(0, *size));
        whole.map(|(&block, &(_, size))| (block, size)).collect()
    }

    /// Returns the number of complete blocks plus the number of kept passes.
    pub fn progress(&self) -> u64 {
        self.finished().len() as u64
            + self.kept.values().map(|&passes| u64::from(passes)).sum::<u64>()
    }

    /// Drops incomplete blocks, as a run does that starts from here.
    pub fn trim(&mut self) {
        self.stored.retain(|_, (bytes, size)| bytes.is_exactly(0, *size));
    }

    /// Keeps the passes of a block up to this one, which are over.
    pub fn keep(&mut self, block: BlockId, pass: PassId) {
        self.kept.insert(block, pass.next().0);
    }

    /// Returns the first pass of a block in a run that starts from here.
    pub fn first_pass(&self, block: BlockId) -> PassId {
        PassId(self.kept.get(&block).copied().unwrap_or(0))
    }

    /// Whether these bytes of a block's output are stored.
    pub fn has_bytes(&self, block: BlockId, start: u64, length: u64) -> bool {
        self.stored.get(&block).is_some_and(|(bytes, _)| bytes.contains(start, length))
    }

    /// Stores bytes of a block whose output has `size` bytes. Returns false if some are stored
    /// already, or if the size differs from before.
    pub fn store(&mut self, block: BlockId, runs: &[Run], size: u64) -> bool {
        let stored = self.stored.entry(block).or_insert((Intervals::default(), size));
        stored.1 == size && runs.iter().all(|run| stored.0.add(run.offset, run.length()))
    }
}
