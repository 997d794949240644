//! Score-only gapped extension with an X-drop (rules 5.5; facts from `Blast_SemiGappedAlign` and
//! `s_RestrictedGappedAlign` in `blast_gapalign.c`).
//!
//! An extension runs in one direction from a start pair. The caller passes both sequences in the
//! direction of the extension, so that one function serves left and right. The scalar code here
//! works for any scores and costs. [`Extender`] does the same in vectors of 8-bit or 16-bit
//! numbers, if the scores fit and the window is narrow enough for its registers. [`Wide`] does it
//! in vectors of 32-bit numbers otherwise.

mod extender;
mod rows;
#[cfg(test)]
mod tests;
mod wide;

use crate::scores::{RowNumber, ScoreRow, ScoreRows};

pub(super) use self::extender::Extender;
pub(super) use self::rows::LastRow;
pub(super) use self::wide::Wide;
pub(super) use crate::xdrop::Extent;
pub(super) use crate::xdrop::frames::{Direction, ExtensionCosts, MARGIN};

/// Score that stands for minus infinity. Adding a few scores to it does not overflow.
pub(super) const MIN_SCORE: i32 = i32::MIN / 2;

/// Distance, in residues, between positions at which gaps may start in the restricted variant.
const RESTRICTED_STEP: usize = 10;

/// Scores at a column of the dynamic programming: of the best alignment that ends here, and of the
/// best alignment that ends here in a gap in the subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    best: i32,
    gap: i32,
}

const DEAD: Cell = Cell { best: MIN_SCORE, gap: MIN_SCORE };

/// The window of live columns of the current row, and the best score up to now.
struct Window {
    first: usize,
    size: usize,
    best: Extent,
}

/// Extends over `query` and `subject`. The last byte of `subject` is beyond the extension and only
/// read. `cells` is scratch memory.
pub(super) fn extend(
    query: &[RowNumber],
    subject: &[u8],
    scores: &ScoreRows,
    costs: ExtensionCosts,
    cells: &mut Vec<Cell>,
) -> Extent {
    run(query, subject, scores, costs, cells, |a, window, cells, letters, row| {
        full_row(a, window, cells, letters, row, costs)
    })
}

/// Extends as [`extend`] does, but gaps may start only at every tenth residue. Takes less time, and
/// gives a lower bound of the score.
pub(super) fn extend_restricted(
    query: &[RowNumber],
    subject: &[u8],
    scores: &ScoreRows,
    costs: ExtensionCosts,
    cells: &mut Vec<Cell>,
) -> Extent {
    run(query, subject, scores, costs, cells, |a, window, cells, letters, row| {
        if a.is_multiple_of(RESTRICTED_STEP) {
            restricted_row::<true>(a, window, cells, letters, row, costs)
        } else {
            restricted_row::<false>(a, window, cells, letters, row, costs)
        }
    })
}

/// Runs the code that both variants share: the initial row, rows until the window is empty, and
/// growth of the window to the right.
///
/// `row` computes one row. It returns the last live column and the score of a gap after it.
#[inline(always)]
fn run(
    query: &[RowNumber],
    subject: &[u8],
    scores: &ScoreRows,
    costs: ExtensionCosts,
    cells: &mut Vec<Cell>,
    mut row: impl FnMut(usize, &mut Window, &mut [Cell], &[u8], &ScoreRow) -> (usize, i32),
) -> Extent {
    let n = subject.len() - 1;
    if query.is_empty() || n == 0 {
        return Extent::default();
    }
    if cells.len() < n + 2 {
        cells.resize(n + 2, DEAD);
    }
    let cells = &mut cells[..n + 2];
    let mut window =
        Window { first: 0, size: initial_row(cells, n, costs), best: Extent::default() };
    for (a, &number) in query.iter().enumerate() {
        let (last, gap_row) = row(a + 1, &mut window, cells, subject, scores.row(number));
        if window.first == window.size {
            break;
        }
        grow(&mut window, cells, n, last, gap_row, costs);
    }
    window.best
}

