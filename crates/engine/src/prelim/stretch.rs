//! The exact word and extension rules on a stretch of one diagonal that the dense filter let through.

use std::ops::Range;

use super::context::Context;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{Limit, WordRule};

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

    /// Calls `found` with each ungapped HSP. `limits` are those of the context's words from `q` on.
    pub fn scan(
        &self,
        rule: &DiagonalRule,
        word_rule: &WordRule,
        limits: &[Limit],
        subject: &MaskedSubject,
        scratch: &mut StretchScratch,
        mut found: impl FnMut(UngappedHsp),
    ) {
        let Stretch { context, q, s, len } = *self;
        let size = rule.word_size;
        let query = &context.residues()[q..q + len];
        let part = &subject.residues[s..s + len];
        let sums = scratch.word_scores(query, part, rule);
        let mut state = Diagonal::fresh(rule.window);
        for (chunk, (sums, limits)) in sums.chunks(CHUNK).zip(limits.chunks(CHUNK)).enumerate() {
            let both = || sums.iter().zip(limits);
            if !both().fold(false, |any, (sum, limit)| any | (sum >= limit)) {
                continue;
            }
            for (i, (&sum, &limit)) in (chunk * CHUNK..).zip(both()) {
                let equal = || query[i..i + size] == part[i..i + size];
                if sum >= limit
                    && word_rule.matches(limit, sum, equal)
                    && subject.allows(s + i, rule)
                    && let Some(hsp) = rule.hit(&mut state, context, subject.residues, q + i, s + i)
                {
                    found(hsp);
                }
            }
        }
    }
}

/// Words that are looked at together: mostly none of them matches.
const CHUNK: usize = 32;

/// Scratch memory of [`Stretch::scan`].
#[derive(Debug, Default)]
pub(super) struct StretchScratch {
    pairs: Vec<i16>,
    words: Vec<i16>,
}

impl StretchScratch {
    /// The score of the word at each offset, as far as whole words go.
    fn word_scores(&mut self, query: &[u8], subject: &[u8], rule: &DiagonalRule) -> &[i16] {
        let StretchScratch { pairs, words } = self;
        pairs.clear();
        pairs.extend(query.iter().zip(subject).map(|(&a, &b)| {
            // The lowest score of a matrix is that of the sentinel, which has 16 bits.
            rule.scores[(a & 31) as usize][(b & 31) as usize] as i16
        }));
        words.clear();
        words.extend_from_slice(&pairs[..(pairs.len() + 1).saturating_sub(rule.word_size)]);
        for k in 1..rule.word_size {
            for (word, &pair) in words.iter_mut().zip(&pairs[k.min(pairs.len())..]) {
                *word = word.saturating_add(pair);
            }
        }
        words
    }
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
