//! Chooses the options of a random search.

use crate::fasta::Record;
use crate::program::Trial;
use crate::rng::Draw;
use fastrand::Rng;

/// Columns of tabular formats about taxa.
pub const TAXA: [&str; 10] = [
    "staxid",
    "ssciname",
    "scomname",
    "sblastname",
    "sskingdom",
    "staxids",
    "sscinames",
    "scomnames",
    "sblastnames",
    "sskingdoms",
];

/// A builder of random options, with those chosen so far.
pub struct OptionBuilder<'a> {
    /// Source of random numbers.
    pub rng: &'a mut Rng,
    /// Groups of words that belong together, such as `-gapopen 9 -gapextend 1`.
    pub groups: Vec<Vec<String>>,
    /// Factor for the probabilities of options.
    boost: f64,
}

impl<'a> OptionBuilder<'a> {
    /// Creates a builder that has chosen no options yet.
    pub fn new(rng: &'a mut Rng) -> Self {
        // Some searches combine many options, whose rules interact.
        let boost = if rng.chance(0.2) { 3.0 } else { 1.0 };
        OptionBuilder { rng, groups: Vec::new(), boost }
    }

    /// Adds a group of options.
    pub fn add(&mut self, words: &[&str]) {
        self.groups.push(words.iter().map(|w| w.to_string()).collect());
    }

    /// Returns true with probability `p`, or three times that in searches with many options.
    pub fn wants(&mut self, p: f64) -> bool {
        self.rng.chance(p * self.boost)
    }

    /// With probability `p`, adds `name` with one of `values`.
    pub fn maybe(&mut self, p: f64, name: &str, values: &[&str]) {
        if self.wants(p) {
            let value = *self.rng.pick(values);
            self.add(&[name, value]);
        }
    }

    /// With probability `p`, adds `name` without a value.
    pub fn flag(&mut self, p: f64, name: &str) {
        if self.wants(p) {
            self.add(&[name]);
        }
    }

    /// Whether a chosen group begins with `name`.
    pub fn has(&self, name: &str) -> bool {
        self.groups.iter().any(|group| group[0] == name)
    }

    /// Returns a list of columns: identifiers, e-value, and some or all of `columns`.
    pub fn columns(&mut self, columns: &[&str]) -> String {
        let share = *self.rng.pick(&[0.2, 0.5, 1.0]);
        let chosen: Vec<&str> =
            columns.iter().copied().filter(|_| self.rng.chance(share)).collect();
        format!("qseqid sseqid evalue {}", chosen.join(" ")).trim_end().to_owned()
    }

    /// Draws a range `FROM-TO`, from 1, that is within all `records`.
    pub fn range(&mut self, records: &[Record]) -> String {
        let shortest = records.iter().map(|r| r.seq.len()).min().unwrap_or_default().max(1);
        let (a, b) = (self.rng.usize(1..=shortest), self.rng.usize(1..=shortest));
        format!("{}-{}", a.min(b), a.max(b))
    }
}

/// Least number of pairs of query and subject positions for Smith-Waterman alignments. In smaller
/// search spaces an alignment with a score of 0 may be significant. BLAST+ then fails, drops the
/// subject, or crashes.
const SMITH_WATERMAN_SPACE: usize = 200_000;

/// Whether the shortest query and all subjects have enough pairs of positions for Smith-Waterman
/// alignments.
pub fn has_smith_waterman_space(trial: &Trial) -> bool {
    let length = |record: &Record| record.seq.len();
    let shortest = trial.queries.iter().map(length).min().unwrap_or(0);
    shortest * trial.subjects.iter().map(length).sum::<usize>() >= SMITH_WATERMAN_SPACE
}
