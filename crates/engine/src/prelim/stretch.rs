//! The exact word and extension rules on a stretch of one diagonal that the dense filter let through.

use std::ops::Range;

use super::context::Context;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{Word, WordRule};

/// Subjects that are scanned together.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    /// Their residues.
    pub residues: Vec<&'a [u8]>,
    /// Their masks.
    pub masks: Vec<&'a [Range<u32>]>,
}

impl<'a> Block<'a> {
    /// The subject at a place of the block.
    pub fn subject(&self, index: usize) -> MaskedSubject<'a> {
        MaskedSubject { residues: self.residues[index], masks: self.masks[index] }
    }
}

/// A subject and where in it no words are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaskedSubject<'a> {
    pub residues: &'a [u8],
    masks: &'a [Range<u32>],
}

impl MaskedSubject<'_> {
    /// True if no mask touches the word of `size` residues at `start`.
    #[inline]
    pub fn allows(&self, start: usize, size: usize) -> bool {
        let (start, end) = (start as u32, (start + size) as u32);
        self.masks.iter().all(|mask| mask.end <= start || end <= mask.start)
    }
}

/// `len` pairs of a diagonal, from query offset `q` and subject offset `s` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub context: &'a Context,
    pub q: usize,
    pub s: usize,
    pub len: usize,
}

impl Stretch<'_> {
    /// Calls `found` with each ungapped HSP. `words` are those of the context from `q` on, `pairs` is scratch memory.
    pub fn scan(
        &self,
        rule: &DiagonalRule,
        word_rule: &WordRule,
        words: &[Word],
        subject: &MaskedSubject,
        pairs: &mut Vec<i32>,
        mut found: impl FnMut(UngappedHsp),
    ) {
        let Stretch { context, q, s, len } = *self;
        let query = &context.residues()[q..q + len];
        let part = &subject.residues[s..s + len];
        let score = |(&a, &b): (&u8, &u8)| rule.scores[(a & 31) as usize][(b & 31) as usize];
        pairs.clear();
        pairs.extend(query.iter().zip(part).map(score));
        if best_run(pairs) < context.cutoff_ungapped {
            return;
        }
        let size = rule.word_size;
        let mut state = Diagonal::fresh(rule.window);
        for (i, (scores, &word)) in pairs.windows(size).zip(words).enumerate() {
            let equal = || query[i..i + size] == part[i..i + size];
            if word_rule.matches(word, scores.iter().sum(), equal)
                && subject.allows(s + i, size)
                && let Some(hsp) = rule.hit(&mut state, context, subject.residues, q + i, s + i)
            {
                found(hsp);
            }
        }
    }
}

/// The best sum of a run of pairs.
fn best_run(pairs: &[i32]) -> i32 {
    let (mut run, mut best) = (0, 0);
    for &score in pairs {
        run = (run + score).max(0);
        best = best.max(run);
    }
    best
}
