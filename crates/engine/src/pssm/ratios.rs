//! Estimates frequencies from weighted shares: computes the number of observations of a column and
//! the weight of the matrix relative to them (`_PSIComputeFreqRatios`, blast_psi_priv.c).

use fleetblast_seq::alphabet::{SIZE, X};
use fleetblast_stats::frequencies::{AMINO_ACID_CODES, AMINO_ACID_COUNT};
use fleetblast_stats::matrix::SENTINEL_SCORE;

use super::alignment::QueryAlignment;
use super::blocks::Blocks;
use super::weights::{KINDS, Weights};
use super::{ByCode, EPSILON, PssmMaker};

/// Number of entries in the table of expected letters. It limits the number of observations.
const MAX_OBSERVATIONS: usize = 400;
/// Number from which on pseudocounts count as infinite.
const INFINITE: f64 = 1_000_000.0;
/// Number of pseudocounts of a column where it would be infinite. The observations are then
/// ignored.
const NOTHING_SEEN: f64 = 30.0;
/// Constants of the entropy method: this one, `NUMERATOR` and `EXPONENT`.
const MULTIPLIER: f64 = 500.0;
const NUMERATOR: f64 = 0.0457;
const EXPONENT: f64 = 0.8;
/// Pseudocounts of the entropy method that keep frequencies above 0.
const INITIAL: f64 = 5.5;

/// The weight of the matrix relative to the observations.
#[derive(Clone, Debug)]
pub(super) struct Pseudocounts {
    background: [f64; AMINO_ACID_COUNT],
    /// Expected number of different letters, by number of observations.
    expected: Vec<f64>,
    /// The pseudocount that the user requested; 0 to choose it for each column.
    wished: i32,
}

impl Pseudocounts {
    pub fn new(background: &[f64; AMINO_ACID_COUNT], wished: i32) -> Self {
        let expected = |observations: usize| {
            if observations == 0 {
                return 0.0;
            }
            let missing = |p: &f64| (observations as f64 * (1.0 - p).ln()).exp();
            AMINO_ACID_COUNT as f64 - background.iter().map(missing).fold(0.0, |sum, p| sum + p)
        };
        Pseudocounts {
            background: *background,
            expected: (0..MAX_OBSERVATIONS).map(expected).collect(),
            wished,
        }
    }

    /// Returns the estimated frequencies of each column, and the pseudocounts used for them.
    pub fn frequencies(
        &self,
        alignment: &QueryAlignment,
        blocks: &Blocks,
        weights: &Weights,
        maker: &PssmMaker,
    ) -> (Vec<ByCode>, Vec<f64>) {
        let column = |position: usize| {
            if alignment.query_letter(position) == X {
                return ([0.0; SIZE], 0.0);
            }
            let mut observations = self.observations(blocks, weights, position);
            let mut pseudocounts = match self.wished {
                0 => self.of_column(&weights.shares[position], observations),
                wished => f64::from(wished),
            };
            if pseudocounts >= INFINITE {
                (pseudocounts, observations) = (NOTHING_SEEN, 0.0);
            }
            let shares = &weights.shares[position];
            (maker.estimate(shares, observations, pseudocounts), pseudocounts)
        };
        (0..alignment.columns()).map(column).unzip()
    }

    /// Returns the number of observations of a column, less one. It follows from the numbers of
    /// different letters in the more diverse half of the columns of its block.
    fn observations(&self, blocks: &Blocks, weights: &Weights, position: usize) -> f64 {
        let (left, right) = (blocks.left[position], blocks.right[position]);
        if left < 0 || right as usize >= blocks.left.len() {
            return 0.0;
        }
        let half = ((right - left + 2) / 2).max(1) as u32;
        let (mut columns, mut letters) = (0, 0);
        for kinds in (0..=KINDS).rev() {
            let taken = weights.kinds[position][kinds].min(half - columns);
            columns += taken;
            letters += taken * kinds as u32;
        }
        let average = f64::from(letters) / f64::from(columns);
        let expected = &self.expected;
        let beyond = (1..MAX_OBSERVATIONS).find(|&i| expected[i] > average);
        let observed = match beyond {
            Some(i) => i as f64 - (expected[i] - average) / (expected[i] - expected[i - 1]),
            None => MAX_OBSERVATIONS as f64,
        };
        (observed.min(f64::from(weights.weighed[position])) - 1.0).max(0.0)
    }

    /// Returns the pseudocounts for a column. They are high if its letters are close to the
    /// background.
    fn of_column(&self, shares: &ByCode, observations: f64) -> f64 {
        let mut letters = [0.0; AMINO_ACID_COUNT];
        let mut sum = 0.0;
        for (letter, (&code, background)) in
            letters.iter_mut().zip(AMINO_ACID_CODES.iter().zip(&self.background))
        {
            *letter = shares[code] * observations + background * INITIAL;
            sum += *letter;
        }
        let mut entropy = 0.0;
        for (letter, background) in letters.iter().zip(&self.background) {
            let share = letter / sum;
            if share > EPSILON {
                entropy += share * (share / background).ln();
            }
        }
        let ratio = NUMERATOR / entropy.max(EPSILON).powf(EXPONENT);
        if ratio < 1.0 - EPSILON { MULTIPLIER * ratio / (1.0 - ratio) } else { INFINITE }
    }
}

impl PssmMaker {
    /// Returns the frequencies of a column, from its observations and from the matrix.
    fn estimate(&self, shares: &ByCode, observations: f64, pseudocounts: f64) -> ByCode {
        std::array::from_fn(|code| {
            if self.standard[code] <= EPSILON {
                return 0.0;
            }
            let (row, ratios) = (&self.scoring.scores[code], &self.data.frequency_ratios[code]);
            let mut expected = 0.0;
            for other in 0..SIZE {
                if row[other] != SENTINEL_SCORE {
                    expected += shares[other] * ratios[other];
                }
            }
            let seen = observations * shares[code] / self.standard[code];
            let ratio = (seen + expected * pseudocounts) / (observations + pseudocounts);
            ratio * self.standard[code]
        })
    }
}
