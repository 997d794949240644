//! The dense filter: finds where the ungapped score of a diagonal rises to the cut-off, for many
//! query positions at a time.
//!
//! One signed byte per query position holds the running score of the diagonal that is passing the
//! position. It is biased by −128, so that saturating addition keeps it at zero or above at no
//! cost. The contexts of a group are concatenated on a line, with resetting pads between them. The
//! line is cut into pieces whose scores stay in registers, in the striped layout of Farrar
//! (Bioinformatics 2007). Lane l, element e holds position e + (lanes − 1 − l) · elements. So a
//! step along all diagonals moves each element's vector to the next element, and bytes move between
//! lanes once per subject residue. Scores that leave the end of a piece are stored and enter the
//! next piece. The subjects of a block are concatenated as well, with pads between them, so that
//! the steps continue from one subject to the next.
//!
//! **Lossless.** An ungapped HSP of rules 4.4 covers a contiguous range of one diagonal. Its score
//! is the sum of the scores there, whatever words, X-drops, windows or masks led to it. Masks and
//! words only remove HSPs. (Exception: one-hit extensions from words of X alone leave out pairs;
//! contexts with such words are not filtered in that mode.) When the range ends, the diagonal's
//! running score, floored at zero, is at least that sum. This requires that no profile entry is
//! rounded down and that the cut-off is at most 255 ([`Group::new`] refuses other cases). So a
//! diagonal that stays below the group's least cut-off has no HSP. On the other diagonals the exact
//! rules run near the rises ([`super::filtered_diagonal`]).
//!
//! **Tests of every second step.** From a step to the next one a diagonal loses at most the highest
//! penalty. So a test of the second of two steps, for a score that is lower by this penalty, misses
//! no rise at the first. This needs three things: a neutral position before the resetting ones at
//! the ends of contexts and subjects, a test of each step at the end of a piece, whose scores leave
//! it, and subjects without stored gaps, which reset scores like pads.

