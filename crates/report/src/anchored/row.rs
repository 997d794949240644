//! A row of a multiple alignment, printed line by line.

use std::ops::Range;

use super::columns::{AlignmentColumns, ResidueRun, runs};
use crate::pair::AlignmentRows;
use crate::row_position::RowPosition;
use crate::rows::write_coloured_row;

/// A row of a multiple alignment.
pub struct Row {
    /// The name of the sequence, printed before the letters of each line.
    pub label: Vec<u8>,
    /// The letters of all residues of the row, without gaps.
    pub letters: Vec<u8>,
    /// The position of the row's residues in their sequence.
    pub position: RowPosition,
    /// For each residue that has a column: the column, and the residue's 0-based index in the row.
    /// Both ascend.
    cells: Vec<(usize, u32)>,
    /// The inserted residues that have no columns: the column before which they are inserted, and
    /// their range in the row.
    pub insertions: Vec<(usize, Range<u32>)>,
    /// The ranges of columns with masked residues.
    pub masks: Vec<Range<usize>>,
}

/// The settings that determine the appearance of all lines of a multiple alignment.
pub struct LineStyle {
    /// Width in characters of the field for the names of sequences.
    pub name: usize,
    /// Width in characters of the field for positions.
    pub digits: usize,
    /// Whether the report is HTML.
    pub html: bool,
    /// Whether dots replace letters that are equal to the query's.
    pub dots: bool,
}

impl LineStyle {
    /// Returns the number of characters before the letters of a line: name, position and blanks.
    pub fn margin(&self) -> usize {
        self.name + 2 + self.digits + 2
    }
}

impl Row {
    fn new(label: Vec<u8>, letters: Vec<u8>, position: RowPosition) -> Self {
        let (cells, insertions, masks) = (Vec::new(), Vec::new(), Vec::new());
        Self { label, letters, position, cells, insertions, masks }
    }

    /// Creates the query's row.
    pub fn of_query(
        columns: &AlignmentColumns,
        label: Vec<u8>,
        position: RowPosition,
        letters: Vec<u8>,
    ) -> Self {
        let cells = position.frame_range.clone().map(|letter| columns.of_letter(letter));
        let cells = cells.zip(0..).collect();
        Self { cells, ..Self::new(label, letters, position) }
    }

    /// Creates the row of an alignment of a subject.
    pub fn of_subject(columns: &AlignmentColumns, label: &[u8], pair: &AlignmentRows) -> Self {
        let letters = pair.subject_row.iter().zip(pair.subject_residues());
        let letters = letters.filter(|(_, is_residue)| *is_residue).map(|(&letter, _)| letter);
        let position = pair.positions.subject.clone();
        let mut row = Self::new(label.to_vec(), letters.collect(), position);
        for run in runs(pair) {
            match run {
                ResidueRun::Aligned { query, residues } => {
                    let cells = residues.zip(query..);
                    row.cells.extend(
                        cells.map(|(residue, letter)| (columns.of_letter(letter), residue)),
                    );
                }
                ResidueRun::Inserted { before, residues } => {
                    let column = columns.of_insertion(before);
                    match columns.flat {
                        true => row.cells.extend((column..).zip(residues)),
                        false => row.insertions.push((column, residues)),
                    }
                }
            }
        }
        row
    }

    /// Returns the width of the row's largest position. BLAST+ counts it from 0 instead of 1.
    pub fn position_width(&self) -> usize {
        self.position.sequence_range.end.saturating_sub(1).to_string().len()
    }

    /// Converts a range of the whole sequence to the columns of its residues in this row; `None` if
    /// it does not overlap the row. An inserted residue without a column counts as in the column
    /// next to the insertion, on the side of lower positions.
    pub fn columns_of(
        &self,
        range: &Range<u32>,
        columns: &AlignmentColumns,
    ) -> Option<Range<usize>> {
        let residues = self.position.overlapped_letters(range)?;
        let column = |residue: u32| {
            let at = self.cells.partition_point(|cell| cell.1 < residue);
            match self.cells.get(at) {
                Some(&(column, found)) if found == residue || self.position.descends() => column,
                Some((column, _)) => column.saturating_sub(1),
                None => columns.count().saturating_sub(1),
            }
        };
        Some(column(residues.start)..column(residues.end - 1) + 1)
    }

    /// Whether any column of the range `line` lies between the row's first and last residues.
    pub fn reaches(&self, line: &Range<usize>) -> bool {
        match (self.cells.first(), self.cells.last()) {
            (Some((first, _)), Some((last, _))) => *first < line.end && line.start <= *last,
            _ => false,
        }
    }

    fn cells_in(&self, line: &Range<usize>) -> &[(usize, u32)] {
        let start = self.cells.partition_point(|cell| cell.0 < line.start);
        let end = self.cells.partition_point(|cell| cell.0 < line.end);
        &self.cells[start..end]
    }

