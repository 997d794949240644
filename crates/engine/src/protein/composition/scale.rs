//! Computes the factor by which a matrix must be scaled to fit two compositions.

use fleetblast_seq::alphabet::SIZE;
use fleetblast_stats::frequencies::AMINO_ACID_CODES;
use fleetblast_stats::lattice::ScoreDistribution;
use fleetblast_stats::matrix::{SENTINEL_SCORE, ScoreMatrix};

/// Returns the smallest score in the columns of the true residues, at most 0, and the largest one,
/// at least 0.
pub(super) fn score_range(scores: &[[i32; SIZE]]) -> (i32, i32) {
    let true_columns = scores.iter().flat_map(|row| AMINO_ACID_CODES.map(|code| row[code]));
    true_columns
        .filter(|&score| score > SENTINEL_SCORE)
        .fold((0, 0), |(low, high), score| (low.min(score), high.max(score)))
}

/// Returns the λ of two compositions divided by `lambda`, for which `scores` was made. Negative if
/// the λ of the compositions does not exist.
///
/// `low` and `high` are the [`score_range`]. `table` is scratch memory for the distribution of
/// scores.
pub(super) fn ratio(
    scores: &ScoreMatrix,
    (low, high): (i32, i32),
    query: &[f64; SIZE],
    subject: &[f64; SIZE],
    lambda: f64,
    table: &mut Vec<f64>,
) -> f64 {
    table.clear();
    table.resize((high - low + 1) as usize, 0.0);
    for (row, &p) in scores.iter().zip(query) {
        // Of the 28 codes of a query only true residues have a share: the others would add 0.
        if p > 0.0 {
            for code in 0..SIZE {
                if row[code] >= low && subject[code] > 0.0 {
                    table[(row[code] - low) as usize] += p * subject[code];
                }
            }
        }
    }
    ScoreDistribution::new(low, table).lambda(lambda).unwrap_or(-1.0) / lambda
}
