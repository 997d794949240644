//! Extends without traceback if the window fits 64 diagonals. A row of cells is in one register of
//! bytes.
//!
//! Cells, lanes and the moving frame are those of [`crate::xdrop::frames`], which handles wider
//! windows. Only the best score is updated in another way. Between nucleotides it rises in most
//! rows of an alignment, so no branch may depend on it:
//!
//! * Only pairs raise the best score, and their scores are known before those of gaps in the
//!   subject, which take longest. A running maximum over the pairs gives the best score before each
//!   cell in BLAST+'s order. The floor of each lane follows from it.
//! * The score that a byte of 0 stands for is raised after a fixed number of rows. In these rows no
//!   score can leave the range of a byte.

use fleetblast_seq::nucleotide::blastna;

use super::row::{Cells, Computation, LANES, NEVER, Row, SECTION, Table, clip};
use super::rows::Bases;
use crate::scores::ScoreRows;
use crate::xdrop::Extent;
use crate::xdrop::frames::{Direction, ExtensionCosts, MARGIN, Rows};

/// Lane of the diagonal on which an extension starts, before the frame moves.
const CENTRE: usize = 26;
/// Longest gap in the subject that a row considers in every lane.
const LONGEST_GAP: i32 = 2 * SECTION as i32;
/// Least number of free lanes with which shifting the frame helps.
pub(super) const LEAST_ROOM: u32 = 4;
/// Least number of rows after which the score that a byte of 0 stands for may be raised. With fewer
/// rows this method is too slow.
pub(super) const FEWEST_ROWS: i32 = 8;
/// Mask of the first and the last lane.
const EDGES: u64 = 1 | 1 << (LANES - 1);

// A frame with letters in it may extend beyond them by less than the margin.
const _: () = assert!(LANES <= MARGIN);

/// Parameters that extensions with the same scores and costs share.
#[derive(Clone, Debug)]
pub(super) struct NarrowParameters {
    /// Scores of each subject base against each query letter.
    scores: [Table; 4],
    costs: ExtensionCosts,
    /// Byte that stands for a score of zero at the start of an extension.
    zero: i8,
    /// Number of rows after which the score that a byte of 0 stands for is raised.
    rows: u32,
    /// The row before the first base.
    first: Cells,
    /// The cells of `first`, less the cost of opening a gap in the query.
    first_gaps: Cells,
    /// For each lane, the cost of opening a gap in the subject, less the cost of extending a gap
    /// from the start of the section to the lane.
    opening: Cells,
    /// For each lane, the cost of extending a gap in the subject from the start of the section to
    /// the lane, less the cost of one letter.
    arriving: Cells,
}

impl NarrowParameters {
    /// Prepares extensions. Returns `None` if bytes or lanes do not suffice for the scores and
    /// costs.
    pub fn new(scores: &ScoreRows, costs: ExtensionCosts) -> Option<NarrowParameters> {
        let ExtensionCosts { open_extend, extend, x_drop } = costs;
        let (never, highest) = (i32::from(NEVER), i32::from(i8::MAX));
        let tables = [0, 1, 2, 3].map(|base| scores.row(base));
        let most = tables.iter().flat_map(|row| &row[..16]).copied().max()?.max(1);
        // The lowest floor is `zero` less the X-drop. A dropped cell stays below it even after the
        // best pair. A cell kept although the floor rose above it stays above `NEVER` when the base
        // moves.
        let zero = never + 1 + most.max(extend) + x_drop;
        // Neither the rise of scores, nor a score plus the cost of a section, may exceed a byte.
        let rise = (highest - most - SECTION as i32 * extend - zero).min(highest);
        let rows = rise / most;
        let fits = rows >= FEWEST_ROWS
            && x_drop < highest
            && (1..=highest / SECTION as i32).contains(&extend)
            && (extend..=highest).contains(&open_extend)
            && x_drop >= open_extend
            && (x_drop - open_extend) / extend < LONGEST_GAP.min((LANES - CENTRE) as i32 - 2)
            && tables.iter().all(|row| row[usize::from(blastna::SENTINEL)] <= never);
        if !fits {
            return None;
        }
        let by_lane = |cost: &dyn Fn(i32) -> i32| {
            std::array::from_fn(|lane| cost((lane % SECTION) as i32) as i8)
        };
        let [first, first_gaps] = first_row(zero, costs);
        Some(NarrowParameters {
            scores: tables.map(|row| std::array::from_fn(|letter| clip(row[letter]))),
            costs,
            zero: zero as i8,
            rows: rows as u32,
            first,
            first_gaps,
            opening: by_lane(&|lane| open_extend - lane * extend),
            arriving: by_lane(&|lane| (lane - 1) * extend),
        })
    }
}

