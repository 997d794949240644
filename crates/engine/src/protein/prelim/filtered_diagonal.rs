//! Applies the exact word and extension rules to the diagonals that pass the dense filter, near the
//! rises of their scores.
//!
//! Let Z be the running score of a diagonal, floored at zero, and T the filter's threshold. An HSP
//! ends where Z is T or more: after a rise to T, and before the next fall below T. The filter
//! detects all rises. But after its bytes saturate, Z is higher than they show until it is zero
//! again. In this case the next zero replaces the next fall.
//!
//! **After a rise** seeds matter up to the fall, since an HSP does not end before its second seed.
//! A zero also serves as a limit. An extension to the left that starts after a zero does not cross
//! it: scores that end at a zero have a sum of at most zero, and only a higher sum is taken. Z
//! itself is not known here, but before the rise it was at most T − 1. That bounds it from there
//! on.
//!
//! **Before a rise** seeds matter from the first one after a gap on. A gap is a run of pairs at
//! which no word matches and which is as long as the window. Some pairs of the gap after the first
//! `word_size` − 1 sum to −`x_drop` or less. An extension that starts before the gap ends in the
//! gap. So it is no HSP that reaches the rise, and it covers no seed after the gap. The first seed
//! after the gap is treated as on a new diagonal: earlier seeds are more than the window away, and
//! no extension covers it.
//!
//! If there is no gap, the start of the diagonal, or the end of the range scanned for an earlier
//! rise, replaces it.

#[cfg(test)]
mod tests;

use std::array::from_fn;

use super::block::Part;
use super::context::ChunkContext;
use super::dense;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{Limit, WordRule};
use crate::scores::RowNumber;

/// A diagonal of a context and a part of a subject, from end to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilteredDiagonal<'a> {
    context: &'a ChunkContext,
    part: &'a Part<'a>,
    rule: &'a DiagonalRule<'a>,
    word_rule: &'a WordRule,
    /// Start of the diagonal in the context. `s` is its start in the part.
    q: usize,
    s: usize,
    /// Row numbers of the pairs on the diagonal. `query` and `subject` are the residues of the
    /// pairs.
    rows: &'a [RowNumber],
    query: &'a [u8],
    subject: &'a [u8],
    /// The limits of the context's words along the diagonal.
    limits: &'a [Limit],
}

/// A word on a diagonal whose score `sum` reaches its limit, so that it may be a seed. `at` is its
/// offset on the diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordHit {
    at: usize,
    sum: i32,
}

