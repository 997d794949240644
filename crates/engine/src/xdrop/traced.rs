//! Gapped X-drop dynamic programming with traceback (rules 7.1).
//!
//! Rows are residues of the query, columns are residues of the subject, and a window of live
//! columns moves along as in the score-only pass. The alignment depends on the exact growth of that
//! window and on which of several equal predecessors wins. So both are part of the contract
//! (`ALIGN_EX`, `blast_gapalign.c`).

mod scalar;
#[cfg(test)]
mod tests;

use self::scalar::Cells;
use crate::hits::{Edit, EditOp};
use crate::kernel::Kernel;
use crate::order::Bounds;
use crate::scores::RowNumber;
use crate::xdrop::{
    self, EXTENDS_GAP_IN_QUERY, EXTENDS_GAP_IN_SUBJECT, Extent, GAP_IN_QUERY, GAP_IN_SUBJECT,
    LANES, NEVER, OP_MASK, SUBSTITUTION, StepRecorder, Window,
};

pub(crate) use super::{GapCosts, Scheme};

/// Location of a row of trace bytes: its index in the arena, and the column of its first byte.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: usize,
    first: usize,
}

/// The steps by which cells were reached, for all rows of an extension.
#[derive(Debug, Default)]
struct Trace {
    steps: Vec<u8>,
    rows: Vec<Row>,
}

/// Work space of the dynamic programming, reused for all alignments.
#[derive(Debug)]
pub(crate) struct DpScratch {
    kernel: Kernel,
    cells: Cells,
    window: Window,
    trace: Trace,
    left: Vec<Edit>,
    right: Vec<Edit>,
}

/// An alignment with its columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traced {
    pub score: i32,
    pub bounds: Bounds,
    pub edits: Vec<Edit>,
}

/// Both sequences in both directions. A residue that is read but never aligned follows the subject.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequences<'a> {
    /// Rows of the query, forwards.
    pub query: &'a [RowNumber],
    /// Rows of the query, last one first.
    pub query_back: &'a [RowNumber],
    /// Subject, forwards, with a closing sentinel.
    pub subject: &'a [u8],
    /// Subject, last residue first, with a closing sentinel.
    pub subject_back: &'a [u8],
}

/// Aligns from a pair of residues in both directions (`BLAST_GappedAlignmentWithTraceback`). The
/// seed is part of the left half. Gaps at the ends are removed and their cost is added back.
pub(crate) fn align_from(
    sequences: &Sequences<'_>,
    q_seed: usize,
    s_seed: usize,
    scheme: &Scheme<'_>,
    scratch: &mut DpScratch,
) -> Traced {
    let extend = |scratch: &mut DpScratch, query: &[RowNumber], subject: &[u8]| {
        Some(scratch.extend(query, subject, scheme))
    };
    let traced = align_by(sequences, (q_seed, s_seed), scheme.gaps, scratch, extend);
    traced.expect("these extensions always end")
}

/// Aligns as [`align_from`] does. Returns `None` if BLAST+ would read a residue beyond an end of
/// the subject.
pub(crate) fn align_within(
    sequences: &Sequences<'_>,
    q_seed: usize,
    s_seed: usize,
    scheme: &Scheme<'_>,
    scratch: &mut DpScratch,
) -> Option<Traced> {
    let extend = |scratch: &mut DpScratch, query: &[RowNumber], subject: &[u8]| {
        scratch.extend_within(query, subject, scheme)
    };
    align_by(sequences, (q_seed, s_seed), scheme.gaps, scratch, extend)
}

/// Aligns from a pair of residues by `extend` in both directions. Returns `None` if an extension
/// fails.
fn align_by(
    sequences: &Sequences<'_>,
    (q_seed, s_seed): (usize, usize),
    gaps: GapCosts,
    scratch: &mut DpScratch,
    extend: impl Fn(&mut DpScratch, &[RowNumber], &[u8]) -> Option<Extent>,
) -> Option<Traced> {
    let q_before = &sequences.query_back[sequences.query.len() - 1 - q_seed..];
    let s_len = sequences.subject.len() - 1;
    let s_before = &sequences.subject_back[s_len - 1 - s_seed..];
    let left = extend(scratch, q_before, s_before)?;
    let mut edits = std::mem::take(&mut scratch.left);
    scratch.trace.back(left, &mut edits);
    let right = extend(scratch, &sequences.query[q_seed + 1..], &sequences.subject[s_seed + 1..])?;
    let mut tail = std::mem::take(&mut scratch.right);
    scratch.trace.back(right, &mut tail);
    let traced = joined((q_seed, s_seed), [left, right], [&mut edits, &mut tail], gaps);
    scratch.left = edits;
    scratch.right = tail;
    Some(traced)
}

/// Joins two halves to an alignment. The left half starts with the seed. The edits of both halves
/// run from their end back to their start. Appends the edits of the right half to those of the left
/// half.
pub(crate) fn joined(
    (q_seed, s_seed): (usize, usize),
    [left, right]: [Extent; 2],
    [edits, tail]: [&mut Vec<Edit>; 2],
    gaps: GapCosts,
) -> Traced {
    for edit in tail.iter().rev() {
        push(edits, edit.op, edit.len);
    }
    let mut traced = Traced {
        score: left.score + right.score,
        bounds: Bounds {
            q_start: (q_seed + 1 - left.query) as u32,
            q_end: (q_seed + 1 + right.query) as u32,
            s_start: (s_seed + 1 - left.subject) as u32,
            s_end: (s_seed + 1 + right.subject) as u32,
        },
        edits: Vec::new(),
    };
    let kept = cut_end_gaps(&mut traced, edits, gaps);
    traced.edits = edits[kept].to_vec();
    traced
}

