//! The distribution of the score of one aligned pair, and the λ, H and K of Karlin and Altschul
//! computed from it.

use crate::matrix::ScoreMatrix;
use crate::parameters::KarlinParameters;
use fleetblast_seq::alphabet::SIZE;

/// Relative accuracy of λ (blast_stat.c).
const LAMBDA_TOLERANCE: f64 = 1.0e-5;
/// Maximal number of evaluations of the polynomial whose root determines λ, as passed by
/// `Blast_KarlinLambdaNR`. If Newton's method has not converged by then, λ is the last estimate.
const LAMBDA_EVALUATIONS: u32 = 20;
/// First guess of λ (`BLAST_KARLIN_LAMBDA0_DEFAULT`, blast_stat.c).
pub const INITIAL_LAMBDA: f64 = 0.5;
/// Size at or below which a term ends the sum for K.
const K_SMALLEST_TERM: f64 = 1.0e-4;
/// Maximal number of terms of the sum for K.
const K_TERMS: u32 = 100;

/// Probabilities of the scores `low..=high` of one pair.
#[derive(Clone, Copy, Debug)]
pub struct ScoreDistribution<'a> {
    low: i32,
    high: i32,
    /// Probability of score `low + index`.
    probabilities: &'a [f64],
    average: f64,
}

/// Maximal number of terms of the series of a logarithm.
const LN_TERMS: u32 = 500;

/// Returns the greatest common divisor.
fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Computes a power of x by repeated squaring from the lowest bit (`BLAST_Powi`, ncbi_math.c).
fn power(mut x: f64, mut exponent: i32) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= x;
        }
        exponent /= 2;
        x *= x;
    }
    result
}

/// Computes e^x - 1, by its series near 0 (`BLAST_Expm1`, ncbi_math.c).
pub(crate) fn exp_minus_1(x: f64) -> f64 {
    if x.abs() > 0.33 {
        return x.exp() - 1.0;
    }
    if x.abs() < 1.0e-16 {
        return x;
    }
    let mut factorial = 479_001_600.0; // 12!
    let mut series = 1.0 / factorial + x / 6_227_020_800.0;
    for order in (2..=11).rev() {
        factorial /= f64::from(order + 1);
        series = 1.0 / factorial + x * series;
    }
    x * (1.0 + x * series)
}

/// Computes ln(1 + x), by its series near 0. Elsewhere the sum 1 + x is rounded, as in
/// `BLAST_Log1p` (ncbi_math.c).
pub(crate) fn ln_1_plus(x: f64) -> f64 {
    if x.abs() >= 0.2 {
        return (x + 1.0).ln();
    }
    let (mut sum, mut power) = (0.0, x);
    for order in 1..=LN_TERMS {
        let term = power / f64::from(order);
        sum += if order % 2 == 1 { term } else { -term };
        if power.abs() < f64::EPSILON {
            break;
        }
        power *= x;
    }
    sum
}

/// Adds the probability of every score of a pair to `out`, which starts at score `low`; other
/// scores are ignored.
fn accumulate(
    query: &[f64; SIZE],
    subject: &[f64; SIZE],
    scores: &ScoreMatrix,
    low: i32,
    out: &mut [f64],
) {
    // Adding 0 changes no sum. Most residue codes do not occur in nucleotides.
    for (row, &p) in scores.iter().zip(query).filter(|&(_, &p)| p != 0.0) {
        for (&score, &q) in row.iter().zip(subject) {
            let place = usize::try_from(i64::from(score) - i64::from(low)).ok();
            if let Some(sum) = place.and_then(|place| out.get_mut(place)) {
                *sum += p * q;
            }
        }
    }
}

