//! Lays out an alignment as two rows of letters, and counts its columns.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_engine::hits::{Alignment, Edit, EditOp};
use fleetblast_seq::frame::Frame;
use serde::{Deserialize, Serialize};

use crate::alignment_positions::{self, AlignmentPositions};
use crate::error::ReportError;
use crate::letters::{self, PositivePairs};
use crate::model::{QueryResult, SubjectSource};
use crate::row_position::RowPosition;

/// The letters of an alignment, column by column, with their positions. All formats are made from
/// these rows, so a rank without the subject's sequence can print the alignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignmentRows {
    /// The query's letters: `-` in gaps, and blanks in gaps at the ends of the alignment.
    pub query_row: Vec<u8>,
    /// The subject's letters, with the same characters in gaps.
    pub subject_row: Vec<u8>,
    /// The positions of both rows in their sequences.
    pub positions: AlignmentPositions,
    /// The edits in the order of the rows. The rows do not replace them: `-` can also be a residue,
    /// because databases can store this letter.
    pub edits: Vec<Edit>,
    /// Number of columns with equal letters.
    pub identities: usize,
    /// Number of columns with a gap.
    pub gap_columns: usize,
    /// Number of columns before the first or after the last residue of the query. A Smith–Waterman
    /// alignment can begin with a gap. Except in XML, BLAST+ counts gaps only from the query's
    /// first residue to its last (`GetAlignLengths`, align_format_util.cpp).
    pub overhang_columns: usize,
    /// Number of runs of columns with a gap in the same sequence, without the overhang.
    pub gap_opens: usize,
}

/// Returns the subject's letters of an alignment that begins at `start`. Reads the letters of each
/// edit separately, as BLAST+ does, because the shown sequence can end before the searched one
/// (`CAlnVec::GetWholeAlnSeqString`, alnvec.cpp).
fn letters_of_segments<'s>(
    source: &'s dyn SubjectSource,
    oid: u32,
    (frame, mut start): (Frame, u32),
    edits: &[Edit],
) -> Option<Cow<'s, [u8]>> {
    let mut letters = Vec::new();
    for edit in edits.iter().filter(|edit| edit.op != EditOp::GapInSubject) {
        let end = start + edit.len;
        letters.extend_from_slice(&source.report_letters(oid, frame, start..end)?);
        start = end;
    }
    Some(letters.into())
}

impl AlignmentRows {
    /// Lays out an alignment with unmasked letters.
    ///
    /// # Errors
    /// If the alignment does not fit the sequences.
    pub fn new(
        query: &QueryResult,
        source: &dyn SubjectSource,
        oid: u32,
        alignment: &Alignment,
    ) -> Result<Self, ReportError> {
        let misfit = || ReportError::misfit(oid, alignment);
        let positions = AlignmentPositions::from_alignment(query, source, oid, alignment)?;
        let letters_of_query = query.view(alignment, &positions.query).ok_or_else(misfit)?;
        let RowPosition { frame, frame_range: read, .. } = &positions.subject;
        let edits = alignment_positions::printed_edits(alignment, query.context(alignment).frame);
        let letters_of_subject = match source.shares_identifiers() {
            true => letters_of_segments(source, oid, (*frame, read.start), &edits),
            false => source.report_letters(oid, *frame, read.clone()),
        };
        let letters_of_subject = letters_of_subject.ok_or_else(misfit)?;
        let mut pair = Self {
            query_row: Vec::new(),
            subject_row: Vec::new(),
            edits,
            positions,
            identities: 0,
            gap_columns: 0,
            overhang_columns: 0,
            gap_opens: 0,
        };
        pair.lay_out(letters_of_query, &letters_of_subject).ok_or_else(misfit)?;
        pair.identities =
            pair.query_row.iter().zip(&pair.subject_row).filter(|(q, s)| q == s).count();
        pair.mark_ends();
        // BLAST+ computes the frame from the length of the sequence that it shows.
        pair.positions.subject.renumber_frame(source.shown_length(oid));
        Ok(pair)
    }

    /// Fills the rows with the letters of residue codes, and counts gaps. Returns `None` if the
    /// edits need more or fewer residues.
    fn lay_out(&mut self, mut query: &[u8], mut subject: &[u8]) -> Option<()> {
        let columns: usize = self.edits.iter().map(|edit| edit.len as usize).sum();
        // Each column has a letter. More columns belong to other sequences.
        if columns > query.len() + subject.len() {
            return None;
        }
        let alphabets = [&self.positions.query, &self.positions.subject]
            .map(|l| letters::frame_letters(l.frame));
        let [query_letters, subject_letters] = alphabets;
        self.query_row.reserve_exact(columns);
        self.subject_row.reserve_exact(columns);
        for edit in &self.edits {
            let len = edit.len as usize;
            let (from_query, from_subject) = residues(edit);
            let head = query.split_off(..from_query)?;
            append_columns(&mut self.query_row, head, query_letters, len);
            let head = subject.split_off(..from_subject)?;
            append_columns(&mut self.subject_row, head, subject_letters, len);
            if edit.op != EditOp::Substitution {
                self.gap_columns += len;
                self.gap_opens += 1;
            }
        }
        (query.is_empty() && subject.is_empty()).then_some(())
    }

