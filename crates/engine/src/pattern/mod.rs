//! Searches that begin where a pattern occurs (PHI-BLAST; pattern.c, phi_lookup.c, phi_gapalign.c, blast_hits.c): each occurrence in
//! the query is laid on each one in a subject, and extended to both sides.
//!
//! What is found depends on how often the pattern occurs in the whole database, which is told by who knows it
//! ([`Search::with_occurrences`](crate::search::Search::with_occurrences)).

mod banded;
mod find;
mod in_query;
mod lay;
mod parse;
mod searcher;
mod statistics;
#[cfg(test)]
mod tests;
mod traceback;

use std::ops::Range;

use fleetblast_stats::pattern::PatternStatistics;
use fleetblast_stats::scoring::ScoringSystem;
use thiserror::Error;

use self::find::Finder;
use crate::hits::SubjectHit;
use crate::order::order_h;

pub(crate) use self::searcher::{Scratch as SearchScratch, Searcher};
pub(crate) use self::traceback::{Aligner, QueryWorth, Scratch as AlignScratch, Traceback};

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
    /// A bracket, brace or parenthesis is not closed or does not hold what it should; BLAST+ reads beyond the text then.
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

    /// Where it occurs in a sequence of NCBIstdaa codes: at each end once, unless it is a very long one.
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

/// Parts what was found of a query by the `count` occurrences in it through which the alignments go; each part is in the order of its own
/// scores (`PHIBlast_HSPResultsSplit`, blast_hits.c).
pub fn split(hits: &[SubjectHit], count: usize) -> Vec<Vec<SubjectHit>> {
    let part = |number: usize| {
        let of = |hit: &SubjectHit| {
            let through = hit.alignments.iter().filter(|it| it.occurrence as usize == number);
            let alignments: Vec<_> = through.cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit { oid: hit.oid, alignments })
        };
        let mut part: Vec<SubjectHit> = hits.iter().filter_map(of).collect();
        // E-values fall as scores rise.
        let key = |hit: &SubjectHit| crate::hits::HitKey {
            evalue: 0.0,
            score: hit.alignments[0].score,
            oid: hit.oid,
        };
        part.sort_by(|a, b| order_h(&key(a), &key(b)));
        part
    };
    (0..count).map(part).collect()
}
