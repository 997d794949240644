//! Unified p-values (`-comp_based_stats 2u`): the p-value of a pair of compositions, and its
//! combination with the p-value of a score.

use crate::lattice::exp_minus_1;

const TABLE: &str = include_str!("../data/freq_ratios/composition_pvalue_table.tsv");

/// λ of the first bin (unified_pvalues.c).
pub const SMALLEST_LAMBDA: f64 = 0.034;
/// Width of a bin of λ.
const BIN: f64 = 0.001;
/// Number of the bin below which the p-value does not fall further.
const LOWEST_BIN: usize = 35;

/// Distribution of the λ of two random compositions under BLOSUM62.
#[derive(Clone, Debug)]
pub struct CompositionPvalues {
    table: Vec<f64>,
}

impl CompositionPvalues {
    /// Creates the built-in distribution.
    pub fn new() -> Self {
        let value = |line: &str| line.split('\t').nth(1)?.trim().parse().ok();
        let table: Option<Vec<f64>> = TABLE.lines().skip(1).map(value).collect();
        Self { table: table.expect("the built-in table has two columns of numbers") }
    }

    /// Returns the probability of a λ as small as `lambda`, interpolated between bins
    /// (`Blast_CompositionPvalue`, unified_pvalues.c).
    pub fn p_value(&self, lambda: f64) -> f64 {
        let place = (lambda - SMALLEST_LAMBDA) / BIN;
        let last = self.table.len() - 1;
        if place < LOWEST_BIN as f64 {
            self.table[LOWEST_BIN]
        } else if place > last as f64 {
            1.0
        } else {
            let bin = place as usize;
            let delta = place - bin as f64;
            match self.table.get(bin + 1) {
                Some(next) => (1.0 - delta) * self.table[bin] + delta * next,
                None => self.table[last],
            }
        }
    }
}

impl Default for CompositionPvalues {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes the factor that converts an e-value in a database to one in a single subject. It is the
/// effective length of the subject over that of the database (`s_AdjustEvaluesForComposition`,
/// blast_kappa.c). Lengths and adjustment are in residues.
pub fn sequence_factor(
    query_length: i32,
    subject_length: i32,
    adjustment: i32,
    search_space: i64,
) -> f64 {
    let query = f64::from((query_length - adjustment).max(1));
    let subject = f64::from(subject_length - adjustment).max(1.0);
    subject / (search_space as f64 / query)
}

/// Combines the p-value of an alignment's score with the p-value of the compositions. Returns the
/// e-value of the alignment.
pub fn combine_pvalues(evalue: f64, composition_p: f64, sequence_factor: f64) -> f64 {
    let score_p = -exp_minus_1(-(evalue * sequence_factor));
    let product = composition_p * score_p;
    let united = if product > 0.0 { product * (1.0 - product.ln()) } else { product };
    p_to_e(united) / sequence_factor
}

/// Computes -ln(1 - p), by its series near 0 (`BLAST_KarlinPtoE`, blast_stat.c, and `BLAST_Log1p`,
/// ncbi_math.c).
fn p_to_e(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::from(i32::MIN);
    }
    if p == 1.0 {
        return f64::from(i32::MAX);
    }
    if p >= 0.2 {
        return -(-p + 1.0).ln();
    }
    let (mut sum, mut power) = (0.0, p);
    for order in 1..=500 {
        sum += power / f64::from(order);
        if power < f64::EPSILON {
            break;
        }
        power *= p;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    // `Blast_CompositionPvalue` of the oracle's libblast.so, called through Python's ctypes.
    #[test]
    fn p_values_are_interpolated_and_clamped() {
        let pvalues = CompositionPvalues::new();
        let golden = [
            (0.01, 1.122974e-06),
            (0.0695, 1.2477485e-06),
            (0.1, 8.110361e-06),
            (0.2503, 0.004705729500000002),
            (0.35, 0.9551588999999999),
            (0.5, 0.9999712),
            (0.598, 0.9999992),
            (0.7, 1.0),
        ];
        for (lambda, want) in golden {
            assert_eq!(pvalues.p_value(lambda), want, "λ {lambda}");
        }
    }

    // `BLAST_KarlinPtoE(Blast_Overall_P_Value(p, BLAST_KarlinEtoP(e * f))) / f` of the oracle's
    // libblast.so.
    #[test]
    fn united_e_values_are_those_of_the_oracle() {
        let golden = [
            (1e-30, 0.01, 0.02, 7.859474598123762e-31),
            (3.0, 0.5, 0.1, 5.015246585860466),
            (0.2, 1.0, 0.5, 0.7683888999446103),
            (100.0, 0.9, 0.3, 17.546041293658774),
        ];
        for (evalue, p, factor, want) in golden {
            assert_eq!(combine_pvalues(evalue, p, factor), want, "{evalue} {p} {factor}");
        }
    }

    #[test]
    fn lengths_are_at_least_one_after_adjustment() {
        assert_eq!(sequence_factor(10, 5, 20, 100), 0.01);
        assert_eq!(sequence_factor(110, 60, 10, 10_000), 0.5);
    }
}