/// Fills the row before the first query residue. Returns the number of columns filled.
fn initial_row(cells: &mut [Cell], n: usize, costs: ExtensionCosts) -> usize {
    cells[0] = Cell { best: 0, gap: -costs.open_extend };
    let mut score = -costs.open_extend;
    let mut size = 1;
    while size <= n && score >= -costs.x_drop {
        cells[size] = Cell { best: score, gap: score - costs.open_extend };
        score -= costs.extend;
        size += 1;
    }
    size
}

/// Sets the right end of the window for the next row.
#[inline(always)]
fn grow(
    window: &mut Window,
    cells: &mut [Cell],
    n: usize,
    last: usize,
    mut gap_row: i32,
    costs: ExtensionCosts,
) {
    if last + 1 < window.size {
        window.size = last + 1;
    } else {
        while gap_row >= window.best.score - costs.x_drop && window.size <= n {
            cells[window.size] = Cell { best: gap_row, gap: gap_row - costs.open_extend };
            gap_row -= costs.extend;
            window.size += 1;
        }
    }
    if window.size <= n {
        cells[window.size] = DEAD;
        window.size += 1;
    }
}

/// Computes one row with gaps anywhere.
#[inline(always)]
fn full_row(
    a: usize,
    window: &mut Window,
    cells: &mut [Cell],
    letters: &[u8],
    row: &ScoreRow,
    costs: ExtensionCosts,
) -> (usize, i32) {
    let start = window.first;
    let mut first = window.first;
    let mut last = start;
    let mut best = window.best;
    let mut score = MIN_SCORE;
    let mut gap_row = MIN_SCORE;
    for (i, (cell, &letter)) in
        cells[start..window.size].iter_mut().zip(&letters[start..]).enumerate()
    {
        let b = start + i;
        let next = cell.best + row[(letter & 31) as usize];
        let gap_column = cell.gap;
        score = score.max(gap_column).max(gap_row);
        if best.score - score > costs.x_drop {
            if b == first {
                first += 1;
            } else {
                cell.best = MIN_SCORE;
            }
        } else {
            last = b;
            if score > best.score {
                best = Extent { score, query: a, subject: b };
            }
            let opened = score - costs.open_extend;
            gap_row = (gap_row - costs.extend).max(opened);
            cell.gap = (gap_column - costs.extend).max(opened);
            cell.best = score;
        }
        score = next;
    }
    window.first = first;
    window.best = best;
    (last, gap_row)
}

/// Computes one row of the restricted variant. With `GAP_ROW` a gap in the query may start in this
/// row.
#[inline(always)]
fn restricted_row<const GAP_ROW: bool>(
    a: usize,
    window: &mut Window,
    cells: &mut [Cell],
    letters: &[u8],
    row: &ScoreRow,
    costs: ExtensionCosts,
) -> (usize, i32) {
    let start = window.first;
    let mut first = window.first;
    let mut last = start;
    let mut best = window.best;
    let mut score = MIN_SCORE;
    let mut gap_row = MIN_SCORE;
    let mut gap_column_at = start.next_multiple_of(RESTRICTED_STEP);
    for (i, (cell, &letter)) in
        cells[start..window.size].iter_mut().zip(&letters[start..]).enumerate()
    {
        let b = start + i;
        let next = cell.best + row[(letter & 31) as usize];
        let column_open = b == gap_column_at;
        if column_open {
            gap_column_at += RESTRICTED_STEP;
            score = score.max(cell.gap);
        }
        if GAP_ROW {
            score = score.max(gap_row);
        }
        if best.score - score > costs.x_drop {
            cell.best = MIN_SCORE;
            if b == first {
                first += 1;
            }
        } else {
            last = b;
            if score > best.score {
                best = Extent { score, query: a, subject: b };
            }
            let opened = score - costs.open_extend;
            if GAP_ROW {
                gap_row = (gap_row - costs.extend).max(opened);
            }
            if column_open {
                cell.gap = (cell.gap - costs.extend).max(opened);
            }
            cell.best = score;
        }
        score = next;
    }
    window.first = first;
    window.best = best;
    // Without gaps in this row the growth starts from the diagonal score that would enter the
    // column beyond the window.
    (last, if GAP_ROW { gap_row } else { score })
}
