//! Preliminary gapped extension by dynamic programming, score only (`s_BlastDynProgNtGappedAlignment` and
//! `s_BlastAlignPackedNucl`, `blast_gapalign.c`).
//!
//! Rows are bases of the packed subject, columns are letters of the query.

mod rows;
mod scalar;
#[cfg(test)]
mod tests;

use fleetblast_seq::nucleotide::{Packed, blastna};

use self::rows::{Backward, Forward};
use self::scalar::Cell;
use crate::order::Bounds;
use crate::scores::ScoreRows;
use crate::xdrop::{Extent, GapCosts};

/// Bases in a byte of a packed sequence.
const IN_BYTE: u32 = 4;

/// Sentinels around the letters of a query.
const MARGIN: usize = 128;

/// What a preliminary extension found, and from where the alignment will be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub score: i32,
    pub bounds: Bounds,
    pub q_seed: u32,
    pub s_seed: u32,
}

/// A segment without gaps from which to extend; positions count in the query's context and in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub score: i32,
    pub q_start: u32,
    pub s_start: u32,
    pub length: u32,
    /// Where the word was found that the segment comes from.
    pub q_seed: u32,
    pub s_seed: u32,
}

/// The letters of a context of a query as extensions read them.
#[derive(Clone, Debug)]
pub(crate) struct QueryLetters {
    /// Blastna letters, with [`MARGIN`] sentinels before and after them.
    forward: Vec<u8>,
    /// The same backwards.
    backward: Vec<u8>,
}

impl QueryLetters {
    /// Of the blastna letters of a whole context.
    pub fn new(letters: &[u8]) -> QueryLetters {
        let margin = [blastna::SENTINEL; MARGIN];
        let forward = [&margin[..], letters, &margin].concat();
        let backward = forward.iter().rev().copied().collect();
        QueryLetters { forward, backward }
    }

    fn length(&self) -> usize {
        self.forward.len() - 2 * MARGIN
    }
}

/// Extends segments; fixed for a search.
#[derive(Debug)]
pub(crate) struct Extender {
    /// What each base scores against each letter of a query.
    scores: ScoreRows,
    gaps: GapCosts,
    x_drop: i32,
}

/// Memory of extensions, reused from one to the next.
#[derive(Debug, Default)]
pub(crate) struct GappedScratch {
    cells: Vec<Cell>,
}

impl Extender {
    /// Extensions with these scores of the blastna codes.
    pub fn new(scores: &ScoreRows, gaps: GapCosts, x_drop: i32) -> Extender {
        Extender { scores: scores.clone(), gaps, x_drop }
    }

    /// Extends a segment in both directions; `subject` is a chunk.
    pub fn extend(
        &self,
        query: &QueryLetters,
        subject: Packed<'_>,
        segment: &Segment,
        scratch: &mut GappedScratch,
    ) -> Extension {
        let (q_seed, s_seed) = seed(segment);
        let (q, s) = start(q_seed, s_seed, query.length() as u32, subject.length());
        let x_drop = self.x_drop.min(segment.score).max(self.gaps.open + self.gaps.extend);
        let [left, right] = self.both_ways(query, subject, (q, s), x_drop, scratch);
        Extension {
            score: left.score + right.score,
            bounds: Bounds {
                q_start: q - left.query as u32,
                q_end: q + right.query as u32,
                s_start: s - left.subject as u32,
                s_end: s + right.subject as u32,
            },
            q_seed,
            s_seed,
        }
    }

    /// Best extensions to the left and to the right of a place between letters.
    fn both_ways(
        &self,
        query: &QueryLetters,
        subject: Packed<'_>,
        (q, s): (u32, u32),
        x_drop: i32,
        scratch: &mut GappedScratch,
    ) -> [Extent; 2] {
        let (q_left, q_right) = (q as usize, query.length() - q as usize);
        let cells = &mut scratch.cells;
        let (scores, gaps) = (&self.scores, self.gaps);
        let letters = &query.backward[MARGIN + q_right..][..=q_left];
        let left = scalar::extend(letters, Backward::new(subject, s), scores, gaps, x_drop, cells);
        let letters = &query.forward[MARGIN + q_left..][..=q_right];
        let right = scalar::extend(letters, Forward::new(subject, s), scores, gaps, x_drop, cells);
        [left, right]
    }
}

/// From where the alignment will be made: within the first byte of the word that is all pairs, if the segment is long enough.
fn seed(segment: &Segment) -> (u32, u32) {
    let within = if segment.s_start + segment.length >= segment.s_seed + 8 { 3 } else { 0 };
    (segment.q_seed + within, segment.s_seed + within)
}

/// Where the extensions start: at the next byte of the subject, unless that is beyond an end.
fn start(q_seed: u32, s_seed: u32, q_len: u32, s_len: u32) -> (u32, u32) {
    let on = IN_BYTE - s_seed % IN_BYTE;
    let (q, s) = (q_seed + on, s_seed + on);
    if q > q_len || s > s_len {
        // A query position before its first letter is not possible for a word of a context.
        return (q.saturating_sub(IN_BYTE), s - IN_BYTE);
    }
    (q, s)
}
