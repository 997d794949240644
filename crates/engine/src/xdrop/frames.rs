//! Score-only extensions with the cells of a row in vector registers. They apply where small
//! numbers and a narrow window suffice (`Blast_SemiGappedAlign` and `s_BlastAlignPackedNucl`,
//! `blast_gapalign.c`).
//!
//! Rows are letters of one sequence: the query of proteins, the subject of nucleotides. Columns are
//! letters of the other sequence, and lanes are diagonals. The lanes of a row form a frame. The
//! frame advances by one column from row to row, so that a diagonal stays in its lane. A gap in the
//! subject comes from the lane above in the row before. A gap in the query comes from lanes below
//! in the same row. It is a running maximum, computed in steps of doubling length.
//!
//! * **Bytes.** A cell is kept only if it is at most the X-drop below the best score. So a byte
//!   suffices, relative to a base that moves along with the best score. A dropped cell is
//!   [`NEVER`]. A gap below the floor is as good as dropped, since the floor only rises and a gap
//!   only loses. For the same reason the gaps that the scalar code leaves in dropped cells have no
//!   effect.
//! * **Order.** The best score includes the cells to the left in the same row. In most rows no cell
//!   exceeds it. In the other rows each new maximum is processed in turn, and the cells to its
//!   right are compared with the new floor.
//! * **Window.** Only the frame bounds the window. When the first or the last lane becomes live,
//!   the row is repeated in a shifted frame. If no frame is wide enough, the scalar code must do
//!   the extension. Columns beyond the end of the subject hold sentinels. Nothing pairs with them,
//!   and a gap that runs into them never comes back.
//! * **First row.** One limit of BLAST+'s window has an effect: BLAST+ does not compute the pair
//!   after the last cell of the first row (`Blast_SemiGappedAlign`, blast_gapalign.c).

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

use super::Extent;
use crate::scores::{RowNumber, ScoreRows};

/// Number of bytes before and after the subject that a row of vectors may read.
pub(crate) const MARGIN: usize = 128;

/// The row numbers of one sequence, in the order of an extension.
pub(crate) trait Rows: Copy {
    /// Returns the number of the row after the first `taken` rows; `None` after the last row.
    fn number(&self, taken: usize) -> Option<RowNumber>;
}

impl Rows for &[RowNumber] {
    #[inline(always)]
    fn number(&self, taken: usize) -> Option<RowNumber> {
        self.get(taken).copied()
    }
}

/// The sequences of an extension in one direction: the query's rows, and the subject's residues
/// from `at` on, with [`MARGIN`] bytes around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction<'a, Q = &'a [RowNumber]> {
    /// Rows of the query in the order of the extension.
    pub query: Q,
    /// Residues of the subject in the same order; sentinels in the margins.
    pub subject: &'a [u8],
    /// Index in `subject` of the first residue of the extension.
    pub at: usize,
}

/// Gap costs and X-drop of gapped extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtensionCosts {
    /// Cost of opening a gap, its first residue included.
    pub open_extend: i32,
    /// Cost of each further residue.
    pub extend: i32,
    /// X-drop, at least `open_extend`.
    pub x_drop: i32,
}

/// Number of lanes in the frame, one for each diagonal.
pub(super) const LANES: usize = 128;
/// Number of lanes in a section. Shifts within a register do not cross sections.
pub(super) const SECTION: usize = 16;
/// The score of a dropped cell.
pub(super) const NEVER: i8 = i8::MIN;
/// Lane of the start's diagonal before the frame shifts.
const CENTRE: usize = 54;
/// Longest gap in the query that a row considers in every lane.
const LONGEST_GAP: i32 = 2 * SECTION as i32;
/// Least number of free lanes with which shifting the frame helps.
const LEAST_ROOM: u32 = 4;

// A frame that contains residues extends beyond them by less than the margin.
const _: () = assert!(LANES <= MARGIN);

/// One byte for each lane.
pub(super) type Cells = [i8; LANES];

