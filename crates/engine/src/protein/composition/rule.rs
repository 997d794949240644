//! Chooses the kind of adjustment for a pair of sequences (compo_mode_condition.c).

use crate::params::CompositionMode;

use super::Letters;

/// Distance between the compositions of two sequences above which adjusting the matrix may mislead.
const FAR_APART: f64 = 0.16;
/// Ratio of the lengths of two sequences above which adjusting the matrix may mislead.
const LENGTH_RATIO: f64 = 3.0;
/// Angle, in degrees, between the deviations of two compositions from the background composition,
/// above which adjusting the matrix may mislead.
const ANGLE: f64 = 70.0;
/// π with the digits of compo_mode_condition.c.
const PI: f64 = 3.1415926543;
/// Length above which a sequence is of low complexity if its two most frequent residues are more
/// than 40 % of it.
const SHORT: usize = 50;
const TWO_RESIDUES: f64 = 0.4;

/// Kind of adjustment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Scale the original matrix.
    Scale,
    /// Optimise the joint probabilities.
    RelativeEntropy,
}

/// Chooses the rule for two compositions and the lengths of query and subject.
pub(super) fn choose(
    mode: CompositionMode,
    query: &Letters,
    subject: &Letters,
    lengths: (usize, usize),
    background: &Letters,
) -> Rule {
    match mode {
        CompositionMode::Off | CompositionMode::Scale => Rule::Scale,
        CompositionMode::Always => Rule::RelativeEntropy,
        CompositionMode::Conditional => conditional(query, subject, lengths, background),
    }
}

/// Chooses scaling if all conditions for it hold, otherwise optimisation. Tests the cheap
/// conditions first.
fn conditional(
    query: &Letters,
    subject: &Letters,
    (query_length, subject_length): (usize, usize),
    background: &Letters,
) -> Rule {
    let longer = query_length.max(subject_length) as f64;
    let shorter = query_length.min(subject_length) as f64;
    let scale = longer / shorter > LENGTH_RATIO
        && !is_of_two_residues(query, query_length)
        && !is_of_two_residues(subject, subject_length)
        && {
            let apart = distance(subject, query);
            apart > FAR_APART && angle(query, subject, background, apart) > ANGLE
        };
    if scale { Rule::Scale } else { Rule::RelativeEntropy }
}

/// Returns whether a large part of a sequence of this length consists of two residues.
fn is_of_two_residues(composition: &Letters, length: usize) -> bool {
    let (mut most, mut second) = (0.0, 0.0);
    for &share in composition {
        if share > most {
            (most, second) = (share, most);
        } else if share > second {
            second = share;
        }
    }
    length > SHORT && most + second > TWO_RESIDUES
}

/// Computes the square root of the Jensen–Shannon divergence of two compositions
/// (`Blast_GetRelativeEntropy`, composition_adjustment.c).
fn distance(a: &Letters, b: &Letters) -> f64 {
    let mut sum = 0.0_f64;
    for (&a, &b) in a.iter().zip(b) {
        let mean = (a + b) / 2.0;
        for share in [a, b] {
            if share > 0.0 {
                sum += share * (share / mean).ln() / 2.0;
            }
        }
    }
    // Rounding can make the sum negative.
    sum.max(0.0).sqrt()
}

/// Computes the angle at the background in the triangle of the three compositions, in degrees; NaN
/// if it is undefined. `apart` is the distance of query and subject.
fn angle(query: &Letters, subject: &Letters, background: &Letters, apart: f64) -> f64 {
    let to_subject = distance(subject, background);
    let to_query = distance(query, background);
    let cosine = (to_subject * to_subject + to_query * to_query - apart * apart)
        / 2.0
        / to_subject
        / to_query;
    cosine.acos() * 180.0 / PI
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a composition of equal shares of some letters.
    fn equal(letters: &[usize]) -> Letters {
        let mut composition = [0.0; 20];
        for &letter in letters {
            composition[letter] = 1.0 / letters.len() as f64;
        }
        composition
    }

    fn conditional(query: &Letters, subject: &Letters, lengths: (usize, usize)) -> Rule {
        choose(CompositionMode::Conditional, query, subject, lengths, &[0.05; 20])
    }

    #[test]
    fn distant_compositions_of_unequal_length_are_scaled() {
        let (query, subject) = (equal(&[0, 1, 2, 3, 4, 5]), equal(&[10, 11, 12, 13, 14, 15]));
        assert_eq!(conditional(&query, &subject, (100, 301)), Rule::Scale);
        assert_eq!(conditional(&query, &subject, (301, 100)), Rule::Scale);
        assert_eq!(conditional(&query, &subject, (100, 300)), Rule::RelativeEntropy);
        assert_eq!(conditional(&query, &query, (100, 301)), Rule::RelativeEntropy);
    }

    #[test]
    fn two_frequent_residues_call_for_optimisation_unless_the_sequence_is_short() {
        let (query, subject) = (equal(&[0, 1, 2, 3]), equal(&[10, 11, 12, 13, 14, 15]));
        assert_eq!(conditional(&query, &subject, (51, 301)), Rule::RelativeEntropy);
        assert_eq!(conditional(&query, &subject, (50, 301)), Rule::Scale);
    }

    #[test]
    fn distance_is_zero_for_equals_and_largest_for_disjoint() {
        let (a, b) = (equal(&[0, 1]), equal(&[2, 3]));
        assert_eq!(distance(&a, &a), 0.0);
        assert!((distance(&a, &b) - std::f64::consts::LN_2.sqrt()).abs() < 1e-15);
        assert!(angle(&a, &a, &a, 0.0).is_nan());
    }
}