/// Calls a function that is generic over the number of vectors in a piece, with the given number.
macro_rules! with_elements {
    ($elements:expr, [$($number:literal)*], $run:ident $arguments:tt) => {
        match $elements {
            $($number => $run::<$number> $arguments,)*
            elements => unreachable!("a piece of {elements} elements"),
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod line;
mod locate;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod stepper;
#[cfg(test)]
mod tests;

use std::ops::Range;

use fleetblast_seq::alphabet;

use self::line::Line;
use self::stepper::Stepper;
use super::context::ChunkContext;
use crate::kernel::Kernel;
use crate::scores::{RowNumber, ScoreRows};

/// Positions between two contexts on the line.
const PAD: [Position; 3] = [Position::Neutral, Position::Reset, Position::Reset];
/// Largest cut-off that a byte can represent.
pub(in crate::protein::prelim) const MAX_CUTOFF: i32 = 255;
/// Byte that stands for a score of zero.
const FLOOR: i8 = i8::MIN;
/// Number of subject residues between two tests whether a diagonal reached the cut-off.
const TEST_EVERY: usize = 32;
/// Number of steps that a loop may unroll. Every number of steps is a multiple of it.
const UNROLLED: usize = 8;
/// Number of bytes beyond those of the last step that a kernel may read and write.
const SLACK: usize = 16;
/// Maximum number of positions in a piece, for any kernel.
const MOST_POSITIONS: usize = 1024;
/// Number of residue codes in a profile, including unused ones.
const CODES: usize = 32;
/// An unused code, which lowers all scores by 128. Two of them bring any byte to its floor.
const RESET: u8 = 31;
/// A stored gap, which aligns to nothing.
const GAP: u8 = 0;
/// An unused code, which leaves scores as they are, so that a score at the end of a sequence is
/// still there one step later.
const NEUTRAL: u8 = 30;
/// The least ratio of the cut-off to the highest penalty with which only the second of two steps is
/// tested. With BLOSUM62 (−4) that is a cut-off of 36: about one of 16 tests then finds a diagonal
/// at the lowered threshold, which costs as much as is gained.
const LEAST_CUTOFF_PER_PENALTY: i32 = 9;
/// Alignment of the profile in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// A diagonal of a context and a subject whose score rose to the cut-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::protein::prelim) struct Candidate {
    /// Index of the subject in the block.
    pub subject: u32,
    /// Index of the context in the searcher's list.
    pub context: u32,
    /// Query offset minus subject offset.
    pub diagonal: i32,
    /// Subject offset of the pair that reached the cut-off.
    pub rise: u32,
}

/// Contexts that are filtered together.
#[derive(Debug)]
pub(in crate::protein::prelim) struct Group {
    /// The contexts, by index in the searcher's list, and their starts on the line; ascending.
    members: Vec<(usize, usize)>,
    pieces: Vec<Piece>,
    /// Number of vectors that hold the scores of a piece.
    elements: usize,
    /// Least score of a candidate.
    cutoff: i32,
    /// Highest score of a pair.
    highest: i32,
    /// Highest penalty of a pair, if only the second of two steps may be tested.
    penalty: Option<i32>,
    stepper: Stepper,
}

/// A position of the line of contexts.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// A query position, with the number of its score row.
    Row(RowNumber),
    /// Scores stay as they are.
    Neutral,
    /// Scores are lowered by 128.
    Reset,
}

/// The scores of consecutive positions of the line.
#[derive(Debug)]
struct Piece {
    /// Scores by residue code, element and lane, after some bytes of padding. `aligned` is the
    /// number of these bytes.
    profile: Vec<i8>,
    aligned: usize,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub(in crate::protein::prelim) struct FilterScratch {
    line: Line,
    /// Scores that enter the piece before each step along the line. `leaving` has the scores that
    /// leave it.
    entering: Vec<i8>,
    leaving: Vec<i8>,
    /// States of a piece: the scores before and after some steps, and two for repeating these
    /// steps.
    states: Box<[Scores; 4]>,
}

/// Scores of a piece. They are aligned such that no vector straddles cache lines; otherwise a load
/// could not follow a store at once.
#[derive(Debug)]
#[repr(align(64))]
struct Scores([i8; MOST_POSITIONS]);

impl Default for Scores {
    fn default() -> Self {
        Scores([FLOOR; MOST_POSITIONS])
    }
}

/// Steps over a piece, one for each residue of the subjects.
#[derive(Clone, Copy)]
struct Steps<'a> {
    /// Profile of the piece: scores by residue code, element and lane.
    profile: &'a [i8],
    /// Number of steps, a multiple of [`Steps::test_every`].
    count: usize,
    /// Number of steps between two tests whether a diagonal reached the threshold, a multiple of
    /// [`UNROLLED`].
    test_every: usize,
    /// Letter code of the subject at each step, and [`SLACK`] codes more.
    codes: &'a [u8],
    /// Scores that enter before each step, and [`SLACK`] more.
    entering: &'a [i8],
    /// Byte of the least score that makes a diagonal a candidate.
    threshold: i8,
    /// Byte of the least score for which [`Stepper::advance`] stops: the threshold, less the
    /// highest penalty if only the second of two steps is tested.
    watched: i8,
    /// Whether the byte of a diagonal is still negative after the step that raises it to the
    /// threshold. The score is then below 128.
    rises_are_negative: bool,
}

impl<'a> Steps<'a> {
    /// Returns whether only the second of two steps is tested.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn tests_pairs(&self) -> bool {
        self.watched < self.threshold
    }

    /// Asserts what the assembly relies on: the number of steps, and that all slices have room for
    /// them. `positions` is the number of scores of a piece.
    #[cfg(target_arch = "x86_64")]
    fn assert_room(&self, positions: usize, states: [&[i8]; 2], leaving: &[i8]) {
        let Steps { count, test_every, .. } = *self;
        assert!(count > 0 && test_every > 0);
        assert!(count.is_multiple_of(test_every) && test_every.is_multiple_of(UNROLLED));
        assert!(self.profile.len() >= CODES * positions);
        assert!(states.iter().all(|state| state.len() == positions));
        assert!(self.codes.len() >= count + SLACK && self.entering.len() >= count + SLACK);
        assert!(leaving.len() >= count + SLACK);
    }

    /// Returns the steps in a range of step numbers.
    fn range(&self, range: Range<usize>) -> Steps<'a> {
        Steps {
            count: range.len(),
            codes: &self.codes[range.start..],
            entering: &self.entering[range.start..],
            ..*self
        }
    }
}

/// Result of running [`Steps`].
#[derive(Clone, Copy, Debug)]
struct Advance {
    /// Number of steps that were run.
    steps: usize,
    /// Whether a diagonal was at the watched score between the last two tests.
    reached: bool,
}

impl Group {
    /// Lays out the contexts `members`. Returns `None` if the filter could lose HSPs of them.
    pub fn new(
        contexts: &[ChunkContext],
        members: &[usize],
        scores: &ScoreRows,
        kernel: Kernel,
    ) -> Option<Group> {
        Group::with(contexts, members, scores, Stepper::for_kernel(kernel))
    }

    /// Does the work of [`Group::new`] with a variant of the filter.
    fn with(
        contexts: &[ChunkContext],
        members: &[usize],
        scores: &ScoreRows,
        stepper: Stepper,
    ) -> Option<Group> {
        let cutoff = members.iter().map(|&i| contexts[i].cutoff_ungapped).min()?;
        let highest = scores.all().iter().flatten().copied().max()?;
        if !(1..=MAX_CUTOFF).contains(&cutoff) || highest > i32::from(i8::MAX) {
            return None;
        }
        let mut line = Vec::new();
        let mut placed = Vec::new();
        for &i in members {
            placed.push((i, line.len()));
            line.extend(contexts[i].rows().iter().map(|&row| Position::Row(row)));
            line.extend(PAD);
        }
        let used = members.iter().flat_map(|&i| contexts[i].rows());
        let penalty = stepper.gains_by_pairs().then(|| highest_penalty(used, scores));
        let penalty = penalty.filter(|&penalty| penalty <= cutoff / LEAST_CUTOFF_PER_PENALTY);
        let lanes = stepper.lanes();
        let count = line.len().div_ceil(lanes * stepper.most_elements());
        let elements = line.len().div_ceil(lanes * count);
        let pieces = line
            .chunks(lanes * elements)
            .map(|positions| Piece::new(positions, elements, lanes, scores))
            .collect();
        Some(Group { members: placed, pieces, elements, cutoff, highest, penalty, stepper })
    }

