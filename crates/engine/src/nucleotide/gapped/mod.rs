//! Preliminary gapped extension by dynamic programming, score only
//! (`s_BlastDynProgNtGappedAlignment` and `s_BlastAlignPackedNucl`, `blast_gapalign.c`).
//!
//! Rows are bases of the packed subject, columns are letters of the query.

mod ahead;
mod lanes;
mod narrow;
mod row;
mod rows;
mod scalar;
mod side_by_side;
#[cfg(test)]
mod tests;
pub(super) mod traced;
mod transpose;
mod wide_row;

use fleetblast_seq::nucleotide::{Packed, blastna};

pub(super) use self::ahead::DistantSegments;
use self::lanes::{LaneResult, Lanes};
use self::narrow::NarrowParameters;
use self::rows::Bases;
use self::scalar::Cell;
use self::side_by_side::BusyLanes;
use crate::kernel::Kernel;
use crate::order::Bounds;
use crate::scores::ScoreRows;
use crate::xdrop::frames::{self, Direction, ExtensionCosts, Frames, MARGIN};
use crate::xdrop::{Extent, GapCosts};

/// Least number of segments that are extended side by side. Fewer segments are faster singly.
pub(crate) const MIN_SEGMENTS_FOR_LANES: usize = 16;

/// Bases in a byte of a packed sequence.
const IN_BYTE: u32 = 4;

/// The blastna code of an unknown base (N).
const UNKNOWN: u8 = 14;

/// A preliminary gapped extension, and the position from which the final alignment will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub score: i32,
    pub bounds: Bounds,
    pub q_seed: u32,
    pub s_seed: u32,
}

/// An ungapped segment to be extended. Query positions count from the start of the context, subject
/// positions from the start of the part of the subject that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub score: i32,
    pub q_start: u32,
    pub s_start: u32,
    pub length: u32,
    /// Position of the seed in the query and in the subject.
    pub q_seed: u32,
    pub s_seed: u32,
}

/// The letters of a context in the form that extensions read.
#[derive(Clone, Debug)]
pub(crate) struct QueryLetters {
    /// Blastna letters, with [`MARGIN`] sentinels before and after them.
    forward: Vec<u8>,
    /// The letters and sentinels in reverse order.
    backward: Vec<u8>,
    /// Whether every letter is a base or N.
    plain: bool,
}

impl QueryLetters {
    /// Creates both directions from the blastna letters of a whole context.
    pub fn new(letters: &[u8]) -> QueryLetters {
        let margin = [blastna::SENTINEL; MARGIN];
        let forward = [&margin[..], letters, &margin].concat();
        let backward = forward.iter().rev().copied().collect();
        let plain = letters.iter().all(|&letter| letter < 4 || letter == UNKNOWN);
        QueryLetters { forward, backward, plain }
    }

    fn length(&self) -> usize {
        self.forward.len() - 2 * MARGIN
    }
}

/// Parameters for extending segments with gaps, the same for a whole search.
#[derive(Debug)]
pub(crate) struct Extender {
    /// Scores of each base against each letter of a query.
    scores: ScoreRows,
    gaps: GapCosts,
    x_drop: i32,
    kernel: Kernel,
    /// Parameters of extensions with vectors, indexed by X-drop. The X-drop of a segment is its
    /// score, but at most that of the search and at least the cost of a gap.
    vectors: Vec<Vectors>,
    /// Parameters of extensions side by side; `None` if byte lanes do not suffice.
    lanes: Option<Lanes>,
}

/// Work space that extensions reuse.
#[derive(Debug, Default)]
pub(crate) struct GappedScratch {
    cells: Vec<Cell>,
    busy: Box<BusyLanes>,
    found: Vec<LaneResult>,
}

