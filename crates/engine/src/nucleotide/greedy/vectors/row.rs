//! Computes a row of any number of chunks.

use super::runs::Runs;
use super::{Vector, lengthen};
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{Chunk, ContinuingDiagonals, FurthestExtent, LANES, Row};
use crate::nucleotide::greedy::{NOWHERE, Run};

/// Computes a row, as the trait `RowKernel` describes.
#[inline(always)]
pub(super) fn compute<V: Vector, const BACK: bool>(
    proof: V::Proof,
    sequences: &OutwardSequences<'_, BACK>,
    row: Row<'_>,
    continuing: &mut ContinuingDiagonals,
    longest: &mut Run,
) -> FurthestExtent {
    let Row { previous_row, cells, mut first, least: least_extent } = row;
    let [neighbour, chunk, rest @ ..] = previous_row else { return FurthestExtent::default() };
    let splat = |number| V::splat(proof, number);
    let runs = Runs::<V, BACK>::new(proof, sequences);
    let (mut left, mut centre) = (V::load(proof, neighbour), V::load(proof, chunk));
    let mut diagonals = splat(first).plus(V::numbered(proof));
    let (less, none, one) = (splat(least_extent - 1), splat(-1), splat(1));
    let (mut largest, mut places) = (splat(0), splat(0));
    for (right, cells) in rest.iter().zip(cells) {
        let right = V::load(proof, right);
        let over = centre.down_from(right).max(centre).plus(one);
        let subject = over.max(centre.up_from(left));
        let query = subject.plus(diagonals);
        let extent = subject.plus(query);
        let goes_on = V::both(extent.above(less), subject.above(none));
        let lanes = V::bits(goes_on);
        (left, centre) = (centre, right);
        if lanes == 0 {
            *cells = Chunk::NOWHERE;
        } else {
            // The least positions in the query and in the subject: half of the extent, plus or
            // minus the diagonal.
            let last = first + LANES as i32 - 1;
            let reach =
                [(least_extent + first) >> 1, (least_extent - last) >> 1].map(|at| at.max(0));
            let met = runs.find(sequences, reach, [query, subject], lanes);
            let longer = V::bits(met.run.above(splat(longest.length))) & lanes;
            if longer != 0 {
                lengthen(longest, longer, query.store(), subject.store(), met.run.store());
            }
            let end = subject.plus(met.run);
            let extent = extent.plus(met.run.plus(met.run));
            *cells = end.or_else(goes_on, splat(NOWHERE)).store();
            let further = V::both(goes_on, extent.above(largest));
            largest = extent.or_else(further, largest);
            places = diagonals.or_else(further, places);
            // A path reaches an end if there was no room for a longer run.
            let (mut query_end, mut subject_end) = (0, 0);
            if lanes & !V::bits(met.room.above(met.run)) != 0 {
                let q_end = query.plus(met.run);
                query_end = V::bits(q_end.equals(runs.query.length)) & lanes;
                subject_end = V::bits(end.equals(runs.subject.length)) & lanes;
            }
            continuing.update(first, lanes, query_end, subject_end);
        }
        diagonals = diagonals.plus(splat(LANES as i32));
        first += LANES as i32;
    }
    let extent = largest.largest();
    let furthest = largest.equals(splat(extent));
    let others = splat(i32::MIN);
    let diagonal = splat(0).minus(places).or_else(furthest, others).largest();
    FurthestExtent { extent, diagonal: -diagonal }
}
