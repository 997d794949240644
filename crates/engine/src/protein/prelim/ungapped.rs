//! Extends seeds to ungapped HSPs on one diagonal (rules 4.3, 4.4; facts from `aa_ungapped.c`).

use super::block::Part;
use super::context::ChunkContext;
use crate::scores::{RowNumber, ScoreRows};

/// An ungapped HSP: `len` residues of query and subject from the starts on. One-hit extensions of
/// words that do not score may have a length below 0 (rules 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UngappedHsp {
    pub score: i32,
    pub q_start: u32,
    pub s_start: u32,
    pub len: i32,
}

impl UngappedHsp {
    /// Returns the sort key of rules 5.2: score descending, subject start, length descending,
    /// context, query start.
    pub fn order(&self, context: u32) -> (i32, u32, std::cmp::Reverse<i32>, u32, u32) {
        (-self.score, self.s_start, std::cmp::Reverse(self.len), context, self.q_start)
    }

    /// Returns the end in the query and in the subject. It is before the start if the length is
    /// below 0.
    pub fn ends(&self) -> (u32, u32) {
        let end = |start: u32| start.saturating_add_signed(self.len);
        (end(self.q_start), end(self.s_start))
    }
}

/// The rule for pairing and extending seeds, the same for all diagonals of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiagonalRule<'a> {
    pub scores: &'a ScoreRows,
    pub word_size: usize,
    /// Two-hit window, 0 for one-hit mode.
    pub window: i32,
}

/// State of a diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Diagonal {
    /// Subject offset of the last seed, or the end of the range that an extension covers.
    pub last: i32,
    /// Whether `last` comes from an extension.
    pub extended: bool,
}

impl Diagonal {
    /// Returns the state of a diagonal without seeds, in a search with the given window.
    pub fn fresh(window: i32) -> Diagonal {
        Diagonal { last: -window.max(1), extended: false }
    }
}

/// A sum of scores along a diagonal, and the best sum so far.
///
/// A new best sum comes at random, and branches on it would be mispredicted. So a sum and its
/// number of scores are one number, and the best sum is a maximum of such numbers. The upper half
/// holds the sum. The lower half falls by one with each score, so that the shortest of equal sums
/// is the best.
#[derive(Clone, Copy, Debug)]
struct RunningSum {
    current: i64,
    best: i64,
}

impl RunningSum {
    /// Number of bits of the lower half of a running sum.
    const SHIFT: u32 = u32::BITS;

    /// Creates a sum that starts at `from`, without scores.
    #[inline]
    fn new(from: i32) -> RunningSum {
        let current = i64::from(from) << Self::SHIFT | i64::from(u32::MAX);
        RunningSum { current, best: current }
    }

    /// Adds a score.
    #[inline]
    fn add(&mut self, score: i32) {
        self.current += (i64::from(score) << Self::SHIFT) - 1;
        self.best = self.best.max(self.current);
    }

    /// Returns whether the sum is `x_drop` or more below the best one.
    #[inline]
    fn has_fallen(self, x_drop: i32) -> bool {
        // The lower half of `best` is at least that of `current`, so that nothing is carried.
        self.best - self.current >= i64::from(x_drop) << Self::SHIFT
    }

    /// Returns whether the sum is 0 or less.
    #[inline]
    fn is_spent(self) -> bool {
        self.current < 1 << Self::SHIFT
    }

    /// Returns the best sum and its number of scores.
    #[inline]
    fn best(self) -> (i32, usize) {
        let len = u32::MAX - self.best as u32;
        ((self.best >> Self::SHIFT) as i32, len as usize)
    }
}

