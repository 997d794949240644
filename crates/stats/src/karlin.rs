//! Karlin–Altschul statistics: e-values, bit scores, and the ungapped parameters of a query.

use fleetblast_seq::alphabet::{self, SIZE};

use crate::frequencies::background_frequencies;
use crate::lattice::{self, INITIAL_LAMBDA, ScoreDistribution};
use crate::matrix::{self, ScoreMatrix};
pub use crate::parameters::{KarlinParameters, truncate_to_i32};

/// Computes the ungapped parameters of a query against subjects of background composition.
///
/// `residues` are the codes in the engine (`O` and hard-masked residues already `X`); every code
/// but `X` counts. Returns `None` if no parameters exist: the query is empty or all `X`, its
/// expected score is not negative, or no score is positive. BLAST+ calls such a query invalid
/// (`Blast_ScoreBlkKbpUngappedCalc`, blast_stat.c).
pub fn ungapped_parameters(residues: &[u8], scores: &ScoreMatrix) -> Option<KarlinParameters> {
    parameters(&composition(residues)?, scores)
}

/// Returns whether a query has [`ungapped_parameters`]. This is much faster than computing them,
/// since K, a long sum, is not needed.
pub fn has_ungapped_parameters(residues: &[u8], scores: &ScoreMatrix) -> bool {
    composition(residues).is_some_and(|query| {
        with_pairs(&query, scores, |distribution| {
            let lambda = distribution.lambda(INITIAL_LAMBDA)?;
            let h = distribution.entropy(lambda)?;
            ScoreDistribution::has_k(lambda, h).then_some(())
        })
        .is_some()
    })
}

/// Computes the frequencies of all codes but `X`; `None` if there are no other codes.
fn composition(residues: &[u8]) -> Option<[f64; SIZE]> {
    let mut bytes = [0_u64; 256];
    for &residue in residues {
        bytes[usize::from(residue)] += 1;
    }
    let mut counts: [u64; SIZE] = std::array::from_fn(|code| bytes[code]);
    counts[usize::from(alphabet::X)] = 0;
    let total = counts.iter().sum::<u64>() as f64;
    (total != 0.0).then(|| counts.map(|count| count as f64 / total))
}

/// Computes the ungapped parameters of two sequences of background composition.
pub(crate) fn ideal_parameters(scores: &ScoreMatrix) -> Option<KarlinParameters> {
    parameters(&background_frequencies(), scores)
}

fn parameters(query: &[f64; SIZE], scores: &ScoreMatrix) -> Option<KarlinParameters> {
    with_pairs(query, scores, |distribution| distribution.karlin_parameters())
}

/// Calls `use_it` with the score distribution of a query and subjects of background composition.
fn with_pairs<T>(
    query: &[f64; SIZE],
    scores: &ScoreMatrix,
    use_it: impl FnOnce(&ScoreDistribution) -> Option<T>,
) -> Option<T> {
    lattice::with_score_distribution(
        query,
        &background_frequencies(),
        scores,
        matrix::score_range(scores),
        use_it,
    )
}

#[cfg(test)]
mod tests {
    use crate::release::Release;

    use super::*;
    use crate::scoring::ScoringSystem;

    fn codes(letters: &str) -> Vec<u8> {
        letters.bytes().map(|letter| alphabet::encode(letter).unwrap()).collect()
    }

    fn bits(letters: &str, matrix: &str) -> Option<[u64; 3]> {
        let block = ungapped_parameters(&codes(letters), &matrix::matrix_scores(matrix).unwrap())?;
        Some([block.lambda, block.k, block.h].map(f64::to_bits))
    }

    // λ, K, H of `Blast_KarlinBlkUngappedCalc` of the oracle's libblast.so, called through Python's
    // ctypes.
    #[test]
    fn parameters_of_odd_queries() {
        let golden = [
            ("TTT", [0x3fd1_c888_9241_5a96, 0x3fb4_bf42_1c59_f199, 0x3fc8_1ffc_fdbb_88a7]),
            ("GGGGGGG", [0x3fd3_7602_24bb_ffda, 0x3fc5_e601_9f27_8c1a, 0x3fe2_cb8a_b9be_a6ad]),
            ("FMMMFM", [0x3fd9_b010_226d_5f2d, 0x3fc4_a16f_a000_1e74, 0x3fe1_3221_3d11_03df]),
            ("PPBBBP", [0x3fd4_c46e_26b0_3349, 0x3fc4_5093_5ef3_bc5e, 0x3fe2_69bf_cdb4_5c3b]),
            ("X*SXSS**S*X", [0x3fe6_1d53_24ea_4efd, 0x3fd2_ecbb_c37c_5798, 0x3ff8_558b_d78f_2703]),
            ("IIAINASI", [0x3fd5_2fd1_1e3b_6a40, 0x3fc2_1d86_10cf_0502, 0x3fd4_cb61_04e1_5b92]),
        ];
        for (query, want) in golden {
            assert_eq!(bits(query, "BLOSUM62"), Some(want), "{query}");
        }
    }

