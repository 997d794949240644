//! The exact extension in plain Rust, row by row, in loops that compilers vectorise. It gives the
//! same results as [`super::extend`].
//!
//! * **Columns.** Whole chunks of columns are computed, although the scalar window may end within
//!   one. A cell that the scalar code skips has no live neighbour that leads to it, so it is
//!   dropped here. The one exception is the first row: BLAST+ does not compute the pair after its
//!   last cell (`Blast_SemiGappedAlign`, blast_gapalign.c). Columns beyond the end of the subject
//!   hold sentinels. Nothing pairs with them, and a gap that runs into them never comes back.
//! * **Gaps** may leave dropped cells as well. They are below the floor, and stay so, since the
//!   best score only rises. Opening a gap costs no less than extending one, so a gap never opens
//!   from another gap in the same direction.
//! * **Order.** The best score includes the cells to the left in the same row. Only in rows where
//!   it rises are cells examined one by one.

use std::ops::Range;

use super::{Direction, ExtensionCosts, Extent, MARGIN};
use crate::scores::ScoreRows;
use fleetblast_seq::alphabet::SENTINEL;

/// Number of columns that are computed together.
const CHUNK: usize = 16;
/// The score of a dropped cell.
const NEVER: i16 = i16::MIN;
/// Largest allowed score, cost and X-drop. Best scores stay at least this much below the largest
/// 16-bit number.
const LARGEST: i32 = 4096;

// Columns of the last chunk may be beyond the end of the subject.
const _: () = assert!(CHUNK <= MARGIN);

/// Parameters that extensions with the same scores and costs share.
#[derive(Clone, Debug)]
pub(in crate::protein::prelim) struct Rows {
    /// Scores by row and subject residue code.
    scores: Vec<[i16; 32]>,
    open_extend: i16,
    extend: i16,
    x_drop: i16,
}

/// The columns of a row that are computed together.
type Chunk = [i16; CHUNK];

/// Scratch memory with the last row of an extension.
#[derive(Debug, Default)]
pub(in crate::protein::prelim) struct LastRow {
    /// Best score of an alignment that ends in a column. The index is the number of the column plus
    /// one.
    best: Vec<i16>,
    /// Best score of an alignment whose gap in the subject continues to the next row.
    gaps: Vec<Chunk>,
    /// Scores of the row in progress.
    scores: Vec<Chunk>,
}

impl Rows {
    /// Prepares extensions. Returns `None` if scores or costs are too large for 16-bit numbers.
    pub fn new(scores: &ScoreRows, costs: ExtensionCosts) -> Option<Rows> {
        let ExtensionCosts { open_extend, extend, x_drop } = costs;
        let fits = scores.all().iter().flatten().all(|&score| score <= LARGEST)
            && (0..=LARGEST).contains(&x_drop)
            && (0..=open_extend).contains(&extend)
            && open_extend <= LARGEST
            && scores.all().iter().all(|row| row[usize::from(SENTINEL)] <= i32::from(NEVER));
        fits.then(|| Rows {
            scores: scores.all().iter().map(|row| row.map(clip)).collect(),
            open_extend: open_extend as i16,
            extend: extend as i16,
            x_drop: x_drop as i16,
        })
    }

    /// Extends to the end of the subject, which has sentinels around it. Returns `None` if the best
    /// score gets too high for 16-bit numbers.
    pub fn extend(&self, direction: Direction, row: &mut LastRow) -> Option<Extent> {
        let Direction { query, subject, at } = direction;
        let columns = subject.len() - MARGIN - at;
        let mut best = Extent::default();
        if columns == 0 {
            return Some(best);
        }
        let mut window = row.start(self, columns);
        for (taken, &number) in query.iter().enumerate() {
            row.reserve(window.end);
            // The letter before column 0 does not matter: no pair leads there.
            let letters = &subject[at + window.start * CHUNK - 1..][..window.len() * CHUNK];
            row.look_up(&self.scores[number as usize], letters, window.clone());
            let top = best.score as i16;
            let floor = top - self.x_drop;
            let highest = row.add_pairs(window.clone());
            let mut across = i32::from(NEVER);
            if highest >= floor + self.open_extend {
                across = row.add_gaps(self, window.clone(), floor);
            }
            if highest <= top {
                row.keep(window.clone(), floor);
            } else {
                let (score, column) = row.keep_rising(self, window.clone(), top);
                if i32::from(score) > i32::from(i16::MAX) - LARGEST {
                    return None;
                }
                best = Extent { score: i32::from(score), query: taken + 1, subject: column };
            }
            row.open_gaps(self, window.clone());
            let floor = best.score - i32::from(self.x_drop);
            let grown = row.grow(self, window.end * CHUNK, columns, across, floor);
            window = row.live(window.start..grown.div_ceil(CHUNK), columns);
            if window.is_empty() {
                break;
            }
        }
        Some(best)
    }
}

impl LastRow {
    /// Computes the row before the first query residue, which is a gap from the start. Returns its
    /// chunks.
    fn start(&mut self, rows: &Rows, columns: usize) -> Range<usize> {
        self.best.clear();
        self.gaps.clear();
        self.reserve(1);
        self.best[1] = 0;
        self.gaps[0][0] = -rows.open_extend;
        let gap = i32::from(-rows.open_extend);
        let end = self.grow(rows, 1, columns, gap, i32::from(-rows.x_drop));
        self.best[end] = NEVER;
        0..end.div_ceil(CHUNK)
    }

