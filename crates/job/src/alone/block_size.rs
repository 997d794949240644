//! Adapts the size of blocks of queries to the time that blocks take.
//!
//! The job writes the report block by block, and reads the database once for each block. The first
//! block is one batch of BLAST+, so that its report comes no later than BLAST+'s. Later blocks grow
//! until each takes a second or more.

use std::time::Duration;

/// Time below which a block is followed by a larger one.
const SHORT: Duration = Duration::from_secs(1);
/// Time above which a block is followed by a smaller one.
const LONG: Duration = Duration::from_secs(4);

/// The size of the next block, in residues of queries.
#[derive(Clone, Copy, Debug)]
pub struct BlockSize {
    residues: u64,
    least: u64,
    most: u64,
}

impl BlockSize {
    /// Creates a block size of `least` residues, which can grow to `most`. The size is fixed if
    /// both are equal.
    pub fn new(least: u64, most: u64) -> Self {
        BlockSize { residues: least, least, most }
    }

    /// Returns the number of residues of queries that fill the next block.
    pub fn residues(&self) -> u64 {
        self.residues
    }

    /// Doubles or halves the size, or keeps it, according to the time that the last block took. The
    /// time is from reading the block's queries to writing its report.
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
