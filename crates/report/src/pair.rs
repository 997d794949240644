//! An alignment as two rows of letters, and what is counted in it.

use std::ops::Range;

use fleetblast_engine::hits::{Alignment, Edit, EditOp};
use fleetblast_seq::alphabet;

use crate::error::ReportError;
use crate::letters::Positives;
use crate::model::{QueryResult, Setup, SubjectSource};

/// The letters of an alignment, column by column. Positions are 0-based and count from the start of
/// the whole sequences.
#[derive(Debug)]
pub struct Pair {
    /// The query's letters, `-` in gaps, blanks in those at the ends of the alignment.
    pub query: Vec<u8>,
    /// The subject's letters, likewise.
    pub subject: Vec<u8>,
    /// Query residues covered.
    pub query_range: Range<usize>,
    /// Subject residues covered.
    pub subject_range: Range<usize>,
    /// Columns with equal letters.
    pub identities: usize,
    /// Columns with a gap.
    pub gaps: usize,
    /// Columns before the first or after the last residue of the query. A Smith–Waterman alignment may begin with a gap;
    /// but for the XML report BLAST+ counts gaps only from the query's first residue to its last (`GetAlignLengths`,
    /// align_format_util.cpp).
    pub overhang: usize,
    /// Runs of columns with a gap in the same sequence, those of the overhang left out.
    pub gap_opens: usize,
}

impl Pair {
    /// Lays out an alignment with the letters as read: masked ones too.
    ///
    /// # Errors
    /// If the alignment does not fit the sequences.
    pub fn new(
        setup: &Setup,
        query: &QueryResult,
        source: &dyn SubjectSource,
        oid: u32,
        alignment: &Alignment,
    ) -> Result<Self, ReportError> {
        let misfit = || ReportError::Alignment {
            oid,
            query: alignment.query.start,
            subject: alignment.subject.start,
        };
        let query_range = shifted(&alignment.query, query.offset());
        let subject_range = shifted(&alignment.subject, setup.database.subject_offset);
        let mut q = query.residues.get(query_range.clone()).ok_or_else(misfit)?;
        let mut s = source.residues(oid).get(subject_range.clone()).ok_or_else(misfit)?;
        let columns = alignment.edits.iter().map(|edit| edit.len as usize).sum();
        let mut pair = Self {
            query: Vec::with_capacity(columns),
            subject: Vec::with_capacity(columns),
            query_range,
            subject_range,
            identities: 0,
            gaps: 0,
            overhang: 0,
            gap_opens: 0,
        };
        for edit in &alignment.edits {
            let len = edit.len as usize;
            let (from_q, from_s) = match edit.op {
                EditOp::Substitution => (len, len),
                EditOp::GapInSubject => (len, 0),
                EditOp::GapInQuery => (0, len),
            };
            let (head, tail) = q.split_at_checked(from_q).ok_or_else(misfit)?;
            q = tail;
            place(&mut pair.query, head, len);
            let (head, tail) = s.split_at_checked(from_s).ok_or_else(misfit)?;
            s = tail;
            place(&mut pair.subject, head, len);
            if edit.op != EditOp::Substitution {
                pair.gaps += len;
                pair.gap_opens += 1;
            }
        }
        if !q.is_empty() || !s.is_empty() {
            return Err(misfit());
        }
        pair.identities = pair.query.iter().zip(&pair.subject).filter(|(q, s)| q == s).count();
        pair.mark_ends(&alignment.edits);
        Ok(pair)
    }

