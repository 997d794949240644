//! How many letters of queries are searched together, where that depends on what was found (`CBatchSizeMixer`,
//! blast_app_util.hpp).

pub mod course;

use fleetblast_engine::params::truncate_to_i32;
use fleetblast_fleet::plan::{BLOCK_QUERIES, BLOCK_RESIDUES};
use fleetblast_metadata::BatchState;

/// Fewest letters of a batch.
const LEAST: i32 = 100;
/// Extensions wanted of a batch, at least.
const LEAST_EXTENSIONS: i32 = 1_000_000;
/// Letters of the database for each further extension that is wanted.
const LETTERS_PER_EXTENSION: i64 = 3000;
/// Extensions that a letter of the first batch is believed to bring about.
const FIRST_RATIO: i32 = 200;
/// Letters of the first batch if nothing is known of the database.
const FIRST: i32 = 5000;
/// Blocks of queries on ranks. To look for the words of nucleotides costs a pass over the database, however few there are.
const ADAPTIVE_BLOCK: Bounds = Bounds { queries: 10_000, residues: (50_000, 500_000) };
/// How much the last batch counts against those before it.
const WEIGHT: f64 = 0.3;

/// What a block of queries has.
struct Bounds {
    queries: u64,
    residues: (u64, u64),
}

/// How many letters of queries BLAST+ searches together, counting whole queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// These, or the rest.
    Fixed(usize),
    /// As many as may bring about the extensions that BLAST+ wants in a batch, by what the batches before brought about.
    Adaptive {
        /// At most so many.
        most: i32,
    },
}

impl BatchSize {
    /// Whether a batch depends on the one before.
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

    /// Residues of a block on ranks, at least and at most, unless something else is wished.
    pub fn block_residues(self) -> (u64, u64) {
        match self {
            BatchSize::Fixed(letters) => (letters as u64, BLOCK_RESIDUES),
            BatchSize::Adaptive { .. } => ADAPTIVE_BLOCK.residues,
        }
    }

    /// The least letters of a batch that is not the last.
    pub fn least(self) -> u64 {
        match self {
            BatchSize::Fixed(letters) => letters as u64,
            BatchSize::Adaptive { .. } => LEAST as u64,
        }
    }
}

/// The size of the next batch.
#[derive(Clone, Debug)]
pub struct Batching {
    size: BatchSize,
    /// Extensions wanted of a batch.
    wanted: i32,
    /// Extensions for each letter, if known.
    ratio: Option<f64>,
    /// Letters of the next batch.
    letters: i32,
}

impl Batching {
    /// Batches for a database of so many letters.
    pub fn new(size: BatchSize, database_letters: i64) -> Self {
        let mut batching = Self { size, wanted: LEAST_EXTENSIONS, ratio: None, letters: FIRST };
        if database_letters > 0 {
            // BLAST+ keeps 32 bits of it.
            let wanted = (database_letters / LETTERS_PER_EXTENSION) as i32;
            batching.wanted = wanted.max(LEAST_EXTENSIONS);
            batching.letters = batching.wanted / FIRST_RATIO;
        }
        batching.clamp();
        batching
    }

    /// Letters of the next batch, at least.
    pub fn letters(&self) -> usize {
        match self.size {
            BatchSize::Fixed(letters) => letters,
            BatchSize::Adaptive { .. } => self.letters as usize,
        }
    }

    /// Whether the next batch depends on the one before.
    pub fn is_adaptive(&self) -> bool {
        self.size.is_adaptive()
    }

    /// The last batch brought about so many extensions.
    pub fn found(&mut self, extensions: u64) {
        if !self.is_adaptive() {
            return;
        }
        // BLAST+ counts in 32 bits; a negative number tells it nothing.
        let extensions = extensions as i32;
        if extensions >= 0 {
            let ratio = f64::from(extensions.wrapping_add(1)) / f64::from(self.letters);
            let ratio = self.ratio.map_or(ratio, |before| WEIGHT * ratio + (1.0 - WEIGHT) * before);
            self.ratio = Some(ratio);
            // So few extensions that the number does not fit make the smallest batch.
            self.letters = truncate_to_i32(f64::from(self.wanted) / ratio);
        }
        self.clamp();
    }

    /// Where it is, for who goes on from there.
    pub fn course(&self) -> BatchState {
        BatchState { letters: self.letters, ratio: self.ratio }
    }

    /// Goes on from there.
    pub fn go_on(&mut self, course: BatchState) {
        (self.letters, self.ratio) = (course.letters, course.ratio);
        self.clamp();
    }

    /// Keeps to the limits, beyond which the ratio is forgotten.
    fn clamp(&mut self) {
        let BatchSize::Adaptive { most } = self.size else { return };
        if self.letters > most {
            (self.letters, self.ratio) = (most, None);
        } else if self.letters < LEAST {
            (self.letters, self.ratio) = (LEAST, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTIVE: BatchSize = BatchSize::Adaptive { most: 999_000 };

    #[test]
    fn batches_grow_and_shrink_with_what_they_find() {
        let mut batching = Batching::new(ADAPTIVE, 1_000_000);
        assert_eq!(batching.letters(), 5000);
        batching.found(9999);
        assert_eq!(batching.letters(), 500_000);
        // 0.3 * 4 + 0.7 * 2
        batching.found(1_999_999);
        assert_eq!(batching.letters(), 384_615);
        // Nothing, and nothing again: as many as can be, and what was before is forgotten.
        batching.found(0);
        assert_eq!(batching.letters(), 549_450);
        batching.found(0);
        batching.found(0);
        assert_eq!(batching.letters(), 999_000);
        batching.found(998_999_999);
        assert_eq!(batching.letters(), 1000);
    }

    #[test]
    fn too_few_extensions_for_a_number_make_the_smallest_batch() {
        let mut batching = Batching::new(ADAPTIVE, 1_000_000);
        batching.found(2);
        assert_eq!(batching.letters(), 999_000);
        for extensions in [0, 1] {
            let mut batching = Batching::new(ADAPTIVE, 1_000_000);
            batching.found(extensions);
            assert_eq!(batching.letters(), 100);
        }
    }

    #[test]
    fn who_goes_on_makes_the_same_batches() {
        let mut one = Batching::new(ADAPTIVE, 1_000_000);
        [9999, 1_999_999, 0].into_iter().for_each(|extensions| one.found(extensions));
        let mut other = Batching::new(ADAPTIVE, 1_000_000);
        other.go_on(one.course());
        for extensions in [70_000, 0, 5] {
            assert_eq!(one.letters(), other.letters());
            one.found(extensions);
            other.found(extensions);
        }
    }

    #[test]
    fn the_first_batch_is_by_the_database() {
        assert_eq!(Batching::new(ADAPTIVE, 0).letters(), 5000);
        assert_eq!(Batching::new(ADAPTIVE, 6_000_000_000).letters(), 10_000);
        assert_eq!(Batching::new(BatchSize::Fixed(7), 6_000_000_000).letters(), 7);
    }
}