impl Extender {
    /// Creates an extender with these scores of the blastna codes.
    pub fn new(scores: &ScoreRows, gaps: GapCosts, x_drop: i32, kernel: Kernel) -> Extender {
        Extender {
            scores: scores.clone(),
            gaps,
            x_drop,
            kernel,
            vectors: vectors(scores, gaps, x_drop, kernel),
            lanes: lanes(scores, gaps, x_drop, kernel),
        }
    }

    /// Extends a segment in both directions. `subject` is a whole subject, or a segment of a long
    /// one.
    pub fn extend(
        &self,
        query: &QueryLetters,
        subject: Packed<'_>,
        segment: &Segment,
        scratch: &mut GappedScratch,
    ) -> Extension {
        let start = Start::from_segment(segment, query, subject);
        let x_drop = self.x_drop_of(segment);
        start.extension(self.extend_both_ways(query, subject, start.at, x_drop, scratch))
    }

    /// Returns the X-drop of a segment: its score, but at most the X-drop of the search and at
    /// least the cost of a gap.
    fn x_drop_of(&self, segment: &Segment) -> i32 {
        self.x_drop.min(segment.score).max(self.gaps.open + self.gaps.extend)
    }

    /// Finds the best extensions to the left and to the right of a position between letters.
    fn extend_both_ways(
        &self,
        query: &QueryLetters,
        subject: Packed<'_>,
        (q, s): (u32, u32),
        x_drop: i32,
        scratch: &mut GappedScratch,
    ) -> [Extent; 2] {
        let directions = directions(query, subject, (q, s));
        let found = self.in_vectors(x_drop, directions);
        let (scores, gaps) = (&self.scores, self.gaps);
        let mut in_turn = |direction: Direction<Bases>| {
            let Direction { query, subject, at } = direction;
            let letters = &subject[at..=subject.len() - MARGIN];
            scalar::extend(letters, query.iter(), scores, gaps, x_drop, &mut scratch.cells)
        };
        [0, 1].map(|way| found[way].unwrap_or_else(|| in_turn(directions[way])))
    }

    /// Extends with vectors. Returns `None` for a direction that needs more room than vectors have.
    fn in_vectors(&self, x_drop: i32, directions: [Direction<Bases>; 2]) -> [Option<Extent>; 2] {
        let vectors = usize::try_from(x_drop).ok().and_then(|x| self.vectors.get(x));
        let Some(vectors) = vectors else { return [None; 2] };
        let [left, right] = match &vectors.narrow {
            Some(narrow) => self.narrow(narrow, directions),
            None => [None; 2],
        };
        if left.is_some() && right.is_some() {
            return [left, right];
        }
        let [wide_left, wide_right] = self.wide(vectors, directions);
        [left.or(wide_left), right.or(wide_right)]
    }

    fn narrow(
        &self,
        narrow: &NarrowParameters,
        directions: [Direction<Bases>; 2],
    ) -> [Option<Extent>; 2] {
        row::perform(self.kernel, narrow::Start { narrow, directions }).unwrap_or_default()
    }

    fn wide(&self, vectors: &Vectors, directions: [Direction<Bases>; 2]) -> [Option<Extent>; 2] {
        let Some(frames) = &vectors.wide else { return [None; 2] };
        let found = match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(proof) => frames::avx512::extend(proof, frames, directions),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(proof) => frames::avx2::extend(proof, frames, directions),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(proof) => frames::neon::extend(proof, frames, directions),
            _ => [None; 2],
        };
        // The vector code calls its rows the query; here they are the subject.
        found.map(|extent| {
            extent.map(|e| Extent { score: e.score, query: e.subject, subject: e.query })
        })
    }
}

/// The starting point of a segment's extensions.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Position from which the alignment will start, in the query and in the subject.
    q_seed: u32,
    s_seed: u32,
    /// Position between letters from which both extensions start, in the query and in the subject.
    at: (u32, u32),
}

