//! The dense filter: which diagonals have an ungapped score that reaches the cut-off, many query positions at a time.
//!
//! One signed byte per query position holds the running score of the diagonal that is passing there, biased by −128, so that
//! saturating addition gives the floor of zero for nothing. The contexts of a group stand one after the other on a line, with
//! resetting pads between them. The line is cut into pieces whose scores stay in registers, in the striped layout of Farrar
//! (Bioinformatics 2007): lane l, element e holds position e + l · elements, so that a step along all diagonals moves each
//! element's vector to the next element, and bytes move between lanes once per subject residue. What leaves the end of
//! a piece is kept and enters the next one.
//!
//! **Lossless.** An ungapped HSP of spec 4.4 covers a contiguous stretch of one diagonal and its score is the sum of the
//! scores there, whatever words, X-drops, windows or masks led to it: masks and words only remove HSPs. The diagonal's
//! running score, floored at zero, is at least that sum when the stretch ends, as long as no profile entry is rounded down
//! and 255 is not exceeded by the cut-off ([`Group::new`] refuses both). So a diagonal that stays below the group's least
//! cut-off has no HSP; on the few others the exact rules run.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod locate;
mod portable;

use fleetblast_seq::alphabet;

use super::context::Context;
use super::kernel::Kernel;
use super::profile::PaddedScores;

/// Resetting positions between contexts: two of −128 bring any byte to its floor.
const PAD: usize = 2;
/// Largest cut-off a byte can show.
const MAX_CUTOFF: i32 = 255;
/// The byte of a score of zero.
const FLOOR: i8 = i8::MIN;
/// Subject residues between two looks whether a diagonal reached the cut-off.
const LOOK_EVERY: usize = 32;
/// Bytes beyond the end of the leaving scores that a kernel may write.
const SLACK: usize = 16;
/// Positions in a piece at most, for any kernel.
const MOST_POSITIONS: usize = 1024;
/// Residue codes in a profile, those included that do not exist.
const CODES: usize = 32;
/// Alignment of the profile: a cache line.
const ALIGNMENT: usize = 64;

/// A diagonal of a context and a subject that reached the cut-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::prelim) struct Candidate {
    /// Index of the subject in the block.
    pub subject: u32,
    /// Index of the context in the searcher's list.
    pub context: u32,
    /// Query offset less subject offset.
    pub diagonal: i32,
}

/// Contexts that are filtered together.
#[derive(Debug)]
pub(in crate::prelim) struct Group {
    /// The contexts, by index into the searcher's list, and where each starts on the line; ascending.
    members: Vec<(usize, usize)>,
    pieces: Vec<Piece>,
    /// Vectors that hold the scores of a piece.
    elements: usize,
    /// Least score that makes a candidate.
    cutoff: i32,
    kernel: Kernel,
}

/// Consecutive positions of the line.
#[derive(Debug)]
struct Piece {
    /// Their scores: per residue code, per element, per lane, after a few bytes for the alignment.
    profile: Vec<i8>,
    aligned: usize,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub(in crate::prelim) struct FilterScratch {
    /// Scores that enter the piece at hand before each residue of the block, and those that leave it.
    entering: Vec<i8>,
    leaving: Vec<i8>,
    /// Scores of a piece before and after some steps.
    states: Box<[Scores; 2]>,
}

/// Scores of a piece, aligned so that no vector lies in two cache lines: what was stored there could not be loaded again at once.
#[derive(Debug)]
#[repr(align(64))]
struct Scores([i8; MOST_POSITIONS]);

impl Default for Scores {
    fn default() -> Self {
        Scores([FLOOR; MOST_POSITIONS])
    }
}

/// Some residues of a subject against a piece.
struct Steps<'a> {
    /// Scores of the piece.
    profile: &'a [i8],
    codes: &'a [u8],
    /// Scores that enter before each step.
    entering: &'a [i8],
    /// The byte at and above which a diagonal is a candidate.
    threshold: i8,
}

impl Group {
    /// Lays out the contexts `members`; `None` if the filter would not be lossless for them.
    pub fn new(
        contexts: &[Context],
        members: &[usize],
        scores: &PaddedScores,
        kernel: Kernel,
    ) -> Option<Group> {
        let cutoff = members.iter().map(|&i| contexts[i].cutoff_ungapped).min()?;
        let highest = scores.iter().flatten().copied().max()?;
        if !(1..=MAX_CUTOFF).contains(&cutoff) || highest > i32::from(i8::MAX) {
            return None;
        }
        let mut line = Vec::new();
        let mut placed = Vec::new();
        for &i in members {
            placed.push((i, line.len()));
            line.extend(contexts[i].residues().iter().map(|&code| Some(code)));
            line.extend([None; PAD]);
        }
        let (lanes, most) = shape(kernel);
        let count = line.len().div_ceil(lanes * most);
        let elements = line.len().div_ceil(lanes * count);
        let pieces = line
            .chunks(lanes * elements)
            .map(|letters| Piece::new(letters, elements, lanes, scores))
            .collect();
        Some(Group { members: placed, pieces, elements, cutoff, kernel })
    }

