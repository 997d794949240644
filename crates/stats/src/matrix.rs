//! Substitution matrices over NCBIstdaa.

use fleetblast_seq::alphabet::{self, SIZE};

/// Scores of every pair of NCBIstdaa codes, query (row) by subject (column); [`SENTINEL_SCORE`] if
/// two codes must not pair.
pub type ScoreMatrix = [[i32; SIZE]; SIZE];

/// Canonical name of a built-in matrix.
pub type MatrixName = &'static str;

/// The score of pairs with the sentinel, which stops an extension (`BLAST_SCORE_MIN` of
/// blast_stat.h).
pub const SENTINEL_SCORE: i32 = i16::MIN as i32;

/// The built-in matrices, in the order in which BLAST+ lists them.
pub const MATRIX_NAMES: [&str; 9] = [
    "BLOSUM80", "BLOSUM62", "BLOSUM50", "BLOSUM45", "PAM250", "BLOSUM90", "PAM30", "PAM70",
    "IDENTITY",
];

/// The built-in matrices that have target frequencies.
pub const MATRICES_WITH_FREQUENCIES: [&str; 8] = {
    let [names @ .., _] = MATRIX_NAMES;
    names
};

/// Returns the canonical name of a built-in matrix; the given name can be in any case.
pub fn canonical_name(name: &str) -> Option<&'static str> {
    MATRIX_NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

/// Encodes the canonical name of a built-in matrix, for `serde`.
pub mod by_name {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Encodes the name of a matrix.
    ///
    /// # Errors
    /// Returns an error of the serializer.
    pub fn serialize<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(name)
    }

    /// Decodes the name of a matrix, in any case.
    ///
    /// # Errors
    /// Returns an error for an unknown matrix, or an error of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static str, D::Error> {
        let name = String::deserialize(deserializer)?;
        super::canonical_name(&name).ok_or_else(|| D::Error::custom("unknown matrix"))
    }
}

/// Returns the text of a built-in matrix; `name` is canonical.
fn matrix_text(name: &str) -> Option<&'static str> {
    Some(match name {
        "BLOSUM45" => include_str!("../data/matrices/BLOSUM45.txt"),
        "BLOSUM50" => include_str!("../data/matrices/BLOSUM50.txt"),
        "BLOSUM62" => include_str!("../data/matrices/BLOSUM62.txt"),
        "BLOSUM80" => include_str!("../data/matrices/BLOSUM80.txt"),
        "BLOSUM90" => include_str!("../data/matrices/BLOSUM90.txt"),
        "PAM30" => include_str!("../data/matrices/PAM30.txt"),
        "PAM70" => include_str!("../data/matrices/PAM70.txt"),
        "PAM250" => include_str!("../data/matrices/PAM250.txt"),
        "IDENTITY" => include_str!("../data/matrices/IDENTITY.txt"),
        _ => return None,
    })
}

/// Returns the scores of a built-in matrix (name in any case), `None` if there is no such matrix.
///
/// `U` scores as `C`, `O` as `X`; everything against code 0 is [`SENTINEL_SCORE`]
/// (`BlastScoreBlkProteinMatrixLoad`, blast_stat.c).
///
/// ```
/// use fleetblast_stats::matrix;
/// let scores = matrix::matrix_scores("blosum62").unwrap();
/// assert_eq!(scores[20][20], 11); // W against W
/// ```
pub fn matrix_scores(name: &str) -> Option<ScoreMatrix> {
    let text = matrix_text(canonical_name(name)?)?;
    let mut rows = text.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<usize> =
        rows.next()?.split_whitespace().map(heading_code).collect::<Option<_>>()?;
    let mut scores = [[SENTINEL_SCORE; SIZE]; SIZE];
    for row in rows {
        let mut cells = row.split_whitespace();
        let Some(letter) = cells.next() else { continue };
        let row = &mut scores[heading_code(letter)?];
        for (&column, cell) in columns.iter().zip(cells) {
            row[column] = cell.parse().ok()?;
        }
    }
    alias(&mut scores, alphabet::U, alphabet::C);
    alias(&mut scores, alphabet::O, alphabet::X);
    Some(scores)
}

/// Makes code `to` score as code `from`, in rows and columns, also against itself.
fn alias(scores: &mut ScoreMatrix, to: u8, from: u8) {
    scores[to as usize] = scores[from as usize];
    for row in scores.iter_mut() {
        row[to as usize] = row[from as usize];
    }
}

/// Returns the NCBIstdaa code of a one-letter table heading.
pub(crate) fn heading_code(heading: &str) -> Option<usize> {
    match heading.as_bytes() {
        [letter] => alphabet::encode(*letter).map(usize::from),
        _ => None,
    }
}

/// Returns the smallest and the largest score other than [`SENTINEL_SCORE`].
pub fn score_range(scores: &ScoreMatrix) -> (i32, i32) {
    let finite = || scores.iter().flatten().copied().filter(|&score| score > SENTINEL_SCORE);
    (finite().min().unwrap_or(0), finite().max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_is_complete_and_symmetric() {
        for name in MATRIX_NAMES {
            let scores = matrix_scores(name).unwrap();
            for (i, row) in scores.iter().enumerate() {
                for (j, &score) in row.iter().enumerate() {
                    assert_eq!(score, scores[j][i], "{name} {i} {j}");
                    assert_eq!(score == SENTINEL_SCORE, i == 0 || j == 0, "{name} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn u_scores_as_c_and_o_as_x() {
        let scores = matrix_scores("BLOSUM62").unwrap();
        let (c, u, o, x) = (3, 24, 26, 21);
        assert_eq!([scores[u][u], scores[u][c], scores[c][u]], [9; 3]);
        assert_eq!([scores[o][o], scores[o][5], scores[5][o]], [-1; 3]);
        assert_eq!(scores[u][o], scores[c][x]);
        assert_eq!(score_range(&scores), (-4, 11));
    }

    #[test]
    fn names_are_matched_in_any_case() {
        assert_eq!(canonical_name("pam250"), Some("PAM250"));
        assert_eq!(canonical_name("FOO"), None);
        assert!(matrix_scores("foo").is_none());
    }
}