impl Start {
    fn from_segment(segment: &Segment, query: &QueryLetters, subject: Packed<'_>) -> Start {
        let (q_seed, s_seed) = seed(segment);
        let at = start(q_seed, s_seed, query.length() as u32, subject.length());
        Start { q_seed, s_seed, at }
    }

    /// Combines the extensions to the left and to the right.
    fn extension(&self, [left, right]: [Extent; 2]) -> Extension {
        let Start { q_seed, s_seed, at: (q, s) } = *self;
        Extension {
            score: left.score + right.score,
            bounds: Bounds {
                q_start: q - left.query as u32,
                q_end: q + right.query as u32,
                s_start: s - left.subject as u32,
                s_end: s + right.subject as u32,
            },
            q_seed,
            s_seed,
        }
    }
}

/// Returns the directions to the left and to the right of a position between letters.
fn directions<'a>(
    query: &'a QueryLetters,
    subject: Packed<'a>,
    (q, s): (u32, u32),
) -> [Direction<'a, Bases<'a>>; 2] {
    let q_right = query.length() - q as usize;
    let before = Bases::backward(subject, s);
    let after = Bases::forward(subject, s);
    let left = Direction { query: before, subject: &query.backward, at: MARGIN + q_right };
    let right = Direction { query: after, subject: &query.forward, at: MARGIN + q as usize };
    [left, right]
}

/// Parameters of extensions with vectors; all `None` if bytes do not suffice for the scores.
#[derive(Debug)]
struct Vectors {
    narrow: Option<NarrowParameters>,
    /// Parameters for windows that do not fit the narrow frame.
    wide: Option<Frames>,
}

/// Prepares the parameters of extensions with vectors; the result is indexed by X-drop.
fn vectors(scores: &ScoreRows, gaps: GapCosts, x_drop: i32, kernel: Kernel) -> Vec<Vectors> {
    let open_extend = gaps.open + gaps.extend;
    // Larger X-drops do not fit a byte.
    let most = x_drop.max(open_extend).min(i32::from(i8::MAX));
    if kernel == Kernel::Portable {
        return Vec::new();
    }
    let of = |x_drop| {
        let costs = ExtensionCosts { open_extend, extend: gaps.extend, x_drop };
        let wide = || Frames::new(scores, costs, blastna::SENTINEL);
        Vectors {
            narrow: NarrowParameters::new(scores, costs),
            wide: (x_drop >= open_extend).then(wide).flatten(),
        }
    };
    (0..=most).map(of).collect()
}

/// Prepares the parameters of extensions side by side.
fn lanes(scores: &ScoreRows, gaps: GapCosts, x_drop: i32, kernel: Kernel) -> Option<Lanes> {
    let open_extend = gaps.open + gaps.extend;
    let costs =
        ExtensionCosts { open_extend, extend: gaps.extend, x_drop: x_drop.max(open_extend) };
    if kernel == Kernel::Portable { None } else { Lanes::new(scores, costs) }
}

/// Returns the position from which the alignment will start. It is 3 bases after the start of the
/// seed if the segment reaches 8 bases beyond that start. There it lies within the first subject
/// byte of the seed whose bases all match. Otherwise it is the start of the seed.
fn seed(segment: &Segment) -> (u32, u32) {
    let within = if segment.s_start + segment.length >= segment.s_seed + 8 { 3 } else { 0 };
    (segment.q_seed + within, segment.s_seed + within)
}

/// Returns the starting point of the extensions: the start of the next subject byte. If that is
/// beyond an end of a sequence, the starting point is one byte earlier.
fn start(q_seed: u32, s_seed: u32, q_len: u32, s_len: u32) -> (u32, u32) {
    let on = IN_BYTE - s_seed % IN_BYTE;
    let (q, s) = (q_seed + on, s_seed + on);
    if q > q_len || s > s_len {
        // The query position stays within the context of the seed: it is not before the first
        // letter.
        return (q.saturating_sub(IN_BYTE), s - IN_BYTE);
    }
    (q, s)
}
