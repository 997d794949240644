//! Chooses the options of a random search.

use crate::fasta::Record;
use crate::program::Trial;
use crate::rng::Draw;
use fastrand::Rng;

/// Columns about taxa.
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

/// The options chosen so far.
pub struct Choice<'a> {
    /// Source of random numbers.
    pub rng: &'a mut Rng,
    /// Groups of options that belong together.
    pub groups: Vec<Vec<String>>,
    /// Factor of all probabilities.
    boost: f64,
}

impl<'a> Choice<'a> {
    /// Starts without options.
    pub fn new(rng: &'a mut Rng) -> Self {
        // Some searches combine many options, whose rules interact.
        let boost = if rng.chance(0.2) { 3.0 } else { 1.0 };
        Choice { rng, groups: Vec::new(), boost }
    }

    /// Adds a group of options.
    pub fn add(&mut self, words: &[&str]) {
        self.groups.push(words.iter().map(|w| w.to_string()).collect());
    }

    /// Returns true with probability `p`, or more if many options are wanted.
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

    /// Whether there is a group that begins with `name`.
    pub fn has(&self, name: &str) -> bool {
        self.groups.iter().any(|group| group[0] == name)
    }

    /// Draws identifier columns and some or all of these columns.
    pub fn columns(&mut self, columns: &[&str]) -> String {
        let share = *self.rng.pick(&[0.2, 0.5, 1.0]);
        let chosen: Vec<&str> =
            columns.iter().copied().filter(|_| self.rng.chance(share)).collect();
        format!("qseqid sseqid evalue {}", chosen.join(" ")).trim_end().to_owned()
    }

    /// Draws a range that is within all `records`.
    pub fn range(&mut self, records: &[Record]) -> String {
        let shortest = records.iter().map(|r| r.seq.len()).min().unwrap_or_default().max(1);
        let (a, b) = (self.rng.usize(1..=shortest), self.rng.usize(1..=shortest));
        format!("{}-{}", a.min(b), a.max(b))
    }
}

/// In smaller spaces, Smith-Waterman alignments with a score of 0 may be significant. BLAST+ then
/// fails, drops the subject, or crashes.
const SMITH_WATERMAN_SPACE: usize = 200_000;

/// Whether the shortest query and the subjects have enough pairs of positions.
pub fn bears_smith_waterman(trial: &Trial) -> bool {
    let length = |record: &Record| record.seq.len();
    let shortest = trial.queries.iter().map(length).min().unwrap_or(0);
    shortest * trial.subjects.iter().map(length).sum::<usize>() >= SMITH_WATERMAN_SPACE
}
