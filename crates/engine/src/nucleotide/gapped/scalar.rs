//! Extends cell by cell, with a window of live columns. This is the reference for vectors, and the
//! code for CPUs without them.

use crate::scores::{ScoreRow, ScoreRows};
use crate::xdrop::{Extent, GapCosts, NEVER};

/// A cell of the row that was computed last. There is one for each column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Best score of an alignment that ends in this cell.
    best: i32,
    /// Best score of an alignment whose gap in the query may continue in the next row.
    gap: i32,
}

const DEAD: Cell = Cell { best: NEVER, gap: NEVER };

/// Costs of gaps, and the X-drop.
struct Costs {
    /// Cost of the first base of a gap.
    open: i32,
    /// Cost of each further base.
    extend: i32,
    x_drop: i32,
}

/// Range of columns that may be alive, and the cell with the best score up to now.
struct Window {
    first: usize,
    size: usize,
    best: Extent,
}

/// Finds the best extension over a prefix of the query's `letters` and a prefix of the subject's
/// `bases`. The last of the letters, a sentinel, is never part of it.
pub(super) fn extend(
    letters: &[u8],
    bases: impl Iterator<Item = u8>,
    scores: &ScoreRows,
    gaps: GapCosts,
    x_drop: i32,
    cells: &mut Vec<Cell>,
) -> Extent {
    let columns = letters.len() - 1;
    if columns == 0 {
        return Extent::default();
    }
    let costs = Costs { open: gaps.open + gaps.extend, extend: gaps.extend, x_drop };
    let size = first_row(columns, &costs, cells);
    let mut window = Window { first: 0, size, best: Extent::default() };
    for (row, base) in bases.enumerate() {
        let (last, across) =
            advance(row + 1, &mut window, cells, letters, scores.row(base.into()), &costs);
        if window.first == window.size {
            break;
        }
        grow(&mut window, cells, columns, last, across, &costs);
    }
    window.best
}

/// Fills the row before the first base: a gap from the start. Returns its number of cells.
fn first_row(columns: usize, costs: &Costs, cells: &mut Vec<Cell>) -> usize {
    cells.clear();
    cells.push(Cell { best: 0, gap: -costs.open });
    let mut score = -costs.open;
    while cells.len() <= columns && score >= -costs.x_drop {
        cells.push(Cell { best: score, gap: score - costs.open });
        score -= costs.extend;
    }
    cells.len()
}

/// Computes a row. Returns the last live column, and the score of a gap that goes on to the right
/// of it.
#[inline(always)]
fn advance(
    row: usize,
    window: &mut Window,
    cells: &mut [Cell],
    letters: &[u8],
    scores: &ScoreRow,
    costs: &Costs,
) -> (usize, i32) {
    let start = window.first;
    let mut last = start;
    let (mut score, mut across) = (NEVER, NEVER);
    let cells = cells[start..window.size].iter_mut().zip(&letters[start..]);
    for (column, (cell, &letter)) in (start..).zip(cells) {
        let next = cell.best + scores[usize::from(letter & 31)];
        score = score.max(cell.gap).max(across);
        if window.best.score - score > costs.x_drop {
            if column == window.first {
                window.first += 1;
            } else {
                cell.best = NEVER;
            }
        } else {
            last = column;
            if score > window.best.score {
                window.best = Extent { score, query: column, subject: row };
            }
            let opened = score - costs.open;
            across = (across - costs.extend).max(opened);
            cell.gap = (cell.gap - costs.extend).max(opened);
            cell.best = score;
        }
        score = next;
    }
    (last, across)
}

/// Sets the right end of the window for the next row.
fn grow(
    window: &mut Window,
    cells: &mut Vec<Cell>,
    columns: usize,
    last: usize,
    mut across: i32,
    costs: &Costs,
) {
    if last + 1 < window.size {
        window.size = last + 1;
        cells.truncate(window.size);
    } else {
        while across >= window.best.score - costs.x_drop && window.size <= columns {
            cells.push(Cell { best: across, gap: across - costs.open });
            across -= costs.extend;
            window.size += 1;
        }
    }
    if window.size <= columns {
        cells.push(DEAD);
        window.size += 1;
    }
}
