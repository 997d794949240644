//! Computes scores from estimated frequencies, scaled such that chance alignments score as with the
//! matrix (`_PSIConvertFreqRatiosToPSSM`, `_PSIScaleMatrix`, blast_psi_priv.c).

use fleetblast_seq::alphabet::{SIZE, STOP, X, is_standard};
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::lattice::{INITIAL_LAMBDA, ScoreDistribution};
use fleetblast_stats::matrix::SENTINEL_SCORE;

use super::{ByCode, EPSILON, PssmError, PssmMaker};

/// Scores by position and code.
pub(crate) type Positions = Vec<[i32; SIZE]>;

/// Scale of fine scores. They are this many times as large as final scores, and rounded to whole
/// numbers.
pub(crate) const FINE: f64 = 200.0;
/// First step, away from 1, in the search for the factor that scales the scores.
const FIRST_STEP: f64 = 0.05;
/// Number of bisection steps in the search for the factor that scales the scores.
const HALVINGS: u32 = 10;

/// Returns the nearest whole number, halves away from zero (`BLAST_Nint`, ncbi_math.c).
pub(crate) fn nearest(x: f64) -> i32 {
    (x + if x >= 0.0 { 0.5 } else { -0.5 }) as i32
}

/// Converts scores by a function and rounds them. [`SENTINEL_SCORE`] is not converted.
pub(crate) fn times(scores: &[[i32; SIZE]], factor: impl Fn(i32) -> f64) -> Positions {
    let one =
        |score: i32| if score == SENTINEL_SCORE { SENTINEL_SCORE } else { nearest(factor(score)) };
    scores.iter().map(|row| row.map(one)).collect()
}

/// Converts a [fine](FINE) score to its final size times a factor, without rounding.
fn scale_score(score: i32, factor: f64) -> f64 {
    factor * f64::from(score) / FINE
}

/// The scores of background letters against the positions whose letter is known, with their
/// probabilities. They are in the order in which BLAST+ adds the probabilities up.
struct Chance {
    scores: Vec<(i32, f64)>,
    lowest: i32,
    highest: i32,
}

impl Chance {
    /// Passes the distribution of scores to a function, and returns its result. `at` converts
    /// scores before they are counted, and must be monotonic. Returns `None` if there are no
    /// scores.
    fn with_distribution<T>(
        &self,
        at: impl Fn(i32) -> i32,
        use_it: impl FnOnce(&ScoreDistribution) -> Option<T>,
    ) -> Option<T> {
        if self.scores.is_empty() {
            return None;
        }
        let ends = [at(self.lowest), at(self.highest)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let mut probabilities = vec![0.0; (high - low + 1) as usize];
        for &(score, probability) in &self.scores {
            probabilities[(at(score) - low) as usize] += probability;
        }
        use_it(&ScoreDistribution::new(low, &probabilities))
    }
}

impl PssmMaker {
    /// Computes the scores of these frequencies, and their ungapped parameters.
    pub(super) fn scores(
        &self,
        query: &[u8],
        frequencies: &[ByCode],
    ) -> Result<(Positions, KarlinParameters), PssmError> {
        let fine = self.fine_scores(query, frequencies);
        let chance = self.chance(query, &fine);
        let lambda = |factor: f64| {
            let at = |score| nearest(scale_score(score, factor));
            let lambda = chance.with_distribution(at, |scores| scores.lambda(INITIAL_LAMBDA));
            lambda.filter(|&lambda| lambda > 0.0).ok_or(PssmError::PositiveAverage)
        };
        let ideal = self.scoring.ideal_parameters.lambda;
        let (mut low, mut high) = (1.0, 1.0);
        if lambda(1.0)? > ideal {
            high += FIRST_STEP;
            while lambda(high)? > ideal {
                high += high - 1.0;
            }
        } else {
            low -= FIRST_STEP;
            while lambda(low)? <= ideal {
                low += low - 1.0;
            }
        }
        let mut factor = 1.0;
        for _ in 0..HALVINGS {
            factor = (high + low) / 2.0;
            if lambda(factor)? > ideal {
                low = factor;
            } else {
                high = factor;
            }
        }
        let scores = times(&fine, |score| scale_score(score, factor));
        let parameters = self.parameters(query, &scores).ok_or(PssmError::PositiveAverage)?;
        Ok((scores, parameters))
    }

    fn chance(&self, query: &[u8], scores: &[[i32; SIZE]]) -> Chance {
        let known = || query.iter().zip(scores).filter(|&(&letter, _)| letter != X);
        let positions = known().count() as f64;
        let codes = (0..SIZE).filter(|&code| is_standard(code as u8));
        let codes: Vec<_> = codes.map(|code| (code, self.standard[code] / positions)).collect();
        let all =
            known().flat_map(|(_, row)| codes.iter().map(move |&(code, each)| (row[code], each)));
        let scores: Vec<(i32, f64)> = all.filter(|&(score, _)| score != SENTINEL_SCORE).collect();
        let all = || scores.iter().map(|&(score, _)| score);
        let (lowest, highest) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        Chance { lowest, highest, scores }
    }

    /// Computes scores at [`FINE`] times their final size.
    pub(crate) fn fine_scores(&self, query: &[u8], frequencies: &[ByCode]) -> Positions {
        query.iter().zip(frequencies).map(|(&letter, column)| self.fine(letter, column)).collect()
    }

    fn fine(&self, letter: u8, frequencies: &ByCode) -> [i32; SIZE] {
        let (lambda, row) =
            (self.scoring.ideal_parameters.lambda, &self.scoring.scores[usize::from(letter)]);
        let ratio = |code: usize| {
            let standard = self.standard[code];
            if standard > EPSILON { frequencies[code] / standard } else { 0.0 }
        };
        if (0..SIZE).all(|code| ratio(code) == 0.0) {
            // Without data the scores are those of the matrix, unrounded.
            return self.data.frequency_ratios[usize::from(letter)].map(|ratio| match ratio {
                0.0 => SENTINEL_SCORE,
                ratio => nearest(FINE * self.bit_scale * ratio.ln() / std::f64::consts::LN_2),
            });
        }
        let unlike_any = [X, STOP].map(usize::from);
        std::array::from_fn(|code| {
            if unlike_any.contains(&code) && row[usize::from(X)] != SENTINEL_SCORE {
                return row[code] * FINE as i32;
            }
            match ratio(code) {
                0.0 => SENTINEL_SCORE,
                ratio => nearest(FINE * (ratio.ln() / lambda)),
            }
        })
    }

    /// Computes the parameters of ungapped alignments with these scores (`_PSIUpdateLambdaK`).
    pub(crate) fn parameters(
        &self,
        query: &[u8],
        scores: &[[i32; SIZE]],
    ) -> Option<KarlinParameters> {
        self.chance(query, scores)
            .with_distribution(|score| score, |scores| scores.karlin_parameters())
    }
}