impl<'a> FilteredDiagonal<'a> {
    /// Creates a diagonal, given as query offset minus subject offset. `limits` are the limits of
    /// all words of the context.
    pub fn new(
        context: &'a ChunkContext,
        limits: &'a [Limit],
        part: &'a Part<'a>,
        diagonal: i32,
        rule: &'a DiagonalRule<'a>,
        word_rule: &'a WordRule,
    ) -> FilteredDiagonal<'a> {
        let q = usize::try_from(diagonal).unwrap_or(0);
        let s = usize::try_from(diagonal.saturating_neg()).unwrap_or(0);
        let len = (context.len() - q).min(part.residues.len() - s);
        let (rows, query) = (&context.rows()[q..q + len], &context.residues()[q..q + len]);
        let subject = &part.residues[s..s + len];
        FilteredDiagonal {
            context,
            part,
            rule,
            word_rule,
            q,
            s,
            rows,
            query,
            subject,
            limits: &limits[q..q + len],
        }
    }

    /// Calls `found` with each ungapped HSP. `rises` are the offsets in the part at which the
    /// filter's score rose to `threshold`, in order. `hits` is scratch memory.
    pub fn scan(
        &self,
        rises: impl Iterator<Item = usize>,
        threshold: i32,
        hits: &mut Vec<WordHit>,
        mut found: impl FnMut(UngappedHsp),
    ) {
        // With constant sizes the scores of a word stay in registers.
        match self.rule.word_size {
            2 => self.scan_words::<2>(rises, threshold, hits, &mut found),
            3 => self.scan_words::<3>(rises, threshold, hits, &mut found),
            4 => self.scan_words::<4>(rises, threshold, hits, &mut found),
            5 => self.scan_words::<5>(rises, threshold, hits, &mut found),
            size => panic!("the filter is for short words, not for those of {size} letters"),
        }
    }

    /// Does the work of [`FilteredDiagonal::scan`] for words of `W` residues.
    fn scan_words<const W: usize>(
        &self,
        rises: impl Iterator<Item = usize>,
        threshold: i32,
        hits: &mut Vec<WordHit>,
        found: &mut impl FnMut(UngappedHsp),
    ) {
        let mut state = Diagonal::fresh(self.rule.window);
        let mut done = 0;
        for rise in rises.map(|offset| offset - self.s) {
            if rise < done {
                continue;
            }
            hits.clear();
            if self.before::<W>(rise, done, hits) > done {
                state = Diagonal::fresh(self.rule.window);
            }
            for &hit in hits.iter().rev() {
                self.process_hit(hit, &mut state, found);
            }
            done = self.after::<W>(rise, threshold, &mut state, found);
        }
    }

    /// Collects the possible seeds up to a rise, the last one first, back to the last gap or to
    /// `floor`. Returns the end of that gap, or `floor`.
    // Not inlined, because only then there are enough registers.
    #[inline(never)]
    fn before<const W: usize>(&self, rise: usize, floor: usize, hits: &mut Vec<WordHit>) -> usize {
        let Some(last) = self.query.len().checked_sub(W) else { return floor };
        let last = last.min(rise);
        let (gap, x_drop) = (self.rule.window.max(1) as usize, self.context.x_drop);
        let mut start = last + 1;
        // Scores of the pairs of the word that starts here.
        let mut word: [i32; W] = from_fn(|k| if k + 1 < W { self.pair(last + 1 + k) } else { 0 });
        // `low` is the lowest sum of pairs from here on. `barrier` is the last position from which
        // such a sum is low enough.
        let (mut low, mut barrier) = (0, None);
        for i in (floor..=last).rev() {
            let pair = self.pair(i);
            word = from_fn(|k| if k > 0 { word[k - 1] } else { pair });
            let sum = word.iter().sum();
            if sum >= i32::from(self.limits[i]) {
                hits.push(WordHit { at: i, sum });
                (start, low, barrier) = (i, 0, None);
                continue;
            }
            // The rise itself is no part of a fall before it.
            low = low.min(0) + if i < rise { word[0] } else { 0 };
            if low <= -x_drop {
                barrier = barrier.or(Some(i));
            }
            if start - i >= gap && barrier.is_some_and(|at| at - i >= W - 1) {
                return start;
            }
        }
        floor
    }

    /// Processes the seeds after a rise up to the next fall. Returns the position after the fall,
    /// or the end of the diagonal.
    #[inline(never)]
    fn after<const W: usize>(
        &self,
        rise: usize,
        threshold: i32,
        state: &mut Diagonal,
        found: &mut impl FnMut(UngappedHsp),
    ) -> usize {
        let len = self.query.len();
        if rise + W >= len {
            return len;
        }
        let mut word: [i32; W] = from_fn(|k| self.pair(rise + k));
        // The upper bound of Z, and whether the filter's bytes may have saturated.
        let mut bound = threshold - 1 + word[0];
        let mut saturated = false;
        for at in rise + 1..=len - W {
            let next = self.pair(at + W - 1);
            word = from_fn(|k| if k + 1 < W { word[k + 1] } else { next });
            let sum = word.iter().sum();
            if sum >= i32::from(self.limits[at]) {
                self.process_hit(WordHit { at, sum }, state, found);
            }
            saturated |= bound > dense::MAX_CUTOFF;
            // The filter's profile has bytes, so it adds at least −128.
            bound += word[0].max(i32::from(i8::MIN));
            if bound <= 0 || bound < threshold && !saturated {
                return at + 1;
            }
        }
        len
    }

    /// Processes a possible seed, unless it does not match or is masked.
    #[inline]
    fn process_hit(
        &self,
        WordHit { at, sum }: WordHit,
        state: &mut Diagonal,
        found: &mut impl FnMut(UngappedHsp),
    ) {
        let word = at..at + self.rule.word_size;
        let equal = || self.query[word.clone()] == self.subject[word];
        if self.word_rule.matches(self.limits[at], sum, equal)
            && self.part.allows(self.s + at, self.rule.word_size, self.rule.window == 0)
            && let Some(hsp) =
                self.rule.hit(state, self.context, self.part, self.q + at, self.s + at)
        {
            found(hsp);
        }
    }

    /// Returns the score of the pair at offset `i` of the diagonal.
    #[inline]
    fn pair(&self, i: usize) -> i32 {
        self.rule.scores.score(self.rows[i], self.subject[i])
    }
}
