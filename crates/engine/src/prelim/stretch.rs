//! The exact word and extension rules on a stretch of one diagonal that the dense filter let through.

use super::block::Part;
use super::context::Context;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{Limit, WordRule};

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
    pub fn whole(context: &'a Context, diagonal: i32, part: &Part) -> Stretch<'a> {
        let q = usize::try_from(diagonal).unwrap_or(0);
        let s = usize::try_from(diagonal.saturating_neg()).unwrap_or(0);
        let len = (context.len() - q).min(part.residues.len() - s);
        Stretch { context, q, s, len }
    }

    /// Calls `found` with each ungapped HSP. `limits` are those of the context's words from `q` on.
    pub fn scan(
        &self,
        rule: &DiagonalRule,
        word_rule: &WordRule,
        limits: &[Limit],
        part: &Part,
        scratch: &mut StretchScratch,
        mut found: impl FnMut(UngappedHsp),
    ) {
        let Stretch { context, q, s, len } = *self;
        let size = rule.word_size;
        let query = &context.residues()[q..q + len];
        let opposite = &part.residues[s..s + len];
        let sums = scratch.word_scores(query, opposite, rule);
        let mut state = Diagonal::fresh(rule.window);
        for (chunk, (sums, limits)) in sums.chunks(CHUNK).zip(limits.chunks(CHUNK)).enumerate() {
            let both = || sums.iter().zip(limits);
            if !both().fold(false, |any, (sum, limit)| any | (sum >= limit)) {
                continue;
            }
            for (i, (&sum, &limit)) in (chunk * CHUNK..).zip(both()) {
                let equal = || query[i..i + size] == opposite[i..i + size];
                if sum >= limit
                    && word_rule.matches(limit, sum, equal)
                    && part.allows(s + i, rule)
                    && let Some(hsp) = rule.hit(&mut state, context, part, q + i, s + i)
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
