//! Extends with traceback (`ALIGN_EX`, `blast_gapalign.c`) if the window fits 128 diagonals. A row
//! of cells is in registers of bytes.
//!
//! Rows are letters of the query, columns those of the subject. The method is that of
//! [`super::narrow`]. In addition each row records how its cells were reached, one bit for each
//! lane. Steps to and from dropped cells may differ from those of the scalar code, but no alignment
//! uses them.

use super::narrow::{FEWEST_ROWS, LEAST_ROOM};
use super::row::{self, Cells, Computation, NEVER, Row, SECTION, Table, clip};
use super::wide_row::{LANES, WideRow};
use crate::hits::EditOp;
use crate::kernel::Kernel;
use crate::scores::{RowNumber, ScoreRows};
use crate::xdrop::frames::{Direction, ExtensionCosts, MARGIN};
use crate::xdrop::traced::push;
use crate::xdrop::{Extent, GapCosts};

/// Lane of the diagonal on which an extension starts, before the frame moves.
const CENTRE: usize = 60;
/// Longest gap in the query that a row considers in every lane.
const LONGEST_GAP: i32 = 4 * SECTION as i32;
/// Mask of the first and the last lane.
const EDGES: u128 = 1 | 1 << (LANES - 1);

// A frame with letters in it may extend beyond them by less than the margin.
const _: () = assert!(LANES <= MARGIN);

/// Rows of the query, and letters of the subject with [`MARGIN`] sentinels before and after them.
pub(crate) type TracedDirection<'a> = Direction<'a, &'a [RowNumber]>;

/// Extends with traceback. Holds the parameters shared by all extensions with the same scores and
/// gap costs.
#[derive(Clone, Debug)]
pub(crate) struct TracebackExtender {
    /// Scores of each query letter against each subject letter.
    scores: [Table; 16],
    costs: ExtensionCosts,
    /// Byte that stands for a score of zero at the start of an extension.
    zero: i8,
    /// Number of rows after which the score that a byte of 0 stands for is raised.
    rows: u32,
    /// The row before the query's first letter.
    first: [Cells; 2],
    /// The cells of `first`, less the cost of opening a gap in the subject.
    first_gaps: [Cells; 2],
    /// For each lane, the cost of opening a gap in the query, less the cost of extending a gap from
    /// the start of the section to the lane.
    opening: Cells,
    /// For each lane, the cost of extending a gap in the query from the start of the section to the
    /// lane, less the cost of one letter.
    arriving: Cells,
}

/// Steps by which the cells of a row were reached, one bit for each lane.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// Column of the first lane.
    column: isize,
    /// Cells that were reached by a gap in the subject, unless their bit in `from_left` is set.
    from_above: u128,
    /// Cells that were reached by a gap in the query.
    from_left: u128,
    /// Cells in which a gap in the subject opens, if one leaves the cell.
    opens_down: u128,
    /// Cells in which a gap in the query opens, if one leaves the cell.
    opens_across: u128,
}

/// Steps by which the cells of an extension were reached, row by row.
#[derive(Debug, Default)]
pub(crate) struct TracebackSteps(Vec<Steps>);

impl TracebackExtender {
    /// Prepares extensions. Returns `None` if bytes or lanes do not suffice for the scores and
    /// costs.
    pub fn new(
        scores: &ScoreRows,
        gaps: GapCosts,
        x_drop: i32,
        sentinel: u8,
    ) -> Option<TracebackExtender> {
        let (open_extend, extend) = (gaps.open + gaps.extend, gaps.extend);
        let x_drop = x_drop.max(open_extend);
        let costs = ExtensionCosts { open_extend, extend, x_drop };
        let (never, highest) = (i32::from(NEVER), i32::from(i8::MAX));
        let rows = scores.all().first_chunk::<16>()?;
        let most = rows.iter().flat_map(|row| &row[..16]).copied().max()?.max(1);
        // See `NarrowParameters::new`.
        let zero = never + 1 + most.max(extend).saturating_add(x_drop);
        let rise = (highest - most - SECTION as i32 * extend - zero).min(highest);
        let fits = rise / most >= FEWEST_ROWS
            && x_drop < highest
            && (1..=highest / SECTION as i32).contains(&extend)
            && (extend..=highest).contains(&open_extend)
            && (x_drop - open_extend) / extend < LONGEST_GAP.min((LANES - CENTRE) as i32 - 2)
            && rows.iter().all(|row| row[usize::from(sentinel)] <= never);
        if !fits {
            return None;
        }
        let by_lane = |cost: &dyn Fn(i32) -> i32| {
            std::array::from_fn(|lane| cost((lane % SECTION) as i32) as i8)
        };
        let [first, first_gaps] = first_row(zero, costs);
        Some(TracebackExtender {
            scores: rows.map(|row| std::array::from_fn(|letter| clip(row[letter]))),
            costs,
            zero: zero as i8,
            rows: (rise / most) as u32,
            first,
            first_gaps,
            opening: by_lane(&|lane| open_extend - lane * extend),
            arriving: by_lane(&|lane| (lane - 1) * extend),
        })
    }