/// Parameters that extensions with the same scores and costs share.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    /// Scores by row and subject residue code.
    scores: Vec<[i8; 32]>,
    costs: ExtensionCosts,
    /// Byte that stands for a score of zero at the start of an extension.
    zero: i8,
    /// If the byte of the best score is above this one, `base` is raised.
    highest: i8,
    /// Cells of the row before the first query residue.
    first: Cells,
    /// The cells of `first`, less the cost of opening a gap in the subject.
    first_gaps: Cells,
    /// Cost of opening a gap in the query from each lane, less the cost of extending it from the
    /// start of the section to this lane.
    opening: Cells,
    /// Cost of extending a gap in the query from the start of the section to each lane, less the
    /// cost of one residue.
    arriving: Cells,
}

impl Frames {
    /// Prepares extensions over subjects that are enclosed by sentinels with the code `sentinel`.
    /// Returns `None` if bytes do not suffice for the scores and costs.
    pub(crate) fn new(scores: &ScoreRows, costs: ExtensionCosts, sentinel: u8) -> Option<Frames> {
        let ExtensionCosts { open_extend, extend, x_drop } = costs;
        let (never, most) =
            (i32::from(NEVER), scores.all().iter().flatten().copied().max()?.max(0));
        // `lowest` is the lowest floor. A dropped cell stays below it even after the best pair, and
        // even with gap costs counted from the start of a section. The floor may rise above a kept
        // cell. Such a cell stays above `NEVER` when the base moves.
        let lowest = never + 1 + most.max(extend);
        let zero = lowest + x_drop;
        // In the row that raises the best score to this, every score fits in a byte, even with the
        // gap costs of a section added.
        let highest = i32::from(i8::MAX) - most - SECTION as i32 * extend;
        let fits = zero <= highest
            && x_drop < i32::from(i8::MAX)
            && (1..=i32::from(i8::MAX) / SECTION as i32).contains(&extend)
            && (extend..=i32::from(i8::MAX)).contains(&open_extend)
            && (x_drop - open_extend) / extend < LONGEST_GAP
            && scores.all().iter().all(|row| row[usize::from(sentinel)] <= never);
        if !fits {
            return None;
        }
        let by_lane = |cost: &dyn Fn(i32) -> i32| {
            std::array::from_fn(|lane| cost((lane % SECTION) as i32) as i8)
        };
        let [first, first_gaps] = first_row(zero, costs);
        Some(Frames {
            scores: scores.all().iter().map(|row| row.map(clip)).collect(),
            costs,
            zero: zero as i8,
            highest: highest as i8,
            first,
            first_gaps,
            opening: by_lane(&|lane| open_extend - lane * extend),
            arriving: by_lane(&|lane| (lane - 1) * extend),
        })
    }
}

/// Creates the row before the first query residue, and the same row less the cost of opening a gap
/// in the subject. `zero` is the byte for a score of zero.
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

/// Converts a score to a byte; a score that is too low becomes [`NEVER`].
fn clip(score: i32) -> i8 {
    score.max(i32::from(NEVER)) as i8
}

/// A row of lanes. Sums and differences saturate.
pub(super) trait Row: Copy {
    /// Proof that the CPU has the instructions.
    type Proof: Copy;
    fn splat(proof: Self::Proof, byte: i8) -> Self;
    fn load(proof: Self::Proof, cells: &Cells) -> Self;
    fn store(self) -> Cells;
    /// Looks up the scores of the codes in a table of 32; no code is above 31.
    fn look_up(proof: Self::Proof, table: &[i8; 32], codes: &[u8; LANES]) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Returns a bit for each lane, set if the lane is greater than the same lane of `other`.
    fn above(self, other: Self) -> u128;
    /// Drops each lane that is below the same lane of `floor`. Returns the row, and a bit for each
    /// lane that was kept.
    fn keep(self, floor: Self) -> (Self, u128);
    /// Keeps only the lanes whose bits are set in `lanes`, and drops the others.
    fn select(self, lanes: u128) -> Self;
    /// Moves the byte of each lane `BY` (1, 2, 4 or 8) lanes up in its section; [`NEVER`] enters.
    fn up<const BY: usize>(self) -> Self;
    /// Moves the byte of each lane one lane down; [`NEVER`] enters.
    fn down(self) -> Self;
    /// Copies the last byte of each section to all its lanes.
    fn spread_ends(self) -> Self;
    /// Moves the byte of each lane `BY` (1 or 2) sections up; [`NEVER`] enters.
    fn sections_up<const BY: usize>(self) -> Self;
}

