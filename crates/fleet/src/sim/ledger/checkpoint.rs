//! The simulated checkpoint: the data that outlive a run.

use std::collections::BTreeMap;

use crate::ids::{BlockId, PassId};
use crate::work::OutputRun;

use super::intervals::Intervals;

/// Contents of the checkpoint of a simulated job.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// For each block, the offsets of its stored bytes, and the size of its output.
    stored: BTreeMap<BlockId, (Intervals, u64)>,
    /// For each block, the number of its passes that are kept.
    kept: BTreeMap<BlockId, u32>,
}

impl Checkpoint {
    /// Returns the complete blocks, which the next run need not search, with the bytes of their
    /// output.
    pub fn finished_blocks(&self) -> BTreeMap<BlockId, u64> {
        let whole = self.stored.iter().filter(|(_, (bytes, size))| bytes.is_exactly(0, *size));
        whole.map(|(&block, &(_, size))| (block, size)).collect()
    }

    /// Returns the number of complete blocks plus the number of kept passes.
    pub fn progress(&self) -> u64 {
        self.finished_blocks().len() as u64
            + self.kept.values().map(|&passes| u64::from(passes)).sum::<u64>()
    }

    /// Drops incomplete blocks. A run that resumes from the checkpoint does this at its start.
    pub fn trim(&mut self) {
        self.stored.retain(|_, (bytes, size)| bytes.is_exactly(0, *size));
    }

    /// Keeps the passes of a block up to `pass`; all of them are over.
    pub fn keep(&mut self, block: BlockId, pass: PassId) {
        self.kept.insert(block, pass.next().0);
    }

    /// Returns the first pass of a block in a run that resumes from this checkpoint.
    pub fn first_pass(&self, block: BlockId) -> PassId {
        PassId(self.kept.get(&block).copied().unwrap_or(0))
    }

    /// Whether these bytes of a block's output are stored.
    pub fn has_bytes(&self, block: BlockId, start: u64, length: u64) -> bool {
        self.stored.get(&block).is_some_and(|(bytes, _)| bytes.contains(start, length))
    }

    /// Stores bytes of a block whose output has `size` bytes. Returns false if some bytes are
    /// stored already, or if the size differs from the size stated earlier.
    pub fn store(&mut self, block: BlockId, runs: &[OutputRun], size: u64) -> bool {
        let stored = self.stored.entry(block).or_insert((Intervals::default(), size));
        stored.1 == size && runs.iter().all(|run| stored.0.add(run.offset, run.length()))
    }
}
