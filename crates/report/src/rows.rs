//! Formats the rows of a pairwise alignment in lines: query, middle line, subject (showalign.cpp).

use std::ops::Range;

use crate::alignment_positions::AlignmentPositions;
use crate::letters::PositivePairs;
use crate::model::ReportSetup;
use crate::number;
use crate::pair::AlignmentRows;
use crate::row_position::RowPosition;

/// The columns of an alignment that the report marks.
pub struct MarkedColumns<'a> {
    /// Columns with masked letters of the query and of the subject.
    pub masks: [&'a [Range<usize>]; 2],
    /// The columns of the searched pattern, if there is one.
    pub pattern: Option<Range<usize>>,
}

/// Label of the row that marks a pattern.
pub const PATTERN: &str = "pattern";

/// Appends the two rows of an alignment and the middle line, in lines of `-line_length` columns. An
/// empty line follows each group of lines.
///
/// Masked letters are lower case. If a pattern was searched, a line above the query's line marks
/// it. The line of a sequence is omitted if it lies in a gap at the end of the alignment. If the
/// query's line is omitted, so is the middle line.
pub fn rows(
    setup: &ReportSetup,
    pair: &AlignmentRows,
    marks: &MarkedColumns<'_>,
    positives: &PositivePairs,
    out: &mut Vec<u8>,
) {
    let midline = pair.midline(positives);
    let width = width(&pair.positions);
    let [query_masks, subject_masks] = marks.masks;
    let name = if marks.pattern.is_some() { PATTERN.len() } else { "Query".len() };
    let html = setup.output.html;
    let query = (&pair.query_row[..], pair.query_residues());
    let mut query_row = Row::new("Query", query, query_masks, &pair.positions.query, html);
    let subject = (&pair.subject_row[..], pair.subject_residues());
    let mut subject_row = Row::new("Sbjct", subject, subject_masks, &pair.positions.subject, html);
    let line = setup.output.line_length.max(1);
    for start in (0..pair.column_count()).step_by(line) {
        let columns = start..(start + line).min(pair.column_count());
        if let Some(pattern) = &marks.pattern {
            pattern_line(pattern, &columns, (name, width), out);
        }
        if query_row.reaches(&columns) {
            query_row.line(&columns, (name, width), out);
            out.resize(out.len() + name + 4 + width, b' ');
            out.extend_from_slice(&midline[columns.clone()]);
            out.push(b'\n');
        }
        if subject_row.reaches(&columns) {
            subject_row.line(&columns, (name, width), out);
        }
        out.push(b'\n');
    }
}

/// Appends the line that marks a pattern, if the pattern overlaps `columns`. `name` and `width` are
/// the widths of the fields for names and for positions.
pub fn pattern_line(
    pattern: &Range<usize>,
    columns: &Range<usize>,
    (name, width): (usize, usize),
    out: &mut Vec<u8>,
) {
    if pattern.start < columns.end && columns.start < pattern.end {
        out.extend_from_slice(PATTERN.as_bytes());
        out.resize(out.len() + name - PATTERN.len() + 4 + width, b' ');
        out.extend(columns.clone().map(|at| if pattern.contains(&at) { b'*' } else { b' ' }));
        out.push(b'\n');
    }
}

/// Returns the width of the column of positions. The largest position determines it, counted from 0
/// instead of 1.
fn width(positions: &AlignmentPositions) -> usize {
    let end = positions.query.sequence_range.end.max(positions.subject.sequence_range.end);
    // An alignment without columns can end where the sequences begin.
    end.saturating_sub(1).to_string().len()
}

/// One of the two sequences of an alignment, printed line by line.
struct Row<'a> {
    label: &'static str,
    letters: Vec<u8>,
    /// For each column whether the sequence has a residue there, not a gap.
    residues: Vec<bool>,
    /// Masked columns.
    masks: &'a [Range<usize>],
    position: &'a RowPosition,
    /// Number of residues before the current line.
    printed: u32,
    html: bool,
}

impl<'a> Row<'a> {
    fn new(
        label: &'static str,
        (letters, residues): (&[u8], Vec<bool>),
        masks: &'a [Range<usize>],
        position: &'a RowPosition,
        html: bool,
    ) -> Self {
        let mut letters = letters.to_vec();
        for mask in masks {
            letters[mask.clone()].make_ascii_lowercase();
        }
        Self { label, letters, residues, masks, position, printed: 0, html }
    }

    /// Whether any column of the range `columns` lies between the row's first and last residues.
    fn reaches(&self, columns: &Range<usize>) -> bool {
        self.letters[columns.clone()].iter().any(|&c| c != b' ')
    }

    /// Appends a line, with name and start position in columns of the given widths. Positions are
    /// omitted if the line has no residue. They are also omitted in the first line if it has only
    /// the first letter of the sequence.
    fn line(&mut self, columns: &Range<usize>, (name, width): (usize, usize), out: &mut Vec<u8>) {
        let letters = &self.letters[columns.clone()];
        let residues = self.residues[columns.clone()].iter().filter(|&&it| it).count() as u32;
        let [first, last] = self.position.printed_ends_of(self.printed..self.printed + residues);
        self.printed += residues;
        let shown = residues > 0 && !(columns.start == 0 && [first, last] == [1, 1]);
        let line = out.len();
        out.extend_from_slice(self.label.as_bytes());
        out.resize(line + name + 2, b' ');
        if shown {
            number::append_decimal(first, out);
        }
        // A number wider than its column is followed by fewer blanks.
        out.resize(out.len().max(line + name + width + 4), b' ');
        if self.html {
            write_coloured_row(letters, columns, self.masks, out);
        } else {
            out.extend_from_slice(letters);
        }
        out.extend_from_slice(b"  ");
        if shown {
            number::append_decimal(last, out);
        }
        out.push(b'\n');
    }
}

