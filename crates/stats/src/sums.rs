//! Sum statistics: common e-values of several alignments of one pair of sequences (Karlin and
//! Altschul, PNAS 90:5873, 1993; `blast_stat.c`, `ncbi_math.c`).

use crate::lattice::{exp_minus_1, ln_1_plus};

/// Upper limit of the e-value of a linked set.
const MOST: f64 = i32::MAX as f64;
/// Relative accuracy of the integrals.
const TOLERANCE: f64 = 0.002;

/// Effective lengths of a pair of sequences, and the effective search space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSpace {
    /// Effective length of the query, at least 1.
    pub query_length: i32,
    /// Effective length of the subject, at least 1.
    pub subject_length: i32,
    /// Effective search space.
    pub search_space: i64,
}

/// HSPs of one subject with a common e-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedSet {
    /// Number of alignments.
    pub count: u32,
    /// Sum of the normalised scores of the alignments (each times lambda, less ln K).
    pub score: f64,
}

impl SearchSpace {
    /// Creates the search space of a query and a subject. Their effective lengths are `lengths`
    /// less `adjustments`.
    pub fn new(lengths: [i32; 2], adjustments: [i32; 2], search_space: i64) -> SearchSpace {
        let [query_length, subject_length] =
            [0, 1].map(|side| (lengths[side] - adjustments[side]).max(1));
        SearchSpace { query_length, subject_length, search_space }
    }

    fn pair(&self) -> f64 {
        f64::from(self.subject_length) * f64::from(self.query_length)
    }

    /// Returns the e-value of a set with gaps of any size between its alignments. `decay` is the
    /// factor by which the probability of a set falls with each additional alignment.
    pub fn large_gap_evalue(&self, set: LinkedSet, decay: f64) -> f64 {
        let count = f64::from(set.count);
        let score = set.score - (count * self.pair().ln() - ln_factorial(set.count));
        self.evalue(set, score, decay)
    }

    /// Returns the e-value of a set in which each alignment begins within `places` positions after
    /// another one, in both sequences. `decay` as in [`Self::large_gap_evalue`].
    pub fn small_gap_evalue(&self, set: LinkedSet, places: i32, decay: f64) -> f64 {
        let more = f64::from(set.count) - 1.0;
        let score = set.score - (self.pair().ln() + 2.0 * more * f64::from(places).ln());
        self.evalue(set, score - ln_factorial(set.count), decay)
    }

    /// Returns the e-value of a set in which each alignment begins within `places` positions after
    /// another one. `places` has one number for the query and one for the subject. `decay` as in
    /// [`Self::large_gap_evalue`].
    pub fn uneven_gap_evalue(&self, set: LinkedSet, places: [i32; 2], decay: f64) -> f64 {
        let more = f64::from(set.count) - 1.0;
        let [query, subject] = places.map(|places| f64::from(places).ln());
        let score = set.score - (self.pair().ln() + more * (query + subject));
        self.evalue(set, score - ln_factorial(set.count), decay)
    }

    fn evalue(&self, set: LinkedSet, score: f64, decay: f64) -> f64 {
        let whole = match set.count {
            1 => self.search_space as f64 * (-set.score).exp(),
            count => {
                evalue_of(probability(count as i32, score))
                    * (self.search_space as f64 / self.pair())
            }
        };
        let divisor = gap_decay_divisor(decay, set.count);
        if divisor == 0.0 { MOST } else { (whole / divisor).min(MOST) }
    }
}

/// Returns the divisor of the e-value of a set of `count` alignments. It corrects for the tests of
/// sets of other sizes (`BLAST_GapDecayDivisor`, blast_stat.c).
pub fn gap_decay_divisor(decay: f64, count: u32) -> f64 {
    (1.0 - decay) * decay.powi(count as i32 - 1)
}

