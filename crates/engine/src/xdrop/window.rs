//! Rows of an extension in vectors, with the same results as the scalar rows.
//!
//! A row is computed in chunks of columns. Scores from above or along the diagonal depend on the
//! previous row only. Scores along the row are a running maximum, with gap costs counted from the
//! first column. Within a chunk this maximum is computed in steps of doubling length. Each chunk
//! passes its maximum to the next chunk.
//!
//! Whole chunks are computed, although the scalar window may end within a chunk. A cell that the
//! scalar code skips has no live neighbour that leads to it. So it is dropped here, with one
//! exception ([`Window::start`]). Gaps that leave a dropped cell are below the floor, and stay so,
//! since the best score only rises. Steps to and from such cells may differ, but no alignment uses
//! them.

use super::{
    EXTENDS_GAP_IN_QUERY, EXTENDS_GAP_IN_SUBJECT, Extent, GAP_IN_QUERY, GAP_IN_SUBJECT, NEVER,
    SUBSTITUTION, Scheme, StepRecorder,
};
use crate::scores::RowNumber;

/// Number of columns in a chunk.
pub(crate) const LANES: usize = 16;
/// Scores of a chunk.
pub(crate) type Chunk = [i32; LANES];
/// A chunk of dropped cells.
const DROPPED: Chunk = [NEVER; LANES];

/// The lanes of a chunk in registers.
pub(super) trait Lanes: Copy {
    /// A set of lanes.
    type Mask: Copy;
    /// Proof that the CPU has the instructions.
    type Proof: Copy;
    fn splat(proof: Self::Proof, score: i32) -> Self;
    fn load(proof: Self::Proof, chunk: &Chunk) -> Self;
    fn store_to(self, chunk: &mut Chunk);
    #[inline(always)]
    fn store(self) -> Chunk {
        let mut chunk = DROPPED;
        self.store_to(&mut chunk);
        chunk
    }
    /// Looks up the scores of codes, which are at most 31.
    fn look_up(proof: Self::Proof, table: &[i32; 32], codes: &[u8; LANES]) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Selects the lanes that are greater than the lanes of the other chunk.
    fn above(self, other: Self) -> Self::Mask;
    /// Replaces the selected lanes by the lanes of the other chunk.
    fn replace(self, chosen: Self::Mask, other: Self) -> Self;
    /// Converts a mask to bits, the first lane in the lowest.
    fn bits(mask: Self::Mask) -> u16;
    /// Moves each lane `BY` (1, 2, 4 or 8) lanes up; the last lanes of `below` enter.
    fn up<const BY: usize>(self, below: Self) -> Self;
    /// Copies the last lane to all lanes.
    fn spread_last(self) -> Self;
    /// Converts the lanes, which are at most 127, to bytes.
    fn narrow_to(self, bytes: &mut [u8; LANES]);
}

/// Moves the lanes of a chunk up; see [`Lanes::up`].
#[inline(always)]
pub(super) fn moved_up<L: Lanes, const BY: usize>(
    proof: L::Proof,
    chunk: &Chunk,
    below: &Chunk,
) -> Chunk {
    L::load(proof, chunk).up::<BY>(L::load(proof, below)).store()
}

/// Parameters that all rows of an extension share.
struct Rules<'a, L: Lanes> {
    proof: L::Proof,
    /// Residues of the subject, followed by one that is not aligned.
    subject: &'a [u8],
    /// The residues after the last full chunk.
    tail: [u8; LANES],
    open_extend: i32,
    extend: i32,
    x_drop: i32,
    /// Cost of a gap's first residue, in all lanes.
    first_residue: L,
    /// Cost of each further residue of a gap, in all lanes.
    residue: L,
    /// Cost of a gap from the chunk's start to each lane.
    from_chunk_start: L,
    /// Cost of a gap through the chunk, in all lanes.
    chunk: L,
    /// Cost of opening a gap, without its length, in all lanes.
    opening: L,
}

