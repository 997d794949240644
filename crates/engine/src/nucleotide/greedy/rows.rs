//! Rows of cells for vectors. A row consists of chunks of diagonals. A diagonal has the same lane
//! in all rows.

use super::pairs::OutwardSequences;
use super::rules::Rules;
use super::{BestEnd, NOWHERE, Run};

/// Number of diagonals in a chunk.
pub(super) const LANES: usize = 16;
/// Number of chunks of [`NOWHERE`] on each side of a row. A row may have one chunk more on each
/// side than the previous row, and reads one more.
pub(super) const PAD: usize = 2;
/// Lane of diagonal zero, in the middle of a chunk, so that a narrow row fits one chunk.
pub(super) const ZERO: i32 = LANES as i32 / 2;

/// How far each of some neighbouring diagonals reaches, in positions of the subject.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Chunk(pub [i32; LANES]);

impl Chunk {
    /// A chunk without any path.
    pub const NOWHERE: Chunk = Chunk([NOWHERE; LANES]);
}

/// Returns the number of the chunk of a diagonal.
pub(super) fn chunk_of(diagonal: i32) -> i32 {
    (diagonal + ZERO).div_euclid(LANES as i32)
}

/// Returns the first diagonal of a chunk.
pub(super) fn first_of(chunk: i32) -> i32 {
    chunk * LANES as i32 - ZERO
}

/// The largest extent of a row (query and subject together), and the first diagonal with this
/// extent. Both are zero if no diagonal continues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FurthestExtent {
    pub extent: i32,
    pub diagonal: i32,
}

/// The range of diagonals that continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContinuingDiagonals {
    pub low: i32,
    pub high: i32,
    /// Whether a path ever reached the end of the query.
    pub reached_query_end: bool,
    /// Whether a path ever reached the end of the subject.
    pub reached_subject_end: bool,
}

/// A set of lanes of a chunk, the first in the lowest bit.
pub(super) type Choice = u32;

impl ContinuingDiagonals {
    /// Value of `low` before a diagonal that continues is found.
    const NONE: i32 = i32::MAX;

    /// Computes a row between the lowest and the highest diagonal, and then narrows this range to
    /// the diagonals that continue.
    #[inline(always)]
    pub fn advance<const BACK: bool>(
        &mut self,
        stepper: impl RowKernel,
        sequences: &OutwardSequences<'_, BACK>,
        row: Row<'_>,
        longest: &mut Run,
    ) -> FurthestExtent {
        let to = self.high;
        self.low = ContinuingDiagonals::NONE;
        let furthest = stepper.row(sequences, row, self, longest);
        if self.low == ContinuingDiagonals::NONE {
            self.low = to + 1;
        }
        furthest
    }

    /// Updates the range with a chunk of the row. The arguments are the chunk's first diagonal, the
    /// lanes that continue, and the lanes whose paths have reached the end of the query or of the
    /// subject. The range begins after the last path at the subject's end. It ends before a path at
    /// the query's end, unless other diagonals follow that path.
    #[inline(always)]
    pub fn update(&mut self, first: i32, goes_on: Choice, query_end: Choice, subject_end: Choice) {
        if goes_on == 0 {
            return;
        }
        let mut low = goes_on;
        if subject_end != 0 {
            self.reached_subject_end = true;
            self.low = ContinuingDiagonals::NONE;
            low &= !(Choice::MAX >> subject_end.leading_zeros());
        }
        if self.low == ContinuingDiagonals::NONE && low != 0 {
            self.low = first + low.trailing_zeros() as i32;
        }
        let last = goes_on.ilog2();
        self.reached_query_end |= query_end != 0;
        self.high = first + last as i32 - i32::from(query_end >> last & 1 != 0);
    }
}

/// A row to be computed.
pub(super) struct Row<'a> {
    /// The previous row, with one more chunk on each side.
    pub previous_row: &'a [Chunk],
    pub cells: &'a mut [Chunk],
    /// The first diagonal of the first chunk.
    pub first: i32,
    /// Least extent (query and subject together) with which a path continues.
    pub least: i32,
}