/// Extends in two directions at once, because a single extension mostly waits for its own results.
/// Sentinels fill the margin in the direction of extension. The result is `None` for a direction
/// whose window does not fit the frame.
#[inline(always)]
pub(super) fn run<R: Row, Q: Rows>(
    proof: R::Proof,
    frames: &Frames,
    directions: [Direction<Q>; 2],
) -> [Option<Extent>; 2] {
    let costs = Costs::<R>::new(proof, frames);
    // Not by `map`: instructions in its closure would become calls, which are slow.
    let [to_left, to_right] = directions;
    let mut left = Extension::<R, Q>::new(proof, frames, to_left);
    let mut right = Extension::<R, Q>::new(proof, frames, to_right);
    while left.alive && right.alive {
        left.step(frames, &costs);
        right.step(frames, &costs);
    }
    while left.alive {
        left.step(frames, &costs);
    }
    while right.alive {
        right.step(frames, &costs);
    }
    [left.result(), right.result()]
}

/// Gap costs in all lanes.
struct Costs<R> {
    open_extend: R,
    extend: R,
    /// The costs [`Frames::opening`] and [`Frames::arriving`].
    opening: R,
    arriving: R,
    /// Cost of extending a gap through a section.
    section: R,
}

impl<R: Row> Costs<R> {
    #[inline(always)]
    fn new(proof: R::Proof, frames: &Frames) -> Self {
        let costs = frames.costs;
        Costs {
            open_extend: R::splat(proof, costs.open_extend as i8),
            extend: R::splat(proof, costs.extend as i8),
            opening: R::load(proof, &frames.opening),
            arriving: R::load(proof, &frames.arriving),
            section: R::splat(proof, (SECTION as i32 * costs.extend) as i8),
        }
    }

    /// Returns the score of each lane after a gap in the query, from scores without such gaps.
    /// Opening costs no less than extending, so that a gap never opens from another gap.
    #[inline(always)]
    fn across(&self, scores: R) -> R {
        // Costs count from the start of the section, so the running maximum needs no subtractions.
        let opened = scores.minus(self.opening);
        let two = opened.max(opened.up::<1>());
        let four = two.max(two.up::<2>());
        let eight = four.max(four.up::<4>());
        let all = eight.max(eight.up::<8>());
        let ends = all.spread_ends();
        let from_next = ends.sections_up::<1>().minus(self.section);
        let from_second = ends.sections_up::<2>().minus(self.section).minus(self.section);
        all.up::<1>().max(from_next.max(from_second)).minus(self.arriving)
    }
}

/// State of an extension.
struct Extension<'a, R: Row, Q> {
    proof: R::Proof,
    direction: Direction<'a, Q>,
    /// Number of query residues that the extension has used.
    taken: usize,
    /// Index in the subject's bytes of the residue that the first lane pairs next.
    position: usize,
    scores: R,
    /// Scores after a gap in the subject that may continue in the next row.
    gaps: R,
    /// The best score, copied to all lanes. `floor` is the least score that is not dropped, copied
    /// to all lanes.
    best: R,
    floor: R,
    /// The best score as a byte. `base` is the score for which a byte of 0 stands.
    top: i8,
    base: i32,
    extent: Extent,
    /// Whether some cells are alive and some residues are left.
    alive: bool,
    /// Whether the extension ended because the frame was too narrow.
    strayed: bool,
}

impl<'a, R: Row, Q: Rows> Extension<'a, R, Q> {
    #[inline(always)]
    fn new(proof: R::Proof, frames: &Frames, direction: Direction<'a, Q>) -> Self {
        let zero = frames.zero;
        Extension {
            proof,
            direction,
            taken: 0,
            position: direction.at - CENTRE,
            scores: R::load(proof, &frames.first),
            gaps: R::load(proof, &frames.first_gaps),
            best: R::splat(proof, zero),
            floor: R::splat(proof, zero - frames.costs.x_drop as i8),
            top: zero,
            base: -i32::from(zero),
            extent: Extent::default(),
            alive: true,
            strayed: false,
        }
    }

