//! Runs extensions side by side in lanes, from tasks to results.

use super::lanes::{BAND, BAND_SHIFT, CENTRE, LaneExtension, LaneResult, Lanes, PAST_END, ROWS};
use super::narrow::Progress;
use super::row::{Cells, Computation, LANES, NEVER, Row};
use super::transpose::{SIZE, transpose};
use crate::xdrop::Extent;
use crate::xdrop::frames::Direction;

/// Least number of busy lanes. With fewer, single extensions are faster.
const MIN_LANES: usize = 12;

/// Extensions that are computed in lanes. `found` receives their results, in the order of `tasks`.
pub(super) struct SideBySide<'a> {
    pub lanes: &'a Lanes,
    pub tasks: &'a [LaneExtension<'a>],
    pub busy: &'a mut BusyLanes,
    pub found: &'a mut Vec<LaneResult>,
}

impl Computation for SideBySide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Row>(self, proof: R::Proof) {
        let SideBySide { lanes, tasks, busy, found } = self;
        found.clear();
        found.resize(tasks.len(), LaneResult::Unsuitable);
        let (mut free, mut next) = (u64::MAX, 0);
        loop {
            let fresh = busy.assign_tasks(lanes, tasks, free, &mut next);
            free &= !fresh;
            if (!free).count_ones() < MIN_LANES as u32 && next == tasks.len() {
                break;
            }
            busy.load(tasks, !free);
            let alive = busy.block::<R>(proof, lanes);
            free |= busy.examine(tasks, alive, !free, found);
            busy.recentre::<R>(proof, lanes, alive, !free);
        }
        for lane in set(!free) {
            found[busy.states[lane].task] = LaneResult::Unfinished(Box::new(busy.progress(lane)));
        }
    }
}

/// State of the busy lanes; the memory is reused.
#[derive(Debug)]
pub(super) struct BusyLanes {
    /// Scores of all lanes, by cell of the band.
    scores: [Cells; BAND],
    /// Scores of all lanes after a gap in the query that may continue in the next row, by cell of
    /// the band. The last entry belongs to no cell and stays dropped.
    gaps: [Cells; BAND + 1],
    best: Cells,
    x_drop: Cells,
    /// The query letters that the next rows read: for each position from that of the band's first
    /// cell on, the letter of each lane.
    letters: [[u8; LANES]; SIZE],
    bases: [[u8; LANES]; ROWS],
    /// Row in which the best score last rose, among the last [`ROWS`] rows; -1 if it rose in none
    /// of them.
    best_row: Cells,
    /// Cell in which the best score last rose.
    best_cell: Cells,
    /// The same letters as in `letters`, by lane and then by position.
    windows: [[u8; SIZE]; LANES],
    states: [LaneState; LANES],
}

/// State of the extension in a lane.
#[derive(Clone, Copy, Debug, Default)]
struct LaneState {
    /// Number of the extension's task.
    task: usize,
    /// Index of the query letter that the first cell pairs next.
    position: usize,
    /// Number of subject bases that the extension has used.
    taken: usize,
    /// Score that a byte of 0 stands for.
    base: i32,
    /// Number of subject bases up to the cell with the best score; `best_position` is the index of
    /// the first query letter after that cell.
    best_taken: usize,
    best_position: usize,
}

impl Default for BusyLanes {
    fn default() -> BusyLanes {
        BusyLanes {
            scores: [[NEVER; LANES]; BAND],
            gaps: [[NEVER; LANES]; BAND + 1],
            best: [0; LANES],
            x_drop: [0; LANES],
            letters: [[0; LANES]; SIZE],
            bases: [[0; LANES]; ROWS],
            best_row: [0; LANES],
            best_cell: [0; LANES],
            windows: [[0; SIZE]; LANES],
            states: [LaneState::default(); LANES],
        }
    }
}

/// Bits of the lanes with live cells after [`ROWS`] rows.
#[derive(Clone, Copy, Debug, Default)]
struct LiveLanes {
    /// Lanes with a live cell.
    any: u64,
    /// Lanes with a live cell among the first [`BAND_SHIFT`] cells.
    low: u64,
    /// Lanes with a live cell among the last [`BAND_SHIFT`] cells.
    high: u64,
    /// Lanes in which the first or the last cell was live in some row.
    strayed: u64,
}

/// Iterates over the indexes of the set bits.
fn set(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        next
    })
}

/// Expands a mask to bytes: all bits are set in the byte of each lane in the mask.
#[inline(always)]
fn spread(lanes: u64) -> Cells {
    std::array::from_fn(|lane| -((lanes >> lane & 1) as i8))
}

