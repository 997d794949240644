//! Patterns of letters: from text to places, where they occur, and how an occurrence is laid on
//! another (pattern.c, phi_lookup.c).

mod banded;
mod find;
pub(crate) mod lay;
mod parse;
#[cfg(test)]
mod tests;

use std::ops::Range;

use fleetblast_stats::pattern::PatternStatistics;
use fleetblast_stats::scoring::ScoringSystem;
use thiserror::Error;

use self::find::Finder;

/// Places of a pattern at most, and characters of its text (`PHI_MAX_PATTERN_LENGTH`).
const MOST_PLACES: usize = 330;
/// Every letter, as a set.
const ANY: u32 = (1 << fleetblast_seq::alphabet::SIZE) - 1;

/// What a place of a pattern takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// One of a set of letters, by the bits of their codes.
    Letter(u32),
    /// From none to so many letters of any kind.
    Some(usize),
}

/// A pattern of letters.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As read.
    typed: String,
    places: Vec<Place>,
    /// Letters that it takes at least.
    least: usize,
    /// How probable it is at a place of a random sequence.
    probability: f64,
    finder: Finder,
}

/// Why a text is no pattern. Where BLAST+ says so as well, it uses these words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The text is too long.
    #[error("Pattern is too long ({length} but only {MOST_PLACES} supported)")]
    TooLong {
        /// Its characters.
        length: usize,
    },
    /// There are too many places.
    #[error("Pattern too long")]
    TooManyPlaces,
    /// A set holds something else than letters.
    #[error("pattern description has a non-alphabeticcharacter inside a bracket")]
    NoLetter,
    /// A bracket, brace or parenthesis is not closed or does not hold what it should; BLAST+ reads
    /// beyond the text then.
    #[error("the pattern cannot be read from character {at} on")]
    Malformed {
        /// The character, from 1.
        at: usize,
    },
}

impl PatternError {
    /// Whether BLAST+ says so too, rather than to crash or to search for something else.
    pub fn is_told(&self) -> bool {
        !matches!(self, PatternError::Malformed { .. })
    }
}

impl Pattern {
    /// The text as read.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The text as reports show it.
    pub fn shown(&self) -> String {
        self.typed.to_ascii_uppercase()
    }

    /// How probable it is at a place of a random sequence.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Letters that it takes at least.
    pub fn least_length(&self) -> usize {
        self.least
    }

    /// Where it occurs in a sequence of NCBIstdaa codes: at each end once, unless it is a very long
    /// one.
    pub fn occurrences(&self, letters: &[u8]) -> Vec<Range<u32>> {
        self.finder.find(letters)
    }
}

/// A pattern to search for, and the statistics of alignments through it.
#[derive(Clone, Debug)]
pub struct PatternSearch {
    /// The pattern.
    pub pattern: Pattern,
    /// The statistics.
    pub statistics: PatternStatistics,
    /// What judges searches with what was found, which are without the pattern.
    pub next: Box<ScoringSystem>,
}