    /// Extends in both directions and records the steps. Returns `None` if the kernel has no
    /// vectors, or if the frame is too narrow.
    pub fn extend(
        &self,
        kernel: Kernel,
        directions: [TracedDirection<'_>; 2],
        steps: &mut [TracebackSteps; 2],
    ) -> Option<[Extent; 2]> {
        row::perform(kernel, Trace { extender: self, directions, steps })?
    }
}

/// Computes the row before the query's first letter, and the same cells less the cost of opening a
/// gap in the subject.
fn first_row(zero: i32, costs: ExtensionCosts) -> [[Cells; 2]; 2] {
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
    [cells, opened].map(halves)
}

fn halves(cells: [i8; LANES]) -> [Cells; 2] {
    let (halves, _) = cells.as_chunks();
    [halves[0], halves[1]]
}

/// A computation of two extensions at once. Each alone would wait for its own results most of the
/// time.
struct Trace<'a> {
    extender: &'a TracebackExtender,
    directions: [TracedDirection<'a>; 2],
    steps: &'a mut [TracebackSteps; 2],
}

impl Computation for Trace<'_> {
    type Output = Option<[Extent; 2]>;

    #[inline(always)]
    fn run<R: Row>(self, proof: R::Proof) -> Self::Output {
        let Trace { extender, directions, steps } = self;
        let costs = Costs::<R>::new(proof, extender);
        let mut left = Extension::<R>::new(proof, extender, directions[0]);
        let mut right = Extension::<R>::new(proof, extender, directions[1]);
        let [left_steps, right_steps] = steps;
        left_steps.0.clear();
        right_steps.0.clear();
        while left.alive && right.alive {
            left.step(extender, &costs, left_steps);
            right.step(extender, &costs, right_steps);
        }
        while left.alive {
            left.step(extender, &costs, left_steps);
        }
        while right.alive {
            right.step(extender, &costs, right_steps);
        }
        Some([left.result()?, right.result()?])
    }
}

/// Gap costs and X-drop, copied to all lanes.
struct Costs<R> {
    zero: WideRow<R>,
    x_drop: WideRow<R>,
    open_extend: WideRow<R>,
    extend: WideRow<R>,
    /// Costs by lane, as in [`TracebackExtender`].
    opening: WideRow<R>,
    arriving: WideRow<R>,
    /// Cost of extending a gap through a section.
    section: WideRow<R>,
}

impl<R: Row> Costs<R> {
    #[inline(always)]
    fn new(proof: R::Proof, extender: &TracebackExtender) -> Self {
        let costs = extender.costs;
        Costs {
            zero: WideRow::splat(proof, extender.zero),
            x_drop: WideRow::splat(proof, costs.x_drop as i8),
            open_extend: WideRow::splat(proof, costs.open_extend as i8),
            extend: WideRow::splat(proof, costs.extend as i8),
            opening: WideRow::load(proof, &[extender.opening; 2]),
            arriving: WideRow::load(proof, &[extender.arriving; 2]),
            section: WideRow::splat(proof, (SECTION as i32 * costs.extend) as i8),
        }
    }

    /// Returns the score of each lane by a gap in the query, from scores without such a gap.
    /// Opening costs no less than extending, so a gap is never opened from another gap.
    #[inline(always)]
    fn across(&self, scores: WideRow<R>) -> WideRow<R> {
        // Costs count from the start of the section, so the running maximum needs no subtractions.
        let all = scores.minus(self.opening).running_maximum();
        let ends = all.spread_ends().minus(self.section);
        let two = ends.max(ends.sections_up::<1>().minus(self.section));
        let four = two.max(two.sections_up::<2>().minus(self.section).minus(self.section));
        all.up().max(four.sections_up::<1>()).minus(self.arriving)
    }
}

/// State of an extension.
struct Extension<'a, R: Row> {
    proof: R::Proof,
    direction: TracedDirection<'a>,
    /// Number of query letters that the extension has used.
    taken: usize,
    /// Index of the subject letter that the first lane pairs next.
    position: usize,
    scores: WideRow<R>,
    /// Scores after a gap in the subject that may continue in the next row.
    gaps: WideRow<R>,
    /// The best score, copied to all lanes.
    best: WideRow<R>,
    /// Score that a byte of 0 stands for.
    base: i32,
    /// Number of rows until `base` is raised.
    rows: u32,
    /// Number of query letters up to the cell with the best score; `best_position` is the index of
    /// the first subject letter after that cell.
    best_taken: usize,
    best_position: usize,
    /// Whether some cells are alive and some letters are left.
    alive: bool,
    /// Whether the extension ended because the frame was too narrow.
    strayed: bool,
}

impl<'a, R: Row> Extension<'a, R> {
    #[inline(always)]
    fn new(proof: R::Proof, extender: &TracebackExtender, direction: TracedDirection<'a>) -> Self {
        Extension {
            proof,
            direction,
            taken: 0,
            position: direction.at - CENTRE,
            scores: WideRow::load(proof, &extender.first),
            gaps: WideRow::load(proof, &extender.first_gaps),
            best: WideRow::splat(proof, extender.zero),
            base: -i32::from(extender.zero),
            rows: extender.rows,
            best_taken: 0,
            best_position: direction.at,
            alive: true,
            strayed: false,
        }
    }

