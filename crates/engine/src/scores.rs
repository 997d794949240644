//! Scores by row: the scores of each position of a query against each letter of a subject.
//!
//! Most code sees a query as row numbers. Only the code that fills the rows knows their meaning:
//! with a matrix there is a row for each letter, with a position-specific matrix (PSSM) one for
//! each position. Values computed from a row can be cached by its number.

use fleetblast_seq::alphabet::SIZE;
use fleetblast_stats::matrix::ScoreMatrix;
use fleetblast_stats::nucleotide;

/// "Minus infinity" of letters that do not exist: low enough to never win, high enough to never
/// overflow.
pub(crate) const NEVER: i32 = i32::MIN / 4;

/// Number of a row.
pub(crate) type RowNumber = u32;

/// Scores of a row against each letter; padded to a power of two, so that no letter is out of
/// bounds.
pub(crate) type ScoreRow = [i32; 32];

/// The rows of a query or of a block of queries.
#[derive(Clone, Debug)]
pub(crate) struct ScoreRows(Vec<ScoreRow>);

impl ScoreRows {
    /// Creates a set of these rows.
    #[cfg(test)]
    pub fn new(rows: Vec<ScoreRow>) -> Self {
        ScoreRows(rows)
    }

    /// Creates a row for each letter, by its code.
    pub fn of_matrix(scores: &ScoreMatrix) -> Self {
        let mut rows = ScoreRows(vec![[NEVER; 32]; scores.len()]);
        rows.set_matrix(scores);
        rows
    }

    /// Creates a row for each blastna letter, by its code.
    pub fn of_blastna(scores: &nucleotide::BaseScores) -> Self {
        let mut rows = vec![[NEVER; 32]; scores.len()];
        for (to, from) in rows.iter_mut().zip(scores) {
            // Sums of two must not overflow.
            to.iter_mut().zip(from).for_each(|(to, &score)| *to = score.max(NEVER));
        }
        ScoreRows(rows)
    }

    /// Adds a row for each position of a PSSM. Returns the number of the first.
    pub fn add_positions(&mut self, scores: &[[i32; SIZE]]) -> RowNumber {
        let first = self.0.len() as RowNumber;
        self.0.extend(scores.iter().map(row_of));
        first
    }

    /// Creates rows for positions only.
    pub fn of_positions(scores: &[[i32; SIZE]]) -> Self {
        ScoreRows(scores.iter().map(row_of).collect())
    }

    /// Replaces all rows by those of positions.
    pub fn set_positions(&mut self, scores: &[[i32; SIZE]]) {
        self.0.clear();
        self.0.extend(scores.iter().map(row_of));
    }

    /// Replaces all rows by those of letters, with unspecified scores.
    pub fn set_letters(&mut self) {
        self.0.resize(SIZE, [NEVER; 32]);
    }

    /// Replaces the scores of the rows of letters.
    pub fn set_matrix(&mut self, scores: &ScoreMatrix) {
        for (to, from) in self.0.iter_mut().zip(scores) {
            to[..from.len()].copy_from_slice(from);
        }
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, number: RowNumber) -> &ScoreRow {
        &self.0[number as usize]
    }

    /// The score of a row against a letter.
    #[inline]
    pub fn score(&self, number: RowNumber, letter: u8) -> i32 {
        self.row(number)[usize::from(letter & 31)]
    }

    /// All rows, by their numbers.
    pub fn all(&self) -> &[ScoreRow] {
        &self.0
    }
}

/// A row for all codes. Unused codes get the lowest score.
fn row_of(scores: &[i32; SIZE]) -> ScoreRow {
    let mut row = [NEVER; 32];
    row[..SIZE].copy_from_slice(scores);
    row
}

/// The row numbers of letters that are scored by a matrix.
pub(crate) fn rows_of_letters(letters: &[u8]) -> Vec<RowNumber> {
    letters.iter().map(|&letter| RowNumber::from(letter)).collect()
}