    /// Blanks the gaps at the ends of the rows.
    fn mark_ends(&mut self, edits: &[Edit]) {
        for (op, row) in
            [(EditOp::GapInQuery, &mut self.query), (EditOp::GapInSubject, &mut self.subject)]
        {
            let before: Vec<_> = edits.iter().take_while(|edit| edit.op == op).collect();
            let after: Vec<_> = edits.iter().rev().take_while(|edit| edit.op == op).collect();
            let length = |runs: &[&Edit]| runs.iter().map(|edit| edit.len as usize).sum();
            let (left, right): (usize, usize) = (length(&before), length(&after));
            row.iter_mut().take(left).for_each(|c| *c = b' ');
            row.iter_mut().rev().take(right).for_each(|c| *c = b' ');
            if op == EditOp::GapInQuery {
                self.overhang = left + right;
                self.gap_opens -= before.len() + after.len();
            }
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.query.len()
    }

    /// The row between query and subject: the letter where they agree, `+` where they score, else a blank.
    pub fn midline(&self, positives: &Positives) -> Vec<u8> {
        let columns = self.query.iter().zip(&self.subject);
        columns
            .map(|(&q, &s)| match (q == s, positives.score(q, s)) {
                (true, _) => q,
                (false, true) => b'+',
                (false, false) => b' ',
            })
            .collect()
    }

    /// Columns with equal letters or a positive score.
    pub fn positives(&self, positives: &Positives) -> usize {
        let columns = self.query.iter().zip(&self.subject);
        columns.filter(|&(&q, &s)| q == s || positives.score(q, s)).count()
    }

    /// The masked stretches of the query that the alignment touches, as ranges of columns.
    pub fn masked_query(&self, query: &QueryResult, alignment: &Alignment) -> Vec<Range<usize>> {
        let masks = query.context(alignment).masks.iter().map(|mask| shifted(mask, query.offset()));
        masked_columns(&self.query, &self.query_range, masks)
    }

    /// The columns of those of `masks`, stretches of the whole subject, that the alignment touches.
    pub fn masked_subject(&self, masks: &[Range<u32>]) -> Vec<Range<usize>> {
        let masks = masks.iter().map(|mask| shifted(mask, 0));
        masked_columns(&self.subject, &self.subject_range, masks)
    }
}

/// Masks as ranges of columns of a row, which covers `covered` of its sequence.
fn masked_columns(
    row: &[u8],
    covered: &Range<usize>,
    masks: impl Iterator<Item = Range<usize>>,
) -> Vec<Range<usize>> {
    // The column of the n-th residue of the alignment, from 0.
    let column_of = |n: usize| {
        let letters = row.iter().enumerate().filter(|&(_, &c)| is_residue(c));
        letters.map(|(column, _)| column).nth(n).unwrap_or(row.len())
    };
    masks
        .map(|mask| mask.start.max(covered.start)..mask.end.min(covered.end))
        .filter(|mask| mask.start < mask.end)
        .map(|mask| {
            column_of(mask.start - covered.start)..column_of(mask.end - 1 - covered.start) + 1
        })
        .collect()
}

/// False for the columns of a row where it has a gap.
pub fn is_residue(letter: u8) -> bool {
    !matches!(letter, b'-' | b' ')
}

/// Appends `len` columns: the letters of `residues`, or gaps if there are none.
fn place(row: &mut Vec<u8>, residues: &[u8], len: usize) {
    if residues.is_empty() {
        row.resize(row.len() + len, b'-');
    } else {
        row.extend(residues.iter().map(|&code| alphabet::decode(code)));
    }
}

fn shifted(range: &Range<u32>, by: u32) -> Range<usize> {
    (range.start + by) as usize..(range.end + by) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(query: &str, subject: &str, edits: &[(EditOp, u32)]) -> Pair {
        let mut pair = Pair {
            query: query.as_bytes().to_vec(),
            subject: subject.as_bytes().to_vec(),
            query_range: 0..query.bytes().filter(|&c| c != b'-').count(),
            subject_range: 0..subject.bytes().filter(|&c| c != b'-').count(),
            identities: 0,
            gaps: edits.iter().filter(|e| e.0 != EditOp::Substitution).map(|e| e.1 as usize).sum(),
            overhang: 0,
            gap_opens: edits.iter().filter(|e| e.0 != EditOp::Substitution).count(),
        };
        let edits: Vec<_> = edits.iter().map(|&(op, len)| Edit { op, len }).collect();
        pair.mark_ends(&edits);
        pair
    }

    #[test]
    fn gaps_at_the_ends_are_blank_and_the_querys_overhang() {
        use EditOp::{GapInQuery, GapInSubject, Substitution};
        let inner = [(Substitution, 1), (GapInQuery, 1), (Substitution, 1)];
        let found = pair("A-C", "ADC", &inner);
        assert_eq!((found.query, found.overhang, found.gap_opens), (b"A-C".to_vec(), 0, 1));
        let before = [(GapInQuery, 2), (Substitution, 1), (GapInQuery, 1), (Substitution, 1)];
        let found = pair("--A-C", "KLADC", &before);
        assert_eq!(found.query, b"  A-C");
        assert_eq!((found.gaps, found.overhang, found.gap_opens), (3, 2, 1));
        let both = [(GapInSubject, 1), (Substitution, 1), (GapInQuery, 2)];
        let found = pair("KA--", "-ALM", &both);
        assert_eq!((&found.query[..], &found.subject[..]), (&b"KA  "[..], &b" ALM"[..]));
        assert_eq!((found.gaps, found.overhang, found.gap_opens), (3, 2, 1));
    }

    #[test]
    fn masks_go_to_the_columns_of_their_residues() {
        let masks = [0..4, 5..6, 8..20];
        let columns = masked_columns(b"  AC-DEF ", &(3..8), masks.into_iter());
        assert_eq!(columns, [2..3, 5..6]);
    }
}