impl BusyLanes {
    /// Assigns the next tasks to free lanes. Returns the lanes that got one.
    #[inline(always)]
    fn assign_tasks(
        &mut self,
        lanes: &Lanes,
        tasks: &[LaneExtension],
        free: u64,
        next: &mut usize,
    ) -> u64 {
        let mut fresh = 0;
        for (lane, task) in set(free).zip(&tasks[*next..]) {
            let at = task.direction.at;
            self.states[lane] = LaneState {
                task: *next,
                position: at - CENTRE,
                taken: 0,
                base: -i32::from(lanes.zero),
                best_taken: 0,
                best_position: at,
            };
            self.x_drop[lane] = task.x_drop as i8;
            self.best[lane] = lanes.zero;
            fresh |= 1 << lane;
            *next += 1;
        }
        if fresh != 0 {
            self.start(lanes, fresh);
        }
        fresh
    }

    /// Fills the row before the first base in the lanes `fresh`.
    #[inline(always)]
    fn start(&mut self, lanes: &Lanes, fresh: u64) {
        let fresh = spread(fresh);
        let zero = i32::from(lanes.zero);
        for cell in 0..BAND {
            let score = |length| zero - lanes.gap(length);
            let length = cell.wrapping_sub(CENTRE);
            // The least X-drops with which the score and the gap of the cell are kept. The score
            // needs the next cell as well: BLAST+ does not compute the pair after the last cell.
            let [(score, needed), (gap, gap_needed)] = if cell < CENTRE {
                [(i32::from(NEVER), 0); 2]
            } else {
                let opened = score(length) - lanes.costs.open_extend;
                [(score(length), lanes.gap(length + 1)), (opened, lanes.gap(length))]
            };
            let byte = |score: i32| score.max(i32::from(NEVER)) as i8;
            let start = |cells: &mut Cells, score: i8, needed: i32| {
                let needed = needed.min(i32::from(i8::MAX)) as i8;
                for lane in 0..LANES {
                    let value = if self.x_drop[lane] >= needed { score } else { NEVER };
                    cells[lane] = if fresh[lane] != 0 { value } else { cells[lane] };
                }
            };
            start(&mut self.scores[cell], byte(score), needed);
            start(&mut self.gaps[cell], byte(gap), gap_needed);
        }
    }

    /// Loads letters and bases for the next rows.
    #[inline(always)]
    fn load(&mut self, tasks: &[LaneExtension], lanes: u64) {
        let (mut words, mut left) = ([0; LANES], [0; LANES]);
        for lane in set(lanes) {
            let state = &self.states[lane];
            let Direction { query: bases, subject: letters, .. } = tasks[state.task].direction;
            // Beyond the last window there are only sentinels.
            let at = state.position.min(letters.len() - SIZE);
            self.windows[lane].copy_from_slice(&letters[at..at + SIZE]);
            words[lane] = bases.word(state.taken);
            left[lane] = (bases.count() - state.taken).min(ROWS) as u32;
        }
        transpose(&self.windows, &mut self.letters);
        for (row, bases) in (0u32..).zip(&mut self.bases) {
            for lane in 0..LANES {
                let base = (words[lane] >> (2 * row) & 3) as u8;
                bases[lane] = if row < left[lane] { base } else { PAST_END };
            }
        }
    }

    /// Computes the next [`ROWS`] rows in all lanes. Returns the lanes with live cells.
    #[inline(always)]
    fn block<R: Row>(&mut self, proof: R::Proof, lanes: &Lanes) -> LiveLanes {
        let costs = lanes.costs;
        let open_extend = R::splat(proof, costs.open_extend as i8);
        let extend = R::splat(proof, costs.extend as i8);
        let (one, none) = (R::splat(proof, 1), R::splat(proof, -1));
        let x_drop = R::load(proof, &self.x_drop);
        let mut best = R::load(proof, &self.best);
        let (mut best_row, mut best_cell) = (none, none);
        let mut number = one.minus(one);
        let mut alive = LiveLanes::default();
        for row in 0..ROWS {
            let base = R::load_letters(proof, &self.bases[row]);
            let before = best;
            let mut across = one.never();
            let mut cell = one.minus(one);
            for at in 0..BAND {
                let letters = R::load_letters(proof, &self.letters[row + at]);
                let pair =
                    R::load(proof, &self.scores[at]).plus(letters.differing(base, &lanes.pairs));
                let down = R::load(proof, &self.gaps[at + 1]);
                let score = pair.max(down).max(across);
                best_cell = best_cell.where_above(pair, best, cell);
                best = best.max(pair);
                let floor = best.minus(x_drop);
                let opened = score.minus(open_extend);
                down.minus(extend).max(opened).store_to(&mut self.gaps[at]);
                across = across.minus(extend).max(opened);
                cell = cell.plus(one);
                let (kept, live) = score.keep(floor);
                kept.store_to(&mut self.scores[at]);
                if at == 0 || at == BAND - 1 {
                    alive.strayed |= live;
                }
            }
            best_row = best_row.where_above(best, before, number);
            number = number.plus(one);
        }
        self.best = best.store();
        self.best_row = best_row.store();
        self.best_cell = best_cell.store();
        for (at, cells) in self.scores.iter().enumerate() {
            let live = R::load(proof, cells).above(one.never());
            alive.any |= live;
            alive.low |= if at < BAND_SHIFT { live } else { 0 };
            alive.high |= if at >= BAND - BAND_SHIFT { live } else { 0 };
        }
        alive
    }

