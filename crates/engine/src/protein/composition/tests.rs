//! Compares adjusted matrices with the oracle: cells with those of its library, scores and e-values
//! with those of its reports.

use fastrand::Rng;
use fleetblast_seq::alphabet::encode;
use fleetblast_stats::gumbel::GumbelParameters;
use fleetblast_stats::matrix::ScoreMatrix;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::*;
use crate::protein::prelim::testing::kernels;

fn codes(letters: &str) -> Vec<u8> {
    letters.bytes().map(|letter| encode(letter).unwrap()).collect()
}

fn blosum62() -> ScoringSystem {
    ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap()
}

fn adjust(
    adjuster: &Adjuster,
    mode: CompositionMode,
    query: &[u8],
    subject: &[u8],
) -> Option<(Adjustment, ScoreMatrix)> {
    let (p, q) = (composition_of(query), composition_of(subject));
    let results = kernels().into_iter().map(|kernel| {
        let mut out = [[0; SIZE]; SIZE];
        let mut workspace = Workspace::new(kernel);
        let (m, n) = (query.len(), subject.len());
        let made = adjuster.adjust(mode, &p, m, &q, n, &mut workspace, &mut out);
        (made, out, workspace.optimizer.x.map(|row| row.map(f64::to_bits)))
    });
    let results: Vec<_> = results.collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "the same to the last bit");
    let (made, out, _) = results[0];
    Some((made?, out))
}

/// Returns the sum of all scores above [`SENTINEL_SCORE`].
fn checksum(scores: &ScoreMatrix) -> i32 {
    scores.iter().flatten().filter(|&&score| score > SENTINEL_SCORE).sum()
}

const QUERY: &str = "MKVLAAGIVGLLLAQPSWERTYHKLCNDEFGHIKLMNPQRSTVWY";
const GLYCINE_RICH: &str = "GGSGGASSGDUKKKLEEXWWYPPAAGGSSGGSG";
const CHARGED: &str = "KKKKEEEEDDDDRRRRNNNNQQQQSSSS";

// Values from `Blast_AdjustScores` of the oracle's libblast.so, called through Python's ctypes:
// rule, row of A, sum of the finite cells.
#[test]
fn matrices_are_those_of_the_oracle() {
    use CompositionMode::{Always, Conditional, Scale};
    let scaled = [
        -32768, 130, -55, -14, -58, -29, -73, 5, -54, -44, -24, -49, -31, -51, -27, -27, -47, 37,
        -2, -6, -84, -1, -58, -28, -14, -140, -1, -47,
    ];
    let optimised = [
        -32768, 121, -71, -41, -68, -52, -124, 22, -117, -102, -54, -119, -96, -78, -49, -63, -84,
        24, -31, -58, -152, -26, -116, -54, -41, -140, -26, -113,
    ];
    let unscaled = [
        -32768, 137, -58, -14, -61, -30, -77, 6, -57, -46, -26, -51, -33, -53, -28, -28, -49, 39,
        -2, -7, -88, -30, -62, -29, -14, -140, -30, -49,
    ];
    let far = [
        -32768, 163, -23, -88, -14, -1, -143, -10, -111, -106, -8, -132, -99, -33, -82, -17, -33,
        64, -5, -51, -335, -21, -147, -8, -88, -140, -21, -120,
    ];
    let adjuster = Adjuster::new(&blosum62(), 32.0).unwrap();
    let query = codes(QUERY);
    let long = query.repeat(4);
    let (rich, charged) = (codes(GLYCINE_RICH), codes(CHARGED));
    let golden = [
        (Scale, &query, &rich, Adjustment::Scaled, scaled, -32523),
        (Conditional, &query, &rich, Adjustment::Matrix, optimised, -39018),
        (Always, &query, &rich, Adjustment::Matrix, optimised, -39018),
        (Scale, &long, &charged, Adjustment::Scaled, unscaled, -33780),
        (Conditional, &long, &charged, Adjustment::Scaled, unscaled, -33780),
        (Always, &long, &charged, Adjustment::Matrix, far, -61559),
    ];
    for (mode, query, subject, way, row, sum) in golden {
        let (made, scores) = adjust(&adjuster, mode, query, subject).unwrap();
        assert_eq!((made, scores[1], checksum(&scores)), (way, row, sum), "{mode:?}");
    }
}

// Values from the same function with the compositional test on, as for `2u`.
#[test]
fn unified_p_values_let_scaling_raise_scores() {
    let adjuster = Adjuster::new(&blosum62(), 32.0).unwrap().with_unified_p_values();
    let (query, subject) = (codes(QUERY).repeat(4), codes(CHARGED));
    let (made, scores) = adjust(&adjuster, CompositionMode::Scale, &query, &subject).unwrap();
    assert_eq!((made, scores[1][1], checksum(&scores)), (Adjustment::Scaled, 155, -37246));
    let pvalues = PairPvalues::new();
    let golden = [(CHARGED, 0.9870402632228732), (GLYCINE_RICH, 0.20308427108827806)];
    for (subject, want) in golden {
        let got = pvalues.p_value(&composition_of(&query), &composition_of(&codes(subject)));
        assert!((got - want).abs() < 1e-12, "{got}");
    }
}

