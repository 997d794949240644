//! Rows of cells, as vectors make them: chunks of diagonals that lie in the same lanes in each row.

use super::pairs::Walk;
use super::rules::Rules;
use super::{Found, NOWHERE, Run};

/// Diagonals in a chunk.
pub(super) const LANES: usize = 16;
/// Chunks around a row that say [`NOWHERE`]: a row may have one chunk more at each side than the one before, and looks at one
/// more.
pub(super) const PAD: usize = 2;
/// Lane of diagonal zero, so that narrow rows need a single chunk.
pub(super) const ZERO: i32 = LANES as i32 / 2;

/// How far neighbouring diagonals get, in positions of the subject.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Chunk(pub [i32; LANES]);

impl Chunk {
    /// Where nothing leads.
    pub const NOWHERE: Chunk = Chunk([NOWHERE; LANES]);
}

/// Number of the chunk of a diagonal.
pub(super) fn chunk_of(diagonal: i32) -> i32 {
    (diagonal + ZERO).div_euclid(LANES as i32)
}

/// The first diagonal of a chunk.
pub(super) fn first_of(chunk: i32) -> i32 {
    chunk * LANES as i32 - ZERO
}

/// The largest extent of a row, query and subject together, and its first diagonal; zero if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Furthest {
    pub extent: i32,
    pub diagonal: i32,
}

/// Which diagonals go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Front {
    pub low: i32,
    pub high: i32,
    /// Whether the end of the query was ever reached.
    pub query_end: bool,
    /// The same of the subject.
    pub subject_end: bool,
}

/// Lanes of a chunk, the first in the lowest bit.
pub(super) type Choice = u32;

impl Front {
    /// No diagonal has been found yet that goes on.
    const NONE: i32 = i32::MAX;

    /// Makes a row between the lowest and the highest diagonal, which then are those of its diagonals that go on.
    #[inline(always)]
    pub fn advance<const BACK: bool>(
        &mut self,
        stepper: impl Stepper,
        walk: &Walk<'_, BACK>,
        row: Row<'_>,
        longest: &mut Run,
    ) -> Furthest {
        let to = self.high;
        self.low = Front::NONE;
        let furthest = stepper.row(walk, row, self, longest);
        if self.low == Front::NONE {
            self.low = to + 1;
        }
        furthest
    }

    /// Takes note of a chunk of the row: which lanes go on, and which have reached an end. What reaches the subject's end is
    /// the last of the low diagonals; what reaches the query's end is not one of the high ones, unless others follow.
    #[inline(always)]
    pub fn note(&mut self, first: i32, goes_on: Choice, query_end: Choice, subject_end: Choice) {
        if goes_on == 0 {
            return;
        }
        let mut low = goes_on;
        if subject_end != 0 {
            self.subject_end = true;
            self.low = Front::NONE;
            low &= !(Choice::MAX >> subject_end.leading_zeros());
        }
        if self.low == Front::NONE && low != 0 {
            self.low = first + low.trailing_zeros() as i32;
        }
        let last = goes_on.ilog2();
        self.query_end |= query_end != 0;
        self.high = first + last as i32 - i32::from(query_end >> last & 1 != 0);
    }
}

/// A row to be made.
pub(super) struct Row<'a> {
    /// The row before, with a chunk more at each side.
    pub before: &'a [Chunk],
    pub cells: &'a mut [Chunk],
    /// The first diagonal of the first chunk.
    pub first: i32,
    /// The least extent that is followed.
    pub least: i32,
}

/// What is known between two rows.
pub(super) struct Path {
    /// The diagonals that the next row looks at.
    pub front: Front,
    /// The largest extent of the row before.
    pub before: i32,
    pub longest: Run,
    pub found: Found,
}

/// A row of few diagonals.
pub(super) struct Narrow {
    /// The first of them.
    pub first: i32,
    pub cells: Chunk,
}

impl Found {
    /// Takes the furthest end of a row for the best one.
    #[inline(always)]
    pub fn take(&mut self, distance: i32, furthest: Furthest) {
        self.value = distance;
        self.distance = distance;
        self.query = (furthest.extent + furthest.diagonal) / 2;
        self.subject = (furthest.extent - furthest.diagonal) / 2;
    }
}

/// Makes rows.
pub(super) trait Stepper: Copy {
    /// Whether it makes narrow rows in a way of their own.
    const NARROW: bool = false;

    /// Makes a row, tells `front` which of its diagonals go on, and `longest` of runs that are longer.
    fn row<const BACK: bool>(
        self,
        walk: &Walk<'_, BACK>,
        row: Row<'_>,
        front: &mut Front,
        longest: &mut Run,
    ) -> Furthest;

    /// Makes rows as long as they are narrow and no path comes near an end of a sequence. Returns whether nothing is left to follow;
    /// else `row` is the last one.
    fn narrow<const BACK: bool>(
        self,
        _walk: &Walk<'_, BACK>,
        _rules: &Rules,
        _best: &mut Vec<i32>,
        _path: &mut Path,
        _row: &mut Narrow,
    ) -> bool {
        false
    }
}

/// Whatever the compiler makes of plain Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Stepper for Portable {
    #[inline(always)]
    fn row<const BACK: bool>(
        self,
        walk: &Walk<'_, BACK>,
        row: Row<'_>,
        front: &mut Front,
        longest: &mut Run,
    ) -> Furthest {
        let Row { before, cells, mut first, least } = row;
        let (q_len, s_len) = (walk.query.length, walk.subject.length);
        let mut furthest = Furthest::default();
        for (near, cells) in before.windows(3).zip(cells) {
            let (subjects, goes_on) = arrivals(near, first, least);
            let mut out = Chunk::NOWHERE;
            let (mut query_end, mut subject_end) = (0, 0);
            let mut left = goes_on;
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let diagonal = first + lane as i32;
                let mut subject = subjects[lane as usize];
                let query = subject + diagonal;
                let run = walk.run(query, subject, 0);
                if run > longest.length {
                    *longest = Run { query, subject, length: run };
                }
                subject += run;
                out.0[lane as usize] = subject;
                let extent = 2 * subject + diagonal;
                if extent > furthest.extent {
                    furthest = Furthest { extent, diagonal };
                }
                query_end |= Choice::from(query + run == q_len) << lane;
                subject_end |= Choice::from(subject == s_len) << lane;
            }
            *cells = out;
            front.note(first, goes_on, query_end, subject_end);
            first += LANES as i32;
        }
        furthest
    }
}

/// How far a difference leads, and which lanes go on from there.
#[inline(always)]
fn arrivals(near: &[Chunk], first: i32, least: i32) -> ([i32; LANES], Choice) {
    let [Chunk(left), Chunk(here), Chunk(right)] = near else { return ([0; LANES], 0) };
    let mut below = [left[LANES - 1]; LANES];
    below[1..].copy_from_slice(&here[..LANES - 1]);
    let mut above = [right[0]; LANES];
    above[..LANES - 1].copy_from_slice(&here[1..]);
    let mut subjects = [0; LANES];
    let mut choice = 0;
    for lane in 0..LANES {
        let subject = (above[lane].max(here[lane]) + 1).max(below[lane]);
        let extent = 2 * subject + first + lane as i32;
        choice |= Choice::from(subject >= 0 && extent >= least) << lane;
        subjects[lane] = subject;
    }
    (subjects, choice)
}