/// Converts a probability to an e-value.
fn evalue_of(probability: f64) -> f64 {
    match probability {
        p if !(0.0..=1.0).contains(&p) => f64::from(i32::MIN),
        1.0 => MOST,
        p => -ln_1_plus(-p),
    }
}

/// Probabilities for two, three and four alignments, by the adjusted sum of their scores in steps
/// of a half. Each table starts at the largest sum; the sums descend.
const TABLES: [&[f64]; 3] = [
    &[
        0.01669, 0.0249, 0.03683, 0.05390, 0.07794, 0.1111, 0.1559, 0.2146, 0.2890, 0.3794, 0.4836,
        0.5965, 0.7092, 0.8114, 0.8931, 0.9490, 0.9806, 0.9944, 0.9989,
    ],
    &[
        0.9806, 0.9944, 0.9989, 0.0001682, 0.0002542, 0.0003829, 0.0005745, 0.0008587, 0.001278,
        0.001893, 0.002789, 0.004088, 0.005958, 0.008627, 0.01240, 0.01770, 0.02505, 0.03514,
        0.04880, 0.06704, 0.09103, 0.1220, 0.1612, 0.2097, 0.2682, 0.3368, 0.4145, 0.4994, 0.5881,
        0.6765, 0.7596, 0.8326, 0.8922, 0.9367, 0.9667, 0.9846, 0.9939, 0.9980,
    ],
    &[
        2.658e-07, 4.064e-07, 6.203e-07, 9.450e-07, 1.437e-06, 2.181e-06, 3.302e-06, 4.990e-06,
        7.524e-06, 1.132e-05, 1.698e-05, 2.541e-05, 3.791e-05, 5.641e-05, 8.368e-05, 0.0001237,
        0.0001823, 0.0002677, 0.0003915, 0.0005704, 0.0008275, 0.001195, 0.001718, 0.002457,
        0.003494, 0.004942, 0.006948, 0.009702, 0.01346, 0.01853, 0.02532, 0.03431, 0.04607,
        0.06128, 0.08068, 0.1051, 0.1352, 0.1719, 0.2157, 0.2669, 0.3254, 0.3906, 0.4612, 0.5355,
        0.6110, 0.6849, 0.7544, 0.8168, 0.8699, 0.9127, 0.9451, 0.9679, 0.9827, 0.9915, 0.9963,
    ],
];

/// Computes the probability that `count` alignments have an adjusted sum of scores of at least
/// `score`.
fn probability(count: i32, score: f64) -> f64 {
    match count {
        ..=0 => 0.0,
        1 => -exp_minus_1(-(-score).exp()),
        2..=4 => look_up(count, score),
        _ => integrate(count, score),
    }
}

fn look_up(count: i32, score: f64) -> f64 {
    let less = count - 1;
    if score >= f64::from(count * count + less) {
        let ln = ln_gamma_of(count + 1);
        return f64::from(count) * (f64::from(less) * score.ln() - score - ln - ln).exp();
    }
    if score <= f64::from(-2 * count) {
        return 1.0;
    }
    let table = TABLES[count as usize - 2];
    let steps = score + score + f64::from(4 * count);
    let at = table.len() - 1 - steps as usize;
    let part = steps.fract();
    let above = if part > 0.0 || at > 0 { table[at - 1] } else { 0.0 };
    part * above + (1.0 - part) * table[at]
}

