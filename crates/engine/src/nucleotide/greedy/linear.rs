//! Greedy extension where a mismatch and a base opposite a gap cost the same (`BLAST_GreedyAlign`,
//! `greedy_align.c`).

use super::pairs::OutwardSequences;
use super::rows::{
    Chunk, ContinuingDiagonals, GreedyState, LANES, NarrowRow, PAD, Row, RowKernel, ZERO, chunk_of,
    first_of,
};
use super::rules::{RowStart, Rules};
use super::{BestEnd, NOWHERE, Run, Scoring, push};
use crate::hits::{Edit, EditOp};

/// Greatest number of chunks in memory before rows that are no longer needed are dropped.
const MAX_KEPT_CHUNKS: usize = 256;

/// Location of the cells of a row.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Index of the row's first chunk among all chunks.
    at: usize,
    /// Number of the row's first chunk, as in [`chunk_of`].
    first: i32,
    chunks: usize,
}

/// The rows of an extension, by number of differences.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The cells, with [`PAD`] chunks before and after each row.
    cells: Vec<Chunk>,
    /// Where `cells` holds the rows: all rows if they are kept for a traceback, else the last row.
    rows: Vec<Place>,
    /// Best score with at most `n` differences, at index `n`.
    best: Vec<i32>,
    /// Whether some path of the last extension reached the end of the subject. Otherwise a longer
    /// subject gives the same result.
    pub met_subject_end: bool,
}

impl Rows {
    /// Extends from the start of both sequences. Scores and X-drop are in units in which the reward
    /// is even. With `keeps`, all rows are kept for a traceback. Otherwise the longest run is
    /// determined.
    #[inline(always)]
    pub fn extend<const BACK: bool, S: RowKernel>(
        &mut self,
        stepper: S,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        let rules = Rules::new(scoring, x_drop);
        let run = sequences.run(0, 0, 0);
        self.start(run, run * scoring.reward);
        let longest = Run { length: run, ..Run::default() };
        let found = BestEnd { query: run, subject: run, longest, ..BestEnd::default() };
        self.met_subject_end = run == sequences.subject.length;
        if run == sequences.query.length || self.met_subject_end {
            return found;
        }
        let continuing = ContinuingDiagonals {
            low: -1,
            high: 1,
            reached_query_end: false,
            reached_subject_end: false,
        };
        let mut state = GreedyState { continuing, previous_extent: 2 * run, longest, found };
        // Most rows are narrow if they need not be kept.
        if !keeps && S::NARROW {
            let mut row = NarrowRow { first: -ZERO, cells: self.cells[PAD] };
            if stepper.narrow(sequences, &rules, &mut self.best, &mut state, &mut row) {
                return BestEnd { longest: state.longest, ..state.found };
            }
            self.widen(&state.continuing, &row);
        }
        self.go_on(stepper, sequences, &rules, &mut state, keeps);
        self.met_subject_end = state.continuing.reached_subject_end;
        BestEnd { longest: state.longest, ..state.found }
    }

    /// Computes rows until no diagonal continues.
    #[inline(always)]
    fn go_on<const BACK: bool>(
        &mut self,
        stepper: impl RowKernel,
        sequences: &OutwardSequences<'_, BACK>,
        rules: &Rules,
        state: &mut GreedyState,
        keeps: bool,
    ) {
        let GreedyState { continuing, previous_extent, longest, found } = state;
        for distance in self.best.len() as i32.. {
            let (best, least) = (self.best[distance as usize - 1], rules.least_extent(&self.best));
            let (low, run) = (continuing.low, (!keeps).then_some(longest.length));
            let start =
                RowStart { distance, low, best, previous_extent: *previous_extent, least, run };
            if !continuing.reached_subject_end && rules.is_settled(sequences, &start) {
                break;
            }
            let row = self.next(continuing, least, keeps);
            let furthest = continuing.advance(stepper, sequences, row, longest);
            *previous_extent = furthest.extent;
            let score = rules.score(furthest.extent, distance);
            if score >= best {
                found.replace(distance, furthest);
            }
            self.best.push(best.max(score));
            if continuing.low > continuing.high {
                break;
            }
            self.close(continuing);
        }
    }