    /// Replaces gaps at the ends of the rows with blanks, and counts the overhang.
    fn mark_ends(&mut self) {
        let edits = &self.edits;
        for (op, row) in [
            (EditOp::GapInQuery, &mut self.query_row),
            (EditOp::GapInSubject, &mut self.subject_row),
        ] {
            let before: Vec<_> = edits.iter().take_while(|edit| edit.op == op).collect();
            let after: Vec<_> = edits.iter().rev().take_while(|edit| edit.op == op).collect();
            let length = |runs: &[&Edit]| runs.iter().map(|edit| edit.len as usize).sum();
            let (left, right): (usize, usize) = (length(&before), length(&after));
            row.iter_mut().take(left).for_each(|c| *c = b' ');
            row.iter_mut().rev().take(right).for_each(|c| *c = b' ');
            if op == EditOp::GapInQuery {
                self.overhang_columns = left + right;
                self.gap_opens -= before.len() + after.len();
            }
        }
    }

    /// Returns the number of columns.
    pub fn column_count(&self) -> usize {
        self.query_row.len()
    }

    /// Returns the middle line of the alignment: letters (bars for nucleotides) in columns with
    /// equal letters, `+` in positive columns, blanks elsewhere.
    pub fn midline(&self, positives: &PositivePairs) -> Vec<u8> {
        positives.midline(&self.query_row, &self.subject_row)
    }

    /// Counts the columns with equal letters or a positive score.
    pub fn count_positives(&self, positives: &PositivePairs) -> usize {
        letters::count_positives(&self.midline(positives))
    }

    /// Returns for each column whether the query has a residue there, not a gap.
    pub fn query_residues(&self) -> Vec<bool> {
        self.residues_without(EditOp::GapInQuery)
    }

    /// Returns for each column whether the subject has a residue there, not a gap.
    pub fn subject_residues(&self) -> Vec<bool> {
        self.residues_without(EditOp::GapInSubject)
    }

    /// Returns false for each column in a gap of the kind `gap`, true for the others.
    fn residues_without(&self, gap: EditOp) -> Vec<bool> {
        let mut residues = Vec::with_capacity(self.column_count());
        for edit in &self.edits {
            residues.resize(residues.len() + edit.len as usize, edit.op != gap);
        }
        residues
    }

    /// Converts `masks`, ranges of the whole query, to the columns of the alignment that they
    /// overlap.
    pub fn masked_query_columns(&self, masks: &[Range<u32>]) -> Vec<Range<usize>> {
        masked_columns(|| self.query_residues(), &self.positions.query, masks)
    }

    /// Converts `masks`, ranges of the whole subject, to the columns of the alignment that they
    /// overlap.
    pub fn masked_subject_columns(&self, masks: &[Range<u32>]) -> Vec<Range<usize>> {
        masked_columns(|| self.subject_residues(), &self.positions.subject, masks)
    }
}

/// Converts ranges of a sequence to ranges of columns of a row at `position`, in ascending order.
/// `residues` returns for each column whether the row has a residue there.
fn masked_columns(
    residues: impl FnOnce() -> Vec<bool>,
    position: &RowPosition,
    masks: &[Range<u32>],
) -> Vec<Range<usize>> {
    let touched: Vec<_> =
        masks.iter().filter_map(|mask| position.overlapped_letters(mask)).collect();
    if touched.is_empty() {
        return Vec::new();
    }
    let residues = residues();
    let count = residues.len();
    // The column of each residue of the row.
    let places: Vec<usize> = residues
        .iter()
        .enumerate()
        .filter(|&(_, &is_residue)| is_residue)
        .map(|(at, _)| at)
        .collect();
    let column_of = |n: u32| places.get(n as usize).copied().unwrap_or(count);
    let columns = touched.iter().map(|it| column_of(it.start)..column_of(it.end - 1) + 1);
    let mut columns: Vec<_> = columns.collect();
    // If positions descend along the row, the masks come in reverse.
    columns.sort_by_key(|columns| columns.start);
    columns
}

