//! Divides a multiple alignment into columns: one for each letter of the query and, in flat
//! reports, one for each position of the gaps that insertions open between these letters.

use std::ops::Range;

use fleetblast_engine::hits::EditOp;

use crate::pair::AlignmentRows;
use crate::row_position::RowPosition;

/// A run of residues of a subject.
#[derive(Debug, PartialEq, Eq)]
pub enum ResidueRun {
    /// Residues opposite letters of the query.
    Aligned {
        /// The first of these letters of the query, 0-based.
        query: u32,
        /// The range of the residues in the subject's row, 0-based from the row's first residue.
        residues: Range<u32>,
    },
    /// Inserted residues.
    Inserted {
        /// The letter of the query opposite the row's next residue after the insertion; `None` if
        /// the row ends with the insertion. A deletion can lie between the insertion and this
        /// letter.
        before: Option<u32>,
        /// The range of the residues in the subject's row, 0-based from the row's first residue.
        residues: Range<u32>,
    },
}

/// Divides the subject's row of an alignment into runs. Insertions that only deletions separate
/// count as one.
pub fn runs(pair: &AlignmentRows) -> Vec<ResidueRun> {
    let mut runs = Vec::new();
    let (mut query, mut residue) = (pair.positions.query.frame_range.start, 0);
    let mut inserted = 0..0;
    for edit in &pair.edits {
        match edit.op {
            EditOp::GapInSubject => query += edit.len,
            EditOp::GapInQuery => {
                residue += edit.len;
                inserted.end = residue;
            }
            EditOp::Substitution => {
                if !inserted.is_empty() {
                    runs.push(ResidueRun::Inserted { before: Some(query), residues: inserted });
                }
                runs.push(ResidueRun::Aligned { query, residues: residue..residue + edit.len });
                (query, residue) = (query + edit.len, residue + edit.len);
                inserted = residue..residue;
            }
        }
    }
    if !inserted.is_empty() {
        runs.push(ResidueRun::Inserted { before: None, residues: inserted });
    }
    runs
}

/// The columns of a multiple alignment.
pub struct AlignmentColumns {
    /// Position of the first letter of the query that has a column, 0-based.
    first: u32,
    /// The column of each letter of the query from `first` on, and finally the column after the
    /// last letter.
    of_letters: Vec<usize>,
    /// Whether inserted residues have columns of their own, as in flat reports (formats 3 and 4).
    pub flat: bool,
    count: usize,
}

impl AlignmentColumns {
    /// Creates the columns for a query's row at `position` and the alignments below it.
    pub fn new<'a>(
        flat: bool,
        position: &RowPosition,
        pairs: impl Iterator<Item = &'a AlignmentRows>,
    ) -> Self {
        let first = position.frame_range.start;
        let mut columns = Self { first, of_letters: Vec::new(), flat, count: 0 };
        let letters = position.frame_range.len();
        // The longest insertion before each letter, and after the last one.
        let mut gaps = vec![0; letters + 1];
        for run in pairs.flat_map(runs).filter(|_| flat) {
            if let ResidueRun::Inserted { before, residues } = run {
                let gap = &mut gaps[before.map_or(letters, |letter| (letter - first) as usize)];
                *gap = residues.len().max(*gap);
            }
        }
        for gap in &gaps[..letters] {
            columns.of_letters.push(columns.count + gap);
            columns.count += gap + 1;
        }
        columns.of_letters.push(columns.count);
        columns.count += gaps[letters];
        columns
    }

    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the column of a letter of the query.
    pub fn of_letter(&self, letter: u32) -> usize {
        self.of_letters[(letter - self.first) as usize]
    }

    /// Returns the first column of the insertions before the letter `before` of the query, or after
    /// the last letter if `before` is `None`. If insertions have no columns, returns the column
    /// that follows them.
    pub fn of_insertion(&self, before: Option<u32>) -> usize {
        let number = before.map_or(self.of_letters.len() - 1, |it| (it - self.first) as usize);
        match number {
            _ if !self.flat => self.of_letters[number],
            0 => 0,
            _ => self.of_letters[number - 1] + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_engine::hits::Edit;
    use fleetblast_seq::frame::Frame;

    use super::*;
    use crate::alignment_positions::AlignmentPositions;

    fn position(letters: Range<u32>) -> RowPosition {
        RowPosition { frame: Frame::Protein, frame_range: letters.clone(), sequence_range: letters }
    }

    /// Returns an alignment that begins with this letter of the query. Only its positions and edits
    /// are set.
    fn pair(start: u32, edits: &[(EditOp, u32)]) -> AlignmentRows {
        let length = |gap| edits.iter().filter(|(op, _)| *op != gap).map(|(_, len)| len).sum();
        let (query, subject): (u32, u32) =
            (length(EditOp::GapInQuery), length(EditOp::GapInSubject));
        AlignmentRows {
            query_row: Vec::new(),
            subject_row: Vec::new(),
            positions: AlignmentPositions {
                query: position(start..start + query),
                subject: position(0..subject),
            },
            edits: edits.iter().map(|&(op, len)| Edit { op, len }).collect(),
            identities: 0,
            gap_columns: 0,
            overhang_columns: 0,
            gap_opens: 0,
        }
    }

    #[test]
    fn an_insertion_is_after_the_deletion_beside_it() {
        use EditOp::{GapInQuery, GapInSubject, Substitution};
        let edits = [
            (Substitution, 2),
            (GapInQuery, 3),
            (GapInSubject, 4),
            (Substitution, 1),
            (GapInQuery, 1),
        ];
        assert_eq!(
            runs(&pair(10, &edits)),
            [
                ResidueRun::Aligned { query: 10, residues: 0..2 },
                ResidueRun::Inserted { before: Some(16), residues: 2..5 },
                ResidueRun::Aligned { query: 16, residues: 5..6 },
                ResidueRun::Inserted { before: None, residues: 6..7 },
            ]
        );
    }

    #[test]
    fn flat_reports_have_columns_for_the_longest_insertion() {
        use EditOp::{GapInQuery, Substitution};
        let pairs = [
            pair(10, &[(Substitution, 2), (GapInQuery, 3), (Substitution, 4)]),
            pair(11, &[(Substitution, 1), (GapInQuery, 1), (Substitution, 5), (GapInQuery, 2)]),
        ];
        let columns = |flat| {
            let columns = AlignmentColumns::new(flat, &position(10..17), pairs.iter());
            let insertions = [Some(12), None].map(|before| columns.of_insertion(before));
            ([10, 11, 12, 16].map(|letter| columns.of_letter(letter)), insertions, columns.count())
        };
        assert_eq!(columns(true), ([0, 1, 5, 9], [2, 10], 12));
        assert_eq!(columns(false), ([0, 1, 2, 6], [2, 7], 7));
    }
}