/// Appends a row of the HTML report with font tags around its masked ranges, as BLAST+ places them.
///
/// The tag of a range that continues in the next line is closed at the end of this line. A range
/// that starts in the first column of the alignment has no tag if it continues in the next line or
/// has one letter.
pub fn write_coloured_row(
    row: &[u8],
    columns: &Range<usize>,
    masks: &[Range<usize>],
    out: &mut Vec<u8>,
) {
    let mut starts = vec![false; row.len()];
    let mut ends = vec![false; row.len()];
    for mask in masks {
        let from = mask.start.max(columns.start);
        let last = mask.end - 1;
        if from > last || from >= columns.end {
            continue;
        }
        let ends_here = last < columns.end;
        if from == 0 && (!ends_here || last == 0) {
            continue;
        }
        starts[from - columns.start] = true;
        // BLAST+ ignores an end in the first column of a line.
        if ends_here && last > columns.start {
            ends[last - columns.start] = true;
        }
    }
    let (mut front, mut end) = (false, false);
    let mut styled: Vec<u8> = Vec::new();
    for (i, &letter) in row.iter().enumerate() {
        front |= starts[i];
        end |= ends[i];
        let stop = front && end;
        let inside = front || (!styled.is_empty() && !stop);
        if inside {
            styled.push(letter);
        }
        if !styled.is_empty() && (stop || i + 1 == row.len()) {
            out.extend_from_slice(b"<font color=\"#000000\">");
            out.append(&mut styled);
            out.extend_from_slice(b"</font>");
        }
        if !inside {
            out.push(letter);
        }
        if stop {
            (front, end) = (false, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::{Frame, Strand};

    use super::*;

    /// Returns letters, and whether each is a residue. None of the residues may be `-`.
    fn row(letters: &[u8]) -> (&[u8], Vec<bool>) {
        (letters, letters.iter().map(|letter| !b"- ".contains(letter)).collect())
    }

    #[test]
    fn lines_without_residues_go_on_inside_and_are_left_out_at_the_ends() {
        let position =
            RowPosition { frame: Frame::Protein, frame_range: 9..13, sequence_range: 9..13 };
        let mask = 4..6;
        let masks = std::slice::from_ref(&mask);
        let mut row = Row::new("Query", row(b"    AC----DE"), masks, &position, false);
        let mut out = Vec::new();
        let lines = [0..4, 4..6, 6..8, 8..12];
        for columns in lines.iter().filter(|columns| row.reaches(columns)).collect::<Vec<_>>() {
            row.line(columns, (5, 2), &mut out);
        }
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Query  10  ac  11\nQuery      --  \nQuery  12  --DE  13\n"
        );
    }

    /// Expected values: `blastx` and `tblastn` of 23 codons up to base 100.
    #[test]
    fn positions_are_as_wide_as_the_largest_counted_from_0() {
        let width = |bases: Range<u32>| {
            let bases = RowPosition {
                frame: Frame::Codons(Strand::Plus, 1),
                frame_range: 0..23,
                sequence_range: bases,
            };
            let residues =
                RowPosition { frame: Frame::Protein, frame_range: 0..23, sequence_range: 0..23 };
            let [query, subject] = [bases.clone(), residues.clone()];
            let widths = [
                AlignmentPositions { query, subject },
                AlignmentPositions { query: residues, subject: bases },
            ];
            widths.map(|positions| super::width(&positions))
        };
        assert_eq!(width(31..100), [2, 2]);
        assert_eq!(width(32..101), [3, 3]);
    }

    #[test]
    fn codons_are_counted_by_their_bases() {
        let line = |frame: Frame, columns: Range<usize>| {
            let position = RowPosition { frame, frame_range: 0..4, sequence_range: 0..12 };
            let mut row = Row::new("Sbjct", row(b"AC-DE"), &[], &position, false);
            let mut out = Vec::new();
            row.line(&(0..columns.start), (5, 2), &mut Vec::new());
            row.line(&columns, (5, 2), &mut out);
            String::from_utf8(out).unwrap()
        };
        let (plus, minus) = (Frame::Codons(Strand::Plus, 0), Frame::Codons(Strand::Minus, 0));
        assert_eq!(line(plus, 1..4), "Sbjct  4   C-D  9\n");
        assert_eq!(line(minus, 1..4), "Sbjct  9   C-D  4\n");
        assert_eq!(line(minus, 3..5), "Sbjct  6   DE  1\n");
    }

    #[test]
    fn the_first_line_has_no_positions_if_it_shows_the_first_letter_alone() {
        let first = |frame: Frame, letters: &[u8], covered: Range<u32>| {
            let read = 0..covered.len() as u32 / frame.letters_per_residue();
            let position = RowPosition { frame, frame_range: read, sequence_range: covered };
            let mut out = Vec::new();
            Row::new("Query", row(letters), &[], &position, false).line(&(0..1), (5, 1), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(first(Frame::Protein, b"M", 0..1), "Query     M  \n");
        assert_eq!(first(Frame::Protein, b"M", 1..2), "Query  2  M  2\n");
        assert_eq!(first(Frame::Codons(Strand::Plus, 0), b"M", 0..3), "Query  1  M  3\n");
        assert_eq!(first(Frame::Strand(Strand::Minus), b"C", 0..2), "Query  2  C  2\n");
    }
}