impl<'a, L: Lanes> Rules<'a, L> {
    #[inline(always)]
    fn new(proof: L::Proof, subject: &'a [u8], scheme: &Scheme<'_>) -> Self {
        let extend = scheme.gaps.extend;
        let open_extend = scheme.gaps.open + extend;
        let mut tail = [0; LANES];
        let (_, rest) = subject.as_chunks::<LANES>();
        tail[..rest.len()].copy_from_slice(rest);
        Rules {
            proof,
            subject,
            tail,
            open_extend,
            extend,
            x_drop: scheme.x_drop.max(open_extend),
            first_residue: L::splat(proof, open_extend),
            residue: L::splat(proof, extend),
            from_chunk_start: L::load(proof, &std::array::from_fn(|lane| lane as i32 * extend)),
            chunk: L::splat(proof, LANES as i32 * extend),
            opening: L::splat(proof, scheme.gaps.open),
        }
    }

    /// Returns the residues of a chunk: each cell pairs with its residue on the way along the
    /// diagonal to the next column.
    #[inline(always)]
    fn letters(&self, chunk: usize) -> &[u8; LANES] {
        self.subject[chunk * LANES..].first_chunk().unwrap_or(&self.tail)
    }

    /// Returns for each lane of a chunk the least score that is not dropped. The columns are one
    /// before the first residue, and one for each residue that is aligned; lanes beyond them are
    /// always dropped.
    #[inline(always)]
    fn floor(&self, chunk: usize, top: i32) -> L {
        let floor = top - self.x_drop;
        let left = self.subject.len() - chunk * LANES;
        if left >= LANES {
            return L::splat(self.proof, floor);
        }
        L::load(self.proof, &std::array::from_fn(|lane| if lane < left { floor } else { i32::MAX }))
    }
}

/// Scores aligned in memory, so that a chunk does not straddle cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Cells(Chunk);

/// Cells of the row that was computed last.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Best score of an alignment that ends in a column.
    best: Vec<Cells>,
    /// Best score of an alignment whose gap in the subject continues to the next row.
    gaps: Vec<Cells>,
    /// First chunk with live cells for the next row. `end` is one past the last such chunk.
    first: usize,
    end: usize,
}

/// Implements [`extend`](super::extend) with these lanes.
#[inline(always)]
pub(super) fn extend<L: Lanes, R: StepRecorder>(
    proof: L::Proof,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    recorder: &mut R,
) -> Extent {
    let rules = Rules::<L>::new(proof, subject, scheme);
    let mut extent = Extent::default();
    window.start(&rules, recorder);
    for (row, &number) in query.iter().enumerate() {
        let scores = scheme.scores.row(number);
        recorder.start_row(window.first * LANES);
        let column = window.advance(scores, &rules, &mut extent.score, recorder);
        if let Some(column) = column {
            (extent.query, extent.subject) = (row + 1, column);
        }
        if window.first >= window.end {
            break;
        }
    }
    extent
}

impl Window {
    /// Computes the row before the first query residue, which is a gap from the start. Drops its
    /// last cell, as BLAST+ does not compute the pair after that cell.
    #[inline(always)]
    fn start<L: Lanes>(&mut self, rules: &Rules<'_, L>, recorder: &mut impl StepRecorder) {
        self.best.clear();
        self.gaps.clear();
        let (mut column, mut score) = (0, 0);
        while column < rules.subject.len() && score >= -rules.x_drop {
            if column.is_multiple_of(LANES) {
                self.best.push(Cells(DROPPED));
                self.gaps.push(Cells(DROPPED));
            }
            self.best[column / LANES].0[column % LANES] = score;
            self.gaps[column / LANES].0[column % LANES] = score - rules.open_extend;
            score -= if column == 0 { rules.open_extend } else { rules.extend };
            column += 1;
        }
        self.best[(column - 1) / LANES].0[(column - 1) % LANES] = NEVER;
        (self.first, self.end) = (0, self.best.len());
        recorder.start(column);
    }

