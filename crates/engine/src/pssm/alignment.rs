//! Subjects aligned with the query: the letter of each subject at each position of the query.

use fleetblast_seq::alphabet;

use super::PssmError;
use crate::hits::{Alignment, EditOp};

/// The code of a gap.
pub const GAP: u8 = 0;

/// The letter of a sequence at a position of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell(u8);

impl Cell {
    const ALIGNED: u8 = 0x80;
    /// A cell without a letter.
    pub const NONE: Cell = Cell(GAP);

    /// Creates a cell with an aligned letter, or with [`GAP`].
    pub fn aligned(letter: u8) -> Cell {
        Cell(letter & !Self::ALIGNED | Self::ALIGNED)
    }

    /// Creates a cell with a letter that is known, but does not count as aligned.
    pub fn unaligned(letter: u8) -> Cell {
        Cell(letter & !Self::ALIGNED)
    }

    /// Returns the letter; [`GAP`] if there is none.
    #[inline]
    pub fn letter(self) -> u8 {
        self.0 & !Self::ALIGNED
    }

    /// Returns whether the sequence is aligned at the position.
    #[inline]
    pub fn is_aligned(self) -> bool {
        self.0 & Self::ALIGNED != 0
    }
}

/// The cells of a sequence, by position of the query.
pub type Row = Vec<Cell>;

/// Sequences aligned with the query, which is the first of them.
#[derive(Clone, Debug)]
pub struct QueryAlignment {
    rows: Vec<Row>,
}

impl QueryAlignment {
    /// Creates an alignment of the query alone.
    pub fn new(query: &[u8]) -> Self {
        QueryAlignment { rows: vec![query.iter().map(|&letter| Cell::aligned(letter)).collect()] }
    }

    /// Creates an alignment of these rows. The first is the query.
    ///
    /// # Panics
    /// If there is no row.
    pub fn of_rows(rows: Vec<Row>) -> Self {
        assert!(!rows.is_empty(), "an alignment has a query");
        QueryAlignment { rows }
    }

    /// Adds a subject by some of its alignments. Where they overlap, the first one counts. The
    /// slice of each alignment holds the subject's residues from the start of the alignment on.
    pub fn add<'a>(&mut self, alignments: impl IntoIterator<Item = (&'a Alignment, &'a [u8])>) {
        let mut row = vec![Cell::NONE; self.rows[0].len()];
        for (alignment, letters) in alignments {
            align_to_row(alignment, letters, &mut row);
        }
        self.rows.push(row);
    }

    /// Returns the sequences, the query first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn rows_mut(&mut self) -> &mut Vec<Row> {
        &mut self.rows
    }

    /// Returns the letters of the query.
    pub(super) fn query(&self) -> Vec<u8> {
        self.rows[0].iter().map(|cell| cell.letter()).collect()
    }

    /// Returns the query's letter at a position; [`GAP`] if the query is excluded.
    pub(super) fn query_letter(&self, position: usize) -> u8 {
        self.rows[0][position].letter()
    }

    /// Excludes the query from all statistics.
    pub(super) fn hide_query(&mut self) {
        self.rows[0].fill(Cell::NONE);
    }

    /// Returns the number of positions of the query.
    pub(super) fn columns(&self) -> usize {
        self.rows[0].len()
    }

    /// Checks the requirements of BLAST+ on an alignment (`_PSIValidateMSA`, blast_psi_priv.c).
    /// With `bare_columns`, a column may lack letters.
    pub(super) fn check(&self, bare_columns: bool) -> Result<(), PssmError> {
        let starts_with_gap = |row: &Row| {
            row.iter().find(|cell| cell.is_aligned()).is_some_and(|c| c.letter() == GAP)
        };
        let ends_with_gap = |row: &Row| {
            row.iter().rfind(|cell| cell.is_aligned()).is_some_and(|c| c.letter() == GAP)
        };
        if self.rows.iter().any(starts_with_gap) {
            return Err(PssmError::StartingGap);
        }
        if self.rows.iter().any(ends_with_gap) {
            return Err(PssmError::EndingGap);
        }
        for column in 0..self.columns() {
            let mut aligned = self.rows.iter().map(|row| row[column]).filter(|c| c.is_aligned());
            if bare_columns || aligned.clone().any(|cell| cell.letter() != GAP) {
                continue;
            }
            let bare = aligned.next().is_none();
            return Err(if bare { PssmError::UnalignedColumn } else { PssmError::ColumnOfGaps });
        }
        if self.rows[0].iter().any(|cell| cell.letter() == GAP) {
            return Err(PssmError::GapInQuery);
        }
        Ok(())
    }
}

/// Writes one alignment to the cells of a row that are not aligned yet. Like BLAST+, it keeps each
/// `O` of a subject.
fn align_to_row(alignment: &Alignment, letters: &[u8], row: &mut [Cell]) {
    let mut position = alignment.query.start as usize;
    let mut letters = letters.iter();
    for edit in &alignment.edits {
        let len = edit.len as usize;
        if edit.op == EditOp::GapInQuery {
            letters.by_ref().take(len).for_each(drop);
            continue;
        }
        for cell in &mut row[position..position + len] {
            let letter = match edit.op {
                EditOp::Substitution => letters.next().copied().unwrap_or(alphabet::X),
                _ => GAP,
            };
            if !cell.is_aligned() {
                *cell = Cell::aligned(letter);
            }
        }
        position += len;
    }
}