    /// Stores a narrow row in chunks, to continue from it. The row need not begin at the start of a
    /// chunk.
    #[cold]
    fn widen(&mut self, continuing: &ContinuingDiagonals, row: &NarrowRow) {
        let first = chunk_of(continuing.low);
        let chunks = (chunk_of(continuing.high) - first + 1) as usize;
        self.cells.clear();
        self.cells.resize(2 * PAD + chunks, Chunk::NOWHERE);
        self.rows.clear();
        self.rows.push(Place { at: PAD, first, chunks });
        for (diagonal, cell) in (row.first..).zip(row.cells.0) {
            if (continuing.low..=continuing.high).contains(&diagonal) {
                *self.cell(0, diagonal) = cell;
            }
        }
    }

    /// Stores the first row, which has one cell.
    fn start(&mut self, run: i32, score: i32) {
        self.cells.clear();
        self.cells.resize(2 * PAD + 1, Chunk::NOWHERE);
        self.rows.clear();
        self.rows.push(Place { at: PAD, first: chunk_of(0), chunks: 1 });
        *self.cell(0, 0) = run;
        self.best.clear();
        self.best.push(score);
    }

    /// Makes room for the next row, which examines these diagonals.
    #[inline(always)]
    fn next(&mut self, continuing: &ContinuingDiagonals, least: i32, keeps: bool) -> Row<'_> {
        if !keeps && self.cells.len() > MAX_KEPT_CHUNKS {
            self.drop_old_rows();
        }
        let last = self.rows[self.rows.len() - 1];
        let first = chunk_of(continuing.low);
        let chunks = (chunk_of(continuing.high) - first + 1) as usize;
        let at = self.cells.len();
        self.cells.resize(at + chunks + PAD, Chunk::NOWHERE);
        let (old, new) = self.cells.split_at_mut(at);
        let place = Place { at, first, chunks };
        if keeps {
            self.rows.push(place);
        } else {
            self.rows[0] = place;
        }
        Row {
            previous_row: &old[last.at.wrapping_add_signed((first - 1 - last.first) as isize)..]
                [..chunks + 2],
            cells: &mut new[..chunks],
            first: first_of(first),
            least,
        }
    }

    /// Drops all rows but the last one.
    #[cold]
    fn drop_old_rows(&mut self) {
        let last = self.rows.len() - 1;
        let at = self.rows[last].at;
        self.cells.drain(..at - PAD);
        self.rows[last].at = PAD;
    }

    /// Extends the range of diagonals by one on each side. A side on which a path has reached the
    /// end of a sequence stays as it is. If there is such a side, the cells at both ends of the
    /// range and beyond are dropped, as in BLAST+.
    #[inline(always)]
    fn close(&mut self, continuing: &mut ContinuingDiagonals) {
        if !continuing.reached_subject_end && !continuing.reached_query_end {
            continuing.low -= 1;
            continuing.high += 1;
            return;
        }
        continuing.low -= i32::from(!continuing.reached_subject_end);
        continuing.high += i32::from(!continuing.reached_query_end);
        let Place { at, first, chunks } = self.rows[self.rows.len() - 1];
        for (chunk, cells) in (first..).zip(&mut self.cells[at..at + chunks]) {
            for (diagonal, cell) in (first_of(chunk)..).zip(&mut cells.0) {
                if diagonal <= continuing.low || diagonal >= continuing.high {
                    *cell = NOWHERE;
                }
            }
        }
    }

    /// Returns the cell of a diagonal in a row that is kept.
    fn cell(&mut self, row: usize, diagonal: i32) -> &mut i32 {
        let Place { at, first, .. } = self.rows[row];
        let lanes = self.cells.as_mut_slice();
        let chunk = chunk_of(diagonal);
        let lane = (diagonal - first_of(chunk)) as usize;
        &mut lanes[at.wrapping_add_signed((chunk - first) as isize)].0[lane % LANES]
    }

    /// Appends the columns up to the best end, the last one first.
    pub fn trace(&mut self, found: &BestEnd, edits: &mut Vec<Edit>) {
        let mut diagonal = found.query - found.subject;
        let mut subject = found.subject;
        for distance in (0..found.distance as usize).rev() {
            let [below, same, above] =
                [-1, 0, 1].map(|aside| *self.cell(distance, diagonal + aside));
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
        push(edits, EditOp::Substitution, subject);
    }
}
