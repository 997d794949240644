//! The look-up table: for each word of the alphabet, the positions of the query words that it
//! matches.

use super::hits::{Hits, STRIDE};
use super::position::Position;
use crate::protein::prelim::words::Words;

/// Interval at which different query words are sampled to estimate the number of matches.
const SAMPLE: usize = 64;
/// Nanoseconds for each possible word: to clear its number of matches and to add it to the sum.
const WORD_NS: u64 = 2;
/// Nanoseconds for each match, which is found twice: to count it and to write it.
const MATCH_NS: u64 = 40;
/// Largest number of matches in a table. With more, neither memory nor 32-bit numbers would
/// suffice.
const MAX_MATCHES: u64 = 1 << 31;

/// The query positions that each word matches.
#[derive(Debug)]
pub(super) struct Table<P> {
    /// Index of the first of the positions that each word matches. Those of the previous word end
    /// there. The number that stands for no word has no positions.
    starts: Vec<u32>,
    /// The positions, and [`STRIDE`] more.
    positions: Vec<P>,
    longest: usize,
}

/// Returns the start positions of words, sorted by the residues of the words.
fn sort_words(words: &Words) -> Vec<u32> {
    let mut starts = words.starts.clone();
    starts.sort_unstable_by_key(|&position| (words.word_at(position), position));
    starts
}

/// Returns the runs of positions that have equal words.
fn runs<'a>(words: &'a Words, sorted: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    sorted.chunk_by(|&a, &b| words.word_at(a) == words.word_at(b))
}

/// Calls `found` with each matching word of the alphabet and the run of positions whose word it
/// matches. Words that start with the same letter come together, so that their part of the table
/// stays in the cache.
fn for_each_match(words: &Words, runs: &[&[u32]], mut found: impl FnMut(usize, &[u32])) {
    for first in 0..words.alphabet.radix() {
        for run in runs {
            words.alphabet.matches(first, words.word_at(run[0]), |word| found(word, run));
        }
    }
}

/// Estimates the nanoseconds to fill a table, from a sample of the words.
pub(super) fn filling_cost(words: &Words) -> u64 {
    let mut matches = 0;
    let sorted = sort_words(words);
    let sample: Vec<&[u32]> = runs(words, &sorted).step_by(SAMPLE).collect();
    for_each_match(words, &sample, |_, run| matches += run.len() as u64);
    let matches = matches * SAMPLE as u64;
    if matches > MAX_MATCHES {
        return u64::MAX;
    }
    words.different() as u64 * WORD_NS + matches * MATCH_NS
}

impl<P: Position> Table<P> {
    /// Creates a table of all matching words.
    pub fn new(words: &Words) -> Table<P> {
        let sorted = sort_words(words);
        let runs: Vec<&[u32]> = runs(words, &sorted).collect();
        // One more for the number that stands for no word, and one for its end.
        let mut starts = vec![0u32; words.different() + 2];
        for_each_match(words, &runs, |word, run| starts[word] += run.len() as u32);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut positions = vec![P::default(); sum as usize + STRIDE];
        for_each_match(words, &runs, |word, run| {
            // Each start is the end of the room that is left to fill, from the last position down.
            for &position in run {
                starts[word] -= 1;
                positions[starts[word] as usize] = P::new(position);
            }
        });
        let counts = starts.windows(2).map(|pair| pair[1] - pair[0]);
        let longest = counts.max().unwrap_or(0) as usize;
        Table { starts, positions, longest }
    }

    /// Returns the maximum number of positions that a word matches.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Adds the seeds of the words with these numbers until `hits` is full. The first word is at
    /// subject offset `start`. Returns the number of words whose seeds were added.
    // Not inlined, because only then there are enough registers.
    #[inline(never)]
    pub fn add_hits(&self, numbers: &[u32], start: usize, hits: &mut Hits<P>) -> usize {
        for (done, &word) in numbers.iter().enumerate() {
            if hits.is_full() {
                return done;
            }
            let [first, end] = [word, word + 1].map(|word| self.starts[word as usize] as usize);
            hits.push(start + done, end - first, &self.positions[first..]);
        }
        numbers.len()
    }
}
