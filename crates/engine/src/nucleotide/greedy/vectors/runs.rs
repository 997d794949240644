//! Measures runs of equal bases. The least extent with which a path continues determines which
//! bases the diagonals read next. A window holds some of these bases of a sequence, and each
//! diagonal looks up its word in the window.

use super::{AT_ONCE, Vector};
use crate::nucleotide::greedy::pairs::{OutwardBases, OutwardSequences};

/// Bases in a byte.
const IN_BYTE: i64 = 4;

/// Lengths of runs of equal bases, and the greatest lengths that the ends of the sequences allow.
pub(super) struct MeasuredRuns<V> {
    pub run: V,
    pub room: V,
}

/// The sequences in which runs of equal bases are measured.
pub(super) struct Runs<'a, V: Vector, const BACK: bool> {
    pub query: Words<'a, V, BACK>,
    pub subject: Words<'a, V, BACK>,
}

impl<'a, V: Vector, const BACK: bool> Runs<'a, V, BACK> {
    #[inline(always)]
    pub fn new(proof: V::Proof, sequences: &OutwardSequences<'a, BACK>) -> Self {
        Runs {
            query: Words::new(proof, &sequences.query),
            subject: Words::new(proof, &sequences.subject),
        }
    }

    /// Measures the runs that start at these query and subject positions, in the lanes that
    /// continue. `reach` has the least query position and the least subject position.
    #[inline(always)]
    pub fn find(
        &self,
        sequences: &OutwardSequences<'_, BACK>,
        reach: [i32; 2],
        [query, subject]: [V; 2],
        lanes: u32,
    ) -> MeasuredRuns<V> {
        let proof = self.query.proof;
        let (equal, seen) = self.equal(reach, query, subject);
        let room = self.query.length.minus(query).min(self.subject.length.minus(subject));
        let mut run = equal.min(room).max(V::splat(proof, 0));
        let whole = V::bits(run.equals(V::splat(proof, AT_ONCE)));
        let mut rest = lanes & (whole | !seen);
        if rest != 0 {
            let (queries, subjects, mut runs) = (query.store().0, subject.store().0, run.store());
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                let taken = if seen >> lane & 1 != 0 { AT_ONCE } else { 0 };
                runs.0[lane] = sequences.run(queries[lane], subjects[lane], taken);
                rest &= rest - 1;
            }
            run = V::load(proof, &runs);
        }
        MeasuredRuns { run, room }
    }

    /// Counts the equal bases from these positions on, at most [`AT_ONCE`], even beyond the ends of
    /// the sequences. Also returns the lanes in which the count is valid.
    #[inline(always)]
    pub fn equal(&self, reach: [i32; 2], query: V, subject: V) -> (V, u32) {
        let windows = [self.query.window(reach[0]), self.subject.window(reach[1])];
        let [q, s] = [windows[0].places(query), windows[1].places(subject)];
        let seen = V::both(q.within_window(), s.within_window());
        let mut different = q.extract(windows[0].bases).xor(s.extract(windows[1].bases));
        if self.query.ambiguous.is_some() || self.subject.ambiguous.is_some() {
            different = self.query.mark_ambiguous(different, q, windows[0].at);
            different = self.subject.mark_ambiguous(different, s, windows[1].at);
        }
        (different.zero_pairs::<BACK>(), V::bits(seen))
    }
}

/// One of the sequences, read in words of [`AT_ONCE`] bases.
pub(super) struct Words<'a, V: Vector, const BACK: bool> {
    proof: V::Proof,
    bytes: &'a [u8],
    ambiguous: Option<&'a [u8]>,
    /// Index of the base at position zero among the bases of `bytes`. The word of this position
    /// begins with this base, or ends with it if read backwards.
    start: i64,
    pub length: V,
}

impl<'a, V: Vector, const BACK: bool> Words<'a, V, BACK> {
    #[inline(always)]
    fn new(proof: V::Proof, side: &OutwardBases<'a, BACK>) -> Self {
        let OutwardBases { bytes, ambiguous, start, length } = *side;
        Words { proof, bytes, ambiguous, start: start as i64, length: V::splat(proof, length) }
    }

    /// Loads the bases from position `reach` on, or backwards from it.
    #[inline(always)]
    fn window(&self, reach: i32) -> Window<V, BACK> {
        let bytes = i64::from(V::WORDS * AT_ONCE) / IN_BYTE;
        let place =
            if BACK { self.start - i64::from(reach) } else { self.start + i64::from(reach) };
        let first = place / IN_BYTE - if BACK { bytes - 2 } else { 0 };
        let at = first.clamp(0, self.bytes.len() as i64);
        let start = self.start - at * IN_BYTE - if BACK { i64::from(AT_ONCE) - 1 } else { 0 };
        let at = at as usize;
        let start = V::splat(self.proof, start as i32);
        Window { at, start, bases: V::window(self.proof, self.bytes, at) }
    }

    /// Sets the bits of ambiguous bases in words. `first` has the index of the first base of each
    /// word in the window that begins with the byte `at`.
    #[inline(always)]
    fn mark_ambiguous(&self, words: V, first: V, at: usize) -> V {
        match self.ambiguous {
            Some(bytes) => words.or(first.extract(V::window(self.proof, bytes, at))),
            None => words,
        }
    }
}

/// A part of a sequence, from which words are extracted.
struct Window<V: Vector, const BACK: bool> {
    /// Index of the window's first byte.
    at: usize,
    /// Index, in the window, of the first base of the word of position zero.
    start: V,
    bases: V::Window,
}

impl<V: Vector, const BACK: bool> Window<V, BACK> {
    /// Returns the index, in the window, of the first base of the word of each position.
    #[inline(always)]
    fn places(&self, positions: V) -> V {
        if BACK { self.start.minus(positions) } else { self.start.plus(positions) }
    }
}
