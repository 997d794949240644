//! Scores by row: the scores of each position of a query against each letter of a subject.
//!
//! Most code sees a query as row numbers. Only the code that fills the rows knows their meaning:
//! with a matrix there is a row for each letter, with a position-specific matrix (PSSM) one for
//! each position. Values computed from a row can be cached by its number.

use fleetblast_seq::alphabet::SIZE;
use fleetblast_stats::matrix::ScoreMatrix;
use fleetblast_stats::nucleotide;

/// Score of codes that stand for no letter. It is low enough that no alignment includes them, and
/// high enough that sums do not overflow.
pub(crate) const NEVER: i32 = i32::MIN / 4;

/// Number of a row in [`ScoreRows`].
pub(crate) type RowNumber = u32;

/// Scores of a row against each letter. The size is a power of two, so that a code of five bits is
/// never out of bounds.
pub(crate) type ScoreRow = [i32; 32];

/// Score rows of a query or of a block of queries.
#[derive(Clone, Debug)]
pub(crate) struct ScoreRows(Vec<ScoreRow>);

impl ScoreRows {
    /// Creates a set of these rows.
    #[cfg(test)]
    pub fn new(rows: Vec<ScoreRow>) -> Self {
        ScoreRows(rows)
    }

    /// Creates a row for each letter of a matrix. The code of a letter is the number of its row.
    pub fn of_matrix(scores: &ScoreMatrix) -> Self {
        let mut rows = ScoreRows(vec![[NEVER; 32]; scores.len()]);
        rows.set_matrix(scores);
        rows
    }

    /// Creates a row for each blastna letter. The code of a letter is the number of its row.
    pub fn of_blastna(scores: &nucleotide::BaseScores) -> Self {
        let mut rows = vec![[NEVER; 32]; scores.len()];
        for (to, from) in rows.iter_mut().zip(scores) {
            // Keeps the sum of two scores from overflowing.
            to.iter_mut().zip(from).for_each(|(to, &score)| *to = score.max(NEVER));
        }
        ScoreRows(rows)
    }

    /// Appends a row for each position of a PSSM. Returns the number of the first new row.
    pub fn add_positions(&mut self, scores: &[[i32; SIZE]]) -> RowNumber {
        let first = self.0.len() as RowNumber;
        self.0.extend(scores.iter().map(row_of));
        first
    }

    /// Creates a row for each position of a PSSM, and no rows of letters.
    pub fn of_positions(scores: &[[i32; SIZE]]) -> Self {
        ScoreRows(scores.iter().map(row_of).collect())
    }

    /// Replaces all rows by one row for each position of a PSSM.
    pub fn set_positions(&mut self, scores: &[[i32; SIZE]]) {
        self.0.clear();
        self.0.extend(scores.iter().map(row_of));
    }

    /// Resizes the set to one row for each letter. Scores are unspecified until
    /// [`ScoreRows::set_matrix`] sets them.
    pub fn set_letters(&mut self) {
        self.0.resize(SIZE, [NEVER; 32]);
    }

    /// Replaces the scores of the letters' rows by the scores of a matrix.
    pub fn set_matrix(&mut self, scores: &ScoreMatrix) {
        for (to, from) in self.0.iter_mut().zip(scores) {
            to[..from.len()].copy_from_slice(from);
        }
    }

    /// Returns a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, number: RowNumber) -> &ScoreRow {
        &self.0[number as usize]
    }

    /// Returns the score of a row against a letter.
    #[inline]
    pub fn score(&self, number: RowNumber, letter: u8) -> i32 {
        self.row(number)[usize::from(letter & 31)]
    }

    /// Returns all rows in the order of their numbers.
    pub fn all(&self) -> &[ScoreRow] {
        &self.0
    }
}

/// Creates a row from the scores of all codes. Unused codes get the lowest score.
fn row_of(scores: &[i32; SIZE]) -> ScoreRow {
    let mut row = [NEVER; 32];
    row[..SIZE].copy_from_slice(scores);
    row
}

/// Returns the row number of each letter, where a matrix scores letters.
pub(crate) fn rows_of_letters(letters: &[u8]) -> Vec<RowNumber> {
    letters.iter().map(|&letter| RowNumber::from(letter)).collect()
}