    // Oracle: `blastp -query XXXX.. -subject S` warns that it cannot calculate the parameters.
    #[test]
    fn queries_without_a_counting_residue_are_invalid() {
        assert_eq!(bits("XXXXXXXX", "BLOSUM62"), None);
        assert_eq!(bits("", "BLOSUM62"), None);
    }

    #[test]
    fn existence_of_parameters_is_known_without_them() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut without = 0;
        for name in ["BLOSUM62", "BLOSUM90", "PAM30", "IDENTITY"] {
            let scores = matrix::matrix_scores(name).unwrap();
            for _ in 0..2000 {
                // Few kinds of residues, so that expected scores are of either sign.
                let kinds: Vec<u8> = (0..=random.u8(..4)).map(|_| random.u8(..28)).collect();
                let length = random.usize(..30);
                let residues: Vec<u8> =
                    (0..length).map(|_| kinds[random.usize(..kinds.len())]).collect();
                let found = ungapped_parameters(&residues, &scores).is_some();
                assert_eq!(
                    has_ungapped_parameters(&residues, &scores),
                    found,
                    "{name} {residues:?}"
                );
                without += u32::from(!found);
            }
        }
        assert!((100..7900).contains(&without), "{without} of 8000 have none");
    }

    // "Lambda K H" of `blastp -query Q -subject S`.
    #[test]
    fn footers_of_two_residue_types() {
        let scores = matrix::matrix_scores("BLOSUM62").unwrap();
        let close = |letters: &str, want: [f64; 3]| {
            let block = ungapped_parameters(&codes(letters), &scores).unwrap();
            for (got, want) in [block.lambda, block.k, block.h].iter().zip(want) {
                assert!((got - want).abs() <= 0.005 * want, "{letters}: {block:?}");
            }
        };
        close("WWWWWWWWWWWWWWWWWWWW", [0.331, 0.178, 1.59]);
        close("ACACACCAACACACCACACAACACACCACAAC", [0.347, 0.130, 0.686]);
    }

    // λ, K and H that blastp prints for a query of background composition, with more digits.
    #[test]
    fn ideal_parameters_of_blosum62() {
        let ideal =
            ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap().ideal_parameters;
        let got = [ideal.lambda, ideal.k, ideal.h].map(|value| format!("{value:.8}"));
        assert_eq!(got, ["0.31760596", "0.13395614", "0.40121452"]);
    }

    #[test]
    fn e_value_bit_score_and_cutoff_agree() {
        let block = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None)
            .unwrap()
            .gapped_statistics
            .karlin_parameters();
        let space = 54_597_370_i64;
        for evalue in [1e-50, 1e-3, 10.0, 1e300] {
            let cutoff = block.cutoff_score(evalue, space);
            assert!(block.evalue(cutoff, space as f64) <= evalue);
            assert!(cutoff == 1 || block.evalue(cutoff - 1, space as f64) > evalue);
        }
        // An e-value of 0 counts as 1e-297.
        assert_eq!(block.cutoff_score(0.0, space), block.cutoff_score(1e-297, space));
        // The quotient overflows here, so the cut-off is the smallest score (`blastn -evalue 1e-300
        // -dbsize 100000000000` reports an alignment with e-value 8e-301).
        assert_eq!(block.cutoff_score(0.0, 10_000_000_000_000), 1);
        // `blastp -comp_based_stats 0 -outfmt '6 score bitscore'`: 519 204, 221 89.7, 105 45.1.
        assert_eq!(format!("{:.1}", block.bit_score(221)), "89.7");
        assert_eq!(format!("{:.1}", block.bit_score(105)), "45.1");
    }
}