/// Calls `consume` with the normalised distribution of the score of a pair of residues drawn from
/// two compositions (`BlastScoreFreqCalc`, blast_stat.c). `low` and `high` are the range of the
/// matrix. Returns `None` if no pair can occur.
pub(crate) fn with_score_distribution<T>(
    query: &[f64; SIZE],
    subject: &[f64; SIZE],
    scores: &ScoreMatrix,
    (low, high): (i32, i32),
    consume: impl FnOnce(&ScoreDistribution) -> Option<T>,
) -> Option<T> {
    let count = usize::try_from(i64::from(high) - i64::from(low) + 1).ok()?;
    let mut all = vec![0.0; count];
    accumulate(query, subject, scores, low, &mut all);
    let first = all.iter().position(|&p| p > 0.0)?;
    let last = all.iter().rposition(|&p| p > 0.0)?;
    let sum: f64 = all.iter().sum();
    if sum <= 1.0e-4 {
        return None;
    }
    let probabilities = &mut all[first..=last];
    probabilities.iter_mut().for_each(|p| *p /= sum);
    consume(&ScoreDistribution::new(low + first as i32, probabilities))
}

impl<'a> ScoreDistribution<'a> {
    /// Creates a distribution with the given probabilities of `low`, `low + 1`, ...
    pub fn new(low: i32, probabilities: &'a [f64]) -> Self {
        let mut average = 0.0;
        for (score, p) in (low..).zip(probabilities) {
            average += f64::from(score) * p;
        }
        let high = low + probabilities.len() as i32 - 1;
        Self { low, high, probabilities, average }
    }

    /// Returns whether the theory of Karlin and Altschul applies: some score is positive, and the
    /// expected score is negative.
    fn is_local(&self) -> bool {
        self.average < 0.0 && self.low < 0 && self.high > 0
    }

    /// Returns the greatest common divisor of the scores that occur.
    fn step(&self) -> usize {
        let mut step = (-self.low) as usize;
        for (offset, &p) in self.probabilities.iter().enumerate().skip(1) {
            if step <= 1 {
                break;
            }
            if p != 0.0 {
                step = gcd(step, offset);
            }
        }
        step
    }

    /// Computes value and derivative of Σ P(s)·x^(high-s) - x^high over the lattice of scores.
    fn polynomial(&self, x: f64, step: usize) -> (f64, f64) {
        let zero = (-self.low) as usize;
        let (mut f, mut slope) = (self.probabilities[0], 0.0);
        for &p in self.probabilities[..zero].iter().step_by(step).skip(1) {
            slope = x * slope + f;
            f = f * x + p;
        }
        slope = x * slope + f;
        f = f * x + self.probabilities[zero] - 1.0;
        for &p in self.probabilities[zero..].iter().step_by(step).skip(1) {
            slope = x * slope + f;
            f = f * x + p;
        }
        (f, slope)
    }

    /// Computes λ, the positive root of Σ P(s)·e^(λs) = 1, per raw score unit; `None` if there is
    /// none.
    ///
    /// Newton's method, kept within a shrinking interval, finds it in x = e^-λ
    /// (`NlmKarlinLambdaNR`, blast_stat.c), starting at e^-`guess`.
    pub fn lambda(&self, guess: f64) -> Option<f64> {
        if !self.is_local() {
            return None;
        }
        let step = self.step();
        let start = (-guess).exp();
        let mut x = if 0.0 < start && start < 1.0 { start } else { 0.5 };
        let (mut left, mut right) = (0.0, 1.0);
        let (mut previous, mut was_newton) = (4.0_f64, false);
        for _ in 0..LAMBDA_EVALUATIONS {
            let (f, slope) = self.polynomial(x, step);
            if f > 0.0 {
                left = x;
            } else if f < 0.0 {
                right = x;
            } else {
                break;
            }
            if right - left < 2.0 * left * (1.0 - right) * LAMBDA_TOLERANCE {
                x = (left + right) / 2.0;
                break;
            }
            let stalled = was_newton && f.abs() > 0.9 * previous.abs();
            let change = -f / slope;
            let next = x + change;
            was_newton = !stalled && slope < 0.0 && left < next && next < right;
            if was_newton {
                x = next;
                if change.abs() < LAMBDA_TOLERANCE * x * (1.0 - x) {
                    break;
                }
            } else {
                x = (left + right) / 2.0;
            }
            previous = f;
        }
        Some(-x.ln() / step as f64).filter(|&lambda| lambda >= 0.0)
    }

