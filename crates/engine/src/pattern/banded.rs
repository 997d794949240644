//! End-to-end alignment of two short ranges, near their diagonal (`s_BandedAlign` and `s_Align`,
//! phi_gapalign.c).

use crate::hits::{Edit, EditOp};
use crate::scores::{NEVER, RowNumber, ScoreRows};
use crate::xdrop::GapCosts;
use crate::xdrop::traced::push;

/// Maximum distance of an alignment from the main diagonal. It is larger only if the lengths of the
/// two ranges differ by more.
const BAND: i64 = 5;

/// A cell of the dynamic programming matrix: the score of the best alignment that ends here, and of
/// the best alignment whose gap in the subject continues to the next row.
#[derive(Clone, Copy)]
struct Cell {
    best: i32,
    gap: i32,
    step: Step,
}

/// Type of the last column of the best alignment that ends in a cell, and whether the gaps that
/// continue from the cell began before it.
#[derive(Clone, Copy)]
struct Step {
    op: EditOp,
    /// Whether the gap in the query that continues to the right began before this cell.
    extends_right: bool,
    /// Whether the gap in the subject that continues downwards began before this cell.
    extends_down: bool,
}

const OPENED: Step = Step { op: EditOp::GapInQuery, extends_right: false, extends_down: false };
const DEAD: Cell = Cell { best: NEVER, gap: NEVER, step: OPENED };

/// Appends the columns of the alignment of all of `query` with all of `subject`. Among equal scores
/// it prefers a pair to a gap in the query, and a gap in the query to a gap in the subject. It
/// prefers extending a gap to opening one.
pub(super) fn align(
    query: &[RowNumber],
    subject: &[u8],
    scores: &ScoreRows,
    gaps: GapCosts,
    edits: &mut Vec<Edit>,
) {
    let (m, n) = (query.len(), subject.len());
    if m == 0 || n == 0 {
        let (op, len) = if n == 0 { (EditOp::GapInSubject, m) } else { (EditOp::GapInQuery, n) };
        if len > 0 {
            push(edits, op, len as u32);
        }
        return;
    }
    let cells = fill(query, subject, scores, gaps);
    let (mut i, mut j, mut after) = (m, n, EditOp::Substitution);
    let mut columns = Vec::new();
    while (i, j) != (0, 0) {
        let step = cells[i][j].step;
        let op = match after {
            EditOp::GapInQuery if step.extends_right => EditOp::GapInQuery,
            EditOp::GapInSubject if step.extends_down => EditOp::GapInSubject,
            _ => step.op,
        };
        i -= usize::from(op != EditOp::GapInQuery);
        j -= usize::from(op != EditOp::GapInSubject);
        columns.push(op);
        after = op;
    }
    columns.iter().rev().for_each(|&op| push(edits, op, 1));
}

/// Computes all cells, by rows of the query.
fn fill(query: &[RowNumber], subject: &[u8], scores: &ScoreRows, gaps: GapCosts) -> Vec<Vec<Cell>> {
    let (m, n) = (query.len() as i64, subject.len() as i64);
    let low = (-m).max(-BAND).min((n - m).min(0));
    let high = n.min(BAND).max((n - m).max(0));
    let first_gap = gaps.open + gaps.extend;
    let mut cells = vec![vec![DEAD; subject.len() + 1]; query.len() + 1];
    for (j, cell) in cells[0].iter_mut().enumerate().take(high as usize + 1) {
        let best = if j == 0 { 0 } else { -gaps.open - gaps.extend * j as i32 };
        *cell = Cell { best, gap: best - first_gap, step: OPENED };
    }
    for (i, &row) in (1..).zip(query) {
        let columns = (i as i64 + low).max(0)..=(i as i64 + high).min(n);
        let mut right = NEVER;
        for j in columns.map(|j| j as usize) {
            let pair = match j {
                0 => NEVER,
                _ => cells[i - 1][j - 1].best + scores.score(row, subject[j - 1]),
            };
            let down = if j as i64 <= i as i64 - 1 + high { cells[i - 1][j].gap } else { NEVER };
            cells[i][j] = cell(pair, down, &mut right, (first_gap, gaps.extend));
        }
    }
    cells
}

/// Computes a cell from its three neighbours. `right` is the score of the best alignment that ends
/// in this cell with a gap in the query. It is [`NEVER`] in the first cell of a row. It is updated
/// for the next column.
///
/// As in BLAST+, no gap opens directly after another one, even if that would score more. Exceptions
/// are the first row, and the first cell of each row, which has no left neighbour.
fn cell(pair: i32, down: i32, right: &mut i32, (first_gap, extend): (i32, i32)) -> Cell {
    let is_first = *right == NEVER;
    let best = pair.max(down).max(*right);
    let op = if down > pair.max(*right) {
        EditOp::GapInSubject
    } else if *right > pair {
        EditOp::GapInQuery
    } else {
        EditOp::Substitution
    };
    let opened = best - first_gap;
    let opens = is_first || op == EditOp::Substitution;
    let extends_right = !is_first && (!opens || opened <= *right - extend);
    let extends_down = !opens || opened <= down - extend;
    *right = if extends_right { *right - extend } else { opened };
    let gap = if extends_down { down - extend } else { opened };
    Cell { best, gap, step: Step { op, extends_right, extends_down } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::rows_of_letters;
    use crate::testing::RandomSequences;
    use fastrand::Rng;
    use fleetblast_stats::release::Release;
    use fleetblast_stats::scoring::ScoringSystem;

    /// Returns the numbers of letters of query and subject in the columns.
    fn lengths(edits: &[Edit]) -> (usize, usize) {
        let len =
            |gap| edits.iter().filter(move |edit| edit.op != gap).map(|edit| edit.len as usize);
        (len(EditOp::GapInQuery).sum(), len(EditOp::GapInSubject).sum())
    }

    #[test]
    fn columns_take_all_letters() {
        let mut random = Rng::with_seed(7);
        for (matrix, open, extend) in [("BLOSUM62", 11, 1), ("PAM30", 5, 3), ("IDENTITY", 15, 2)] {
            let scoring = ScoringSystem::new(&Release::V2_12_0, matrix, None, None).unwrap();
            let scores = ScoreRows::of_matrix(&scoring.scores);
            for _ in 0..20_000 {
                let mut letters = || {
                    let len = random.usize(..9);
                    random.protein(len)
                };
                let (query, subject) = (letters(), letters());
                if query.len() == subject.len() {
                    continue;
                }
                let mut edits = Vec::new();
                let gaps = GapCosts { open, extend };
                align(&rows_of_letters(&query), &subject, &scores, gaps, &mut edits);
                let (in_query, in_subject) = lengths(&edits);
                assert_eq!(in_query, query.len(), "{query:?} {subject:?} {edits:?}");
                assert_eq!(in_subject, subject.len(), "{query:?} {subject:?} {edits:?}");
            }
        }
    }
}