/// Returns the best score of a local alignment with affine gap costs.
fn smith_waterman(
    query: &[u8],
    subject: &[u8],
    scores: &ScoreMatrix,
    open: i32,
    extend: i32,
) -> i32 {
    let (mut best, mut above) = (0, vec![(0, i32::MIN / 2); subject.len() + 1]);
    for &q in query {
        let (mut diagonal, mut left, mut gap) = (0, 0, i32::MIN / 2);
        for (cell, &s) in above[1..].iter_mut().zip(subject) {
            gap = gap.max(left - open) - extend;
            let down = cell.1.max(cell.0 - open) - extend;
            let score =
                (diagonal + scores[usize::from(q)][usize::from(s)]).max(gap).max(down).max(0);
            diagonal = cell.0;
            *cell = (score, down);
            left = score;
            best = best.max(score);
        }
    }
    best
}

// Values from `blastp -query Q -subject S -comp_based_stats N -evalue 1000 -outfmt '6 score
// evalue'`; the database has 222 residues.
#[test]
fn scores_and_e_values_are_those_of_reports() {
    use CompositionMode::{Always, Conditional, Scale};
    const Q: &str = "MKVLAAGIVGLLLAQPSWERTYHKLCNDEFGHIKLMNPQRSTVWYMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQ";
    const NEAR: &str = "MKVLSAGIVGLILAQPTWERTFHKLANDEFGHVKLMNPQKSTVWYGGGG";
    const PIECE: &str = "WERTYHKLCNDEFGHIK";
    let scoring = blosum62();
    let (adjuster, gumbel) =
        (Adjuster::new(&scoring, 32.0).unwrap(), GumbelParameters::new(&scoring));
    let golden = [
        (Scale, Q, 516, "1.33e-74"),
        (Scale, NEAR, 225, "8.05e-31"),
        (Scale, PIECE, 109, "2.30e-13"),
        (Conditional, Q, 540, "2.92e-78"),
        (Conditional, NEAR, 226, "4.92e-31"),
        (Conditional, PIECE, 109, "2.30e-13"),
        (Always, Q, 540, "2.92e-78"),
        (Always, NEAR, 226, "4.92e-31"),
        (Always, PIECE, 102, "2.42e-12"),
    ];
    for (mode, subject, score, evalue) in golden {
        let (query, subject) = (codes(Q), codes(subject));
        let (_, scores) = adjust(&adjuster, mode, &query, &subject).unwrap();
        let best = smith_waterman(&query, &subject, &scores, 11 * 32, 32);
        let (m, n) = (query.len() as i32, subject.len() as i32);
        let got = format!("{:.2e}", gumbel.evalue(best, 32.0, m, n, 222));
        assert_eq!(((f64::from(best) / 32.0).round(), got.as_str()), (f64::from(score), evalue));
    }
}

/// Returns a random composition, from even to very uneven.
fn random_letters(random: &mut Rng) -> Letters {
    let power = 1.0 + 4.0 * random.f64();
    let shares: Letters = std::array::from_fn(|_| random.f64().powf(power) + 1e-3);
    let sum: f64 = shares.iter().sum();
    shares.map(|share| share / sum)
}

#[test]
fn the_optimum_satisfies_its_constraints() {
    let start = Start::new(MatrixFrequencies::for_matrix("BLOSUM62").unwrap().joint_probabilities);
    let (mut optimizer, mut random, mut found) = (Optimizer::new(), Rng::with_seed(7), 0);
    for _ in 0..200 {
        let (rows, columns) = (random_letters(&mut random), random_letters(&mut random));
        if !vectors::optimize(Kernel::detect(), &mut optimizer, &start, &rows, &columns) {
            continue;
        }
        found += 1;
        let mut entropy = 0.0;
        for (i, row) in optimizer.x.iter().enumerate() {
            assert!((row.iter().sum::<f64>() - rows[i]).abs() < 2e-8);
            for (j, x) in row.iter().enumerate() {
                assert!(*x > 0.0);
                entropy += x * (x / (rows[i] * columns[j])).ln();
            }
        }
        for (j, column) in columns.iter().enumerate() {
            assert!((optimizer.x.iter().map(|row| row[j]).sum::<f64>() - column).abs() < 2e-8);
        }
        assert!((entropy - 0.44).abs() < 2e-8, "{entropy}");
    }
    assert!(found > 150, "{found}");
}

#[test]
fn compositions_count_true_residues_and_u_as_c() {
    let composition = composition_of(&codes("AACUXBZ*OJ"));
    assert_eq!(composition.true_residues, 4);
    assert_eq!((composition.probabilities[1], composition.probabilities[3]), (0.5, 0.5));
    assert_eq!(composition.probabilities.iter().sum::<f64>(), 1.0);
}

#[test]
fn sequences_without_true_residues_have_no_matrix() {
    let adjuster = Adjuster::new(&blosum62(), 32.0).unwrap();
    let (query, masked) = (codes(QUERY), codes("XXXBX"));
    assert!(adjust(&adjuster, CompositionMode::Conditional, &query, &masked).is_none());
    assert!(adjust(&adjuster, CompositionMode::Scale, &masked, &query).is_none());
    let (made, scores) = adjust(&adjuster, CompositionMode::Off, &query, &masked).unwrap();
    assert_eq!((made, scores), (Adjustment::None, blosum62().scores));
}

#[test]
fn identity_cannot_be_adjusted() {
    assert!(
        Adjuster::new(
            &ScoringSystem::new(&Release::V2_12_0, "IDENTITY", None, None).unwrap(),
            32.0
        )
        .is_none()
    );
}