    /// Computes H, the relative entropy in nats (`BlastKarlinLtoH`, blast_stat.c).
    pub(crate) fn entropy(&self, lambda: f64) -> Option<f64> {
        let x = (-lambda).exp();
        let sum = (self.low..)
            .zip(self.probabilities)
            .fold(0.0, |sum, (score, p)| f64::from(score) * p + x * sum);
        let scale = power(x, self.high);
        let h = if scale > 0.0 {
            lambda * sum / scale
        } else {
            lambda * (lambda * f64::from(self.high) + sum.ln()).exp()
        };
        Some(h).filter(|&h| h >= 0.0)
    }

    /// Computes λ, H and K (`Blast_KarlinBlkUngappedCalc`, blast_stat.c); `None` if one does not
    /// exist.
    pub fn karlin_parameters(&self) -> Option<KarlinParameters> {
        let lambda = self.lambda(INITIAL_LAMBDA)?;
        let h = self.entropy(lambda)?;
        let k = self.k(lambda, h)?;
        Some(KarlinParameters { lambda, k, log_k: k.ln(), h })
    }

    /// Returns whether [`ScoreDistribution::k`] has a value. This is faster than computing the
    /// value.
    pub(crate) fn has_k(lambda: f64, h: f64) -> bool {
        lambda > 0.0 && h > 0.0
    }

    /// Computes K (`BlastKarlinLHtoK`, blast_stat.c); `None` if it does not exist.
    pub(crate) fn k(&self, lambda: f64, h: f64) -> Option<f64> {
        if !Self::has_k(lambda, h) {
            return None;
        }
        let divisor = self.step() as i32;
        let (low, high) = (self.low / divisor, self.high / divisor);
        let lambda = lambda * f64::from(divisor);
        let x = (-lambda).exp();
        let ratio = h / lambda;
        let [down, up] = [self.probabilities[0], self.probabilities[self.probabilities.len() - 1]];
        let k = match (low, high) {
            (-1, 1) => (down - up) * (down - up) / down,
            (-1, _) => {
                let average = self.average / f64::from(divisor);
                average * average / ratio * (1.0 - x)
            }
            (_, 1) => ratio * (1.0 - x),
            _ => {
                // If the scores have a common divisor, BLAST+ uses the probabilities of consecutive
                // lowest scores, not of multiples of the divisor.
                let lowest = &self.probabilities[..=(high - low) as usize];
                -(-2.0 * outer_sum(low, lowest, x)).exp() / (ratio * exp_minus_1(-lambda))
            }
        };
        Some(k).filter(|&k| k >= 0.0)
    }
}

/// Computes Σ over j of (1/j)·(P(sum of j scores ≥ 0) + E[e^(λ·sum); sum < 0]), from the
/// distribution of one score `low`, `low + 1`, ...
fn outer_sum(low: i32, one: &[f64], x: f64) -> f64 {
    let range = one.len() - 1;
    let (mut sums, mut next) = (Vec::with_capacity(8 * range), Vec::with_capacity(8 * range));
    sums.push(1.0);
    let (mut outer, mut inner) = (0.0, 1.0);
    let mut lowest = 0_i32;
    for terms in 1..=K_TERMS {
        if inner <= K_SMALLEST_TERM {
            break;
        }
        convolve(&sums, one, &mut next);
        std::mem::swap(&mut sums, &mut next);
        lowest += low;
        let (negative, other) = sums.split_at((-lowest) as usize);
        inner = negative.iter().fold(0.0, |sum, p| p + sum * x) * x;
        for p in other {
            inner += p;
        }
        inner /= f64::from(terms);
        outer += inner;
    }
    outer
}

/// Writes the convolution of `sums` with `one` into `out`. Each sum is added up in the order of
/// `one`, as in BLAST+. Scores with probability 0 are skipped. Nucleotides have few other scores,
/// however far apart these are.
fn convolve(sums: &[f64], one: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(sums.len() + one.len() - 1, 0.0);
    for (step, &p) in one.iter().enumerate().filter(|&(_, &p)| p != 0.0) {
        for (to, &sum) in out[step..].iter_mut().zip(sums) {
            *to += sum * p;
        }
    }
}
