//! The look-up table: for each word of the alphabet, the positions of the query words that it
//! matches.

use crate::protein::prelim::words::Words;

/// One of this many different words is sampled to estimate the number of matches.
const SAMPLE: usize = 64;
/// Nanoseconds for each word of the alphabet: to clear it and to add it up.
const WORD_NS: u64 = 2;
/// Nanoseconds for each match, which is found twice: for counting and for writing.
const MATCH_NS: u64 = 40;
/// With more matches the table is never filled: neither memory nor 32-bit numbers would suffice.
const MAX_MATCHES: u64 = 1 << 31;

/// Positions by word.
#[derive(Debug)]
pub(super) struct Table {
    /// For each word the end of its positions; the start is the end of the word before.
    ends: Vec<u32>,
    positions: Vec<u32>,
}

/// Positions, sorted by the residues of the words there.
fn sorted(words: &Words) -> Vec<u32> {
    let mut starts = words.starts.clone();
    starts.sort_unstable_by_key(|&position| (words.word_at(position), position));
    starts
}

/// Runs of positions of equal words.
fn runs<'a>(words: &'a Words, sorted: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    sorted.chunk_by(|&a, &b| words.word_at(a) == words.word_at(b))
}

/// Calls `found` with each matching word of the alphabet and the run that it matches. Words that
/// start with the same letter come together, so that their part of the table stays in the cache.
fn for_each_match(words: &Words, runs: &[&[u32]], mut found: impl FnMut(usize, &[u32])) {
    for first in 0..words.alphabet.radix() {
        for run in runs {
            words.alphabet.matches(first, words.word_at(run[0]), |word| found(word, run));
        }
    }
}

impl Table {
    /// Estimated nanoseconds to fill the table, from a sample of the words.
    pub fn filling_cost(words: &Words) -> u64 {
        let mut matches = 0;
        let sorted = sorted(words);
        let sample: Vec<&[u32]> = runs(words, &sorted).step_by(SAMPLE).collect();
        for_each_match(words, &sample, |_, run| matches += run.len() as u64);
        let matches = matches * SAMPLE as u64;
        if matches > MAX_MATCHES {
            return u64::MAX;
        }
        words.different() as u64 * WORD_NS + matches * MATCH_NS
    }

    /// Finds all matching words.
    pub fn new(words: &Words) -> Table {
        let sorted = sorted(words);
        let runs: Vec<&[u32]> = runs(words, &sorted).collect();
        let size = words.different();
        let mut ends = vec![0u32; size];
        for_each_match(words, &runs, |word, run| ends[word] += run.len() as u32);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut positions = vec![0u32; sum as usize];
        for_each_match(words, &runs, |word, run| {
            for &position in run {
                ends[word] -= 1;
                positions[ends[word] as usize] = position;
            }
        });
        // Filling moved each end down to its start: shift by one word.
        ends.rotate_left(1);
        ends[size - 1] = sum;
        Table { ends, positions }
    }

    /// The positions that a word matches.
    pub fn positions(&self, word: usize) -> &[u32] {
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.positions[start as usize..self.ends[word] as usize]
    }
}