/// Computes the row before the first base, and the same cells less the cost of opening a gap in the
/// query.
fn first_row(zero: i32, costs: ExtensionCosts) -> [Cells; 2] {
    let gaps = (0..).map(|gap| -costs.open_extend - gap * costs.extend);
    let row = std::iter::once(0).chain(gaps).take_while(|&score| score >= -costs.x_drop);
    let (mut cells, mut opened) = ([NEVER; LANES], [NEVER; LANES]);
    let mut last = CENTRE;
    for (lane, score) in (CENTRE..).zip(row) {
        cells[lane] = clip(zero + score);
        opened[lane] = clip(zero + score - costs.open_extend);
        last = lane;
    }
    // BLAST+ does not compute the pair after the last cell.
    cells[last] = NEVER;
    [cells, opened]
}

/// A computation of two extensions from their start. Sentinels fill the margin in the direction of
/// extension. The result is `None` for a direction whose window does not fit the frame.
pub(super) struct Start<'a> {
    pub narrow: &'a NarrowParameters,
    pub directions: [Direction<'a, Bases<'a>>; 2],
}

impl Computation for Start<'_> {
    type Output = [Option<Extent>; 2];

    #[inline(always)]
    fn run<R: Row>(self, proof: R::Proof) -> Self::Output {
        let Start { narrow, directions } = self;
        let left = Extension::<R>::new(proof, narrow, directions[0]);
        let right = Extension::<R>::new(proof, narrow, directions[1]);
        run(narrow, [left, right])
    }
}

/// A computation of two extensions that go on from saved states.
pub(super) struct ResumedExtensions<'a> {
    pub narrow: &'a NarrowParameters,
    pub directions: [Direction<'a, Bases<'a>>; 2],
    pub progress: [&'a Progress; 2],
}

impl Computation for ResumedExtensions<'_> {
    type Output = [Option<Extent>; 2];

    #[inline(always)]
    fn run<R: Row>(self, proof: R::Proof) -> Self::Output {
        let ResumedExtensions { narrow, directions, progress } = self;
        let left = Extension::<R>::resume(proof, narrow, directions[0], progress[0]);
        let right = Extension::<R>::resume(proof, narrow, directions[1], progress[1]);
        run(narrow, [left, right])
    }
}

/// Computes two extensions at once. Each alone would wait for its own results most of the time.
#[inline(always)]
fn run<R: Row>(
    narrow: &NarrowParameters,
    extensions: [Extension<'_, R>; 2],
) -> [Option<Extent>; 2] {
    let [mut left, mut right] = extensions;
    let costs = Costs::<R>::new(left.proof, narrow);
    while left.alive && right.alive {
        left.step(narrow, &costs);
        right.step(narrow, &costs);
    }
    while left.alive {
        left.step(narrow, &costs);
    }
    while right.alive {
        right.step(narrow, &costs);
    }
    [left.result(), right.result()]
}

/// Saved state of an extension.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    /// For each lane, the score relative to the best one; the least number for a dropped cell.
    pub scores: [i16; LANES],
    /// For each lane, the score after a gap in the query that may continue in the next row,
    /// relative to the best score.
    pub gaps: [i16; LANES],
    pub best: i32,
    /// Number of subject bases that the extension has used.
    pub taken: usize,
    /// Index of the query letter that the first lane pairs next.
    pub position: usize,
    /// Number of subject bases up to the cell with the best score; `best_position` is the index of
    /// the first query letter after that cell.
    pub best_taken: usize,
    pub best_position: usize,
}

