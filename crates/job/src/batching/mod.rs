//! Sizes of batches, which may depend on the extensions of earlier batches (`CBatchSizeMixer`,
//! blast_app_util.hpp).

pub mod progress;

use fleetblast_engine::params::truncate_to_i32;
use fleetblast_fleet::plan::{BLOCK_QUERIES, BLOCK_RESIDUES};
use fleetblast_metadata::BatchState;
use serde::{Deserialize, Serialize};

/// Letters of a batch, at least.
const MIN_LETTERS: i32 = 100;
/// Extensions that a batch should cause, at least.
const MIN_EXTENSIONS: i32 = 1_000_000;
/// Letters of the database for each further extension that a batch should cause.
const LETTERS_PER_EXTENSION: i64 = 3000;
/// Extensions per letter that BLAST+ assumes for the first batch.
const FIRST_EXTENSIONS_PER_LETTER: i32 = 200;
/// Letters of the first batch if the size of the database is unknown.
const DEFAULT_FIRST_LETTERS: i32 = 5000;
/// Sizes of blocks on ranks. Each block costs a pass over a nucleotide database, however few words
/// it has.
const ADAPTIVE_BLOCK: BlockLimits = BlockLimits { queries: 10_000, residues: (50_000, 500_000) };
/// Weight of the last batch against all earlier ones.
const LAST_BATCH_WEIGHT: f64 = 0.3;

/// Limits of a block of queries.
struct BlockLimits {
    queries: u64,
    residues: (u64, u64),
}

/// Letters of queries in a batch. BLAST+ counts whole queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchSize {
    /// This number of letters.
    Fixed(usize),
    /// As many letters as should cause the extensions that BLAST+ wants, by the earlier batches.
    Adaptive {
        /// Letters of a batch, at most.
        max_letters: i32,
    },
}

impl BatchSize {
    /// Whether the size of a batch depends on the previous batch.
    pub fn is_adaptive(self) -> bool {
        matches!(self, BatchSize::Adaptive { .. })
    }

    /// Queries of a block on ranks, at most.
    pub fn block_queries(self) -> u64 {
        match self {
            BatchSize::Fixed(_) => BLOCK_QUERIES,
            BatchSize::Adaptive { .. } => ADAPTIVE_BLOCK.queries,
        }
    }

    /// Residues of a block on ranks, at least and at most, unless an option sets them.
    pub fn block_residues(self) -> (u64, u64) {
        match self {
            BatchSize::Fixed(letters) => (letters as u64, BLOCK_RESIDUES),
            BatchSize::Adaptive { .. } => ADAPTIVE_BLOCK.residues,
        }
    }

    /// Letters of every batch but the last, at least.
    pub fn min_letters(self) -> u64 {
        match self {
            BatchSize::Fixed(letters) => letters as u64,
            BatchSize::Adaptive { .. } => MIN_LETTERS as u64,
        }
    }
}

/// Computes the size of the next batch from the extensions of earlier ones.
#[derive(Clone, Debug)]
pub struct BatchSizer {
    size: BatchSize,
    /// Extensions that a batch should cause.
    wanted_extensions: i32,
    /// Extensions per letter, if known.
    ratio: Option<f64>,
    /// Letters of the next batch.
    letters: i32,
}

impl BatchSizer {
    /// Creates the rules for a database with this number of letters.
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

    /// Letters of the next batch, at least.
    pub fn letters(&self) -> usize {
        match self.size {
            BatchSize::Fixed(letters) => letters,
            BatchSize::Adaptive { .. } => self.letters as usize,
        }
    }

    /// Whether the size of the next batch depends on the current batch.
    pub fn is_adaptive(&self) -> bool {
        self.size.is_adaptive()
    }

    /// Records how many extensions the last batch caused.
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

    /// Returns the state from which another process can continue.
    pub fn state(&self) -> BatchState {
        BatchState { letters: self.letters, ratio: self.ratio }
    }

    /// Continues from the state of another process.
    pub fn resume(&mut self, state: BatchState) {
        (self.letters, self.ratio) = (state.letters, state.ratio);
        self.clamp();
    }

    /// Limits the letters; BLAST+ forgets the ratio when it does so.
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
