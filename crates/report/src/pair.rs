//! An alignment as two rows of letters, and what is counted in it.

use std::ops::Range;

use fleetblast_engine::hits::{Alignment, EditOp};
use fleetblast_seq::alphabet;

use crate::error::ReportError;
use crate::letters::Positives;
use crate::model::{QueryResult, Search, SubjectSource};

/// The letters of an alignment, column by column. Positions are 0-based and count from the start of
/// the whole sequences.
#[derive(Debug)]
pub struct Pair {
    /// The query's letters, `-` in gaps.
    pub query: Vec<u8>,
    /// The subject's letters, `-` in gaps.
    pub subject: Vec<u8>,
    /// Query residues covered.
    pub query_range: Range<usize>,
    /// Subject residues covered.
    pub subject_range: Range<usize>,
    /// Columns with equal letters.
    pub identities: usize,
    /// Columns with a gap.
    pub gaps: usize,
    /// Runs of columns with a gap in the same sequence.
    pub gap_opens: usize,
}

impl Pair {
    /// Lays out an alignment with the letters as read: masked ones too.
    ///
    /// # Errors
    /// If the alignment does not fit the sequences.
    pub fn new(
        search: &Search,
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
        let subject_range = shifted(&alignment.subject, search.database.subject_offset);
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
        Ok(pair)
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
    pub fn masked_columns(&self, query: &QueryResult) -> Vec<Range<usize>> {
        let covered = &self.query_range;
        let mut masked = Vec::new();
        for mask in &query.query.masks {
            let mask = shifted(mask, query.offset());
            let (start, end) = (mask.start.max(covered.start), mask.end.min(covered.end));
            if start < end {
                let first = self.column_of(start - covered.start);
                masked.push(first..self.column_of(end - 1 - covered.start) + 1);
            }
        }
        masked
    }

    /// The column of the n-th query residue of the alignment, from 0.
    fn column_of(&self, n: usize) -> usize {
        let letters = self.query.iter().enumerate().filter(|&(_, &c)| c != b'-');
        letters.map(|(column, _)| column).nth(n).unwrap_or(self.query.len())
    }
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
