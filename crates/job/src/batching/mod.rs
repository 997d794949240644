//! Sizes of batches, which may depend on the extensions of earlier batches (`CBatchSizeMixer`,
//! blast_app_util.hpp).

pub mod progress;

use fleetblast_engine::params::truncate_to_i32;
use fleetblast_fleet::plan::{BLOCK_QUERIES, BLOCK_RESIDUES};
use fleetblast_metadata::BatchState;
use serde::{Deserialize, Serialize};

/// Minimum number of letters of a batch.
const MIN_LETTERS: i32 = 100;
/// Minimum number of extensions that a batch should cause.
const MIN_EXTENSIONS: i32 = 1_000_000;
/// Number of letters of the database for each extension that a batch should cause.
const LETTERS_PER_EXTENSION: i64 = 3000;
/// Number of extensions per letter that BLAST+ assumes for the first batch.
const FIRST_EXTENSIONS_PER_LETTER: i32 = 200;
/// Number of letters of the first batch if the size of the database is unknown.
const DEFAULT_FIRST_LETTERS: i32 = 5000;
/// Limits of a block of queries with adaptive batches. Blocks are large because each one costs a
/// pass over a nucleotide database, however few words its queries have.
const ADAPTIVE_BLOCK: BlockLimits = BlockLimits { queries: 10_000, residues: (50_000, 500_000) };
/// Weight of the last batch in the mean number of extensions per letter. The mean of all earlier
/// batches has the remaining weight.
const LAST_BATCH_WEIGHT: f64 = 0.3;

/// Limits of a block of queries.
struct BlockLimits {
    queries: u64,
    residues: (u64, u64),
}

/// Number of letters with which a batch is complete. A batch consists of whole queries, as in
/// BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchSize {
    /// A constant number of letters.
    Fixed(usize),
    /// The number of letters that is expected to cause the wanted number of extensions. It is
    /// estimated from earlier batches.
    Adaptive {
        /// Maximum number of letters of a batch.
        max_letters: i32,
    },
}

impl BatchSize {
    /// Returns whether the size of a batch depends on earlier batches.
    pub fn is_adaptive(self) -> bool {
        matches!(self, BatchSize::Adaptive { .. })
    }

    /// Returns the number of queries with which a block is complete.
    pub fn block_queries(self) -> u64 {
        match self {
            BatchSize::Fixed(_) => BLOCK_QUERIES,
            BatchSize::Adaptive { .. } => ADAPTIVE_BLOCK.queries,
        }
    }

    /// Returns the minimum and the maximum number of residues of a block on ranks, if no option
    /// sets the number of residues.
    pub fn block_residues(self) -> (u64, u64) {
        match self {
            BatchSize::Fixed(letters) => (letters as u64, BLOCK_RESIDUES),
            BatchSize::Adaptive { .. } => ADAPTIVE_BLOCK.residues,
        }
    }

    /// Returns the minimum number of letters of every batch but the last.
    pub fn min_letters(self) -> u64 {
        match self {
            BatchSize::Fixed(letters) => letters as u64,
            BatchSize::Adaptive { .. } => MIN_LETTERS as u64,
        }
    }
}

/// Rule for the size of the next batch, which may depend on the extensions of earlier batches.
#[derive(Clone, Debug)]
pub struct BatchSizer {
    size: BatchSize,
    /// Number of extensions that a batch should cause.
    wanted_extensions: i32,
    /// Mean number of extensions per letter in earlier batches, if known.
    ratio: Option<f64>,
    /// Number of letters of the next batch, if the size is adaptive.
    letters: i32,
}

impl BatchSizer {
    /// Creates the rule for the first batch against a database with this number of letters; 0 if
    /// the number is unknown.
    pub fn new(size: BatchSize, database_letters: i64) -> Self {
        let mut sizer = Self {
            size,
            wanted_extensions: MIN_EXTENSIONS,
            ratio: None,
            letters: DEFAULT_FIRST_LETTERS,
        };
        if database_letters > 0 {
            // BLAST+ keeps the lowest 32 bits.
            let wanted_extensions = (database_letters / LETTERS_PER_EXTENSION) as i32;
            sizer.wanted_extensions = wanted_extensions.max(MIN_EXTENSIONS);
            sizer.letters = sizer.wanted_extensions / FIRST_EXTENSIONS_PER_LETTER;
        }
        sizer.clamp();
        sizer
    }

