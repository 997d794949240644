//! The p-value of a pair of compositions, for unified p-values (`-comp_based_stats 2u`).

use fleetblast_stats::frequencies::{AMINO_ACID_CODES, AMINO_ACID_COUNT};
use fleetblast_stats::matrix;
use fleetblast_stats::unified::{CompositionPvalues, SMALLEST_LAMBDA};

use super::{Composition, Letters};

/// Relative accuracy of λ. `FUNCTION_TOLERANCE` is the accuracy of the equation that λ solves.
/// `EVALUATIONS` is the maximum number of evaluations (composition_adjustment.c).
const LAMBDA_TOLERANCE: f64 = 1.0e-7;
const FUNCTION_TOLERANCE: f64 = 1.0e-5;
const EVALUATIONS: u32 = 100;
/// First value of x = e^-λ: e^-1 with the digits of composition_adjustment.c.
const START: f64 = 0.367879441171;

/// Data for p-values of pairs of compositions. They follow from the λ that BLOSUM62 has for a pair,
/// whatever the matrix of the search.
#[derive(Clone, Debug)]
pub struct PairPvalues {
    scores: [[i32; AMINO_ACID_COUNT]; AMINO_ACID_COUNT],
    distribution: CompositionPvalues,
}

impl PairPvalues {
    /// Creates the data from the scores of BLOSUM62.
    pub fn new() -> Self {
        let all = matrix::matrix_scores("BLOSUM62").expect("BLOSUM62 is built in");
        Self {
            scores: AMINO_ACID_CODES.map(|row| AMINO_ACID_CODES.map(|column| all[row][column])),
            distribution: CompositionPvalues::new(),
        }
    }

    /// Returns the probability that two compositions fit each other as badly as these do. A small λ
    /// gives a small p-value.
    pub fn p_value(&self, query: &Composition, subject: &Composition) -> f64 {
        let lambda = self.lambda(&query.letters(), &subject.letters());
        self.distribution.p_value(lambda.unwrap_or(SMALLEST_LAMBDA))
    }

    /// Calls `each` with the probability and the score of every pair of a residue in the query and
    /// a residue in the subject.
    fn pairs(&self, query: &Letters, subject: &Letters, mut each: impl FnMut(f64, i32)) {
        for (row, &p) in self.scores.iter().zip(query) {
            for (&score, &q) in row.iter().zip(subject) {
                if p != 0.0 && q != 0.0 {
                    each(p * q, score);
                }
            }
        }
    }

    /// Finds the positive root of Σ p q e^(λ s) = 1 in x = e^-λ by Newton's method within a
    /// shrinking interval (`Blast_CalcLambdaFullPrecision`, composition_adjustment.c). Returns
    /// `None` if there is no root or it is not found.
    fn lambda(&self, query: &Letters, subject: &Letters) -> Option<f64> {
        let (mut highest, mut average) = (i32::MIN, 0.0);
        self.pairs(query, subject, |p, score| {
            highest = highest.max(score);
            average += p * f64::from(score);
        });
        if highest <= 0 || average >= 0.0 {
            return None;
        }
        let highest_score = f64::from(highest);
        let (mut left, mut right, mut x) = (0.0, 1.0, START);
        let (mut previous, mut had_newton) = (4.0_f64, false);
        for _ in 0..EVALUATIONS {
            let lambda = -x.ln();
            let scale = (-highest_score * lambda).exp();
            let mut f = -scale;
            let mut slope = highest_score * f / x;
            self.pairs(query, subject, |p, score| {
                let below = f64::from(highest - score);
                let term = if score == highest { p } else { p * (-lambda * below).exp() };
                slope += below * term / x;
                f += term;
            });
            if f > 0.0 {
                left = x;
            } else if f < 0.0 {
                right = x;
            } else {
                return Some(-x.ln());
            }
            let solved = (f / scale).abs() <= FUNCTION_TOLERANCE;
            if solved && right - left <= 2.0 * left * (1.0 - right) * LAMBDA_TOLERANCE {
                return Some(-f64::midpoint(left, right).ln());
            }
            let change = -f / slope;
            let next = x + change;
            // Once a Newton step was taken, the test for progress stays on, even after bisections.
            let stalled = had_newton && f.abs() > 0.9 * previous.abs();
            previous = f;
            if stalled || slope >= 0.0 || next <= left || next >= right {
                x = f64::midpoint(left, right);
            } else {
                had_newton = true;
                x = next;
                if solved && change.abs() <= LAMBDA_TOLERANCE * x * (1.0 - x) {
                    return Some(-x.ln());
                }
            }
        }
        None
    }
}

impl Default for PairPvalues {
    fn default() -> Self {
        Self::new()
    }
}