    /// The diagonals that reach the cut-off in any subject of a block, each once.
    pub fn filter(
        &self,
        subjects: &[&[u8]],
        scratch: &mut FilterScratch,
        candidates: &mut Vec<Candidate>,
    ) {
        let residues: usize = subjects.iter().map(|subject| subject.len()).sum();
        for scores in [&mut scratch.entering, &mut scratch.leaving] {
            scores.clear();
            scores.resize(residues + SLACK, FLOOR);
        }
        for number in 0..self.pieces.len() {
            let mut start = 0;
            for (index, subject) in subjects.iter().enumerate() {
                self.pass(number, index, subject, start, scratch, candidates);
                start += subject.len();
            }
            std::mem::swap(&mut scratch.entering, &mut scratch.leaving);
        }
        candidates.sort_unstable();
        candidates.dedup();
    }

    /// A subject, whose residues are those of the block from `start` on, against a piece.
    fn pass(
        &self,
        number: usize,
        index: usize,
        subject: &[u8],
        start: usize,
        scratch: &mut FilterScratch,
        candidates: &mut Vec<Candidate>,
    ) {
        let FilterScratch { entering, leaving, states } = scratch;
        let (lanes, _) = shape(self.kernel);
        let [mut before, mut after] =
            states.each_mut().map(|scores| &mut scores.0[..lanes * self.elements]);
        before.fill(FLOOR);
        let piece = &self.pieces[number];
        for (k, codes) in subject.chunks(LOOK_EVERY).enumerate() {
            let at = start + k * LOOK_EVERY;
            let steps = Steps {
                profile: &piece.profile[piece.aligned..],
                codes,
                entering: &entering[at..at + codes.len()],
                threshold: (self.cutoff - 128) as i8,
            };
            let leaving = &mut leaving[at..at + codes.len() + SLACK];
            if self.advance(&steps, before, after, leaving) {
                self.locate(&steps, before, |position, step| {
                    let position = number * lanes * self.elements + position;
                    candidates.extend(self.candidate(index, position, k * LOOK_EVERY + step));
                });
            }
            std::mem::swap(&mut before, &mut after);
        }
    }

    /// Takes the scores `before` some steps to those `after` them and stores what leaves the piece before each step; true if a
    /// diagonal was at the threshold meanwhile.
    fn advance(&self, steps: &Steps, before: &[i8], after: &mut [i8], leaving: &mut [i8]) -> bool {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => avx512::advance(self.elements, steps, before, after, leaving),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => avx2::advance(self.elements, steps, before, after, leaving),
            _ => portable::advance(steps, before, after, leaving),
        }
    }

    /// Repeats some steps and tells where diagonals rise to the threshold: the position in the piece and the step.
    fn locate(&self, steps: &Steps, before: &mut [i8], found: impl FnMut(usize, usize)) {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => locate::avx512(steps, before, found),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => locate::avx2(steps, before, found),
            _ => locate::portable::<{ portable::LANES }>(steps, before, found),
        }
    }

    /// The diagonal that passes a position of the line at an offset of a subject; `None` for a pad.
    fn candidate(&self, subject: usize, position: usize, offset: usize) -> Option<Candidate> {
        let place = self.members.partition_point(|&(_, start)| start <= position).checked_sub(1)?;
        let (context, start) = self.members[place];
        Some(Candidate {
            subject: subject as u32,
            context: context as u32,
            diagonal: (position - start) as i32 - offset as i32,
        })
    }

    /// Least score that makes a candidate.
    #[cfg(test)]
    pub fn cutoff(&self) -> i32 {
        self.cutoff
    }
}

impl Piece {
    /// The profile of `letters`, of which `None` resets.
    fn new(letters: &[Option<u8>], elements: usize, lanes: usize, scores: &PaddedScores) -> Piece {
        let row = elements * lanes;
        let mut profile = vec![i8::MIN; CODES * row + ALIGNMENT];
        let aligned = profile.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        for (code, row) in profile[aligned..].chunks_exact_mut(row).take(alphabet::SIZE).enumerate()
        {
            for (position, letter) in letters.iter().enumerate() {
                let Some(letter) = letter else { continue };
                let score = scores[(letter & 31) as usize][code];
                let (lane, element) = (position / elements, position % elements);
                // Above the range `Group::new` refuses; raising what is below loses nothing.
                row[element * lanes + lane] = score.max(i32::from(i8::MIN)) as i8;
            }
        }
        Piece { profile, aligned }
    }
}

/// Lanes of the kernel's vectors, and the most vectors whose scores it keeps in registers.
fn shape(kernel: Kernel) -> (usize, usize) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512 => (64, avx512::MAX_ELEMENTS),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 => (32, avx2::MAX_ELEMENTS),
        _ => (portable::LANES, portable::MAX_ELEMENTS),
    }
}