    /// Returns the number of letters with which the next batch is complete.
    pub fn letters(&self) -> usize {
        match self.size {
            BatchSize::Fixed(letters) => letters,
            BatchSize::Adaptive { .. } => self.letters as usize,
        }
    }

    /// Returns whether the size of the next batch depends on the current batch.
    pub fn is_adaptive(&self) -> bool {
        self.size.is_adaptive()
    }

    /// Records how many extensions the last batch caused, and computes the size of the next one.
    pub fn record_extensions(&mut self, extensions: u64) {
        if !self.is_adaptive() {
            return;
        }
        // BLAST+ counts in 32 bits and ignores negative numbers.
        let extensions = extensions as i32;
        if extensions >= 0 {
            let ratio = f64::from(extensions.wrapping_add(1)) / f64::from(self.letters);
            let ratio = self.ratio.map_or(ratio, |before| {
                LAST_BATCH_WEIGHT * ratio + (1.0 - LAST_BATCH_WEIGHT) * before
            });
            self.ratio = Some(ratio);
            // If the quotient exceeds an `i32`, the batch gets the smallest size.
            self.letters = truncate_to_i32(f64::from(self.wanted_extensions) / ratio);
        }
        self.clamp();
    }

    /// Returns the state from which another process can form the next batches.
    pub fn state(&self) -> BatchState {
        BatchState { letters: self.letters, ratio: self.ratio }
    }

    /// Restores the state that another process had after its last batch.
    pub fn resume(&mut self, state: BatchState) {
        (self.letters, self.ratio) = (state.letters, state.ratio);
        self.clamp();
    }

    /// Limits the number of letters of the next batch. Like BLAST+, this discards the mean number
    /// of extensions per letter if the number was outside of the limits.
    fn clamp(&mut self) {
        let BatchSize::Adaptive { max_letters } = self.size else { return };
        if self.letters > max_letters {
            (self.letters, self.ratio) = (max_letters, None);
        } else if self.letters < MIN_LETTERS {
            (self.letters, self.ratio) = (MIN_LETTERS, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTIVE: BatchSize = BatchSize::Adaptive { max_letters: 999_000 };

    #[test]
    fn extensions_determine_the_next_batch() {
        let mut sizer = BatchSizer::new(ADAPTIVE, 1_000_000);
        assert_eq!(sizer.letters(), 5000);
        sizer.record_extensions(9999);
        assert_eq!(sizer.letters(), 500_000);
        // 0.3 * 4 + 0.7 * 2
        sizer.record_extensions(1_999_999);
        assert_eq!(sizer.letters(), 384_615);
        // Without extensions the batches grow to the limit, where the ratio is forgotten.
        sizer.record_extensions(0);
        assert_eq!(sizer.letters(), 549_450);
        sizer.record_extensions(0);
        sizer.record_extensions(0);
        assert_eq!(sizer.letters(), 999_000);
        sizer.record_extensions(998_999_999);
        assert_eq!(sizer.letters(), 1000);
    }

    #[test]
    fn an_overflowing_quotient_makes_the_smallest_batch() {
        let mut sizer = BatchSizer::new(ADAPTIVE, 1_000_000);
        sizer.record_extensions(2);
        assert_eq!(sizer.letters(), 999_000);
        for extensions in [0, 1] {
            let mut sizer = BatchSizer::new(ADAPTIVE, 1_000_000);
            sizer.record_extensions(extensions);
            assert_eq!(sizer.letters(), 100);
        }
    }

    #[test]
    fn a_resumed_sizer_makes_the_same_batches() {
        let mut original = BatchSizer::new(ADAPTIVE, 1_000_000);
        [9999, 1_999_999, 0]
            .into_iter()
            .for_each(|extensions| original.record_extensions(extensions));
        let mut resumed = BatchSizer::new(ADAPTIVE, 1_000_000);
        resumed.resume(original.state());
        for extensions in [70_000, 0, 5] {
            assert_eq!(original.letters(), resumed.letters());
            original.record_extensions(extensions);
            resumed.record_extensions(extensions);
        }
    }

    #[test]
    fn the_database_determines_the_first_batch() {
        assert_eq!(BatchSizer::new(ADAPTIVE, 0).letters(), 5000);
        assert_eq!(BatchSizer::new(ADAPTIVE, 6_000_000_000).letters(), 10_000);
        assert_eq!(BatchSizer::new(BatchSize::Fixed(7), 6_000_000_000).letters(), 7);
    }
}