    #[inline(always)]
    fn result(&self) -> Option<Extent> {
        (!self.strayed).then_some(self.extent)
    }

    /// Processes the next query residue, or shifts the frame, or ends the extension.
    #[inline(always)]
    fn step(&mut self, frames: &Frames, costs: &Costs<R>) {
        let number = self.direction.query.number(self.taken);
        // Beyond the margin no lane has a residue.
        let codes = self.direction.subject.get(self.position..);
        let (Some(number), Some(codes)) = (number, codes.and_then(|codes| codes.first_chunk()))
        else {
            self.alive = false;
            return;
        };
        let pairs = R::look_up(self.proof, &frames.scores[number as usize], codes);
        let gaps = self.gaps.down();
        let without = self.scores.plus(pairs).max(gaps);
        let scores = without.max(costs.across(without));
        let gaps = gaps.minus(costs.extend).max(scores.minus(costs.open_extend));
        let (kept, lanes) = scores.keep(self.floor);
        let records = scores.above(self.best);
        if records != 0 {
            self.record(frames, scores, gaps, lanes, records);
        } else if lanes == 0 {
            self.alive = false;
        } else if at_edge(lanes) {
            self.shift(lanes);
        } else {
            self.scores = kept;
            self.gaps = gaps;
            self.taken += 1;
            self.position += 1;
        }
    }

    /// Completes a row in which the best score rises. `lanes` has a bit for each lane that is not
    /// below the floor of the previous row, `records` for each lane above the best score of the
    /// previous row.
    #[inline(always)]
    fn record(&mut self, frames: &Frames, scores: R, gaps: R, lanes: u128, records: u128) {
        let cells = scores.store();
        let x_drop = frames.costs.x_drop as i8;
        let (mut lanes, mut records) = (lanes, records);
        let (mut top, mut lane) = (self.top, 0);
        while records != 0 {
            lane = records.trailing_zeros() as usize;
            top = cells[lane];
            let right = !1 << lane;
            lanes &= !right | scores.keep(R::splat(self.proof, top - x_drop)).1;
            records &= scores.above(R::splat(self.proof, top));
        }
        if at_edge(lanes) {
            self.shift(lanes);
            return;
        }
        self.taken += 1;
        self.position += 1;
        self.scores = scores.select(lanes);
        self.gaps = gaps;
        self.extent = Extent {
            score: self.base + i32::from(top),
            query: self.taken,
            subject: self.position + lane - self.direction.at,
        };
        if top > frames.highest {
            self.lower(i32::from(top) - i32::from(frames.zero));
            top = frames.zero;
        }
        self.top = top;
        self.best = R::splat(self.proof, top);
        self.floor = R::splat(self.proof, top - x_drop);
    }

    /// Adds `by` to `base`, and subtracts it from all scores.
    #[inline(always)]
    fn lower(&mut self, by: i32) {
        self.base += by;
        // A byte cannot hold the whole difference, only its halves.
        for part in [by / 2, by - by / 2] {
            self.scores = self.scores.minus(R::splat(self.proof, part as i8));
            self.gaps = self.gaps.minus(R::splat(self.proof, part as i8));
        }
    }

    /// Shifts the frame so that `lanes`, the lanes that the next row makes live, come to its
    /// middle. Ends the extension if too few lanes are free.
    #[inline(always)]
    fn shift(&mut self, lanes: u128) {
        let (below, above) = (lanes.trailing_zeros(), lanes.leading_zeros());
        let room = below + above;
        if room < LEAST_ROOM {
            self.strayed = true;
            self.alive = false;
            return;
        }
        let by = below as isize - (room / 2) as isize;
        // The position stays within the margin, because a live lane stands for a column of the
        // subject.
        self.position = self.position.wrapping_add_signed(by);
        self.scores = R::load(self.proof, &shift_lanes(&self.scores.store(), by));
        self.gaps = R::load(self.proof, &shift_lanes(&self.gaps.store(), by));
    }
}

/// Returns whether the first or the last lane is among `lanes`.
#[inline(always)]
fn at_edge(lanes: u128) -> bool {
    lanes & (1 | 1 << (LANES - 1)) != 0
}

/// Returns the cells shifted `by` lanes down, or up if `by` is negative.
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
