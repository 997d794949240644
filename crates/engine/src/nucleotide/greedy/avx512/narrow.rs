//! Computes rows of at most as many diagonals as a register has lanes. Each row fills one register,
//! whatever its diagonals.

use std::arch::x86_64::*;

use super::{AT_ONCE, Runs, lanes, lengthen, load, store};
use crate::nucleotide::greedy::NOWHERE;
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{ContinuingDiagonals, Furthest, LANES, Narrow, Path};
use crate::nucleotide::greedy::rules::Rules;

/// Computes rows as long as they are narrow, as the trait `RowKernel` describes.
#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
pub(super) fn rows<const BACK: bool>(
    sequences: &OutwardSequences<'_, BACK>,
    rules: &Rules,
    best: &mut Vec<i32>,
    path: &mut Path,
    row: &mut Narrow,
) -> bool {
    let runs = Runs::new(sequences);
    let nowhere = _mm512_set1_epi32(NOWHERE);
    let ContinuingDiagonals { mut low, mut high, .. } = path.continuing;
    let mut here = load(&row.cells);
    let mut first = row.first;
    let mut diagonals = _mm512_add_epi32(_mm512_set1_epi32(first), lanes());
    let finished = loop {
        let last = first + LANES as i32 - 1;
        if low < first || high > last {
            let spare = LANES as i32 - 1 - (high - low);
            if spare < 0 {
                break false;
            }
            let by = low - spare / 2 - first;
            let from = _mm512_add_epi32(_mm512_set1_epi32(by), lanes());
            let there = _mm512_cmplt_epu32_mask(from, _mm512_set1_epi32(LANES as i32));
            here = _mm512_mask_permutexvar_epi32(nowhere, there, from, here);
            first += by;
            diagonals = _mm512_add_epi32(_mm512_set1_epi32(first), lanes());
        }
        // A mismatch advances the extent of the furthest path by two.
        let furthest = path.before + 2 + 2 * AT_ONCE;
        if (furthest + high) / 2 >= sequences.query.length
            || (furthest - low) / 2 >= sequences.subject.length
        {
            break false;
        }
        let least = rules.least_extent(best);
        let above = _mm512_alignr_epi32::<1>(nowhere, here);
        let below = _mm512_alignr_epi32::<15>(here, nowhere);
        let over = _mm512_add_epi32(_mm512_max_epi32(above, here), _mm512_set1_epi32(1));
        let subject = _mm512_max_epi32(over, below);
        let query = _mm512_add_epi32(subject, diagonals);
        let extent = _mm512_add_epi32(subject, query);
        let goes_on = _mm512_cmpge_epi32_mask(extent, _mm512_set1_epi32(least));
        let goes_on = _mm512_mask_cmpge_epi32_mask(goes_on, subject, _mm512_setzero_si512());
        let distance = best.len() as i32;
        let before = best[best.len() - 1];
        if goes_on == 0 {
            best.push(before);
            break true;
        }
        let reach = [(least + low) >> 1, (least - high) >> 1].map(|at| at.max(0));
        let (mut run, seen) = runs.equal::<true>(reach, query, subject);
        let short = _mm512_mask_cmplt_epi32_mask(seen, run, _mm512_set1_epi32(AT_ONCE));
        if goes_on & !short != 0 {
            let Some(longer) = longer(sequences, [query, subject], run, [goes_on & !short, seen])
            else {
                break false;
            };
            run = longer;
        }
        let length = _mm512_set1_epi32(path.longest.length);
        let record = _mm512_mask_cmpgt_epi32_mask(goes_on, run, length);
        if record != 0 {
            lengthen(&mut path.longest, record, query, subject, run);
        }
        here = _mm512_mask_add_epi32(nowhere, goes_on, subject, run);
        let extents = _mm512_maskz_add_epi32(goes_on, extent, _mm512_add_epi32(run, run));
        let extent = _mm512_reduce_max_epi32(extents);
        path.before = extent;
        let score = rules.score(extent, distance);
        if score >= before {
            let furthest = _mm512_cmpeq_epi32_mask(extents, _mm512_set1_epi32(extent));
            let diagonal = first + furthest.trailing_zeros() as i32;
            path.found.replace(distance, Furthest { extent, diagonal });
        }
        best.push(before.max(score));
        low = first + goes_on.trailing_zeros() as i32 - 1;
        high = first + goes_on.ilog2() as i32 + 1;
    };
    (path.continuing.low, path.continuing.high) = (low, high);
    *row = Narrow { first, cells: store(here) };
    finished
}

/// Measures the whole runs of some lanes. For the lanes `seen`, the first [`AT_ONCE`] bases are
/// known to be equal. Returns `None` if a run reaches an end of a sequence.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512cd")]
fn longer<const BACK: bool>(
    sequences: &OutwardSequences<'_, BACK>,
    positions: [__m512i; 2],
    run: __m512i,
    [mut rest, seen]: [u16; 2],
) -> Option<__m512i> {
    let (queries, subjects) = (store(positions[0]).0, store(positions[1]).0);
    let mut runs = store(run);
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
    Some(load(&runs))
}