    #[inline(always)]
    fn result(&self) -> Option<Extent> {
        (!self.strayed).then(|| Extent {
            score: self.base + i32::from(self.best.store()[0][0]),
            query: self.best_taken,
            subject: self.best_position - self.direction.at,
        })
    }

    /// Computes the row of the next query letter. If live cells reach an edge of the frame, shifts
    /// the frame instead. Ends the extension if no cell is alive or no letter is left.
    #[inline(always)]
    fn step(&mut self, extender: &TracebackExtender, costs: &Costs<R>, steps: &mut TracebackSteps) {
        let number = self.direction.query.get(self.taken);
        // Beyond the margin no lane has a letter.
        let letters = self.direction.subject.get(self.position..);
        let (Some(&number), Some(letters)) = (number, letters.and_then(|all| all.first_chunk()))
        else {
            self.alive = false;
            return;
        };
        let table = &extender.scores[number as usize & 15];
        let pairs = self.scores.plus(WideRow::look_up(self.proof, table, letters));
        let (before, highest) = pairs.running_maximum_of_all();
        let floor = self.best.max(before).minus(costs.x_drop);
        let down = self.gaps.down();
        let without = pairs.max(down);
        let across = costs.across(without);
        let scores = without.max(across);
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
        let opened = scores.minus(costs.open_extend);
        let (longer_down, longer_across) = (down.minus(costs.extend), across.minus(costs.extend));
        steps.0.push(Steps {
            column: self.position as isize - self.direction.at as isize,
            from_above: down.above(pairs),
            from_left: across.above(without),
            opens_down: opened.above(longer_down),
            opens_across: opened.above(longer_across),
        });
        self.gaps = longer_down.max(opened);
        self.scores = kept;
        self.rows -= 1;
        if self.rows == 0 {
            self.move_base(extender, costs);
        }
    }

    /// Adds the rise of the best score to `base` and subtracts it from all scores, so that they fit
    /// a byte.
    #[inline(always)]
    fn move_base(&mut self, extender: &TracebackExtender, costs: &Costs<R>) {
        let by = self.best.minus(costs.zero);
        self.base += i32::from(by.store()[0][0]);
        self.scores = self.scores.minus(by);
        self.gaps = self.gaps.minus(by);
        self.best = costs.zero;
        self.rows = extender.rows;
    }

    /// Ends the extension if no lane is alive. Otherwise centres the frame on the lanes that the
    /// next row will make live.
    #[inline(always)]
    fn end_or_shift(&mut self, lanes: u128) {
        let (below, above) = (lanes.trailing_zeros(), lanes.leading_zeros());
        let room = below + above;
        self.strayed = room < LEAST_ROOM;
        self.alive = lanes != 0 && !self.strayed;
        if self.alive {
            let by = below as isize - (room / 2) as isize;
            // The position stays within the margin, as a live lane has a letter of the subject.
            self.position = self.position.wrapping_add_signed(by);
            self.scores = WideRow::load(self.proof, &shift_lanes(&self.scores.store(), by));
            self.gaps = WideRow::load(self.proof, &shift_lanes(&self.gaps.store(), by));
        }
    }
}

/// Returns the cells shifted by `by` lanes down, or up if `by` is negative.
#[cold]
fn shift_lanes(cells: &[Cells; 2], by: isize) -> [Cells; 2] {
    let cells = cells.as_flattened();
    let mut out = [NEVER; LANES];
    let distance = by.unsigned_abs();
    if by > 0 {
        out[..LANES - distance].copy_from_slice(&cells[distance..]);
    } else {
        out[distance..].copy_from_slice(&cells[..LANES - distance]);
    }
    halves(out)
}

impl TracebackSteps {
    /// Replaces `edits` by the columns of the alignment, from its end back to its start.
    pub fn back(&self, extent: Extent, edits: &mut Vec<crate::hits::Edit>) {
        edits.clear();
        let (mut row, mut column) = (extent.query, extent.subject);
        let mut op = EditOp::Substitution;
        while row > 0 {
            let steps = &self.0[row - 1];
            let lane = 1u128 << (column as isize - steps.column);
            op = match op {
                EditOp::GapInQuery if steps.opens_across & lane == 0 => EditOp::GapInQuery,
                EditOp::GapInSubject if steps.opens_down & lane == 0 => EditOp::GapInSubject,
                _ if steps.from_left & lane != 0 => EditOp::GapInQuery,
                _ if steps.from_above & lane != 0 => EditOp::GapInSubject,
                _ => EditOp::Substitution,
            };
            row -= usize::from(op != EditOp::GapInQuery);
            column -= usize::from(op != EditOp::GapInSubject);
            push(edits, op, 1);
        }
        if column > 0 {
            push(edits, EditOp::GapInQuery, column as u32);
        }
    }
}
