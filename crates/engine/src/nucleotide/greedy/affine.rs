//! Greedy extension where opening a gap costs more than extending it (`BLAST_AffineGreedyAlign`,
//! `greedy_align.c`).

use super::pairs::OutwardSequences;
use super::{BestEnd, NOWHERE, Run, Scoring, divide_up, push};
use crate::hits::{Edit, EditOp};

/// Reach, in subject positions, of the paths of one distance on a diagonal, by the last step of a
/// path.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Reach of paths that end with a pair; [`NOWHERE`] also if the cell was dropped.
    pair: i32,
    /// Reach of paths that end with a gap in the subject.
    gap_in_subject: i32,
    /// Reach of paths that end with a gap in the query.
    gap_in_query: i32,
}

/// The diagonals on which paths of one distance continue.
#[derive(Clone, Copy, Debug)]
struct Row {
    distance: i32,
    /// Best score of the rows up to this one.
    best: i32,
    /// Index of the first diagonal's cell among all cells.
    at: usize,
    first: i32,
    last: i32,
}

/// The rows of an extension, in the order of their distances. A distance at which no diagonal
/// continues has no row. So time and memory do not grow with the size of costs.
#[derive(Debug, Default)]
pub(super) struct Rows {
    cells: Vec<Cell>,
    rows: Vec<Row>,
    /// Distances of the kinds of differences in the last extension, which the traceback needs.
    steps: Steps,
}

/// Indexes of the rows from which a distance is reached, one for each kind of step.
#[derive(Clone, Copy, Debug, Default)]
struct SourceRows {
    mismatch: Option<usize>,
    open: Option<usize>,
    extend: Option<usize>,
}

/// For each kind of step, the index of the first row from which this step has not been taken yet.
#[derive(Debug, Default)]
struct Cursors {
    mismatch: usize,
    open: usize,
    extend: usize,
}

impl Cursors {
    /// Returns the next distance that can be reached, and its source rows.
    fn advance(&mut self, rows: &[Row], steps: &Steps) -> Option<(i32, SourceRows)> {
        let to = |row: usize, step| rows.get(row).map(|row| row.distance + step);
        let mismatch = to(self.mismatch, steps.mismatch);
        let open = to(self.open, steps.open);
        let extend = to(self.extend, steps.extend);
        let distance = [mismatch, open, extend].into_iter().flatten().min()?;
        let taken = |cursor: &mut usize, to| {
            let row = (to == Some(distance)).then_some(*cursor);
            *cursor += usize::from(row.is_some());
            row
        };
        let sources = SourceRows {
            mismatch: taken(&mut self.mismatch, mismatch),
            open: taken(&mut self.open, open),
            extend: taken(&mut self.extend, extend),
        };
        Some((distance, sources))
    }
}

/// Distances of the kinds of differences, divided by their greatest common divisor.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    mismatch: i32,
    /// Distance of the first base of a gap.
    open: i32,
    /// Distance of each further base of a gap.
    extend: i32,
    common: i32,
}

impl Steps {
    fn new(scoring: &Scoring) -> Steps {
        let mismatch = scoring.reward - scoring.penalty;
        let extend = scoring.gaps.extend + scoring.reward / 2;
        let common = divisor(divisor(mismatch, scoring.gaps.open), extend);
        let open = (scoring.gaps.open + extend) / common;
        Steps { mismatch: mismatch / common, open, extend: extend / common, common }
    }
}

/// Returns the greatest common divisor.
fn divisor(a: i32, b: i32) -> i32 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

/// The diagonals that the next row examines, and the limits that it must not cross.
struct Range {
    low: i32,
    high: i32,
    least: Option<i32>,
    most: Option<i32>,
}

impl Rows {
    fn cell_in(&self, row: Option<usize>, diagonal: i32) -> Option<Cell> {
        let row = self.rows[row?];
        let inside = (row.first..=row.last).contains(&diagonal);
        inside.then(|| self.cells[row.at + (diagonal - row.first) as usize])
    }

    fn cell(&self, distance: i32, diagonal: i32) -> Option<Cell> {
        let row = self.rows.binary_search_by_key(&distance, |row| row.distance);
        self.cell_in(row.ok(), diagonal)
    }