/// Returns the numbers of residues of query and subject in the run of columns that an edit
/// describes.
pub(crate) fn residues(edit: &Edit) -> (usize, usize) {
    let len = edit.len as usize;
    match edit.op {
        EditOp::Substitution => (len, len),
        EditOp::GapInSubject => (len, 0),
        EditOp::GapInQuery => (0, len),
    }
}

/// Appends `len` columns: the letters of `residues`, or gaps if `residues` is empty.
fn append_columns(row: &mut Vec<u8>, residues: &[u8], alphabet: &[u8], len: usize) {
    if residues.is_empty() {
        row.resize(row.len() + len, b'-');
    } else {
        row.extend(residues.iter().map(|&code| alphabet[usize::from(code)]));
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::{Frame, Strand};

    use super::*;

    /// Returns the position of a row that begins with the first residue of a protein.
    fn position(row: &str) -> RowPosition {
        let residues = row.bytes().filter(|&c| c != b'-').count() as u32;
        RowPosition { frame: Frame::Protein, frame_range: 0..residues, sequence_range: 0..residues }
    }

    fn pair(query: &str, subject: &str, edits: &[(EditOp, u32)]) -> AlignmentRows {
        let edits: Vec<_> = edits.iter().map(|&(op, len)| Edit { op, len }).collect();
        let gaps: Vec<_> = edits.iter().filter(|edit| edit.op != EditOp::Substitution).collect();
        let mut pair = AlignmentRows {
            query_row: query.as_bytes().to_vec(),
            subject_row: subject.as_bytes().to_vec(),
            positions: AlignmentPositions { query: position(query), subject: position(subject) },
            identities: 0,
            gap_columns: gaps.iter().map(|edit| edit.len as usize).sum(),
            overhang_columns: 0,
            gap_opens: gaps.len(),
            edits,
        };
        pair.mark_ends();
        pair
    }

    #[test]
    fn gaps_at_the_ends_are_blank_and_the_querys_overhang() {
        use EditOp::{GapInQuery, GapInSubject, Substitution};
        let inner = [(Substitution, 1), (GapInQuery, 1), (Substitution, 1)];
        let found = pair("A-C", "ADC", &inner);
        assert_eq!(
            (found.query_row, found.overhang_columns, found.gap_opens),
            (b"A-C".to_vec(), 0, 1)
        );
        let before = [(GapInQuery, 2), (Substitution, 1), (GapInQuery, 1), (Substitution, 1)];
        let found = pair("--A-C", "KLADC", &before);
        assert_eq!(found.query_row, b"  A-C");
        assert_eq!((found.gap_columns, found.overhang_columns, found.gap_opens), (3, 2, 1));
        let both = [(GapInSubject, 1), (Substitution, 1), (GapInQuery, 2)];
        let found = pair("KA--", "-ALM", &both);
        assert_eq!((&found.query_row[..], &found.subject_row[..]), (&b"KA  "[..], &b" ALM"[..]));
        assert_eq!((found.gap_columns, found.overhang_columns, found.gap_opens), (3, 2, 1));
    }

    /// Iterates over the columns of a row: true for residues. The row must not have a residue `-`.
    fn without_gaps(row: &[u8]) -> Vec<bool> {
        row.iter().map(|letter| !b"- ".contains(letter)).collect()
    }

    #[test]
    fn a_hyphen_can_be_a_residue() {
        use EditOp::{GapInQuery, GapInSubject, Substitution};
        let edits = [(Substitution, 2), (GapInSubject, 1), (Substitution, 1), (GapInQuery, 1)];
        let found = pair("ACDE-", "A--EF", &edits);
        assert_eq!(found.query_residues(), [true, true, true, true, false]);
        assert_eq!(found.subject_residues(), [true, true, false, true, true]);
    }

    #[test]
    fn masks_go_to_the_columns_of_their_residues() {
        let masks = [0..4, 5..6, 8..20];
        let position =
            RowPosition { frame: Frame::Protein, frame_range: 3..8, sequence_range: 3..8 };
        let columns = masked_columns(|| without_gaps(b"  AC-DEF "), &position, &masks);
        assert_eq!(columns, [2..3, 5..6]);
    }

    #[test]
    fn masks_of_a_minus_strand_come_in_the_order_of_the_columns() {
        let masks = [0..11, 14..15, 18..30];
        let position = RowPosition {
            frame: Frame::Strand(Strand::Minus),
            frame_range: 0..10,
            sequence_range: 10..20,
        };
        let columns = masked_columns(|| without_gaps(b"ACGT--ACGTAC"), &position, &masks);
        assert_eq!(columns, [0..2, 7..8, 11..12]);
    }
}