/// Computes the same as [`probability`] by a double integral (equation 4 of the paper).
fn integrate(count: i32, score: f64) -> f64 {
    let r = f64::from(count);
    let certain = match count {
        ..8 => -2.3,
        8..15 => -2.5,
        15..27 => -3.0,
        27..51 => -3.4,
        51..101 => -4.0,
        _ => f64::NEG_INFINITY,
    };
    let deviation = r.sqrt();
    let mean = r * (1.0 - r.ln()) - 0.5;
    let least = mean - 4.0 * deviation;
    let is_low = count > 100 && score <= -r * (r - 1.0) - 4.0 * deviation;
    if score <= certain * r || is_low || score <= least {
        return 1.0;
    }
    let (end, first) = match score >= mean {
        true => (score + 6.0 * deviation, 1),
        false => (mean + 6.0 * deviation, 2),
    };
    let constant = (r - 2.0) * r.ln() - ln_gamma_of(count - 1) - ln_gamma_of(count);
    let outer = |s: f64| {
        let share = s / r;
        let inner = |x: f64| match (x - share).exp() {
            y if y.is_infinite() || x == 0.0 => 0.0,
            y => ((r - 2.0) * x.ln() + (constant - s) - y).exp(),
        };
        integral(inner, 0.0, share.max(0.0) + 3.0, 1)
    };
    let mut probability = 0.0;
    for rounds in first..=4.max(first) + 1 {
        probability = integral(outer, score, end, rounds);
        if probability.is_infinite() {
            return probability;
        }
        if score >= mean || probability >= 0.4 || rounds >= 4 {
            break;
        }
    }
    if probability < 1.0 { probability } else { 1.0 }
}

/// Exclusive upper limit of the number of halvings of an integral's mesh.
const MOST_ROUNDS: usize = 20;

/// Integrates by Romberg's method with at least `least_rounds` halvings of the mesh. Returns
/// infinity if the integral does not converge.
fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64, least_rounds: usize) -> f64 {
    let (mut mesh, mut points) = (to - from, 1);
    let (first, last) = (f(from), f(to));
    if let Some(&infinite) = [first, last].iter().find(|value| value.is_infinite()) {
        return infinite;
    }
    // The current column, the best estimate first.
    let mut column = vec![0.5 * mesh * (first + last)];
    for round in 1..MOST_ROUNDS {
        let (mut sum, mut x) = (0.0, from + 0.5 * mesh);
        for _ in 0..points {
            let value = f(x);
            if value.is_infinite() {
                return value.abs();
            }
            sum += value;
            x += mesh;
        }
        column.push(0.5 * (column[round - 1] + mesh * sum));
        let mut order = 4.0;
        for at in (0..round).rev() {
            column[at] = (order * column[at + 1] - column[at]) / (order - 1.0);
            order *= 4.0;
        }
        let converges = (column[1] - column[0]).abs() <= TOLERANCE * column[0].abs();
        if round >= least_rounds && converges {
            return column[0];
        }
        (points, mesh) = (2 * points, 0.5 * mesh);
    }
    f64::INFINITY
}

fn ln_factorial(n: u32) -> f64 {
    ln_gamma(f64::from(n) + 1.0)
}

/// Computes ln Γ of an integer. Below 35 it is the logarithm of the product of integers.
fn ln_gamma_of(n: i32) -> f64 {
    match n {
        2..35 => (2..n).map(f64::from).product::<f64>().ln(),
        _ => ln_gamma(f64::from(n)),
    }
}

/// Coefficients for the logarithm of the gamma function.
const GAMMA: [f64; 11] = [
    4.694580336184385e+04,
    -1.560605207784446e+05,
    2.065049568014106e+05,
    -1.388934775095388e+05,
    5.031796415085709e+04,
    -9.601592329182778e+03,
    8.78585593089525e+02,
    -3.155153906098611e+01,
    2.908143421162229e-01,
    -2.319827630494973e-04,
    1.251639670050933e-10,
];