    /// Returns the row's letters in these columns, `-` in gaps, and blanks outside of the row.
    fn text(&self, line: &Range<usize>) -> Vec<u8> {
        let (Some((first, _)), Some((last, _))) = (self.cells.first(), self.cells.last()) else {
            return vec![b' '; line.len()];
        };
        let gap = |column| if (*first..=*last).contains(&column) { b'-' } else { b' ' };
        let mut text: Vec<u8> = line.clone().map(gap).collect();
        for (column, residue) in self.cells_in(line) {
            text[column - line.start] = self.letters[*residue as usize];
        }
        text
    }

    /// Appends the row's text in the columns `line`. `query` is the query's row, with which a
    /// subject's row is compared; `None` if this row is the query's.
    ///
    /// Positions are omitted if the line has no residue. They are also omitted in the first line if
    /// it has only the first letter of the sequence.
    pub fn line(
        &self,
        line: &Range<usize>,
        style: &LineStyle,
        query: Option<&Row>,
        out: &mut Vec<u8>,
    ) {
        let mut text = self.text(line);
        if let Some(query) = query.filter(|_| style.dots) {
            let pairs = text.iter_mut().zip(query.text(line));
            pairs
                .filter(|(s, q)| **s == *q && q.is_ascii_alphabetic())
                .for_each(|(s, _)| *s = b'.');
        }
        for mask in &self.masks {
            let (start, end) = (mask.start.max(line.start), mask.end.min(line.end));
            if start < end {
                text[start - line.start..end - line.start].make_ascii_lowercase();
            }
        }
        let cells = self.cells_in(line);
        let ends = cells.first().zip(cells.last()).map(|((_, first), (_, last))| {
            let end_of = |residue: u32| self.position.printed_ends_of(residue..residue + 1);
            [end_of(*first)[0], end_of(*last)[1]]
        });
        let ends = ends.filter(|ends| !(line.start == 0 && *ends == [1, 1]));
        let [start, end] = ends.map_or_else(Default::default, |ends| ends.map(|it| it.to_string()));
        out.extend_from_slice(&self.label);
        out.resize(out.len() + style.name - self.label.len() + 2, b' ');
        out.extend_from_slice(start.as_bytes());
        // A number wider than its column is followed by fewer blanks.
        out.resize(out.len() + (style.digits + 2).saturating_sub(start.len()), b' ');
        match style.html {
            true => write_coloured_row(&text, line, &self.masks, out),
            false => out.extend_from_slice(&text),
        }
        out.extend_from_slice(format!("  {end}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::{Frame, Strand};

    use super::*;

    /// Returns a row with six bases on `strand`. The third and fourth bases are inserted before the
    /// fifth column.
    fn row_with_insertion(strand: Strand, columns: &AlignmentColumns) -> Row {
        let frame = Frame::Strand(strand);
        let position = RowPosition { frame, frame_range: 0..6, sequence_range: 0..6 };
        let mut row = Row::of_query(columns, b"s".to_vec(), position, b"ACGTAC".to_vec());
        row.cells = vec![(2, 0), (3, 1), (4, 4), (5, 5)];
        row.insertions = vec![(4, 2..4)];
        row
    }

    fn columns() -> AlignmentColumns {
        let position =
            RowPosition { frame: Frame::Protein, frame_range: 0..8, sequence_range: 0..8 };
        AlignmentColumns::new(false, &position, [].into_iter())
    }

    #[test]
    fn masks_within_insertions_reach_to_the_column_with_the_lower_position() {
        let columns = columns();
        let plus = row_with_insertion(Strand::Plus, &columns);
        let places =
            |row: &Row, masks: [Range<u32>; 4]| masks.map(|mask| row.columns_of(&mask, &columns));
        assert_eq!(
            places(&plus, [0..1, 2..3, 3..5, 6..9]),
            [Some(2..3), Some(3..4), Some(3..5), None]
        );
        let minus = row_with_insertion(Strand::Minus, &columns);
        assert_eq!(
            places(&minus, [5..6, 3..4, 1..3, 0..2]),
            [Some(2..3), Some(4..5), Some(4..5), Some(4..6)]
        );
    }

    #[test]
    fn lines_have_the_positions_of_their_columns() {
        let columns = columns();
        let row = row_with_insertion(Strand::Plus, &columns);
        let style = LineStyle { name: 3, digits: 2, html: false, dots: false };
        let drawn = |line: Range<usize>| {
            let mut out = Vec::new();
            row.line(&line, &style, None, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert!(!row.reaches(&(0..2)) && row.reaches(&(0..3)) && !row.reaches(&(6..8)));
        assert_eq!(drawn(0..4), "s    1     AC  2\n");
        assert_eq!(drawn(4..8), "s    5   AC    6\n");
        // The first letter of the sequence alone has no positions in the first line.
        assert_eq!(drawn(0..3), "s          A  \n");
    }
}
