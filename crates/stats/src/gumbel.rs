//! E-values with the finite-size correction of Spouge: gapped alignments between sequences of given lengths.

use std::f64::consts::SQRT_2;

use crate::scoring::ScoringSystem;

/// 1/√(2π), with the digits of blast_stat.c.
const INVERSE_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;

/// Standard deviations above which `erfc` is exactly 2 and the correction is exactly the plain difference of lengths.
const FAR: f64 = 8.5;

/// Parameters of the finite-size correction of a scoring system (`Blast_GumbelBlkLoadFromTables`, blast_stat.c).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gumbel {
    lambda: f64,
    k: f64,
    /// Mean, variance and covariance of the length of an alignment: slope over the score, and intercept.
    a: f64,
    b: f64,
    alpha: f64,
    beta: f64,
    sigma: f64,
    tau: f64,
}

/// What a score says about lengths.
struct Lengths {
    mean: f64,
    deviation: f64,
}

impl Lengths {
    /// Probability that an alignment fits into `length` residues, and the expected number of places left for it.
    fn fit(&self, length: i32) -> (f64, f64) {
        let left = f64::from(length) - self.mean;
        let normal = left / self.deviation;
        if normal > FAR {
            return (1.0, left);
        }
        let fits = libm::erfc(-normal / SQRT_2) / 2.0;
        let density = (-0.5 * normal * normal).exp();
        (fits, left * fits + self.deviation * INVERSE_SQRT_2_PI * density)
    }
}

impl Gumbel {
    /// The parameters of a scoring system.
    pub fn new(scoring: &ScoringSystem) -> Self {
        let (gapped, ungapped) = (&scoring.gapped, &scoring.ungapped);
        let twice_gap = 2.0 * f64::from(scoring.gap_open + scoring.gap_extend);
        Self {
            lambda: gapped.lambda,
            k: gapped.k,
            a: gapped.alpha,
            b: twice_gap * (ungapped.alpha - gapped.alpha),
            alpha: gapped.alpha_v,
            beta: twice_gap * (ungapped.alpha_v - gapped.alpha_v),
            sigma: gapped.sigma,
            tau: twice_gap * (ungapped.alpha_v - gapped.sigma),
        }
    }

    /// Expected number of alignments of at least `score` between a query and a database of random sequences, judged by one
    /// subject (`BLAST_SpougeStoE`, blast_stat.c).
    ///
    /// `scale` is 1, or the factor of scores and gap costs of an adjusted matrix (32). Lengths in residues, unadjusted;
    /// `db_length` 0 gives the value for the one pair of sequences.
    pub fn evalue(
        &self,
        score: i32,
        scale: f64,
        query_length: i32,
        subject_length: i32,
        db_length: i64,
    ) -> f64 {
        let lambda = self.lambda / scale;
        let factor = lambda / self.lambda;
        let score = f64::from(score);
        let alpha = self.alpha * factor;
        let variance = (alpha * score + self.beta).max(2.0 * alpha / lambda);
        let lengths =
            Lengths { mean: self.a * factor * score + self.b, deviation: variance.sqrt() };
        let sigma = self.sigma * factor;
        let covariance = (sigma * score + self.tau).max(2.0 * sigma / lambda);
        let (query_fits, query_places) = lengths.fit(query_length);
        let (subject_fits, subject_places) = lengths.fit(subject_length);
        let area = query_places * subject_places + covariance * query_fits * subject_fits;
        let subjects =
            if db_length == 0 { 1.0 } else { db_length as f64 / f64::from(subject_length) };
        area * self.k * (-lambda * score).exp() * subjects
    }

    /// The last score whose e-value is still above `evalue`, 0 if there is none: a cut-off that keeps every score worth
    /// keeping (`BLAST_SpougeEtoS`, blast_stat.c). Lengths as in [`Gumbel::evalue`].
    pub fn cutoff_score(
        &self,
        evalue: f64,
        query_length: i32,
        subject_length: i32,
        db_length: i64,
    ) -> i32 {
        let of = |score: i32| self.evalue(score, 1.0, query_length, subject_length, db_length);
        let database = if db_length == 0 { 1.0 } else { db_length as f64 };
        let mut high = (((database / evalue).ln() / self.lambda) as i32).max(2);
        let mut low = 0;
        while of(high) > evalue {
            low = high;
            high = high.saturating_mul(2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if of(middle) > evalue {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}
