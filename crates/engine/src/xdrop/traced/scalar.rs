//! Scalar rows of the dynamic programming with traceback, and the window of live columns.

use super::{
    EXTENDS_GAP_IN_QUERY, EXTENDS_GAP_IN_SUBJECT, Extent, GAP_IN_QUERY, GAP_IN_SUBJECT, GapCosts,
    NEVER, SUBSTITUTION, Scheme, StepRecorder, Trace,
};
use crate::scores::RowNumber;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Best score of an alignment that ends in this cell.
    best: i32,
    /// Best score of an alignment whose gap in the subject continues to the next row.
    gap: i32,
}

/// Cells of the row that was computed last.
#[derive(Debug, Default)]
pub(super) struct Cells(Vec<Cell>);

impl Cells {
    /// Extends as [`DpScratch::extend`](super::DpScratch::extend) does. Neither sequence may be
    /// empty. Also returns whether a row reads the last residue of `subject`.
    pub fn extend(
        &mut self,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
        trace: &mut Trace,
    ) -> (Extent, bool) {
        let columns = subject.len() - 1;
        let (mut extent, mut reads_last) = (Extent::default(), false);
        let GapCosts { open, extend } = scheme.gaps;
        let open_extend = open + extend;
        let x_drop = scheme.x_drop.max(open_extend);
        let mut width = self.first_row(columns, open_extend, extend, x_drop, trace);
        let mut first = 0;
        for (row, &number) in query.iter().enumerate() {
            reads_last |= width > columns;
            trace.start_row(first);
            let at = trace.steps.len();
            trace.steps.resize(at + width - first, 0);
            let mut pass = RowPass {
                scores: scheme.scores.row(number),
                open_extend,
                extend,
                x_drop,
                top: extent.score,
                top_at: None,
                first,
                last: first,
                gap_row: NEVER,
            };
            pass.run(&mut self.0[first..width], &subject[first..], &mut trace.steps[at..]);
            if let Some(column) = pass.top_at {
                extent = Extent { score: pass.top, query: row + 1, subject: column };
            }
            first = pass.first;
            if first == width {
                break;
            }
            width = self.grow(&pass, width, columns, trace);
        }
        (extent, reads_last)
    }

    /// Computes the row before the first query residue, which is a gap from the start. Returns the
    /// number of its cells.
    fn first_row(
        &mut self,
        columns: usize,
        open_extend: i32,
        extend: i32,
        x_drop: i32,
        trace: &mut Trace,
    ) -> usize {
        self.0.clear();
        self.0.push(Cell { best: 0, gap: -open_extend });
        let mut score = -open_extend;
        while self.0.len() <= columns && score >= -x_drop {
            self.0.push(Cell { best: score, gap: score - open_extend });
            score -= extend;
        }
        trace.start(self.0.len());
        self.0.len()
    }

    /// Extends the window to the right after a row. Returns its new end.
    fn grow(
        &mut self,
        pass: &RowPass<'_>,
        width: usize,
        columns: usize,
        trace: &mut Trace,
    ) -> usize {
        let mut width = width;
        if pass.last + 1 < width {
            width = pass.last + 1;
            self.0.truncate(width);
        } else {
            let mut gap_row = pass.gap_row;
            while gap_row >= pass.top - pass.x_drop && width <= columns {
                self.0.push(Cell { best: gap_row, gap: gap_row - pass.open_extend });
                trace.steps.push(GAP_IN_QUERY);
                gap_row -= pass.extend;
                width += 1;
            }
        }
        if width <= columns {
            self.0.push(Cell { best: NEVER, gap: NEVER });
            width += 1;
        }
        width
    }
}

/// One row of the dynamic programming.
struct RowPass<'a> {
    scores: &'a [i32; 32],
    open_extend: i32,
    extend: i32,
    x_drop: i32,
    /// Best score up to now.
    top: i32,
    /// Column of the best score, if this row reached it.
    top_at: Option<usize>,
    /// First live column of the row.
    first: usize,
    /// Last live column of the row.
    last: usize,
    /// Best score of an alignment whose gap in the query continues to the next column.
    gap_row: i32,
}

impl RowPass<'_> {
    /// Computes the row. `cells`, `subject` and `trace` begin at column `self.first`; `subject`
    /// begins with the residue after that column.
    #[inline]
    fn run(&mut self, cells: &mut [Cell], subject: &[u8], trace: &mut [u8]) {
        let start = self.first;
        let mut score = NEVER;
        for (i, ((cell, &residue), step)) in cells.iter_mut().zip(subject).zip(trace).enumerate() {
            let next = cell.best + self.scores[usize::from(residue & 31)];
            let mut op = SUBSTITUTION;
            if score < cell.gap {
                op = GAP_IN_SUBJECT;
                score = cell.gap;
            }
            if score < self.gap_row {
                op = GAP_IN_QUERY;
                score = self.gap_row;
            }
            if self.top - score > self.x_drop {
                if self.first == start + i {
                    self.first += 1;
                } else {
                    cell.best = NEVER;
                }
            } else {
                self.last = start + i;
                if score > self.top {
                    self.top = score;
                    self.top_at = Some(start + i);
                }
                let opened = score - self.open_extend;
                let gap = cell.gap - self.extend;
                if gap < opened {
                    cell.gap = opened;
                } else {
                    cell.gap = gap;
                    op |= EXTENDS_GAP_IN_SUBJECT;
                }
                self.gap_row -= self.extend;
                if self.gap_row < opened {
                    self.gap_row = opened;
                } else {
                    op |= EXTENDS_GAP_IN_QUERY;
                }
                cell.best = score;
            }
            score = next;
            *step = op;
        }
    }
}
