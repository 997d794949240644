//! E-values with the finite-size correction of Spouge: gapped alignments between sequences of given
//! lengths.

use std::f64::consts::SQRT_2;

use crate::erfc::erfc;
use crate::karlin::KarlinParameters;
use crate::scoring::ScoringSystem;

/// 1/√(2π), with the digits of blast_stat.c.
const INVERSE_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;

/// Distance of a sequence length above the mean, in standard deviations, beyond which `erfc` is
/// exactly 2. The correction is then exactly the difference of the lengths.
const FAR: f64 = 8.5;

/// Parameters of the finite-size correction of a scoring system (`Blast_GumbelBlkLoadFromTables`,
/// blast_stat.c).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelParameters {
    /// Scale λ of the scores.
    lambda: f64,
    /// Scale λ for which the other parameters hold.
    natural: f64,
    k: f64,
    /// Mean length of an alignment: slope over the score (`a`) and intercept (`b`).
    a: f64,
    b: f64,
    /// Variance of the length: slope over the score (`alpha`) and intercept (`beta`).
    alpha: f64,
    beta: f64,
    /// Covariance of the lengths in query and subject: slope over the score (`sigma`) and intercept
    /// (`tau`).
    sigma: f64,
    tau: f64,
}

/// Mean and standard deviation of the length of alignments with a score.
struct Lengths {
    mean: f64,
    deviation: f64,
}

impl Lengths {
    /// Computes the probability that an alignment fits into `length` residues, and the expected
    /// number of positions for it.
    fn fit(&self, length: i32) -> (f64, f64) {
        let left = f64::from(length) - self.mean;
        let normal = left / self.deviation;
        if normal > FAR {
            return (1.0, left);
        }
        let fits = erfc(-normal / SQRT_2) / 2.0;
        let density = (-0.5 * normal * normal).exp();
        (fits, left * fits + self.deviation * INVERSE_SQRT_2_PI * density)
    }
}

impl GumbelParameters {
    /// Creates the parameters of a scoring system.
    pub fn new(scoring: &ScoringSystem) -> Self {
        let (gapped, ungapped) = (&scoring.gapped_statistics, &scoring.ungapped_statistics);
        let twice_gap = 2.0 * (f64::from(scoring.gap_open) + f64::from(scoring.gap_extend));
        Self {
            lambda: gapped.lambda,
            natural: gapped.lambda,
            k: gapped.k,
            a: gapped.alpha,
            b: twice_gap * (ungapped.alpha - gapped.alpha),
            alpha: gapped.alpha_v,
            beta: twice_gap * (ungapped.alpha_v - gapped.alpha_v),
            sigma: gapped.sigma,
            tau: twice_gap * (ungapped.alpha_v - gapped.sigma),
        }
    }

    /// Returns a copy of the parameters with the scale λ and the K of a PSSM.
    #[must_use]
    pub fn with_scale_and_k(self, block: &KarlinParameters) -> Self {
        Self { lambda: block.lambda, k: block.k, ..self }
    }

