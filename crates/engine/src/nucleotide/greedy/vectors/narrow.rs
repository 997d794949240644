//! Computes rows of at most as many diagonals as a vector has lanes. Each row fills one vector,
//! whatever its diagonals.

use super::runs::Runs;
use super::{AT_ONCE, Vector, lengthen};
use crate::nucleotide::greedy::NOWHERE;
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{
    Chunk, ContinuingDiagonals, FurthestExtent, GreedyState, LANES, NarrowRow,
};
use crate::nucleotide::greedy::rules::Rules;

/// Computes rows as long as they are narrow, as the trait `RowKernel` describes.
#[inline(always)]
pub(super) fn compute<V: Vector, const BACK: bool>(
    (proof, sequences): (V::Proof, &OutwardSequences<'_, BACK>),
    rules: &Rules,
    best: &mut Vec<i32>,
    state: &mut GreedyState,
    row: &mut NarrowRow,
) -> bool {
    let splat = |number| V::splat(proof, number);
    let runs = Runs::<V, BACK>::new(proof, sequences);
    let (nowhere, none, one) = (splat(NOWHERE), splat(-1), splat(1));
    let ContinuingDiagonals { mut low, mut high, .. } = state.continuing;
    let mut cells = V::load(proof, &row.cells);
    let mut first = row.first;
    let mut diagonals = splat(first).plus(V::numbered(proof));
    let finished = loop {
        let last = first + LANES as i32 - 1;
        if low < first || high > last {
            let spare = LANES as i32 - 1 - (high - low);
            if spare < 0 {
                break false;
            }
            let by = low - spare / 2 - first;
            cells = cells.moved(by, NOWHERE);
            first += by;
            diagonals = splat(first).plus(V::numbered(proof));
        }
        // A mismatch advances the extent of the furthest path by two.
        let furthest = state.previous_extent + 2 + 2 * AT_ONCE;
        if (furthest + high) / 2 >= sequences.query.length
            || (furthest - low) / 2 >= sequences.subject.length
        {
            break false;
        }
        let least = rules.least_extent(best);
        let over = cells.down_from(nowhere).max(cells).plus(one);
        let subject = over.max(cells.up_from(nowhere));
        let query = subject.plus(diagonals);
        let extent = subject.plus(query);
        let goes_on = V::both(extent.above(splat(least - 1)), subject.above(none));
        let lanes = V::bits(goes_on);
        let distance = best.len() as i32;
        let best_score = best[best.len() - 1];
        if lanes == 0 {
            best.push(best_score);
            break true;
        }
        let reach = [(least + low) >> 1, (least - high) >> 1].map(|at| at.max(0));
        let (mut run, seen) = runs.equal(reach, query, subject);
        let short = V::bits(splat(AT_ONCE).above(run)) & seen;
        if lanes & !short != 0 {
            let positions = [query.store(), subject.store()];
            let Some(longer) = longer(sequences, positions, run.store(), [lanes & !short, seen])
            else {
                break false;
            };
            run = V::load(proof, &longer);
        }
        let record = V::bits(run.above(splat(state.longest.length))) & lanes;
        if record != 0 {
            lengthen(&mut state.longest, record, query.store(), subject.store(), run.store());
        }
        cells = subject.plus(run).or_else(goes_on, nowhere);
        let extents = extent.plus(run.plus(run)).or_else(goes_on, splat(0));
        let extent = extents.largest();
        state.previous_extent = extent;
        let score = rules.score(extent, distance);
        if score >= best_score {
            let furthest = V::bits(extents.equals(splat(extent)));
            let diagonal = first + furthest.trailing_zeros() as i32;
            state.found.replace(distance, FurthestExtent { extent, diagonal });
        }
        best.push(best_score.max(score));
        low = first + lanes.trailing_zeros() as i32 - 1;
        high = first + lanes.ilog2() as i32 + 1;
    };
    (state.continuing.low, state.continuing.high) = (low, high);
    *row = NarrowRow { first, cells: cells.store() };
    finished
}

/// Measures the whole runs of the lanes `rest`. In the lanes `seen`, the first [`AT_ONCE`] bases
/// are known to be equal. Returns `None` if a run reaches an end of a sequence.
#[cold]
#[inline(never)]
fn longer<const BACK: bool>(
    sequences: &OutwardSequences<'_, BACK>,
    [Chunk(queries), Chunk(subjects)]: [Chunk; 2],
    mut runs: Chunk,
    [mut rest, seen]: [u32; 2],
) -> Option<Chunk> {
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        let taken = if seen >> lane & 1 != 0 { AT_ONCE } else { 0 };
        let (query, subject) = (queries[lane], subjects[lane]);
        let length = sequences.run(query, subject, taken);
        if query + length == sequences.query.length || subject + length == sequences.subject.length
        {
            return None;
        }
        runs.0[lane] = length;
        rest &= rest - 1;
    }
    Some(runs)
}
