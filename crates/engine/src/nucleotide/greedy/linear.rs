//! Greedy extension where a mismatch and a base opposite a gap count the same (`BLAST_GreedyAlign`, `greedy_align.c`).

use super::pairs::Pairs;
use super::{Found, NOWHERE, Run, Scoring, divide_up, push};
use crate::hits::{Edit, EditOp};

/// Cells around a row that say [`NOWHERE`].
const PAD: i32 = 2;

/// How far the diagonals get with so many differences.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Place of the first diagonal's cell among all cells.
    at: usize,
    /// The first of the diagonals that go on.
    first: i32,
}

impl Row {
    /// Place of a diagonal's cell.
    fn place(&self, diagonal: i32) -> usize {
        self.at.wrapping_add_signed((diagonal - self.first) as isize)
    }
}

/// The rows of an extension, by number of differences.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Subject positions; [`PAD`] cells before and after each row.
    cells: Vec<i32>,
    rows: Vec<Row>,
    /// Best score with at most so many differences.
    best: Vec<i32>,
}

/// What does not change from row to row.
struct Rules {
    /// What a base on a path scores.
    half: i32,
    /// What a difference costs.
    cost: i32,
    x_drop: i32,
    /// As many differences fewer had the best score against which a cell is held.
    back: usize,
}

impl Rules {
    fn new(scoring: &Scoring, x_drop: i32) -> Rules {
        let (half, cost) = (scoring.reward / 2, scoring.reward - scoring.penalty);
        Rules { half, cost, x_drop, back: ((x_drop + half) / cost + 1) as usize }
    }

    /// The least extent, query and subject together, that is followed.
    fn least_extent(&self, best: &[i32]) -> i32 {
        let before = best.len().checked_sub(self.back).map_or(0, |at| best[at]);
        divide_up(before + self.cost * best.len() as i32 - self.x_drop, self.half)
    }
}

/// The largest extent of a row.
#[derive(Clone, Copy, Default)]
struct Furthest {
    extent: i32,
    query: i32,
    subject: i32,
}

/// Which ends were ever reached.
#[derive(Clone, Copy, Default)]
struct Reached {
    query: bool,
    subject: bool,
}

impl Rows {
    /// Extends from the start of both sequences; scores and X-drop are in units in which the reward is even.
    pub fn extend(&mut self, pairs: &impl Pairs, scoring: &Scoring, x_drop: i32) -> Found {
        let rules = Rules::new(scoring, x_drop);
        self.cells.clear();
        self.rows.clear();
        self.best.clear();
        let run = pairs.run(0, 0);
        let (q_len, s_len) = pairs.lengths();
        let longest = Run { length: run, ..Run::default() };
        let mut found = Found { query: run, subject: run, longest, ..Found::default() };
        self.cells.extend([NOWHERE, NOWHERE, run, NOWHERE, NOWHERE]);
        self.rows.push(Row { at: PAD as usize, first: 0 });
        self.best.push(run * scoring.reward);
        if run == q_len || run == s_len {
            return found;
        }
        let (mut low, mut high) = (-1, 1);
        let mut reached = Reached::default();
        for distance in 1.. {
            let furthest =
                self.row(pairs, &rules, (&mut low, &mut high), &mut reached, &mut found.longest);
            let score = furthest.extent * rules.half - distance * rules.cost;
            let best = self.best[distance as usize - 1];
            if score >= best {
                found.value = distance;
                found.distance = distance;
                (found.query, found.subject) = (furthest.query, furthest.subject);
            }
            self.best.push(best.max(score));
            if low > high {
                break;
            }
            self.close(low, high, reached);
            low -= i32::from(!reached.subject);
            high += i32::from(!reached.query);
        }
        found
    }

    /// Makes the row with one difference more on the diagonals from `low` to `high`, and narrows these to those that go on.
    #[inline(always)]
    fn row(
        &mut self,
        pairs: &impl Pairs,
        rules: &Rules,
        (low, high): (&mut i32, &mut i32),
        reached: &mut Reached,
        longest: &mut Run,
    ) -> Furthest {
        let least = rules.least_extent(&self.best);
        let (q_len, s_len) = pairs.lengths();
        let (from, to) = (*low, *high);
        let before = self.rows[self.rows.len() - 1].place(from - 1);
        let end = self.cells.len();
        let width = (to - from + 1) as usize;
        self.cells.resize(end + width + 2 * PAD as usize, NOWHERE);
        let (old, new) = self.cells.split_at_mut(end);
        let new = &mut new[PAD as usize..][..width];
        let mut furthest = Furthest::default();
        for ((diagonal, cell), near) in (from..).zip(new).zip(old[before..].windows(3)) {
            let mut subject = (near[2].max(near[1]) + 1).max(near[0]);
            let mut query = subject + diagonal;
            if subject < 0 || query + subject < least {
                *low += i32::from(diagonal == *low);
                continue;
            }
            *high = diagonal;
            let run = pairs.run(query, subject);
            if run > longest.length {
                *longest = Run { query, subject, length: run };
            }
            query += run;
            subject += run;
            *cell = subject;
            if query + subject > furthest.extent {
                furthest = Furthest { extent: query + subject, query, subject };
            }
            if subject == s_len {
                *low = diagonal + 1;
                reached.subject = true;
            }
            if query == q_len {
                *high = diagonal - 1;
                reached.query = true;
            }
        }
        let at = end.wrapping_add_signed((PAD + *low - from) as isize);
        self.rows.push(Row { at, first: *low });
        furthest
    }

    /// Forgets what lies beside the diagonals that go on. Where the end of a sequence was reached, the outermost of these is
    /// forgotten too, as BLAST+ does.
    fn close(&mut self, low: i32, high: i32, reached: Reached) {
        let row = self.rows[self.rows.len() - 1];
        let below = low - 1 + i32::from(reached.subject);
        let above = high + 1 - i32::from(reached.query);
        for diagonal in [below - 1, below, above, above + 1] {
            self.cells[row.place(diagonal)] = NOWHERE;
        }
    }

    /// Appends the columns up to what was found, the last one first.
    pub fn trace(&self, found: &Found, edits: &mut Vec<Edit>) {
        let mut diagonal = found.query - found.subject;
        let mut subject = found.subject;
        for distance in (0..found.distance as usize).rev() {
            let row = &self.rows[distance];
            let before = row.place(diagonal - 1);
            let [below, same, above] = [0, 1, 2].map(|i| self.cells[before + i]);
            if below > same.max(above) {
                push(edits, EditOp::Substitution, subject - below);
                push(edits, EditOp::GapInSubject, 1);
                diagonal -= 1;
                subject = below;
            } else if same > above {
                push(edits, EditOp::Substitution, subject - same);
                subject = same;
            } else {
                push(edits, EditOp::Substitution, subject - above - 1);
                push(edits, EditOp::GapInQuery, 1);
                diagonal += 1;
                subject = above;
            }
        }
        push(edits, EditOp::Substitution, self.cells[PAD as usize]);
    }
}
