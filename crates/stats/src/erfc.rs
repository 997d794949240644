//! The complementary error function of BLAST+.
//!
//! BLAST+ has a C version of the error function of Boost.Math (boost_erf.c; © John Maddock 2006,
//! Boost Software License 1.0). The coefficients here are taken from it. BLAST+ does not use one of
//! them, the last of the denominator for arguments from 0.5 to 1.5. So its `erfc` is wrong there by
//! up to 1e-10, and an e-value by up to 1e-6, which sometimes shows in print. An exact `erfc` would
//! therefore give other reports.

// The coefficients are kept as published, with more digits than a double holds.
#![allow(clippy::excessive_precision)]

use crate::exp::exp;
use crate::extended::Extended;

/// An approximation for a range of z: a constant Y, and the coefficients of the polynomials P and
/// Q, constant terms first.
struct Band<const N: usize, const M: usize>(f64, [f64; N], [f64; M]);

/// Approximation for z below 0.5, in z²: erf(z) = z·(Y + P/Q).
const BELOW_0_5: Band<5, 5> = Band(
    1.044948577880859375,
    [
        0.0834305892146531832907,
        -0.338165134459360935041,
        -0.0509990735146777432841,
        -0.00772758345802133288487,
        -0.000322780120964605683831,
    ],
    [
        1.0,
        0.455004033050794024546,
        0.0875222600142252549554,
        0.00858571925074406212772,
        0.000370900071787748000569,
    ],
);

/// Approximation for z below 1.5, in z - 0.5: erfc(z) = (Y + P/Q)·exp(-z²)/z. Q lacks its sixth
/// power, 0.337511472483094676155e-5.
const BELOW_1_5: Band<6, 6> = Band(
    0.405935764312744140625,
    [
        -0.098090592216281240205,
        0.178114665841120341155,
        0.191003695796775433986,
        0.0888900368967884466578,
        0.0195049001251218801359,
        0.00180424538297014223957,
    ],
    [
        1.0,
        1.84759070983002217845,
        1.42628004845511324508,
        0.578052804889902404909,
        0.12385097467900864233,
        0.0113385233577001411017,
    ],
);

/// Approximation for z below 2.5, in z - 1.5, with the formula of [`BELOW_1_5`].
const BELOW_2_5: Band<6, 6> = Band(
    0.50672817230224609375,
    [
        -0.0243500476207698441272,
        0.0386540375035707201728,
        0.04394818964209516296,
        0.0175679436311802092299,
        0.00323962406290842133584,
        0.000235839115596880717416,
    ],
    [
        1.0,
        1.53991494948552447182,
        0.982403709157920235114,
        0.325732924782444448493,
        0.0563921837420478160373,
        0.00410369723978904575884,
    ],
);

/// Approximation for z below 4.5, in z - 3.5, with the formula of [`BELOW_1_5`].
const BELOW_4_5: Band<6, 6> = Band(
    0.5405750274658203125,
    [
        0.00295276716530971662634,
        0.0137384425896355332126,
        0.00840807615555585383007,
        0.00212825620914618649141,
        0.000250269961544794627958,
        0.113212406648847561139e-4,
    ],
    [
        1.0,
        1.04217814166938418171,
        0.442597659481563127003,
        0.0958492726301061423444,
        0.0105982906484876531489,
        0.000479411269521714493907,
    ],
);

/// Approximation for z below 28, in 1/z, with the formula of [`BELOW_1_5`].
const BELOW_28: Band<7, 7> = Band(
    0.5579090118408203125,
    [
        0.00628057170626964891937,
        0.0175389834052493308818,
        -0.212652252872804219852,
        -0.687717681153649930619,
        -2.5518551727311523996,
        -3.22729451764143718517,
        -2.8175401114513378771,
    ],
    [
        1.0,
        2.79257750980575282228,
        11.0567237927800161565,
        15.930646027911794143,
        22.9367376522880577224,
        13.5064170191802889145,
        5.48409182238641741584,
    ],
);

impl<const N: usize, const M: usize> Band<N, M> {
    /// Returns Y + P(x)/Q(x).
    fn evaluate(&self, x: f64) -> f64 {
        let Self(y, p, q) = self;
        y + polynomial(p, x) / polynomial(q, x)
    }
}

/// Evaluates a polynomial by Horner's rule.
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for coefficient in coefficients[..N - 1].iter().rev() {
        sum = sum * x + coefficient;
    }
    sum
}

/// Computes erf(z) for 0 ≤ z < 0.5.
fn erf_of_small(z: f64) -> f64 {
    if z < 1e-10 {
        z * 1.125 + z * 0.003379167095512573896158903121545171688
    } else {
        z * BELOW_0_5.evaluate(z * z)
    }
}

/// Least exponent of e for which erfc is rounded to 64 bits as in BLAST+. Values for lower
/// exponents are near the least double, and too small to matter.
const LEAST_EXPONENT: f64 = -690.0;

/// Computes erfc(z) for z ≥ 0.5.
fn erfc_of_large(z: f64) -> f64 {
    let factor = if z < 1.5 {
        BELOW_1_5.evaluate(z - 0.5)
    } else if z < 2.5 {
        BELOW_2_5.evaluate(z - 1.5)
    } else if z < 4.5 {
        BELOW_4_5.evaluate(z - 3.5)
    } else if z < 28.0 {
        BELOW_28.evaluate(1.0 / z)
    } else {
        return 0.0;
    };
    let exponent = -z * z;
    if exponent < LEAST_EXPONENT {
        return factor * (exponent.exp() / z);
    }
    // BLAST+ computes with 64 bits here.
    let quotient = exp(exponent).divided_by(Extended::from(z));
    quotient.times(Extended::from(factor)).to_f64()
}

/// Computes 1 - erf(x) = 2/√π ∫ₓ^∞ exp(-t²) dt, with the error of BLAST+.
pub(crate) fn erfc(x: f64) -> f64 {
    if x >= 0.5 {
        erfc_of_large(x)
    } else if x >= 0.0 {
        1.0 - erf_of_small(x)
    } else if x > -0.5 {
        1.0 + erf_of_small(-x)
    } else if x < -0.5 {
        2.0 - erfc_of_large(-x)
    } else {
        1.0 + (1.0 - erfc_of_large(-x))
    }
}

#[cfg(test)]
mod tests {
    use super::erfc;

    // `ErfC` of the oracle's libblast.so, called through Python's ctypes.
    #[test]
    fn values_are_those_of_the_oracle() {
        let golden = [
            (-7.0, 2.0),
            (-3.0, 1.9999779095030015),
            (-1.0, 1.8427007927718115),
            (-0.5, 1.5204998778130467),
            (-0.25, 1.276326390168237),
            (0.0, 1.0),
            (1e-11, 0.9999999999887162),
            (0.3, 0.6713732405408726),
            (1.0, 0.1572992072281885), // the exact value is 0.1572992070502851
            (2.0, 0.004677734981047266),
            (3.0, 2.2090496998585445e-05),
            (5.0, 1.5374597944280347e-12),
            (20.0, 5.395865611607901e-176),
            (28.0, 0.0),
        ];
        for (x, want) in golden {
            let got = erfc(x);
            assert_eq!(got, want, "erfc({x})");
        }
    }
}