    /// Adds dropped columns, so that there is room for the chunks before `end`.
    #[inline]
    fn reserve(&mut self, end: usize) {
        if self.gaps.len() < end {
            self.best.resize(end * CHUNK + 1, NEVER);
            self.gaps.resize(end, [NEVER; CHUNK]);
        }
        if self.scores.len() < end {
            self.scores.resize(end, [NEVER; CHUNK]);
        }
    }

    /// Looks up the scores of the pairs. It is a loop of its own because values just stored one by
    /// one cannot be loaded together at once.
    #[inline]
    fn look_up(&mut self, table: &[i16; 32], letters: &[u8], window: Range<usize>) {
        let scores = self.scores[window].as_flattened_mut();
        for (score, &letter) in scores.iter_mut().zip(letters) {
            *score = table[(letter & 31) as usize];
        }
    }

    /// Computes the best score of each column whose alignment ends in a pair or in a gap in the
    /// subject. Returns the highest of them.
    #[inline]
    fn add_pairs(&mut self, window: Range<usize>) -> i16 {
        let mut highest = [NEVER; CHUNK];
        let (before, _) = self.best[window.start * CHUNK..].as_chunks::<CHUNK>();
        let gaps = &self.gaps[window.clone()];
        for ((scores, before), gaps) in self.scores[window].iter_mut().zip(before).zip(gaps) {
            for i in 0..CHUNK {
                scores[i] = scores[i].saturating_add(before[i]).max(gaps[i]);
                highest[i] = highest[i].max(scores[i]);
            }
        }
        highest_of(&highest)
    }

    /// Raises the score of each column to that of the best alignment that ends there in a gap in
    /// the query. Returns the score of a gap after the last column. May ignore gaps that score
    /// below `floor`.
    #[inline]
    fn add_gaps(&mut self, rows: &Rows, window: Range<usize>, floor: i16) -> i32 {
        let (open_extend, extend) = (i32::from(rows.open_extend), i32::from(rows.extend));
        let mut gap = i32::from(NEVER);
        for chunk in &mut self.scores[window] {
            if gap.max(i32::from(highest_of(chunk)) - open_extend) < i32::from(floor) {
                continue;
            }
            // Costs count from the start of the chunk, so there is no subtraction between a column
            // and the next.
            let (mut way, mut running) = (0, gap);
            for score in chunk.iter_mut() {
                let without = i32::from(*score);
                *score = without.max(running - way) as i16;
                way += extend;
                running = running.max(without - open_extend + way);
            }
            gap = running - way;
        }
        gap
    }

    /// Stores the scores of the row, except those below `floor`, which are dropped.
    #[inline]
    fn keep(&mut self, window: Range<usize>, floor: i16) {
        let (best, _) = self.best[window.start * CHUNK + 1..].as_chunks_mut::<CHUNK>();
        for (best, scores) in best.iter_mut().zip(&self.scores[window]) {
            let mut kept = *scores;
            for score in &mut kept {
                *score = if *score < floor { NEVER } else { *score };
            }
            *best = kept;
        }
    }

    /// Stores the scores of the row, and drops those that are too low, column by column, while the
    /// best score rises from `top`. Returns the best score and its column.
    fn keep_rising(&mut self, rows: &Rows, window: Range<usize>, top: i16) -> (i16, usize) {
        let (mut top, mut top_at) = (top, 0);
        let start = window.start * CHUNK;
        let scores = self.scores[window].as_flattened();
        for (i, (best, &score)) in self.best[start + 1..].iter_mut().zip(scores).enumerate() {
            *best = if score < top - rows.x_drop { NEVER } else { score };
            if score > top {
                (top, top_at) = (score, start + i);
            }
        }
        (top, top_at)
    }

    /// Computes the scores of gaps in the subject that continue to the next row.
    #[inline]
    fn open_gaps(&mut self, rows: &Rows, window: Range<usize>) {
        for (gaps, scores) in self.gaps[window.clone()].iter_mut().zip(&self.scores[window]) {
            for (gap, &score) in gaps.iter_mut().zip(scores) {
                *gap = gap.saturating_sub(rows.extend).max(score.saturating_sub(rows.open_extend));
            }
        }
    }

    /// Extends a gap in the query from column `from`, where its score is `gap`. Returns the column
    /// after the end of the gap.
    #[inline]
    fn grow(&mut self, rows: &Rows, from: usize, columns: usize, gap: i32, floor: i32) -> usize {
        let (mut column, mut gap) = (from, gap);
        while gap >= floor && column <= columns {
            self.reserve(column / CHUNK + 1);
            self.best[column + 1] = gap as i16;
            self.gaps[column / CHUNK][column % CHUNK] = gap as i16 - rows.open_extend;
            gap -= i32::from(rows.extend);
            column += 1;
        }
        column
    }

    /// Returns the chunks of the window that are live in the next row.
    #[inline]
    fn live(&self, window: Range<usize>, columns: usize) -> Range<usize> {
        let Range { mut start, mut end } = window;
        let (chunks, _) = self.best[1..].as_chunks::<CHUNK>();
        while start < end && highest_of(&chunks[start]) == NEVER {
            start += 1;
        }
        while start < end && highest_of(&chunks[end - 1]) == NEVER {
            end -= 1;
        }
        let leads_on = start < end && end * CHUNK <= columns && chunks[end - 1][CHUNK - 1] != NEVER;
        start..end + usize::from(leads_on)
    }
}

/// Converts a score to the stored type; a score that is too low becomes [`NEVER`].
fn clip(score: i32) -> i16 {
    score.max(i32::from(NEVER)) as i16
}

#[inline]
fn highest_of(chunk: &Chunk) -> i16 {
    chunk.iter().fold(NEVER, |highest, &score| highest.max(score))
}