    /// Examines busy lanes after [`ROWS`] rows and stores the results of extensions that have
    /// ended. Returns the lanes that have become free.
    #[inline(always)]
    fn examine(
        &mut self,
        tasks: &[LaneExtension],
        alive: LiveLanes,
        busy: u64,
        found: &mut [LaneResult],
    ) -> u64 {
        let mut ended = 0;
        for lane in set(busy) {
            let state = &mut self.states[lane];
            if let Ok(row) = usize::try_from(self.best_row[lane]) {
                state.best_taken = state.taken + row + 1;
                state.best_position = state.position + row + 1 + self.best_cell[lane] as usize;
            }
            state.taken += ROWS;
            state.position += ROWS;
            let Direction { query: bases, subject: letters, at } = tasks[state.task].direction;
            let strayed = alive.strayed >> lane & 1 != 0;
            let goes_on = alive.any >> lane & 1 != 0
                && state.taken < bases.count()
                && state.position <= letters.len() - SIZE;
            if strayed || !goes_on {
                ended |= 1 << lane;
            }
            if !strayed && !goes_on {
                found[state.task] = LaneResult::Complete(Extent {
                    score: state.base + i32::from(self.best[lane]),
                    query: state.best_position - at,
                    subject: state.best_taken,
                });
            }
        }
        ended
    }

    /// Moves the bands whose live cells come near an end. If the best score of a lane comes near
    /// the highest byte, raises the score that a byte of 0 stands for in all busy lanes.
    #[inline(always)]
    fn recentre<R: Row>(&mut self, proof: R::Proof, lanes: &Lanes, alive: LiveLanes, busy: u64) {
        let (to_low, to_high) = (alive.high & !alive.low & busy, alive.low & !alive.high & busy);
        if to_low != 0 {
            let moved = spread(to_low);
            for at in 0..BAND {
                let from = at + BAND_SHIFT;
                let (scores, gaps) = match from < BAND {
                    true => (self.scores[from], self.gaps[from]),
                    false => ([NEVER; LANES], [NEVER; LANES]),
                };
                replace(&mut self.scores[at], &scores, &moved);
                replace(&mut self.gaps[at], &gaps, &moved);
            }
            set(to_low).for_each(|lane| self.states[lane].position += BAND_SHIFT);
        }
        if to_high != 0 {
            let moved = spread(to_high);
            for at in (0..BAND).rev() {
                let (scores, gaps) = match at.checked_sub(BAND_SHIFT) {
                    Some(from) => (self.scores[from], self.gaps[from]),
                    None => ([NEVER; LANES], [NEVER; LANES]),
                };
                replace(&mut self.scores[at], &scores, &moved);
                replace(&mut self.gaps[at], &gaps, &moved);
            }
            set(to_high).for_each(|lane| self.states[lane].position -= BAND_SHIFT);
        }
        let (best, zero) = (R::load(proof, &self.best), R::splat(proof, lanes.zero));
        if best.above(R::splat(proof, lanes.highest)) & busy != 0 {
            let by = best.minus(zero);
            for cells in self.scores.iter_mut().chain(&mut self.gaps) {
                R::load(proof, cells).minus(by).store_to(cells);
            }
            // The differences saturate, so a best score may stay above zero.
            self.best = best.minus(by).store();
            let by = by.store();
            set(busy).for_each(|lane| self.states[lane].base += i32::from(by[lane]));
        }
    }

    /// Returns the state of the extension in a lane, from which it can go on without lanes.
    fn progress(&self, lane: usize) -> Progress {
        let state = &self.states[lane];
        let best = self.best[lane];
        let below = (LANES - BAND) / 2;
        let below_best = |cells: &[Cells]| {
            let mut out = [i16::MIN; LANES];
            for (out, cells) in out[below..].iter_mut().zip(cells) {
                if cells[lane] != NEVER {
                    *out = i16::from(cells[lane]) - i16::from(best);
                }
            }
            out
        };
        Progress {
            scores: below_best(&self.scores),
            gaps: below_best(&self.gaps[..BAND]),
            best: state.base + i32::from(best),
            taken: state.taken,
            position: state.position - below,
            best_taken: state.best_taken,
            best_position: state.best_position,
        }
    }
}

/// Replaces the cells of the lanes in `mask` by those of `other`.
#[inline(always)]
fn replace(cells: &mut Cells, other: &Cells, mask: &Cells) {
    for lane in 0..LANES {
        cells[lane] = if mask[lane] != 0 { other[lane] } else { cells[lane] };
    }
}
