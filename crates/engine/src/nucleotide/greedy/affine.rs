//! Greedy extension where opening a gap costs more than extending it (`BLAST_AffineGreedyAlign`, `greedy_align.c`).

use super::pairs::Walk;
use super::{Found, NOWHERE, Run, Scoring, divide_up, push};
use crate::hits::{Edit, EditOp};

/// Beyond every diagonal.
const FAR: i32 = 100_000_000;

/// How far a diagonal gets at a distance, by what its path ends with.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Pairs; [`NOWHERE`] as well if the cell was dropped.
    pair: i32,
    /// A gap in the subject.
    gap_in_subject: i32,
    /// A gap in the query.
    gap_in_query: i32,
}

/// The diagonals that go on from a distance; none if the first is above the last.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Place of the first diagonal's cell among all cells.
    at: usize,
    first: i32,
    last: i32,
}

const EMPTY: Row = Row { at: 0, first: FAR, last: -FAR };

/// The rows of an extension, by distance.
#[derive(Debug, Default)]
pub(super) struct Rows {
    cells: Vec<Cell>,
    rows: Vec<Row>,
    /// Best score up to a distance.
    best: Vec<i32>,
    /// Distances of the extension, for the way back.
    steps: Steps,
}

/// Distances that differences add, divided by what they have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    mismatch: i32,
    /// The first base of a gap.
    open: i32,
    /// Each further one.
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

    fn longest(&self) -> i32 {
        self.mismatch.max(self.open)
    }
}

/// Greatest common divisor.
fn divisor(a: i32, b: i32) -> i32 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

/// The diagonals that the next row looks at, and which it may not look at any more.
struct Range {
    low: i32,
    high: i32,
    least: Option<i32>,
    most: Option<i32>,
}

impl Rows {
    fn row(&self, distance: i32) -> Row {
        usize::try_from(distance).ok().and_then(|at| self.rows.get(at)).copied().unwrap_or(EMPTY)
    }

    fn cell(&self, distance: i32, diagonal: i32) -> Option<Cell> {
        let row = self.row(distance);
        let inside = (row.first..=row.last).contains(&diagonal);
        inside.then(|| self.cells[row.at + (diagonal - row.first) as usize])
    }

    /// Extends from the start of both sequences; scores and X-drop are in units in which the reward is even.
    pub fn extend<const BACK: bool>(
        &mut self,
        walk: &Walk<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
    ) -> Found {
        let steps = Steps::new(scoring);
        let half = scoring.reward / 2;
        let back = (x_drop + half) / steps.common + 1;
        self.steps = steps;
        self.cells.clear();
        self.rows.clear();
        self.best.clear();
        let run = walk.run(0, 0, 0);
        let (q_len, s_len) = (walk.query.length, walk.subject.length);
        let longest = Run { length: run, ..Run::default() };
        let value = run * scoring.reward;
        let mut found = Found { value, query: run, subject: run, longest, ..Found::default() };
        self.cells.push(Cell { pair: run, gap_in_subject: NOWHERE, gap_in_query: NOWHERE });
        self.rows.push(Row { at: 0, first: 0, last: 0 });
        self.best.push(value);
        if run == q_len || run == s_len {
            return found;
        }
        let mut range = Range { low: -1, high: 1, least: None, most: None };
        let mut empty = 0;
        for distance in 1.. {
            // An X-drop below zero asks for rows to come.
            let before = usize::try_from(distance - back).ok().and_then(|at| self.best.get(at));
            let before = before.copied().unwrap_or(0);
            let least = divide_up(before + steps.common * distance - x_drop, half).max(0);
            let (query, subject) = self.next(walk, &mut range, least, &mut found.longest);
            let score = (query + subject) * half - distance * steps.common;
            let best = self.best[distance as usize - 1];
            if score > best {
                found = Found { value: score, distance, query, subject, ..found };
            }
            self.best.push(best.max(score));
            empty = if range.low <= range.high { 0 } else { empty + 1 };
            if empty == steps.longest() {
                break;
            }
            self.widen(&mut range);
        }
        found
    }

    /// The diagonals to which anything leads at the next distance.
    fn widen(&self, range: &mut Range) {
        let distance = self.rows.len() as i32;
        let [mismatch, open, extend] = [self.steps.mismatch, self.steps.open, self.steps.extend]
            .map(|d| self.row(distance - d));
        range.low = (open.first.min(extend.first) - 1).min(mismatch.first);
        range.high = (open.last.max(extend.last) + 1).max(mismatch.last);
        range.low = range.least.map_or(range.low, |least| range.low.max(least));
        range.high = range.most.map_or(range.high, |most| range.high.min(most));
    }

    /// What leads to a cell, before its run of pairs, and where that begins in the subject.
    fn arrive(&self, distance: i32, diagonal: i32) -> (Cell, i32) {
        let Steps { mismatch, open, extend, .. } = self.steps;
        let pair = |distance, diagonal| self.cell(distance, diagonal).map_or(NOWHERE, |c| c.pair);
        let opened = pair(distance - open, diagonal + 1);
        let longer = self.cell(distance - extend, diagonal + 1).map_or(NOWHERE, |c| c.gap_in_query);
        let reach = opened.max(longer);
        let gap_in_query = if reach == NOWHERE { NOWHERE } else { reach + 1 };
        let opened = pair(distance - open, diagonal - 1);
        let longer =
            self.cell(distance - extend, diagonal - 1).map_or(NOWHERE, |c| c.gap_in_subject);
        let gap_in_subject = opened.max(longer);
        let mut from = gap_in_subject.max(gap_in_query);
        if let Some(cell) = self.cell(distance - mismatch, diagonal) {
            from = from.max(cell.pair + 1);
        }
        (Cell { pair: NOWHERE, gap_in_subject, gap_in_query }, from)
    }

    /// Makes the row of the next distance; returns where its largest extent ends, and leaves in `range` the diagonals that go on.
    fn next<const BACK: bool>(
        &mut self,
        walk: &Walk<'_, BACK>,
        range: &mut Range,
        least: i32,
        longest: &mut Run,
    ) -> (i32, i32) {
        let distance = self.rows.len() as i32;
        let (q_len, s_len) = (walk.query.length, walk.subject.length);
        let (from, to) = (range.low, range.high);
        let start = self.cells.len();
        let mut furthest = (0, 0);
        for diagonal in from..=to {
            let (mut cell, mut subject) = self.arrive(distance, diagonal);
            let mut query = subject + diagonal;
            if subject < 0 || query + subject < least {
                range.low += i32::from(diagonal == range.low);
                self.cells.push(cell);
                continue;
            }
            range.high = diagonal;
            let run = walk.run(query, subject, 0);
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
        self.rows.push(if range.low <= range.high {
            let at = start + (range.low - from) as usize;
            Row { at, first: range.low, last: range.high }
        } else {
            EMPTY
        });
        furthest
    }

    /// Appends the columns up to what was found, the last one first.
    pub fn trace(&self, found: &Found, edits: &mut Vec<Edit>) {
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

    /// What comes before a run of pairs (or before a mismatch at its start), and where that ends in the subject.
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

    /// What comes before a base opposite a gap; `aside` is the diagonal from which it came.
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