    /// Computes the row of the next query residue, whose scores are `scores`. Records the steps to
    /// the columns from the first chunk on. `top` is the best score up to now. Returns the last
    /// column that raised `top`.
    #[inline(always)]
    fn advance<L: Lanes>(
        &mut self,
        scores: &[i32; 32],
        rules: &Rules<'_, L>,
        top: &mut i32,
        recorder: &mut impl StepRecorder,
    ) -> Option<usize> {
        let proof = rules.proof;
        let dropped = L::splat(proof, NEVER);
        let mut top_at = None;
        let (mut chunk, reach) = (self.first, self.end);
        (self.first, self.end) = (usize::MAX, 0);
        // Scores that leave the chunk before along the diagonal; the running maximum; the gap cost
        // to each lane.
        let (mut leaving, mut running, mut gap_costs) = (dropped, dropped, rules.from_chunk_start);
        let mut goes_on = false;
        while chunk * LANES < rules.subject.len() && (chunk < reach || goes_on) {
            if chunk == self.best.len() {
                self.best.push(Cells(DROPPED));
                self.gaps.push(Cells(DROPPED));
            }
            let (Cells(best), Cells(gaps)) = (&mut self.best[chunk], &mut self.gaps[chunk]);
            let moved = L::load(proof, best).plus(L::look_up(proof, scores, rules.letters(chunk)));
            let pair = moved.up::<1>(leaving);
            leaving = moved;
            let down = L::load(proof, gaps);
            let without = pair.max(down);
            let all = running_maximum(proof, without.plus(gap_costs)).max(running);
            let across = all.up::<1>(running).minus(gap_costs).minus(rules.opening);
            running = all.spread_last();
            gap_costs = gap_costs.plus(rules.chunk);
            let score = without.max(across);
            let opened = score.minus(rules.first_residue);
            let (longer_down, longer_across) =
                (down.minus(rules.residue), across.minus(rules.residue));
            longer_down.max(opened).store_to(gaps);
            recorder.append(|steps| {
                let flag = |flag: u8| L::splat(proof, i32::from(flag));
                let none = flag(0);
                flag(SUBSTITUTION)
                    .replace(down.above(pair), flag(GAP_IN_SUBJECT))
                    .replace(across.above(without), flag(GAP_IN_QUERY))
                    .plus(flag(EXTENDS_GAP_IN_SUBJECT).replace(opened.above(longer_down), none))
                    .plus(flag(EXTENDS_GAP_IN_QUERY).replace(opened.above(longer_across), none))
                    .narrow_to(steps);
            });
            let mut kept = score.replace(rules.floor(chunk, *top).above(score), dropped);
            if L::bits(kept.above(L::splat(proof, *top))) != 0 {
                let lane;
                (kept, lane) = raise(proof, kept, top, rules.x_drop);
                top_at = Some(chunk * LANES + lane);
            }
            kept.store_to(best);
            let live = L::bits(kept.above(dropped));
            goes_on = live >> (LANES - 1) != 0;
            if live != 0 {
                self.first = self.first.min(chunk);
                self.end = chunk + 1 + usize::from(goes_on);
            }
            chunk += 1;
        }
        top_at
    }
}

/// Returns the maximum of each lane and the lanes below it.
#[inline(always)]
fn running_maximum<L: Lanes>(proof: L::Proof, scores: L) -> L {
    let dropped = L::splat(proof, NEVER);
    let two = scores.max(scores.up::<1>(dropped));
    let four = two.max(two.up::<2>(dropped));
    let eight = four.max(four.up::<4>(dropped));
    eight.max(eight.up::<8>(dropped))
}

/// Processes the cells of a chunk in their order; at least one of them raises the best score. Each
/// later cell is compared with the new best score. Returns the remaining cells, and the last lane
/// that raised the score.
#[inline(always)]
fn raise<L: Lanes>(proof: L::Proof, cells: L, top: &mut i32, x_drop: i32) -> (L, usize) {
    let best = running_maximum(proof, cells).max(L::splat(proof, *top));
    let dropped = best.minus(L::splat(proof, x_drop)).above(cells);
    let highest = best.spread_last();
    let lane = (!L::bits(highest.above(cells))).trailing_zeros() as usize;
    *top = highest.store()[0];
    (cells.replace(dropped, L::splat(proof, NEVER)), lane)
}
