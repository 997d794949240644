//! Rows of an extension in vectors: the same results as the scalar rows.
//!
//! A row is computed in chunks of columns. What comes down or along the diagonal depends on the row before only. What comes
//! along the row is a running maximum, with the cost of the way counted from the first column: within a chunk in steps of
//! doubling length, and from chunk to chunk one number is passed on.
//!
//! Whole chunks are computed, although the scalar window may end within: a cell that the scalar code does not look at has no live
//! neighbour which leads to it, so it is dropped here, with one exception ([`Window::start`]). Gaps that leave a dropped cell
//! are lower than what is dropped, and stay so, since the best score only rises. Steps to and from such cells may differ, but no
//! alignment takes them.

use super::{
    EXTENDS_GAP_IN_QUERY, EXTENDS_GAP_IN_SUBJECT, Extent, GAP_IN_QUERY, GAP_IN_SUBJECT, NEVER,
    Record, SUBSTITUTION, Scheme,
};
use crate::scores::RowNumber;

/// Columns in a chunk.
pub(crate) const LANES: usize = 16;
/// Scores of a chunk.
pub(crate) type Chunk = [i32; LANES];
/// A chunk of dropped cells.
const DROPPED: Chunk = [NEVER; LANES];

/// The lanes of a chunk in registers.
pub(super) trait Lanes: Copy {
    /// A choice of lanes.
    type Mask: Copy;
    /// Proof of the instructions.
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
    /// Scores of the codes, none of which is above 31.
    fn look_up(proof: Self::Proof, table: &[i32; 32], codes: &[u8; LANES]) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Where the lanes are greater than those of the other.
    fn above(self, other: Self) -> Self::Mask;
    /// The other's lanes where chosen.
    fn replace(self, chosen: Self::Mask, other: Self) -> Self;
    /// The first lane in the lowest bit.
    fn bits(mask: Self::Mask) -> u16;
    /// Each lane moves `BY` (1, 2, 4 or 8) lanes up; the last ones of `below` enter.
    fn up<const BY: usize>(self, below: Self) -> Self;
    /// The last lane in all lanes.
    fn spread_last(self) -> Self;
    /// The lanes as bytes; none is above 127.
    fn narrow_to(self, bytes: &mut [u8; LANES]);
}

/// A chunk whose lanes have moved up, see [`Lanes::up`].
#[inline(always)]
pub(super) fn moved_up<L: Lanes, const BY: usize>(
    proof: L::Proof,
    chunk: &Chunk,
    below: &Chunk,
) -> Chunk {
    L::load(proof, chunk).up::<BY>(L::load(proof, below)).store()
}

/// What all rows of an extension have in common.
struct Rules<'a, L: Lanes> {
    proof: L::Proof,
    /// Residues, and one that is not aligned.
    subject: &'a [u8],
    /// What of them does not fill a chunk.
    tail: [u8; LANES],
    open_extend: i32,
    extend: i32,
    x_drop: i32,
    /// The same costs in all lanes; of the way along a chunk up to each lane, and of a gap's opening apart from its way.
    first_residue: L,
    residue: L,
    way: L,
    chunk: L,
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
            way: L::load(proof, &std::array::from_fn(|lane| lane as i32 * extend)),
            chunk: L::splat(proof, LANES as i32 * extend),
            opening: L::splat(proof, scheme.gaps.open),
        }
    }

    /// The residues that the cells of a chunk pair on their way to the next column.
    #[inline(always)]
    fn letters(&self, chunk: usize) -> &[u8; LANES] {
        self.subject[chunk * LANES..].first_chunk().unwrap_or(&self.tail)
    }

    /// The least scores that are not dropped. There are as many columns as residues, with that before the first one.
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

/// Scores in memory, none of which two lines of the cache share.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Cells(Chunk);

/// The last row.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Best score of an alignment that ends in a column.
    best: Vec<Cells>,
    /// Best score of one that goes on with a gap in the subject.
    gaps: Vec<Cells>,
    /// The chunks that the next row starts from.
    first: usize,
    end: usize,
}

/// See [`extend`](super::extend).
#[inline(always)]
pub(super) fn extend<L: Lanes, R: Record>(
    proof: L::Proof,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    record: &mut R,
) -> Extent {
    let rules = Rules::<L>::new(proof, subject, scheme);
    let mut extent = Extent::default();
    window.start(&rules, record);
    for (row, &number) in query.iter().enumerate() {
        let scores = scheme.scores.row(number);
        record.start_row(window.first * LANES);
        let column = window.advance(scores, &rules, &mut extent.score, record);
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
    /// The row before the first query residue: a gap from the start. In the row after it BLAST+ does not follow the pair after
    /// the last of its cells.
    #[inline(always)]
    fn start<L: Lanes>(&mut self, rules: &Rules<'_, L>, record: &mut impl Record) {
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
        record.start(column);
    }

    /// Goes on by a query residue with these scores; records the steps to the columns from the first chunk on. `top` is the best
    /// score so far; returns the column that raised it last.
    #[inline(always)]
    fn advance<L: Lanes>(
        &mut self,
        scores: &[i32; 32],
        rules: &Rules<'_, L>,
        top: &mut i32,
        record: &mut impl Record,
    ) -> Option<usize> {
        let proof = rules.proof;
        let dropped = L::splat(proof, NEVER);
        let mut top_at = None;
        let (mut chunk, reach) = (self.first, self.end);
        (self.first, self.end) = (usize::MAX, 0);
        // What leaves the chunk before along the diagonal; the running maximum so far; the cost of the way to each lane.
        let (mut leaving, mut running, mut way) = (dropped, dropped, rules.way);
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
            let all = running_maximum(proof, without.plus(way)).max(running);
            let across = all.up::<1>(running).minus(way).minus(rules.opening);
            running = all.spread_last();
            way = way.plus(rules.chunk);
            let score = without.max(across);
            let opened = score.minus(rules.first_residue);
            let (longer_down, longer_across) =
                (down.minus(rules.residue), across.minus(rules.residue));
            longer_down.max(opened).store_to(gaps);
            record.take(|steps| {
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

/// The highest of each lane and those below it.
#[inline(always)]
fn running_maximum<L: Lanes>(proof: L::Proof, scores: L) -> L {
    let dropped = L::splat(proof, NEVER);
    let two = scores.max(scores.up::<1>(dropped));
    let four = two.max(two.up::<2>(dropped));
    let eight = four.max(four.up::<4>(dropped));
    eight.max(eight.up::<8>(dropped))
}

/// Takes the cells of a chunk in their order, of which one at least raises the best score: what comes after it is held against the
/// new one. Returns what is left, and the last lane that raised it.
#[inline(always)]
fn raise<L: Lanes>(proof: L::Proof, cells: L, top: &mut i32, x_drop: i32) -> (L, usize) {
    let best = running_maximum(proof, cells).max(L::splat(proof, *top));
    let dropped = best.minus(L::splat(proof, x_drop)).above(cells);
    let highest = best.spread_last();
    let lane = (!L::bits(highest.above(cells))).trailing_zeros() as usize;
    *top = highest.store()[0];
    (cells.replace(dropped, L::splat(proof, NEVER)), lane)
}
