//! The dense filter: the best ungapped score on every diagonal, many diagonals at a time.
//!
//! One signed byte per diagonal holds a running score, biased by −128, so that saturating addition gives the floor of
//! zero for nothing. The contexts of a group stand one after the other on a circle with resetting pads between them; a
//! lane is a diagonal of the circle, and as the subject advances by a residue every lane advances by one query position.
//!
//! **Lossless.** An ungapped HSP of spec 4.4 covers a contiguous stretch of one diagonal and its score is the sum of the
//! scores there, whatever words, X-drops, windows or masks led to it: masks and words only remove HSPs. The lane's
//! running score, floored at zero, is at least that sum when the stretch ends, as long as no profile entry is rounded down
//! and 255 is not exceeded by the cut-off ([`Group::new`] refuses both). So a subject without a lane that reaches the
//! group's least cut-off has no HSP, and a lane that reaches it names the few diagonals on which the exact rules then run.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use fleetblast_seq::alphabet;

use super::context::Context;
use super::kernel::Kernel;
use super::profile::PaddedScores;

/// Resetting positions between contexts: two of −128 bring any byte to its floor.
const PAD: usize = 2;
/// Lanes that one pass over a subject serves at most, for any kernel.
const MAX_STRIP: usize = 768;
/// Largest cut-off a byte can show.
const MAX_CUTOFF: i32 = 255;

/// Lanes of one subject that reached the cut-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prelim) struct Candidate {
    /// Index of the subject in the block.
    pub subject: u32,
    /// Position on the circle at which the lane meets the subject's first residue.
    pub lane: u32,
}

/// Contexts that are filtered together.
#[derive(Debug)]
pub(in crate::prelim) struct Group {
    /// The contexts, by index into the searcher's list.
    pub contexts: Vec<usize>,
    /// Where each context starts on the circle; one more entry than contexts, the last is the end of the last pad.
    starts: Vec<usize>,
    /// Number of positions on the circle.
    circle: usize,
    /// Per residue code the scores of all positions, continued beyond the end by [`MAX_STRIP`] positions.
    profile: Vec<i8>,
    /// Bytes of `profile` per residue code.
    stride: usize,
    /// Least score that makes a candidate.
    cutoff: i32,
    kernel: Kernel,
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
        if !(1..=MAX_CUTOFF).contains(&cutoff) {
            return None;
        }
        let mut letters = Vec::new();
        let mut starts = vec![];
        for &i in members {
            starts.push(letters.len());
            letters.extend(contexts[i].residues().iter().map(|&code| Some(code)));
            letters.extend([None; PAD]);
        }
        starts.push(letters.len());
        let circle = letters.len().next_multiple_of(64);
        letters.resize(circle, None);
        let stride = circle + MAX_STRIP;
        let mut profile = Vec::with_capacity(stride * alphabet::SIZE);
        let pad = [i32::from(i8::MIN); 32];
        for code in 0..alphabet::SIZE {
            let column =
                |letter: Option<u8>| letter.map_or(&pad, |a| &scores[(a & 31) as usize])[code];
            for position in 0..stride {
                let score = column(letters[position % circle]);
                if score > i32::from(i8::MAX) {
                    return None;
                }
                profile.push(score.max(i32::from(i8::MIN)) as i8);
            }
        }
        Some(Group { contexts: members.to_vec(), starts, circle, profile, stride, cutoff, kernel })
    }

    /// The lanes of the subjects that reach the cut-off, for every subject of a block.
    pub fn filter(&self, subjects: &[&[u8]], candidates: &mut Vec<Candidate>) {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => avx512::filter(self, subjects, candidates),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => avx2::filter(self, subjects, candidates),
            _ => portable::filter(self, subjects, candidates),
        }
    }

    /// Number of positions on the circle.
    #[cfg(test)]
    pub fn circle(&self) -> usize {
        self.circle
    }

    /// Least score that makes a candidate.
    #[cfg(test)]
    pub fn cutoff(&self) -> i32 {
        self.cutoff
    }

    /// The byte at and above which a lane is a candidate.
    fn threshold(&self) -> i8 {
        (self.cutoff - 128) as i8
    }

    /// Notes the set bits of `mask` as candidate lanes from `lane` on.
    #[inline]
    fn note(&self, subject: usize, lane: usize, mut mask: u64, candidates: &mut Vec<Candidate>) {
        while mask != 0 {
            let lane = lane + mask.trailing_zeros() as usize;
            candidates.push(Candidate { subject: subject as u32, lane: lane as u32 });
            mask &= mask - 1;
        }
    }

    /// Calls `visit(context, q, s, len)` for each diagonal stretch that the lane passes in a subject of `n` residues:
    /// `len` pairs from query offset `q` and subject offset `s` on.
    pub fn stretches(
        &self,
        lane: u32,
        n: usize,
        mut visit: impl FnMut(usize, usize, usize, usize),
    ) {
        let mut s = 0;
        let mut position = lane as usize % self.circle;
        while s < n {
            // starts[0] is 0 and positions are not negative, so at least one start is at or before the position.
            let slot = self.starts.partition_point(|&start| start <= position) - 1;
            if slot + 1 == self.starts.len() {
                s += self.circle - position;
                position = 0;
                continue;
            }
            let (start, next) = (self.starts[slot], self.starts[slot + 1]);
            let end = next - PAD;
            if position < end {
                let len = (end - position).min(n - s);
                visit(self.contexts[slot], position - start, s, len);
            }
            s += next - position;
            position = next % self.circle;
        }
    }
}