    /// Extends from the start of both sequences. Scores and X-drop are in units in which the reward
    /// is even.
    pub fn extend<const BACK: bool>(
        &mut self,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
    ) -> BestEnd {
        let steps = Steps::new(scoring);
        let half = scoring.reward / 2;
        let back = (x_drop + half) / steps.common + 1;
        self.steps = steps;
        self.cells.clear();
        self.rows.clear();
        let run = sequences.run(0, 0, 0);
        let (q_len, s_len) = (sequences.query.length, sequences.subject.length);
        let longest = Run { length: run, ..Run::default() };
        let mut best = run * scoring.reward;
        let mut found =
            BestEnd { value: best, query: run, subject: run, longest, ..BestEnd::default() };
        self.cells.push(Cell { pair: run, gap_in_subject: NOWHERE, gap_in_query: NOWHERE });
        self.rows.push(Row { distance: 0, best, at: 0, first: 0, last: 0 });
        if run == q_len || run == s_len {
            return found;
        }
        let mut range = Range { low: 0, high: 0, least: None, most: None };
        let (mut cursors, mut behind) = (Cursors::default(), 0);
        while let Some((distance, sources)) = cursors.advance(&self.rows, &steps) {
            let before = self.best_before(distance - back, &mut behind);
            // An X-drop below zero refers to rows that do not exist yet.
            let before = if back > 0 { before } else { 0 };
            let least = divide_up(before + steps.common * distance - x_drop, half).max(0);
            self.widen(&sources, &mut range);
            let start = self.cells.len();
            let from = range.low;
            let (query, subject) =
                self.next(sequences, &sources, &mut range, least, &mut found.longest);
            let score = (query + subject) * half - distance * steps.common;
            if score > best {
                best = score;
                found = BestEnd { value: score, distance, query, subject, ..found };
            }
            if range.low <= range.high {
                let at = start + (range.low - from) as usize;
                let (first, last) = (range.low, range.high);
                self.rows.push(Row { distance, best, at, first, last });
            }
        }
        found
    }

    /// Returns the best score up to a distance; 0 before the first row. `behind` has the number of
    /// rows up to the distance of the previous call. Distances must not decrease from call to call.
    fn best_before(&self, distance: i32, behind: &mut usize) -> i32 {
        while self.rows.get(*behind).is_some_and(|row| row.distance <= distance) {
            *behind += 1;
        }
        behind.checked_sub(1).map_or(0, |last| self.rows[last].best)
    }

    /// Extends the range to the diagonals that the source rows reach.
    fn widen(&self, sources: &SourceRows, range: &mut Range) {
        let reach = |row: Option<usize>, aside: i32| {
            row.map(|row| (self.rows[row].first - aside, self.rows[row].last + aside))
        };
        let reached =
            [reach(sources.mismatch, 0), reach(sources.open, 1), reach(sources.extend, 1)];
        range.low = reached.iter().flatten().map(|&(low, _)| low).min().unwrap_or(0);
        range.high = reached.iter().flatten().map(|&(_, high)| high).max().unwrap_or(-1);
        range.low = range.least.map_or(range.low, |least| range.low.max(least));
        range.high = range.most.map_or(range.high, |most| range.high.min(most));
    }

    /// Returns the cell of a diagonal before its run of pairs is added, and the start of that run
    /// in the subject.
    fn arrive(&self, sources: &SourceRows, diagonal: i32) -> (Cell, i32) {
        let &SourceRows { mismatch, open, extend } = sources;
        let pair = |diagonal| self.cell_in(open, diagonal).map_or(NOWHERE, |c| c.pair);
        let longer = self.cell_in(extend, diagonal + 1).map_or(NOWHERE, |c| c.gap_in_query);
        let reach = pair(diagonal + 1).max(longer);
        let gap_in_query = if reach == NOWHERE { NOWHERE } else { reach + 1 };
        let longer = self.cell_in(extend, diagonal - 1).map_or(NOWHERE, |c| c.gap_in_subject);
        let gap_in_subject = pair(diagonal - 1).max(longer);
        let mut from = gap_in_subject.max(gap_in_query);
        if let Some(cell) = self.cell_in(mismatch, diagonal) {
            from = from.max(cell.pair + 1);
        }
        (Cell { pair: NOWHERE, gap_in_subject, gap_in_query }, from)
    }