impl DiagonalRule<'_> {
    /// Returns the rule for a subject of `len` residues. It limits the window to the largest
    /// distance between seeds, as a table of diagonals must have room for the window.
    pub fn within(&self, len: usize) -> Self {
        let longest = i32::try_from(len + self.word_size).unwrap_or(i32::MAX);
        DiagonalRule { window: self.window.min(longest), ..*self }
    }

    /// Returns whether the last seed of a diagonal is too far from the subject offset `at` for a
    /// pair. A seed there then only replaces the last one.
    #[inline]
    pub fn begins_anew(&self, state: &Diagonal, at: i32) -> bool {
        self.window > 0 && !state.extended && at - state.last >= self.window
    }

    /// Processes the seed at query offset `q` and subject offset `s`. Returns an HSP if it reaches
    /// the cut-off.
    #[inline]
    pub fn hit(
        &self,
        state: &mut Diagonal,
        context: &ChunkContext,
        part: &Part,
        q: usize,
        s: usize,
    ) -> Option<UngappedHsp> {
        let at = s as i32;
        if self.window == 0 {
            if at < state.last {
                return None;
            }
            let (hsp, stop) = self.one_hit(context, part, q, s);
            state.last = stop as i32 - (self.word_size as i32 - 1);
            return (hsp.score >= context.cutoff_ungapped).then_some(hsp);
        }
        if state.extended {
            if at >= state.last {
                *state = Diagonal { last: at, extended: false };
            }
            return None;
        }
        if self.begins_anew(state, at) {
            state.last = at;
            return None;
        }
        let distance = at - state.last;
        if distance < self.word_size as i32 {
            return None;
        }
        if distance > q as i32 {
            // The earlier seed belonged to another query on the same diagonal of the look-up table.
            state.last = at;
            return None;
        }
        let left_end = (state.last + self.word_size as i32) as usize;
        let (hsp, stop) = self.two_hit(context, part, q, s, left_end);
        *state = match stop {
            Some(stop) => {
                Diagonal { last: stop as i32 - (self.word_size as i32 - 1), extended: true }
            }
            None => Diagonal { last: at, extended: false },
        };
        (hsp.score >= context.cutoff_ungapped).then_some(hsp)
    }

    #[inline]
    fn score(&self, q: RowNumber, s: u8) -> i32 {
        self.scores.score(q, s)
    }

    /// Extends to the left over the pairs before query offset `q` and subject offset `s`, which are
    /// not included. The sum starts at `from`. Returns the best sum and its number of pairs.
    fn left(
        &self,
        context: &ChunkContext,
        part: &Part,
        q: usize,
        s: usize,
        from: i32,
    ) -> (i32, usize) {
        // q and s count residues to the left: the first pair is (q - 1, s - 1).
        let reach = q.min(s);
        let query = &context.rows()[q - reach..q];
        let subject = &part.residues[s - reach..s];
        let mut sum = RunningSum::new(from);
        for (&a, &b) in query.iter().rev().zip(subject.iter().rev()) {
            sum.add(self.score(a, b));
            if sum.has_fallen(context.x_drop) {
                break;
            }
        }
        sum.best()
    }

    /// Extends to the right from the pair (`q`, `s`) on. The sum starts at `from`. Returns the best
    /// sum, its number of pairs, and the subject offset at which the extension stopped.
    fn right(
        &self,
        context: &ChunkContext,
        part: &Part,
        q: usize,
        s: usize,
        from: i32,
    ) -> (i32, usize, usize) {
        // The sentinel after the query takes part: it ends the extension with its offset.
        let query = context.rows_with_end().get(q..).unwrap_or_default();
        let rest = part.residues.get(s..part.reach).unwrap_or_default();
        let mut sum = RunningSum::new(from);
        let mut stop = s + rest.len();
        for (i, (&a, &b)) in query.iter().zip(rest).enumerate() {
            sum.add(self.score(a, b));
            if sum.is_spent() || sum.has_fallen(context.x_drop) {
                stop = s + i;
                break;
            }
        }
        let (score, len) = sum.best();
        (score, len, stop)
    }

    /// Extends a pair of seeds. `left_end` is the subject offset after the first word. Returns the
    /// HSP, and the subject offset at which the extension to the right stopped, if there was one.
    fn two_hit(
        &self,
        context: &ChunkContext,
        part: &Part,
        q: usize,
        s: usize,
        left_end: usize,
    ) -> (UngappedHsp, Option<usize>) {
        let word = context.rows()[q..][..self.word_size].iter().zip(&part.residues[s..]);
        let mut sum = RunningSum::new(0);
        word.for_each(|(&a, &b)| sum.add(self.score(a, b)));
        let (_, shift) = sum.best();
        let (q, s) = (q + shift, s + shift);
        let (left_score, left_len) = self.left(context, part, q, s, 0);
        let (mut score, mut right_len, mut stop) = (left_score, 0, None);
        if left_len + left_end >= s {
            let (right_score, len, at) = self.right(context, part, q, s, left_score);
            score = score.max(right_score);
            right_len = len;
            stop = Some(at);
        }
        let hsp = UngappedHsp {
            score,
            q_start: (q - left_len) as u32,
            s_start: (s - left_len) as u32,
            len: (left_len + right_len) as i32,
        };
        (hsp, stop)
    }

    /// Extends a single seed. Returns the HSP, and the subject offset at which the extension to the
    /// right stopped.
    fn one_hit(
        &self,
        context: &ChunkContext,
        part: &Part,
        q: usize,
        s: usize,
    ) -> (UngappedHsp, usize) {
        let (mut sum, mut score) = (0, 0);
        let (mut start, mut best_start, mut end) = (0, 0, self.word_size);
        for i in 0..self.word_size {
            sum += self.score(context.rows()[q + i], part.residues[s + i]);
            if sum > score {
                score = sum;
                best_start = start;
                end = i;
            } else if sum <= 0 {
                sum = 0;
                start = i + 1;
            }
        }
        let (left_score, left_len) =
            self.left(context, part, q + best_start, s + best_start, score);
        let (right_score, right_len, stop) =
            self.right(context, part, q + end + 1, s + end + 1, left_score);
        // BLAST+ measures the word from the last start it tried, not from the best one (rules 4.4).
        let word_len = end as i32 + 1 - start as i32;
        let hsp = UngappedHsp {
            score: right_score,
            q_start: (q + best_start - left_len) as u32,
            s_start: (s + best_start - left_len) as u32,
            len: (left_len + right_len) as i32 + word_len,
        };
        (hsp, stop)
    }
}