/// State between two rows.
pub(super) struct GreedyState {
    /// The diagonals that the next row examines.
    pub continuing: ContinuingDiagonals,
    /// The largest extent of the previous row.
    pub previous_extent: i32,
    pub longest: Run,
    pub found: BestEnd,
}

/// A row of few diagonals.
pub(super) struct NarrowRow {
    /// First diagonal of the row.
    pub first: i32,
    pub cells: Chunk,
}

impl BestEnd {
    /// Replaces the best end by the furthest end of the row with this distance.
    #[inline(always)]
    pub fn replace(&mut self, distance: i32, furthest: FurthestExtent) {
        self.value = distance;
        self.distance = distance;
        self.query = (furthest.extent + furthest.diagonal) / 2;
        self.subject = (furthest.extent - furthest.diagonal) / 2;
    }
}

/// Code that computes rows for a kernel.
pub(super) trait RowKernel: Copy {
    /// Whether there is separate code for narrow rows.
    const NARROW: bool = false;

    /// Computes a row. Updates `continuing` with the diagonals that continue, and `longest` if
    /// there is a longer run.
    fn row<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        row: Row<'_>,
        continuing: &mut ContinuingDiagonals,
        longest: &mut Run,
    ) -> FurthestExtent;

    /// Computes rows as long as they are narrow and no path comes near an end of a sequence.
    /// Returns true if no diagonal continues; otherwise leaves the last row in `row`.
    fn narrow<const BACK: bool>(
        self,
        _walk: &OutwardSequences<'_, BACK>,
        _rules: &Rules,
        _best: &mut Vec<i32>,
        _state: &mut GreedyState,
        _row: &mut NarrowRow,
    ) -> bool {
        false
    }
}

/// Computes rows in plain Rust, which the compiler vectorises as it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl RowKernel for Portable {
    #[inline(always)]
    fn row<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        row: Row<'_>,
        continuing: &mut ContinuingDiagonals,
        longest: &mut Run,
    ) -> FurthestExtent {
        let Row { previous_row, cells, mut first, least } = row;
        let (q_len, s_len) = (sequences.query.length, sequences.subject.length);
        let mut furthest = FurthestExtent::default();
        for (previous, cells) in previous_row.windows(3).zip(cells) {
            let (subjects, goes_on) = arrivals(previous, first, least);
            let mut out = Chunk::NOWHERE;
            let (mut query_end, mut subject_end) = (0, 0);
            let mut left = goes_on;
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let diagonal = first + lane as i32;
                let mut subject = subjects[lane as usize];
                let query = subject + diagonal;
                let run = sequences.run(query, subject, 0);
                if run > longest.length {
                    *longest = Run { query, subject, length: run };
                }
                subject += run;
                out.0[lane as usize] = subject;
                let extent = 2 * subject + diagonal;
                if extent > furthest.extent {
                    furthest = FurthestExtent { extent, diagonal };
                }
                query_end |= Choice::from(query + run == q_len) << lane;
                subject_end |= Choice::from(subject == s_len) << lane;
            }
            *cells = out;
            continuing.update(first, goes_on, query_end, subject_end);
            first += LANES as i32;
        }
        furthest
    }
}

/// Computes how far each diagonal of a chunk gets with one more difference, and the lanes that
/// continue. `previous` has this chunk in the previous row, between its neighbours.
#[inline(always)]
fn arrivals(previous: &[Chunk], first: i32, least: i32) -> ([i32; LANES], Choice) {
    let [Chunk(left), Chunk(centre), Chunk(right)] = previous else { return ([0; LANES], 0) };
    let mut below = [left[LANES - 1]; LANES];
    below[1..].copy_from_slice(&centre[..LANES - 1]);
    let mut above = [right[0]; LANES];
    above[..LANES - 1].copy_from_slice(&centre[1..]);
    let mut subjects = [0; LANES];
    let mut choice = 0;
    for lane in 0..LANES {
        let subject = (above[lane].max(centre[lane]) + 1).max(below[lane]);
        let extent = 2 * subject + first + lane as i32;
        choice |= Choice::from(subject >= 0 && extent >= least) << lane;
        subjects[lane] = subject;
    }
    (subjects, choice)
}