    /// Returns the least score of a candidate.
    pub fn cutoff(&self) -> i32 {
        self.cutoff
    }

    /// Appends a candidate for each rise to the cut-off in the subjects of a block, and sorts
    /// `candidates`.
    pub fn filter(
        &self,
        subjects: &[&[u8]],
        scratch: &mut FilterScratch,
        candidates: &mut Vec<Candidate>,
    ) {
        scratch.line.fill(subjects);
        for scores in [&mut scratch.entering, &mut scratch.leaving] {
            scores.clear();
            scores.resize(scratch.line.len() + SLACK, FLOOR);
        }
        let has_gaps = || subjects.iter().any(|subject| subject.contains(&GAP));
        let penalty = self.penalty.filter(|_| !has_gaps()).unwrap_or(0);
        for number in 0..self.pieces.len() {
            self.pass(number, penalty, scratch, candidates);
            std::mem::swap(&mut scratch.entering, &mut scratch.leaving);
        }
        candidates.sort_unstable();
    }

    /// Runs the subjects over one piece, and collects its candidates. With a penalty above 0 only
    /// the second of two steps is tested.
    fn pass(
        &self,
        number: usize,
        penalty: i32,
        scratch: &mut FilterScratch,
        candidates: &mut Vec<Candidate>,
    ) {
        let FilterScratch { line, entering, leaving, states } = scratch;
        let positions = self.stepper.lanes() * self.elements;
        let [mut before, mut after, again, next] =
            states.each_mut().map(|scores| &mut scores.0[..positions]);
        before.fill(FLOOR);
        let piece = &self.pieces[number];
        let all = Steps {
            profile: &piece.profile[piece.aligned..],
            count: line.len(),
            test_every: TEST_EVERY,
            codes: line.codes(),
            entering,
            threshold: (self.cutoff - 128) as i8,
            watched: (self.cutoff - penalty - 128) as i8,
            rises_are_negative: self.cutoff + self.highest <= 128,
        };
        let mut at = 0;
        while at < all.count {
            let rest = all.range(at..all.count);
            let taken = self.stepper.advance(&rest, before, after, &mut leaving[at..]);
            at += taken.steps;
            if taken.reached {
                let start = at - TEST_EVERY;
                again.copy_from_slice(before);
                let (steps, leaving) = (all.range(start..at), &mut leaving[start..]);
                self.stepper.locate(&steps, [again, next], leaving, |position, step| {
                    let position = number * positions + position;
                    candidates.extend(self.candidate(line, position, start + step));
                });
            }
            std::mem::swap(&mut before, &mut after);
        }
    }

    /// Returns the diagonal that passes a position of the contexts' line at an offset of the
    /// subjects' line. Returns `None` if no context begins before the position.
    fn candidate(&self, line: &Line, position: usize, offset: usize) -> Option<Candidate> {
        let place = self.members.partition_point(|&(_, start)| start <= position).checked_sub(1)?;
        let (context, start) = self.members[place];
        let (subject, offset) = line.subject(offset);
        Some(Candidate {
            subject: subject as u32,
            context: context as u32,
            diagonal: (position - start) as i32 - offset as i32,
            rise: offset as u32,
        })
    }
}

impl Piece {
    /// Creates the profile of some positions.
    fn new(line: &[Position], elements: usize, lanes: usize, scores: &ScoreRows) -> Piece {
        let score_of = |position: Position, code: usize| match position {
            Position::Reset => i8::MIN,
            _ if code == usize::from(RESET) => i8::MIN,
            // `Group::with` refuses scores above the range; raising those below it loses nothing.
            Position::Row(number) if code < alphabet::SIZE => {
                scores.row(number)[code].max(i32::from(i8::MIN)) as i8
            }
            _ => 0,
        };
        let row = elements * lanes;
        let mut profile = vec![i8::MIN; CODES * row + ALIGNMENT];
        let aligned = profile.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        for (code, row) in profile[aligned..].chunks_exact_mut(row).take(CODES).enumerate() {
            for (place, &position) in line.iter().enumerate() {
                let (lane, element) = (place / elements, place % elements);
                row[element * lanes + lanes - 1 - lane] = score_of(position, code);
            }
        }
        Piece { profile, aligned }
    }
}

/// Returns the highest penalty in these rows, at least 1. Gaps, which databases can store as
/// residues, do not count.
fn highest_penalty<'a>(rows: impl Iterator<Item = &'a RowNumber>, scores: &ScoreRows) -> i32 {
    let residues = |&number: &RowNumber| &scores.row(number)[usize::from(GAP) + 1..alphabet::SIZE];
    let least = rows.flat_map(residues).copied().min();
    least.map_or(1, |least| least.min(-1).saturating_neg())
}
