//! Rows of a Smith–Waterman pass, several columns at a time.
//!
//! The vertical and diagonal moves of a row depend on the row before only. Horizontally, each
//! column takes the best of the gaps that opened to the left of it. Within a chunk of columns this
//! maximum is found in steps of doubling length. From chunk to chunk a single number is passed on.

use crate::kernel::Kernel;
use crate::scores::{NEVER, RowNumber, ScoreRow, ScoreRows};
use crate::xdrop::{Chunk, LANES};

use super::dp::GapCosts;

/// The last row of a pass, and the scores for the next one.
#[derive(Debug)]
pub(super) struct Sweep {
    kernel: Kernel,
    columns: usize,
    /// Best score of each column.
    best: Vec<Chunk>,
    /// Best score of each column with an open gap in the subject.
    gaps: Vec<Chunk>,
    /// Scores of each row against the letters of the columns, by row number; empty for rows not
    /// used yet.
    pairs: Vec<Vec<Chunk>>,
    /// The scores of a row in which some columns are forbidden.
    barred: Vec<Chunk>,
}

impl Sweep {
    /// Creates the work space for these instructions.
    pub fn new(kernel: Kernel) -> Self {
        Sweep { kernel, columns: 0, best: vec![], gaps: vec![], pairs: vec![], barred: vec![] }
    }

    /// Starts a pass over `columns` columns.
    pub fn start(&mut self, columns: usize, gaps: GapCosts) {
        let chunks = columns.div_ceil(LANES);
        self.columns = columns;
        self.best.clear();
        self.best.resize(chunks, [0; LANES]);
        self.gaps.clear();
        self.gaps.resize(chunks, [-gaps.open; LANES]);
        self.pairs.iter_mut().for_each(Vec::clear);
    }

    /// Computes the next row, for the query residue with this row number. Returns its best score.
    /// `letters` are the residues of the columns, the same in each row. No alignment uses the
    /// columns in the half-open ranges `forbidden`.
    pub fn row(
        &mut self,
        number: RowNumber,
        letters: &[u8],
        forbidden: impl ExactSizeIterator<Item = std::ops::Range<usize>>,
        scores: &ScoreRows,
        gaps: GapCosts,
    ) -> i32 {
        let at = number as usize;
        if self.pairs.len() <= at {
            self.pairs.resize_with(at + 1, Vec::new);
        }
        let met = &mut self.pairs[at];
        if met.is_empty() {
            fill_pairs(met, letters, scores.row(number));
        }
        let mut pairs = &met[..];
        if forbidden.len() > 0 {
            self.barred.clear();
            self.barred.extend_from_slice(pairs);
            for range in forbidden {
                self.barred.as_flattened_mut()[range].fill(NEVER);
            }
            pairs = &self.barred;
        }
        let row = Row { best: &mut self.best, gaps: &mut self.gaps, pairs, costs: gaps };
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(proof) => x86::avx512(proof, row),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(proof) => x86::avx2(proof, row),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(proof) => row.advance(proof),
            _ => row.advance(Plain),
        }
    }

    /// Returns the first column of the last row with this score.
    pub fn column_of(&self, score: i32) -> Option<usize> {
        self.best.as_flattened()[..self.columns].iter().position(|&best| best == score)
    }
}

/// Computes the scores of the letters. Extra columns up to the end of the last chunk align nothing.
fn fill_pairs(pairs: &mut Vec<Chunk>, letters: &[u8], scores: &ScoreRow) {
    pairs.resize(letters.len().div_ceil(LANES), [NEVER; LANES]);
    for (pair, &letter) in pairs.as_flattened_mut().iter_mut().zip(letters) {
        *pair = scores[usize::from(letter & 31)].max(NEVER);
    }
}

/// Operations that differ between instruction sets; the compiler vectorises the rest.
trait Lanes: Copy {
    /// Moves each lane `BY` (1, 2, 4 or 8) lanes up; the last lanes of `below` enter.
    fn up<const BY: usize>(self, chunk: Chunk, below: Chunk) -> Chunk;
}

/// Operations in plain Rust.
#[derive(Clone, Copy)]
struct Plain;

impl Lanes for Plain {
    #[inline(always)]
    fn up<const BY: usize>(self, chunk: Chunk, below: Chunk) -> Chunk {
        std::array::from_fn(|i| if i < BY { below[LANES + i - BY] } else { chunk[i - BY] })
    }
}

/// The last row of a pass, which [`Row::advance`] turns into the next row.
struct Row<'a> {
    best: &'a mut [Chunk],
    gaps: &'a mut [Chunk],
    pairs: &'a [Chunk],
    costs: GapCosts,
}

impl Row<'_> {
    /// Updates the row and returns its best score.
    #[inline(always)]
    fn advance<L: Lanes>(self, lanes: L) -> i32 {
        let (opened, extend) = (self.costs.open + self.costs.extend, self.costs.extend);
        let decay: Chunk = std::array::from_fn(|i| i as i32 * extend);
        let mut before = [0; LANES];
        // Best score of a gap that reaches the first column of the chunk.
        let mut arriving = -opened;
        let mut top = [0; LANES];
        for ((best, gap), pairs) in self.best.iter_mut().zip(self.gaps).zip(self.pairs) {
            let down = zip(*best, *gap, |best, gap| (best - opened).max(gap - extend));
            let moved =
                zip(lanes.up::<1>(*best, before), *pairs, |score, pair| (score + pair).max(0));
            before = *best;
            let without = zip(moved, down, i32::max);
            // Opening costs no less than extending, so a gap never opens from another gap.
            let mut across = lanes.up::<1>(without.map(|score| score - opened), [NEVER; LANES]);
            across = double_reach::<L, 1>(lanes, across, extend);
            across = double_reach::<L, 2>(lanes, across, extend);
            across = double_reach::<L, 4>(lanes, across, extend);
            across = double_reach::<L, 8>(lanes, across, extend);
            let from_left = decay.map(|cost| arriving - cost);
            let score = zip(without, zip(across, from_left, i32::max), i32::max);
            let leaving = (without[LANES - 1] - opened).max(across[LANES - 1] - extend);
            arriving = leaving.max(arriving - LANES as i32 * extend);
            top = zip(top, score, i32::max);
            *best = score;
            *gap = down;
        }
        top.into_iter().fold(0, i32::max)
    }
}