/// Gap costs and X-drop, copied to all lanes.
struct Costs<R> {
    zero: R,
    x_drop: R,
    open_extend: R,
    extend: R,
    /// Costs by lane, as in [`NarrowParameters`].
    opening: R,
    arriving: R,
    /// Cost of extending a gap through a section.
    section: R,
}

impl<R: Row> Costs<R> {
    #[inline(always)]
    fn new(proof: R::Proof, narrow: &NarrowParameters) -> Self {
        let costs = narrow.costs;
        Costs {
            zero: R::splat(proof, narrow.zero),
            x_drop: R::splat(proof, costs.x_drop as i8),
            open_extend: R::splat(proof, costs.open_extend as i8),
            extend: R::splat(proof, costs.extend as i8),
            opening: R::load(proof, &narrow.opening),
            arriving: R::load(proof, &narrow.arriving),
            section: R::splat(proof, (SECTION as i32 * costs.extend) as i8),
        }
    }

    /// Returns the score of each lane by a gap in the subject, from scores without such a gap.
    /// Opening costs no less than extending, so a gap is never opened from another gap.
    #[inline(always)]
    fn across(&self, scores: R) -> R {
        // Costs count from the start of the section, so the running maximum needs no subtractions.
        let all = scores.minus(self.opening).running_maximum();
        let ends = all.spread_ends().minus(self.section);
        let from_second = ends.sections_up::<2>().minus(self.section);
        let from_below = ends.sections_up::<1>().max(from_second);
        all.up::<1>().max(from_below).minus(self.arriving)
    }
}

/// State of an extension.
struct Extension<'a, R: Row> {
    proof: R::Proof,
    direction: Direction<'a, Bases<'a>>,
    /// Number of subject bases that the extension has used.
    taken: usize,
    /// Index of the query letter that the first lane pairs next.
    position: usize,
    scores: R,
    /// Scores after a gap in the query that may continue in the next row.
    gaps: R,
    /// The best score, copied to all lanes.
    best: R,
    /// Score that a byte of 0 stands for.
    base: i32,
    /// Number of rows until `base` is raised.
    rows: u32,
    /// Number of subject bases up to the cell with the best score; `best_position` is the index of
    /// the first query letter after that cell.
    best_taken: usize,
    best_position: usize,
    /// Whether some cells are alive and some bases are left.
    alive: bool,
    /// Whether the extension ended because the frame was too narrow.
    strayed: bool,
}

impl<'a, R: Row> Extension<'a, R> {
    #[inline(always)]
    fn new(
        proof: R::Proof,
        narrow: &NarrowParameters,
        direction: Direction<'a, Bases<'a>>,
    ) -> Self {
        Extension {
            proof,
            direction,
            taken: 0,
            position: direction.at - CENTRE,
            scores: R::load(proof, &narrow.first),
            gaps: R::load(proof, &narrow.first_gaps),
            best: R::splat(proof, narrow.zero),
            base: -i32::from(narrow.zero),
            rows: narrow.rows,
            best_taken: 0,
            best_position: direction.at,
            alive: true,
            strayed: false,
        }
    }

    /// Creates an extension that goes on from a saved state.
    #[inline(always)]
    fn resume(
        proof: R::Proof,
        narrow: &NarrowParameters,
        direction: Direction<'a, Bases<'a>>,
        progress: &Progress,
    ) -> Self {
        let byte = |below: i16| clip(i32::from(narrow.zero) + i32::from(below));
        Extension {
            taken: progress.taken,
            position: progress.position,
            scores: R::load(proof, &progress.scores.map(byte)),
            gaps: R::load(proof, &progress.gaps.map(byte)),
            base: progress.best - i32::from(narrow.zero),
            best_taken: progress.best_taken,
            best_position: progress.best_position,
            ..Extension::new(proof, narrow, direction)
        }
    }