/// ln π.
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// Computes ln Γ(x) for x of at least 1, to ten digits. Terms are added in BLAST+'s order
/// (`s_GeneralLnGamma`), since ties depend on the last bits.
fn ln_gamma(x: f64) -> f64 {
    let terms = GAMMA.iter().enumerate().rev().map(|(i, coefficient)| coefficient / (x + i as f64));
    let sum: f64 = terms.sum();
    let at = x - 1.0 + GAMMA.len() as f64 + 0.5;
    let stirling = (LN_PI + std::f64::consts::LN_2) / 2.0 + (x - 1.0 + 0.5) * at.ln() - at;
    (1.0 + sum).ln() + stirling
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: f64, b: f64, part: f64) -> bool {
        (a - b).abs() <= part * b.abs()
    }

    #[test]
    fn logarithms_of_factorials() {
        for n in 1..60u32 {
            let exact: f64 = (2..=n).map(|i| f64::from(i).ln()).sum();
            assert!((ln_factorial(n) - exact).abs() <= 1e-9 * exact.max(1.0), "{n}");
            assert!((ln_gamma_of(n as i32 + 1) - exact).abs() <= 1e-9 * exact.max(1.0), "{n}");
        }
    }

    #[test]
    fn what_a_probability_loses_beside_1_is_lost() {
        let (p, next) = (0.3_f64, 0.3_f64.next_up());
        assert_ne!((-p).ln_1p(), (-next).ln_1p());
        assert_eq!(evalue_of(p), evalue_of(next), "so sets that differ by that are ties");
        for p in [1e-300, 1e-20, 1e-9, 0.01, 0.19999, 0.2, 0.7, 0.999] {
            assert!(is_near(evalue_of(p), -(-p).ln_1p(), 1e-14), "{p}");
        }
    }

    #[test]
    fn sums_that_differ_by_what_was_rounded_are_no_ties() {
        // A set on one strand and the same set on the other, whose scores were added in reverse.
        // The values are BLAST+'s (in ASN.1, with 15 digits).
        let space =
            SearchSpace { query_length: 1378, subject_length: 1370, search_space: 206_376_170 };
        let of = |score| 2.0 * space.large_gap_evalue(LinkedSet { count: 7, score }, 0.5);
        let printed = |score| format!("{:.14e}", of(score));
        assert_eq!(printed(350.389_091_668_615_8), "2.33520931152883e-100");
        assert_eq!(printed(350.389_091_668_615_7), "2.33520931152896e-100");
    }

    #[test]
    fn tables_are_what_the_integral_is() {
        // BLAST+ counts the integrand as 0 at 0, which is wrong for two alignments: so these cases
        // have four. The few steps of the integral cause an error of some hundredths.
        for (count, score) in [(4, -6.2), (4, -3.0), (4, 1.0), (4, 4.9), (4, 12.0)] {
            let (table, integral) = (look_up(count, score), integrate(count, score));
            assert!(is_near(table, integral, 0.04), "{count} {score}: {table} {integral}");
        }
        // The values beyond the tables are continuous with them.
        for count in 2..=4 {
            let end = f64::from(count * count + count - 1);
            let (below, above) = (look_up(count, end - 1e-9), look_up(count, end));
            assert!(count == 3 || is_near(below, above, 0.1), "{count}: {below} {above}");
        }
    }

    #[test]
    fn evalues_fall_with_count_and_sum() {
        let space =
            SearchSpace { query_length: 300, subject_length: 10_000, search_space: 3_000_000_000 };
        for count in 1..40 {
            let of = |score| space.large_gap_evalue(LinkedSet { count, score }, 0.5);
            let scores: Vec<f64> = (1..8).map(|i| 20.0 * f64::from(count) + f64::from(i)).collect();
            assert!(scores.windows(2).all(|w| of(w[0]) >= of(w[1])), "{count}");
        }
        let set = LinkedSet { count: 3, score: 60.0 };
        assert!(space.small_gap_evalue(set, 50, 0.5) < space.large_gap_evalue(set, 0.5));
        let one = LinkedSet { count: 1, score: 25.0 };
        assert!(is_near(space.large_gap_evalue(one, 0.5), 2.0 * 3e9 * (-25f64).exp(), 1e-12));
        assert_eq!(space.large_gap_evalue(LinkedSet { count: 2, score: -50.0 }, 0.5), MOST);
    }
}