/// Aligns forwards only, from the first residue of both slices. The last residue of `subject` is
/// read, but not aligned. Replaces `edits` by the columns, in order.
pub(crate) fn align_forward(
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    scratch: &mut DpScratch,
    edits: &mut Vec<Edit>,
) -> Extent {
    let extent = scratch.extend(query, subject, scheme);
    scratch.trace.back(extent, edits);
    edits.reverse();
    extent
}

/// Removes gaps at both ends of an alignment from its score and its box. Returns the range of the
/// remaining edits.
fn cut_end_gaps(traced: &mut Traced, edits: &[Edit], gaps: GapCosts) -> std::ops::Range<usize> {
    let (mut from, mut to) = (0, edits.len());
    while from < to && edits[from].op != EditOp::Substitution {
        let edit = edits[from];
        traced.score += gaps.open + edit.len as i32 * gaps.extend;
        match edit.op {
            EditOp::GapInQuery => traced.bounds.s_start += edit.len,
            _ => traced.bounds.q_start += edit.len,
        }
        from += 1;
    }
    while from < to && edits[to - 1].op != EditOp::Substitution {
        let edit = edits[to - 1];
        traced.score += gaps.open + edit.len as i32 * gaps.extend;
        match edit.op {
            EditOp::GapInQuery => traced.bounds.s_end -= edit.len,
            _ => traced.bounds.q_end -= edit.len,
        }
        to -= 1;
    }
    from..to
}

/// Appends `len` columns of type `op`.
pub(crate) fn push(edits: &mut Vec<Edit>, op: EditOp, len: u32) {
    match edits.last_mut() {
        Some(last) if last.op == op => last.len += len,
        _ => edits.push(Edit { op, len }),
    }
}

impl DpScratch {
    /// Creates the work space for a kernel.
    pub fn new(kernel: Kernel) -> Self {
        DpScratch {
            kernel,
            cells: Cells::default(),
            window: Window::default(),
            trace: Trace::default(),
            left: Vec::new(),
            right: Vec::new(),
        }
    }

    /// Finds the best alignment of a prefix of `query` with a prefix of `subject`, and records its
    /// trace. The last residue of `subject` is read, but not aligned.
    fn extend(&mut self, query: &[RowNumber], subject: &[u8], scheme: &Scheme<'_>) -> Extent {
        if query.is_empty() || subject.len() == 1 {
            return Extent::default();
        }
        let DpScratch { kernel, window, trace, cells, .. } = self;
        xdrop::extend(*kernel, query, subject, scheme, window, trace)
            .unwrap_or_else(|| cells.extend(query, subject, scheme, trace).0)
    }

    /// Extends as [`DpScratch::extend`] does. Returns `None` if a row reads the last residue of
    /// `subject`.
    fn extend_within(
        &mut self,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
    ) -> Option<Extent> {
        if query.is_empty() || subject.len() == 1 {
            return Some(Extent::default());
        }
        let (extent, reads_last) = self.cells.extend(query, subject, scheme, &mut self.trace);
        (!reads_last).then_some(extent)
    }
}

impl StepRecorder for Trace {
    fn start(&mut self, cells: usize) {
        self.steps.clear();
        self.rows.clear();
        self.start_row(0);
        self.steps.resize(cells, GAP_IN_QUERY);
    }

    fn start_row(&mut self, first: usize) {
        self.rows.push(Row { at: self.steps.len(), first });
    }

    #[inline(always)]
    fn append(&mut self, steps: impl FnOnce(&mut [u8; LANES])) {
        // Written in place: copying bytes again would wait for the cells to reach memory.
        self.steps.extend_from_slice(&[0; LANES]);
        if let Some(place) = self.steps.last_chunk_mut() {
            steps(place);
        }
    }
}

impl Trace {
    /// Replaces `edits` by the columns of an alignment, from its end back to its start.
    fn back(&self, extent: Extent, edits: &mut Vec<Edit>) {
        edits.clear();
        let (mut a, mut b) = (extent.query, extent.subject);
        let mut op = SUBSTITUTION;
        while a > 0 || b > 0 {
            let row = self.rows[a];
            let cell = self.steps[row.at + b - row.first];
            op = match op {
                GAP_IN_QUERY if cell & EXTENDS_GAP_IN_QUERY != 0 => GAP_IN_QUERY,
                GAP_IN_SUBJECT if cell & EXTENDS_GAP_IN_SUBJECT != 0 => GAP_IN_SUBJECT,
                _ => cell & OP_MASK,
            };
            match op {
                GAP_IN_QUERY => {
                    b -= 1;
                    push(edits, EditOp::GapInQuery, 1);
                }
                GAP_IN_SUBJECT => {
                    a -= 1;
                    push(edits, EditOp::GapInSubject, 1);
                }
                _ => {
                    a -= 1;
                    b -= 1;
                    push(edits, EditOp::Substitution, 1);
                }
            }
        }
    }
}
