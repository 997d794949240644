//! Adapts the residues of queries in a block to the time that blocks take.
//!
//! A report is written block by block, and each block reads the database once more. The first
//! block is therefore one batch of BLAST+, so that its report comes no later than BLAST+'s. After
//! that, blocks grow until each takes a second or more.

use std::time::Duration;

/// Blocks that take less time are followed by larger ones.
const SHORT: Duration = Duration::from_secs(1);
/// Blocks that take more time are followed by smaller ones.
const LONG: Duration = Duration::from_secs(4);

/// The size of the next block, in residues of queries.
#[derive(Clone, Copy, Debug)]
pub struct BlockSize {
    residues: u64,
    least: u64,
    most: u64,
}

impl BlockSize {
    /// Starts at `least` residues and may grow to `most`; a fixed size if both are equal.
    pub fn new(least: u64, most: u64) -> Self {
        BlockSize { residues: least, least, most }
    }

    /// Residues of queries that fill the next block.
    pub fn residues(&self) -> u64 {
        self.residues
    }

    /// Adapts the size to the time that a block took, from the reading of its queries to the
    /// writing of its report.
    pub fn adapt(&mut self, elapsed: Duration) {
        let residues = if elapsed < SHORT {
            self.residues.saturating_mul(2)
        } else if elapsed > LONG {
            self.residues / 2
        } else {
            self.residues
        };
        self.residues = residues.clamp(self.least, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_are_followed_by_larger_ones_and_long_ones_by_smaller_ones() {
        let mut size = BlockSize::new(10_000, 50_000);
        let mut after = |seconds| {
            size.adapt(Duration::from_secs_f64(seconds));
            size.residues()
        };
        assert_eq!([0.1, 0.1, 0.1, 0.1].map(&mut after), [20_000, 40_000, 50_000, 50_000]);
        assert_eq!([2.0, 5.0, 5.0, 5.0, 5.0].map(after), [50_000, 25_000, 12_500, 10_000, 10_000]);
    }

    #[test]
    fn a_fixed_size_stays() {
        let mut size = BlockSize::new(7, 7);
        for seconds in [0, 1, 100] {
            size.adapt(Duration::from_secs(seconds));
            assert_eq!(size.residues(), 7);
        }
    }
}
