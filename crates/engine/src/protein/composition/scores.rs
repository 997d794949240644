//! Converts frequencies to scores, and rounds the scores.

use fleetblast_seq::alphabet::{self, SIZE};
use fleetblast_stats::frequencies::{AMINO_ACID_CODES, JointProbabilities};
use fleetblast_stats::matrix::{SENTINEL_SCORE, ScoreMatrix};

use super::Letters;

/// A matrix of scores not yet rounded.
pub(super) type RealMatrix = [[f64; SIZE]; SIZE];

/// Largest score of a pair with `X` (composition_adjustment.c).
pub(super) const LARGEST_X_SCORE: f64 = -1.0;

/// Codes that stand for one of two residues: `B`, `Z` and `J`, with those residues.
const AMBIGUOUS: [(usize, usize, usize); 3] = [(2, 4, 13), (23, 5, 15), (27, 9, 11)];

/// Computes scores at a given λ from the logarithms of frequency ratios. A [`SENTINEL_SCORE`]
/// remains.
pub(super) fn at_lambda(log_ratios: &RealMatrix, lambda: f64) -> RealMatrix {
    let never = f64::from(SENTINEL_SCORE);
    log_ratios.map(|row| row.map(|log| if log == never { never } else { log / lambda }))
}

/// Converts frequencies of the true residues to NCBIstdaa, with sums for `B`, `Z` and `J`.
fn spread(letters: &Letters) -> [f64; SIZE] {
    let mut all = [0.0; SIZE];
    for (&code, &value) in AMINO_ACID_CODES.iter().zip(letters) {
        all[code] = value;
    }
    for (code, one, other) in AMBIGUOUS {
        all[code] = all[one] + all[other];
    }
    all
}

/// Computes scores at `lambda` from joint probabilities with the given row and column sums. `logs`
/// holds the logarithm of each probability divided by the product of its sums
/// (`s_ScoresStdAlphabet`, composition_adjustment.c, before its rounding).
pub(super) fn of_joint(
    joint: &JointProbabilities,
    logs: &JointProbabilities,
    rows: &Letters,
    columns: &Letters,
    lambda: f64,
    out: &mut RealMatrix,
) {
    let (rows, columns) = (spread(rows), spread(columns));
    let log_sum = joint.iter().flatten().sum::<f64>().ln();
    *out = [[f64::from(SENTINEL_SCORE); SIZE]; SIZE];
    for (&code, (values, logs)) in AMINO_ACID_CODES.iter().zip(joint.iter().zip(logs)) {
        for (&column, log) in AMINO_ACID_CODES.iter().zip(logs) {
            out[code][column] = (log - log_sum) / lambda;
        }
        set_ambiguous_columns(
            &spread(values),
            rows[code],
            &columns,
            log_sum,
            lambda,
            &mut out[code],
        );
    }
    for (code, one, other) in AMBIGUOUS {
        let [one, other] = [one, other].map(|code| &joint[residue_index(code)]);
        let values = spread(&std::array::from_fn(|letter| one[letter] + other[letter]));
        let row = &mut out[code];
        for column in AMINO_ACID_CODES {
            row[column] =
                ((values[column] / (rows[code] * columns[column])).ln() - log_sum) / lambda;
        }
        set_ambiguous_columns(&values, rows[code], &columns, log_sum, lambda, row);
    }
    set_averages(out, &rows, &columns);
}

/// Sets the scores of `B`, `Z` and `J` in one row. `values` are the joint probabilities of the row
/// over NCBIstdaa, and `row_sum` is the sum of the row.
fn set_ambiguous_columns(
    values: &[f64; SIZE],
    row_sum: f64,
    columns: &[f64; SIZE],
    log_sum: f64,
    lambda: f64,
    out: &mut [f64; SIZE],
) {
    for (column, ..) in AMBIGUOUS {
        out[column] = ((values[column] / (row_sum * columns[column])).ln() - log_sum) / lambda;
    }
}

/// Returns the index of a true residue in arrays of type `Letters`, given its code.
fn residue_index(code: usize) -> usize {
    AMINO_ACID_CODES.iter().position(|&known| known == code).unwrap_or_default()
}

/// Sets the scores of `X` to averages over true residues, at most -1. Then sets the scores of `U`
/// to those of `C`, and of `O` to those of `X` (`s_SetXUOScores`, composition_adjustment.c). `rows`
/// and `columns` are shares over NCBIstdaa.
pub(super) fn set_averages(real: &mut RealMatrix, rows: &[f64; SIZE], columns: &[f64; SIZE]) {
    let x = usize::from(alphabet::X);
    let mut pair = 0.0;
    for code in true_codes() {
        let average = row_average(real, code, columns);
        real[code][x] = average.min(LARGEST_X_SCORE);
        pair += average * rows[code];
        real[x][code] = column_average(real, code, rows).min(LARGEST_X_SCORE);
    }
    real[x][x] = pair.min(LARGEST_X_SCORE);
    for (code, ..) in AMBIGUOUS {
        real[code][x] = row_average(real, code, columns).min(LARGEST_X_SCORE);
        real[x][code] = column_average(real, code, rows).min(LARGEST_X_SCORE);
    }
    for (to, from) in [(alphabet::U, alphabet::C), (alphabet::O, alphabet::X)] {
        real[usize::from(to)] = real[usize::from(from)];
        for row in real.iter_mut() {
            row[usize::from(to)] = row[usize::from(from)];
        }
    }
}

/// Returns the codes of the true residues, ascending: the order in which averages are summed.
fn true_codes() -> impl Iterator<Item = usize> {
    (0..SIZE).filter(|&code| alphabet::is_standard(code as u8))
}

/// Returns the average score of a row over the true residues.
fn row_average(real: &RealMatrix, row: usize, columns: &[f64; SIZE]) -> f64 {
    average(&real[row], columns)
}

/// Returns the average of a row of scores over the true residues.
pub(super) fn average(row: &[f64; SIZE], columns: &[f64; SIZE]) -> f64 {
    true_codes().fold(0.0, |sum, column| sum + row[column] * columns[column])
}

/// Returns the average score of a column over the true residues.
fn column_average(real: &RealMatrix, column: usize, rows: &[f64; SIZE]) -> f64 {
    true_codes().fold(0.0, |sum, row| sum + real[row][column] * rows[row])
}

/// Rounds scores to the nearest integers, halves away from zero.
pub(super) fn round(real: &RealMatrix, out: &mut ScoreMatrix) {
    for (out, real) in out.iter_mut().flatten().zip(real.iter().flatten()) {
        *out = (real + 0.5_f64.copysign(*real)) as i32;
    }
}
