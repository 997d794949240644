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
    /// True if the word at `start` is looked up.
    ///
    /// No mask may touch it. But where the residues before the first mask are too few for a word, BLAST+ looks up the one at
    /// the start all the same, or, in one-hit mode, none in the whole subject (`s_BlastAaWordFinder_TwoHit` and `_OneHit`,
    /// `aa_ungapped.c`).
    #[inline]
    pub fn allows(&self, start: usize, rule: &DiagonalRule) -> bool {
        let Some(first) = self.masks.first() else { return true };
        let one_hit = rule.window == 0;
        if (first.start as usize) < rule.word_size && (start == 0 || one_hit) {
            return !one_hit;
        }
        let (start, end) = (start as u32, (start + rule.word_size) as u32);
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

impl<'a> Stretch<'a> {
    /// A diagonal, query offset less subject offset, from end to end.
    pub fn whole(context: &'a Context, diagonal: i32, subject: &MaskedSubject) -> Stretch<'a> {
        let q = usize::try_from(diagonal).unwrap_or(0);
        let s = usize::try_from(diagonal.saturating_neg()).unwrap_or(0);
        let len = (context.len() - q).min(subject.residues.len() - s);
        Stretch { context, q, s, len }
    }

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
                && subject.allows(s + i, rule)
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

#[cfg(test)]
mod tests {
    use super::super::profile::PaddedScores;
    use super::*;

    /// The starts of the words that are looked up in 12 residues.
    fn allowed(masks: &[Range<u32>], word_size: usize, window: i32) -> Vec<usize> {
        let scores: PaddedScores = [[0; 32]; 32];
        let rule = DiagonalRule { scores: &scores, word_size, window };
        let subject = MaskedSubject { residues: &[0; 12], masks };
        (0..=12 - word_size).filter(|&start| subject.allows(start, &rule)).collect()
    }

    #[test]
    fn words_do_not_touch_masks() {
        assert_eq!(allowed(&[], 3, 40), (0..10).collect::<Vec<_>>());
        for window in [40, 0] {
            assert_eq!(allowed(&[4..6, 9..10], 3, window), [0, 1, 6]);
            assert_eq!(allowed(&[5..5, 9..10], 3, window), [0, 1, 2, 5, 6]);
        }
    }

    #[test]
    fn a_mask_near_the_start_spares_the_first_word_or_hides_all() {
        for start in 0..3 {
            assert_eq!(allowed(&[start..5, 7..9], 3, 40), [0, 9]);
            assert!(allowed(&[start..5, 7..9], 3, 0).is_empty());
        }
    }
}
