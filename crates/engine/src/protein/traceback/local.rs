//! Smith–Waterman passes without traceback (rules 6.6). They find the best local score and its end,
//! and the corresponding start. Among ties the first cell reached wins, so the order of the loops
//! is part of the contract (`smith_waterman.c`).

use std::ops::Range;

use super::dp::Scheme;
use super::sweep::Sweep;
use crate::kernel::Kernel;
use crate::scores::RowNumber;

/// Work space of the passes.
#[derive(Debug)]
pub(super) struct LocalScratch {
    sweep: Sweep,
    /// Subject residues in the order of the columns.
    letters: Vec<u8>,
}

impl LocalScratch {
    /// Creates the work space for these instructions.
    pub fn new(kernel: Kernel) -> Self {
        LocalScratch { sweep: Sweep::new(kernel), letters: Vec::new() }
    }
}

/// A local score, and the first cell that reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peak {
    pub score: i32,
    pub query: usize,
    pub subject: usize,
}

/// Cells that may no longer be aligned: closed ranges of subject columns for each query row.
#[derive(Debug, Default)]
pub(super) struct ForbiddenCells {
    rows: Vec<Vec<(usize, usize)>>,
    used: bool,
}

impl ForbiddenCells {
    /// Allows all cells of a query of the given length.
    pub fn clear(&mut self, query_len: usize) {
        self.rows.iter_mut().for_each(Vec::clear);
        self.rows.resize_with(query_len.max(self.rows.len()), Vec::new);
        self.used = false;
    }

    /// Forbids the cells of an alignment. The end of the query range is exclusive, the end of the
    /// subject range inclusive.
    pub fn push(&mut self, query: Range<usize>, subject: Range<usize>) {
        for row in &mut self.rows[query] {
            row.push((subject.start, subject.end));
        }
        self.used = true;
    }

    fn row(&self, query: usize) -> &[(usize, usize)] {
        if self.used { &self.rows[query] } else { &[] }
    }
}

impl LocalScratch {
    /// Finds the best local score of the whole sequences, and its end.
    pub fn best_end(
        &mut self,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
        forbidden: &ForbiddenCells,
    ) -> Peak {
        let rows = query.iter().copied().enumerate();
        self.letters.clear();
        self.letters.extend_from_slice(subject);
        self.pass(rows, |i| i, scheme, forbidden, i32::MAX)
    }

    /// Finds the start of the alignment that ends at `end`.
    pub fn start_of(
        &mut self,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
        forbidden: &ForbiddenCells,
        end: &Peak,
    ) -> Peak {
        let rows = query[..=end.query].iter().copied().enumerate().rev();
        self.letters.clear();
        self.letters.extend(subject[..=end.subject].iter().rev());
        self.pass(rows, |i| end.subject - i, scheme, forbidden, end.score)
    }

    /// Runs one pass over `rows` and the columns of the loaded letters, until a row reaches the
    /// score `enough`. `place` converts columns to subject offsets and back. Returns the best score
    /// and its cell.
    fn pass(
        &mut self,
        rows: impl Iterator<Item = (usize, RowNumber)>,
        place: impl Fn(usize) -> usize,
        scheme: &Scheme<'_>,
        forbidden: &ForbiddenCells,
        enough: i32,
    ) -> Peak {
        let LocalScratch { sweep, letters } = self;
        let mut peak = Peak { score: 0, query: 0, subject: 0 };
        sweep.start(letters.len(), scheme.gaps);
        for (query, number) in rows {
            let barred = forbidden.row(query).iter();
            let barred = barred.map(|range| columns_of(range, letters.len(), &place));
            let best = sweep.row(number, letters, barred, scheme.scores, scheme.gaps);
            if best > peak.score {
                let column = sweep.column_of(best).unwrap_or(0);
                peak = Peak { score: best, query, subject: place(column) };
                if best >= enough {
                    break;
                }
            }
        }
        peak
    }
}

/// Returns the columns of a closed range of subject offsets, limited to the first `columns`.
fn columns_of(
    &(start, end): &(usize, usize),
    columns: usize,
    place: impl Fn(usize) -> usize,
) -> Range<usize> {
    let Some(last) = columns.checked_sub(1) else { return 0..0 };
    // In either direction the offsets of the columns form one range.
    let (low, high) = (place(0).min(place(last)), place(0).max(place(last)));
    if start > high || end < low {
        return 0..0;
    }
    let (one, other) = (place(start.max(low)), place(end.min(high)));
    one.min(other)..one.max(other) + 1
}

#[cfg(test)]
mod tests {
    use fleetblast_stats::release::Release;

    use super::super::dp::GapCosts;
    use super::*;
    use crate::scores::ScoreRows;
    use fleetblast_stats::scoring::ScoringSystem;

    const W: u8 = 20;
    const P: u8 = 14;
    const W_ROW: RowNumber = 20;
    const P_ROW: RowNumber = 14;

    fn with_scheme(run: impl Fn(&Scheme<'_>)) {
        let scoring =
            ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).expect("a known matrix");
        let scores = ScoreRows::of_matrix(&scoring.scores);
        run(&Scheme { scores: &scores, gaps: GapCosts { open: 4, extend: 1 }, x_drop: 0 });
    }

    #[test]
    fn the_first_of_equal_peaks_wins_and_its_start_is_found() {
        with_scheme(|scheme| {
            let query = [P_ROW, W_ROW, W_ROW, P_ROW];
            let subject = [W, W, P, P, P, W, W];
            let mut scratch = LocalScratch::new(Kernel::detect());
            let mut forbidden = ForbiddenCells::default();
            forbidden.clear(query.len());
            let end = scratch.best_end(&query, &subject, scheme, &forbidden);
            // P W W is complete one row before W W P, which scores the same.
            assert_eq!(end, Peak { score: 29, query: 2, subject: 6 });
            let start = scratch.start_of(&query, &subject, scheme, &forbidden, &end);
            assert_eq!((start.query, start.subject, start.score), (0, 4, 29));
            let twice = scratch.best_end(&query[1..3], &subject, scheme, &forbidden);
            assert_eq!((twice.query, twice.subject), (1, 1));
        });
    }

    #[test]
    fn the_end_of_a_forbidden_subject_range_counts_and_clearing_frees_it() {
        with_scheme(|scheme| {
            let (query, subject) = ([W_ROW, W_ROW], [W, W, W, P]);
            let mut scratch = LocalScratch::new(Kernel::detect());
            let mut forbidden = ForbiddenCells::default();
            forbidden.clear(query.len());
            forbidden.push(0..2, 0..2);
            assert_eq!(scratch.best_end(&query, &subject, scheme, &forbidden).score, 0);
            forbidden.clear(query.len());
            forbidden.push(0..1, 0..3);
            let end = scratch.best_end(&query, &subject, scheme, &forbidden);
            assert_eq!((end.score, end.query), (11, 1), "the second row is free");
            forbidden.clear(query.len());
            assert_eq!(scratch.best_end(&query, &subject, scheme, &forbidden).score, 22);
        });
    }
}
