//! Patterns of letters: parsing, finding occurrences, and aligning two occurrences (pattern.c,
//! phi_lookup.c).

mod banded;
mod find;
pub(crate) mod lay;
mod parse;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::ops::Range;

use fleetblast_stats::pattern::PatternStatistics;
use fleetblast_stats::scoring::ScoringSystem;
use thiserror::Error;

use self::find::Finder;

/// Maximum number of positions of a pattern (`PHI_MAX_PATTERN_LENGTH`). Its text must be shorter
/// than this.
const MAX_POSITIONS: usize = 330;
/// The set of all letters, as bits.
const ANY: u32 = (1 << fleetblast_seq::alphabet::SIZE) - 1;

/// A position of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    /// One letter of a set. Bit `c` of the number stands for code `c`.
    Letter(u32),
    /// A wildcard of variable length: zero to this many letters of any kind.
    Some(usize),
}

/// A pattern of letters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pattern {
    /// The text as the user wrote it.
    typed: String,
    places: Vec<Place>,
    /// Least number of letters in an occurrence.
    least: usize,
    /// Probability of an occurrence at a position of a random sequence.
    probability: f64,
    finder: Finder,
}

/// Reason why a text is not a pattern. Where BLAST+ reports it as well, the message is the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The text of the pattern is too long.
    #[error("Pattern is too long ({length} but only {MAX_POSITIONS} supported)")]
    TooLong {
        /// Number of characters of the text.
        length: usize,
    },
    /// The pattern has too many positions.
    #[error("Pattern too long")]
    TooManyPlaces,
    /// A set contains a character that is no letter.
    #[error("pattern description has a non-alphabeticcharacter inside a bracket")]
    NoLetter,
    /// A bracket, brace or parenthesis is not closed or has invalid contents. BLAST+ then reads
    /// beyond the text.
    #[error("the pattern cannot be read from character {at} on")]
    Malformed {
        /// Number, from 1, of the character from which on the text cannot be read.
        at: usize,
    },
}

impl PatternError {
    /// Returns whether BLAST+ reports the error too, instead of crashing or searching for another
    /// pattern.
    pub fn is_reported(&self) -> bool {
        !matches!(self, PatternError::Malformed { .. })
    }
}

impl Pattern {
    /// Returns the text as the user wrote it.
    pub fn text(&self) -> &str {
        &self.typed
    }

    /// Returns the text as reports show it.
    pub fn report_text(&self) -> String {
        self.typed.to_ascii_uppercase()
    }

    /// Returns the probability of an occurrence at a position of a random sequence.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns the least number of letters in an occurrence.
    pub fn least_length(&self) -> usize {
        self.least
    }

    /// Finds the occurrences in a sequence of NCBIstdaa codes. Unless the pattern is very long,
    /// there is one occurrence for each end position.
    pub fn occurrences(&self, letters: &[u8]) -> Vec<Range<u32>> {
        self.finder.find(letters)
    }
}

/// A pattern to search for, and the statistics of alignments through it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PatternSearch {
    /// The pattern.
    pub pattern: Pattern,
    /// Statistics of alignments through occurrences of the pattern.
    pub statistics: PatternStatistics,
    /// Scoring system of later iterations, which do not use the pattern.
    pub later_scoring: Box<ScoringSystem>,
}