    /// Computes the expected number of alignments of at least `score` between a query and a
    /// database of random sequences, estimated from one subject (`BLAST_SpougeStoE`, blast_stat.c).
    ///
    /// `scale` is 1, or the factor of scores and gap costs of an adjusted matrix (32). Lengths are
    /// in residues, not adjusted. With `db_length` 0 the value is for the single pair of sequences.
    pub fn evalue(
        &self,
        score: i32,
        scale: f64,
        query_length: i32,
        subject_length: i32,
        db_length: i64,
    ) -> f64 {
        let lambda = self.lambda / scale;
        let factor = lambda / self.natural;
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

    /// Returns the last score whose e-value is still above `evalue`, 0 if there is none
    /// (`BLAST_SpougeEtoS`, blast_stat.c). As a cut-off it keeps every score with an e-value of at
    /// most `evalue`. Lengths as in [`GumbelParameters::evalue`].
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

#[cfg(test)]
mod tests {
    use crate::release::Release;

    use super::*;

    fn gumbel(matrix: &str, open: i32, extend: i32) -> GumbelParameters {
        GumbelParameters::new(
            &ScoringSystem::new(&Release::V2_12_0, matrix, Some(open), Some(extend)).unwrap(),
        )
    }

    // `blastp -comp_based_stats 0 -outfmt '6 score evalue'` with a query of 101 residues and
    // subjects of 101, 49, 17 and 55.
    #[test]
    fn e_values_of_a_report() {
        let gumbel = gumbel("BLOSUM62", 11, 1);
        let golden = [
            (519, 101, "4.63e-75"),
            (221, 49, "2.97e-30"),
            (105, 17, "7.79e-13"),
            (106, 55, "9.34e-13"),
        ];
        for (score, subject, want) in golden {
            assert_eq!(format!("{:.2e}", gumbel.evalue(score, 1.0, 101, subject, 222)), want);
        }
    }

    // `BLAST_SpougeStoE` and `BLAST_SpougeEtoS` of the oracle's libblast.so, called through
    // Python's ctypes. Columns: matrix, gap costs, scale, lengths, database, score, bits of the
    // e-value, bits of a target, its cut-off.
    #[test]
    fn e_values_and_cutoffs_of_other_systems() {
        let golden = [
            (
                "BLOSUM45",
                13,
                3,
                1,
                385,
                2141,
                392,
                416,
                0x3874a7f7d833d275_u64,
                0x3f40f6c129fa748e_u64,
                77,
            ),
            ("BLOSUM45", 18, 1, 32, 4, 56, 0, 1383, 0x3f327cb4f3ea7b12, 0x400654f3fd1e195d, 15),
            (
                "BLOSUM50",
                14,
                2,
                1,
                3628,
                130,
                15460,
                2,
                0x413dd5bba64d0b6f,
                0x3dcc5f2f0fe84c6d,
                170,
            ),
            ("BLOSUM62", 12, 1, 1, 262, 200, 0, 113, 0x3d9b1acdf42994aa, 0x3ccb1bf94315b7a5, 141),
            (
                "BLOSUM80",
                11,
                1,
                32,
                9,
                110,
                2476,
                7307,
                0x38ce6e23d2a22d06,
                0x3c0adaa8afcdf8e4,
                136,
            ),
            ("PAM30", 8, 1, 32, 2069, 26, 3222, 535, 0x40b2774d9540b604, 0x3c1e6902aace827a, 177),
            (
                "PAM70",
                8,
                2,
                1,
                182,
                152,
                5265399365,
                142,
                0x3e45264200bafa2d,
                0x3eb27df63c35cc16,
                126,
            ),
        ];
        for (
            matrix,
            open,
            extend,
            scale,
            query,
            subject,
            database,
            score,
            evalue,
            target,
            cutoff,
        ) in golden
        {
            let gumbel = gumbel(matrix, open, extend);
            let got = gumbel.evalue(score, f64::from(scale), query, subject, database);
            let want = f64::from_bits(evalue);
            assert!((got - want).abs() <= 1e-13 * want, "{matrix} {got:e} {want:e}");
            let target = f64::from_bits(target);
            assert_eq!(gumbel.cutoff_score(target, query, subject, database), cutoff, "{matrix}");
        }
    }

    // Preliminary cut-offs of `blastp -evalue 10` for 411 residues against 206,410. Their e-value
    // is 50 with `-comp_based_stats 2`, and 10 with `-comp_based_stats 0`.
    #[test]
    fn preliminary_cutoffs() {
        let gumbel = gumbel("BLOSUM62", 11, 1);
        assert_eq!(gumbel.cutoff_score(50.0, 411, 10, 206_410), 34);
        assert_eq!(gumbel.cutoff_score(10.0, 411, 10, 206_410), 39);
        assert_eq!(gumbel.cutoff_score(1e10, 411, 10, 206_410), 0);
    }

    #[test]
    fn far_lengths_need_no_correction() {
        let lengths = Lengths { mean: 100.0, deviation: 35.0 };
        for length in 399..600 {
            let left = f64::from(length) - lengths.mean;
            let normal = left / lengths.deviation;
            let fits = erfc(-normal / SQRT_2) / 2.0;
            let density = (-0.5 * normal * normal).exp();
            let places = left * fits + lengths.deviation * INVERSE_SQRT_2_PI * density;
            assert_eq!(lengths.fit(length), (fits, places), "{length}");
        }
    }
}