    #[inline(always)]
    fn result(&self) -> Option<Extent> {
        (!self.strayed).then(|| Extent {
            score: self.base + i32::from(self.best.store()[0]),
            query: self.best_position - self.direction.at,
            subject: self.best_taken,
        })
    }

    /// Computes the row of the next base. If live cells reach an edge of the frame, shifts the
    /// frame instead. Ends the extension if no cell is alive or no base is left.
    #[inline(always)]
    fn step(&mut self, narrow: &NarrowParameters, costs: &Costs<R>) {
        let number = self.direction.query.number(self.taken);
        // Beyond the margin no lane has a letter.
        let letters = self.direction.subject.get(self.position..);
        let (Some(number), Some(letters)) = (number, letters.and_then(|all| all.first_chunk()))
        else {
            self.alive = false;
            return;
        };
        let table = &narrow.scores[number as usize & 3];
        let pairs = self.scores.plus(R::look_up(self.proof, table, letters));
        let (before, highest) = pairs.running_maximum_of_all();
        let floor = self.best.max(before).minus(costs.x_drop);
        let gaps = self.gaps.down();
        let without = pairs.max(gaps);
        let scores = without.max(costs.across(without));
        let (kept, lanes) = scores.keep(floor);
        if lanes == 0 || lanes & EDGES != 0 {
            self.end_or_shift(lanes);
            return;
        }
        let rises = pairs.above(self.best) != 0;
        let lane = pairs.equal(highest).trailing_zeros() as usize;
        self.taken += 1;
        self.position += 1;
        self.best_taken = if rises { self.taken } else { self.best_taken };
        self.best_position = if rises { self.position + lane } else { self.best_position };
        self.best = self.best.max(highest);
        self.gaps = gaps.minus(costs.extend).max(scores.minus(costs.open_extend));
        self.scores = kept;
        self.rows -= 1;
        if self.rows == 0 {
            self.move_base(narrow, costs);
        }
    }

    /// Adds the rise of the best score to `base` and subtracts it from all scores, so that they fit
    /// a byte.
    #[inline(always)]
    fn move_base(&mut self, narrow: &NarrowParameters, costs: &Costs<R>) {
        let by = self.best.minus(costs.zero);
        self.base += i32::from(by.store()[0]);
        self.scores = self.scores.minus(by);
        self.gaps = self.gaps.minus(by);
        self.best = costs.zero;
        self.rows = narrow.rows;
    }

    /// Ends the extension if the next row has no live lane, or if fewer than [`LEAST_ROOM`] lanes
    /// are free. Otherwise shifts the frame, so that the live lanes are in its centre. `lanes` are
    /// the live lanes.
    #[inline(always)]
    fn end_or_shift(&mut self, lanes: u64) {
        let (below, above) = (lanes.trailing_zeros(), lanes.leading_zeros());
        let room = below + above;
        self.strayed = room < LEAST_ROOM;
        self.alive = lanes != 0 && !self.strayed;
        if self.alive {
            let by = below as isize - (room / 2) as isize;
            // The position stays within the margin, as a live lane has a letter of the query.
            self.position = self.position.wrapping_add_signed(by);
            self.scores = R::load(self.proof, &shift_lanes(&self.scores.store(), by));
            self.gaps = R::load(self.proof, &shift_lanes(&self.gaps.store(), by));
        }
    }
}

/// Returns the cells shifted by `by` lanes down, or up if `by` is negative.
#[cold]
fn shift_lanes(cells: &Cells, by: isize) -> Cells {
    let mut out = [NEVER; LANES];
    let distance = by.unsigned_abs();
    if by > 0 {
        out[..LANES - distance].copy_from_slice(&cells[distance..]);
    } else {
        out[distance..].copy_from_slice(&cells[..LANES - distance]);
    }
    out
}