#[inline(always)]
fn zip(a: Chunk, b: Chunk, f: impl Fn(i32, i32) -> i32) -> Chunk {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// Returns the maximum of each lane and of a gap that reaches it from `BY` lanes before.
#[inline(always)]
fn double_reach<L: Lanes, const BY: usize>(lanes: L, across: Chunk, extend: i32) -> Chunk {
    let longer = lanes.up::<BY>(across, [NEVER; LANES]).map(|score| score - BY as i32 * extend);
    zip(across, longer, i32::max)
}

#[cfg(target_arch = "aarch64")]
impl Lanes for crate::kernel::Neon {
    #[inline(always)]
    fn up<const BY: usize>(self, chunk: Chunk, below: Chunk) -> Chunk {
        crate::xdrop::neon::moved_up::<BY>(self, &chunk, &below)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! A row with instructions that not every CPU has.
    #![allow(unsafe_code)]

    use super::{Chunk, Lanes, Row};
    use crate::kernel::{Avx2, Avx512};
    use crate::xdrop;

    /// Runs [`Row::advance`] with AVX-512.
    pub(super) fn avx512(proof: Avx512, row: Row) -> i32 {
        #[target_feature(enable = "avx512bw")]
        fn inner(proof: Avx512, row: Row) -> i32 {
            row.advance(proof)
        }
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(proof, row) }
    }

    /// Runs [`Row::advance`] with AVX2.
    pub(super) fn avx2(proof: Avx2, row: Row) -> i32 {
        #[target_feature(enable = "avx2")]
        fn inner(proof: Avx2, row: Row) -> i32 {
            row.advance(proof)
        }
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(proof, row) }
    }

    impl Lanes for Avx512 {
        #[inline(always)]
        fn up<const BY: usize>(self, chunk: Chunk, below: Chunk) -> Chunk {
            xdrop::avx512::moved_up::<BY>(self, &chunk, &below)
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn up<const BY: usize>(self, chunk: Chunk, below: Chunk) -> Chunk {
            xdrop::avx2::moved_up::<BY>(self, &chunk, &below)
        }
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_stats::release::Release;

    use super::*;
    use crate::protein::prelim::testing::kernels;
    use crate::testing::RandomSequences;
    use fastrand::Rng;
    use fleetblast_stats::scoring::ScoringSystem;

    /// Computes the table by its definition: each cell from its three neighbours.
    fn table(
        query: &[u8],
        subject: &[u8],
        allowed: impl Fn(usize, usize) -> bool,
        scores: &ScoreRows,
        gaps: GapCosts,
    ) -> Vec<Vec<i32>> {
        let opened = gaps.open + gaps.extend;
        let mut best = vec![vec![0; subject.len() + 1]; query.len() + 1];
        let mut down = vec![NEVER; subject.len() + 1];
        for (q, &a) in query.iter().enumerate() {
            let mut across = NEVER;
            for (s, &b) in subject.iter().enumerate() {
                let pair = if allowed(q, s) { scores.score(a.into(), b) } else { NEVER };
                down[s + 1] = (down[s + 1] - gaps.extend).max(best[q][s + 1] - opened);
                across = (across - gaps.extend).max(best[q + 1][s] - opened);
                let score = (best[q][s] + pair).max(0).max(down[s + 1]).max(across);
                best[q + 1][s + 1] = score;
            }
        }
        best
    }

    #[test]
    fn rows_are_as_defined_whatever_the_instructions() {
        let scoring =
            ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).expect("a known matrix");
        let scores = ScoreRows::of_matrix(&scoring.scores);
        let mut random = Rng::with_seed(77);
        for (open, extend) in [(11, 1), (2, 1), (0, 1), (6, 2)] {
            let gaps = GapCosts { open, extend };
            for len in [1, 15, 16, 17, 48, 100] {
                let (query, mut subject) = (random.protein(40), random.protein(len));
                let shared = len.min(30);
                subject[..shared].copy_from_slice(&query[5..5 + shared]);
                // Rows 10 to 19 may not align some columns.
                let barred = len / 3..len / 2;
                let allowed = |q: usize, s: usize| !((10..20).contains(&q) && barred.contains(&s));
                let expected = table(&query, &subject, allowed, &scores, gaps);
                for kernel in kernels() {
                    let mut sweep = Sweep::new(kernel);
                    sweep.start(len, gaps);
                    for (q, &residue) in query.iter().enumerate() {
                        let forbidden = (10..20).contains(&q).then(|| barred.clone());
                        let best = sweep.row(
                            residue.into(),
                            &subject,
                            forbidden.into_iter(),
                            &scores,
                            gaps,
                        );
                        let row = &expected[q + 1][1..];
                        assert_eq!(
                            sweep.best.as_flattened()[..len],
                            *row,
                            "{kernel:?} {len} row {q}"
                        );
                        assert_eq!(Some(&best), row.iter().max());
                        assert_eq!(
                            sweep.column_of(best),
                            row.iter().position(|&score| score == best)
                        );
                    }
                }
            }
        }
    }
}