    /// Computes the cells of a distance. Returns the query and subject positions of the largest
    /// extent. Leaves in `range` the diagonals that continue.
    fn next<const BACK: bool>(
        &mut self,
        sequences: &OutwardSequences<'_, BACK>,
        sources: &SourceRows,
        range: &mut Range,
        least: i32,
        longest: &mut Run,
    ) -> (i32, i32) {
        let (q_len, s_len) = (sequences.query.length, sequences.subject.length);
        let mut furthest = (0, 0);
        for diagonal in range.low..=range.high {
            let (mut cell, mut subject) = self.arrive(sources, diagonal);
            let mut query = subject + diagonal;
            if subject < 0 || query + subject < least {
                range.low += i32::from(diagonal == range.low);
                self.cells.push(cell);
                continue;
            }
            range.high = diagonal;
            let run = sequences.run(query, subject, 0);
            if run > longest.length {
                *longest = Run { query, subject, length: run };
            }
            query += run;
            subject += run;
            cell.pair = subject;
            self.cells.push(cell);
            if query + subject > furthest.0 + furthest.1 {
                furthest = (query, subject);
            }
            if query == q_len {
                range.high = diagonal;
                range.most = Some(diagonal - 1);
            }
            if subject == s_len {
                range.low = diagonal;
                range.least = Some(diagonal + 1);
            }
        }
        furthest
    }

    /// Appends the columns up to the best end, the last one first.
    pub fn trace(&self, found: &BestEnd, edits: &mut Vec<Edit>) {
        let (mut distance, mut subject) = (found.distance, found.subject);
        let mut diagonal = found.query - found.subject;
        let mut op = EditOp::Substitution;
        while distance > 0 {
            if op == EditOp::Substitution {
                let to;
                (op, to) = self.before_pairs(&mut distance, diagonal);
                push(edits, EditOp::Substitution, subject - to);
                subject = to;
                continue;
            }
            push(edits, op, 1);
            let aside = if op == EditOp::GapInSubject { diagonal - 1 } else { diagonal + 1 };
            subject -= i32::from(op == EditOp::GapInQuery);
            op = self.before_gap(&mut distance, aside, op);
            diagonal = aside;
        }
        push(edits, EditOp::Substitution, self.cells[0].pair);
    }

    /// Returns the step before a run of pairs (or before a mismatch at its start), and the subject
    /// position where this step ends. Lowers `distance` if the step is a mismatch.
    fn before_pairs(&self, distance: &mut i32, diagonal: i32) -> (EditOp, i32) {
        let cell = self.cell(*distance, diagonal);
        let (gap_in_subject, gap_in_query) =
            cell.map_or((NOWHERE, NOWHERE), |c| (c.gap_in_subject, c.gap_in_query));
        let mismatched = self.cell(*distance - self.steps.mismatch, diagonal);
        match mismatched {
            Some(from) if from.pair >= gap_in_subject.max(gap_in_query) => {
                *distance -= self.steps.mismatch;
                (EditOp::Substitution, from.pair)
            }
            _ if gap_in_subject > gap_in_query => (EditOp::GapInSubject, gap_in_subject),
            _ => (EditOp::GapInQuery, gap_in_query),
        }
    }

    /// Returns the step before a base opposite a gap, and lowers `distance`. `aside` is the
    /// diagonal from which the gap came.
    fn before_gap(&self, distance: &mut i32, aside: i32, op: EditOp) -> EditOp {
        let longer = self.cell(*distance - self.steps.extend, aside).map_or(NOWHERE, |cell| {
            if op == EditOp::GapInSubject { cell.gap_in_subject } else { cell.gap_in_query }
        });
        let opened = self.cell(*distance - self.steps.open, aside);
        if opened.is_some_and(|from| longer < from.pair) {
            *distance -= self.steps.open;
            EditOp::Substitution
        } else {
            *distance -= self.steps.extend;
            op
        }
    }
}
