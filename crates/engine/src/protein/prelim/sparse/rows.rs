//! Rows of scores, one for each letter of the alphabet, against all positions of the query. The sum
//! of rows along a subject word is the score of that word at every query position.

use super::reached::{LANES, reached};
use crate::kernel::Kernel;
use crate::protein::prelim::words::Words;

/// A score that no word reaches. Words have at most seven letters, and a letter scores at most
/// about 1,200 (tryptophan in the compressed alphabet).
const NO_WORD: i16 = i16::MAX;

/// Rows of scores, and the score that a word must reach at each position.
#[derive(Debug)]
pub(super) struct Rows {
    /// Scores by letter, then position. Each row has room for the lanes of the last word.
    scores: Vec<i16>,
    /// Length of a row.
    stride: usize,
    /// Number of letters of a word.
    size: usize,
    /// Least score of a subject word that may match, by position. A word with at least `threshold`
    /// certainly matches. Below that, the two words must be equal.
    limits: Vec<i16>,
    /// Score from which on a word certainly matches.
    threshold: i16,
    /// Digits of the query's residues, for testing equality. A residue without a digit is in no
    /// word.
    digits: Vec<Option<u8>>,
    /// Whether words match by their score alone.
    by_score: bool,
}

impl Rows {
    pub fn new(words: &Words) -> Rows {
        let alphabet = &words.alphabet;
        let len = words.residues.len();
        let padded = len.next_multiple_of(LANES);
        let stride = padded + words.size;
        let mut scores = vec![i16::MIN; stride * alphabet.radix()];
        for (digit, row) in scores.chunks_exact_mut(stride).enumerate() {
            for (score, &number) in row.iter_mut().zip(&words.rows) {
                *score = alphabet.score(number, digit);
            }
        }
        let digits = words.residues.iter().map(|&code| alphabet.digit(code).map(|d| d as u8));
        // Without a threshold words must be equal.
        let threshold = match alphabet.threshold() {
            0 if !words.by_score => NO_WORD,
            threshold => threshold.clamp(i16::MIN.into(), NO_WORD.into()) as i16,
        };
        let mut rows = Rows {
            scores,
            stride,
            size: words.size,
            limits: vec![NO_WORD; padded],
            threshold,
            digits: digits.collect(),
            by_score: words.by_score,
        };
        for &position in &words.starts {
            rows.limits[position as usize] = rows.limit(position as usize);
        }
        rows
    }

    /// Returns the least score of a subject word that may match the query word at a position.
    fn limit(&self, position: usize) -> i16 {
        let own = self.digits[position..position + self.size].iter().copied();
        let own: Option<Vec<u8>> = own.collect();
        let least = |own: Vec<u8>| match self.by_score {
            true => self.threshold,
            false => self.score(&own, position).min(self.threshold),
        };
        own.map_or(NO_WORD, least)
    }

    /// Returns the score of a word at a position.
    fn score(&self, word: &[u8], position: usize) -> i16 {
        let letters = word.iter().enumerate();
        letters
            .map(|(i, &digit)| self.scores[usize::from(digit) * self.stride + position + i])
            .fold(0, i16::saturating_add)
    }

    /// Returns the estimated nanoseconds to look up the words of `residues` subject residues.
    pub fn cost(&self, kernel: Kernel, residues: usize) -> u64 {
        let scores_per_ns = if kernel.avx2().is_some() { 45 } else { 20 };
        (residues * (self.limits.len() * self.size / scores_per_ns + 1)) as u64
    }

    /// Calls `hit` with each query position whose word matches the subject word with this number,
    /// ascending.
    pub fn matches(&self, kernel: Kernel, word: usize, hit: impl FnMut(u32)) {
        match self.size {
            2 => self.matches_of::<2>(kernel, word, hit),
            3 => self.matches_of::<3>(kernel, word, hit),
            4 => self.matches_of::<4>(kernel, word, hit),
            5 => self.matches_of::<5>(kernel, word, hit),
            6 => self.matches_of::<6>(kernel, word, hit),
            _ => self.matches_of::<7>(kernel, word, hit),
        }
    }

    /// Finds the matches of a word of `SIZE` letters.
    fn matches_of<const SIZE: usize>(&self, kernel: Kernel, word: usize, mut hit: impl FnMut(u32)) {
        let word: [u8; SIZE] = self.letters(word);
        // The row of each letter, from that letter's position in the first word on.
        let rows: [&[i16]; SIZE] = std::array::from_fn(|i| {
            &self.scores[usize::from(word[i]) * self.stride + i..][..self.limits.len()]
        });
        let found = |position: usize| {
            if self.score(&word, position) >= self.threshold || self.equal(&word, position) {
                hit(position as u32);
            }
        };
        reached(kernel, rows, &self.limits, found);
    }

    /// Returns the digits of the word with this number.
    fn letters<const SIZE: usize>(&self, word: usize) -> [u8; SIZE] {
        let radix = self.scores.len() / self.stride;
        let (mut letters, mut rest) = ([0; SIZE], word);
        for letter in letters.iter_mut().rev() {
            *letter = (rest % radix) as u8;
            rest /= radix;
        }
        letters
    }

    /// Returns whether the word at a position has the same letters as `word`.
    fn equal(&self, word: &[u8], position: usize) -> bool {
        let own = &self.digits[position..position + word.len()];
        word.iter().zip(own).all(|(&digit, own)| *own == Some(digit))
    }
}
