//! Greedy extension. It computes how far each diagonal reaches with a number of differences,
//! instead of scores (`greedy_align.c`; Zhang et al., J Comput Biol 7:203).
//!
//! An extension runs in one direction from a start. The start belongs to the extension to the
//! right. Positions count outwards from the start. The diagonal of a pair is its query position
//! minus its subject position. Without gap costs ([`linear`]) a difference is a mismatch or a base
//! opposite a gap. With gap costs ([`affine`]) each kind of difference has its own distance.

mod affine;
mod linear;
mod packing;
mod pairs;
mod rows;
mod rules;
#[cfg(test)]
mod tests;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "no vectors")
)]
mod vectors;

pub(crate) use self::packing::Packing;
use self::pairs::OutwardSequences;
pub(crate) use self::pairs::{Bases, Letters};
use super::gapped::Extension;
use crate::hits::{Edit, EditOp};
use crate::kernel::Kernel;
use crate::order::Bounds;
use crate::xdrop::GapCosts;

/// The reach of a diagonal on which there is no path.
const NOWHERE: i32 = -2;

/// An X-drop that never stops an extension, with room for additions.
const NEVER: i32 = i32::MAX / 2;

/// Value of an X-drop beyond the range of an `int`.
const TOO_LARGE: i32 = i32::MIN;

/// Scores of pairs and costs of gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scoring {
    /// Score of two equal bases.
    pub reward: i32,
    /// Score of two different bases, below zero.
    pub penalty: i32,
    /// Costs of gaps. If both are 0, a base opposite a gap costs `reward / 2 - penalty`.
    pub gaps: GapCosts,
}

impl Scoring {
    /// Returns whether the cost of gaps follows from the scores of pairs.
    pub fn is_linear(&self) -> bool {
        self.gaps == GapCosts { open: 0, extend: 0 }
    }

    /// Converts the scores and costs, and an X-drop, to units in which the reward is even.
    fn even(&self, x_drop: i32) -> (Scoring, i32) {
        let by = if self.reward % 2 == 0 { 1 } else { 2 };
        let Scoring { reward, penalty, gaps } = *self;
        let gaps = GapCosts { open: gaps.open * by, extend: gaps.extend * by };
        let x_drop = match x_drop {
            TOO_LARGE => NEVER,
            x_drop => x_drop.saturating_mul(by).clamp(-NEVER, NEVER),
        };
        (Scoring { reward: reward * by, penalty: penalty * by, gaps }, x_drop)
    }
}

/// A run of equal bases: its start in the query and in the subject, and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    query: i32,
    subject: i32,
    length: i32,
}

/// The end of the best path of an extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BestEnd {
    /// Without gap costs the number of differences of the path, with gap costs its score.
    value: i32,
    /// Distance of the path.
    distance: i32,
    query: i32,
    subject: i32,
    /// The first of the longest runs, whether or not the best path contains it. It is not
    /// determined if columns are requested.
    longest: Run,
}

/// Work space that extensions reuse.
#[derive(Debug, Default)]
pub(crate) struct GreedyScratch {
    linear: linear::Rows,
    affine: affine::Rows,
    /// Whether a path reached, or may have reached, an end of the subject since this was set to
    /// false. If none did, a longer subject gives the same result.
    pub met_subject_end: bool,
}

/// An alignment with its columns, as the extension found them: its gaps are not reduced yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traced {
    pub score: i32,
    pub bounds: Bounds,
    pub edits: Vec<Edit>,
}

/// Parameters of greedy extensions, the same for a whole search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extender {
    scoring: Scoring,
    x_drop: i32,
    kernel: Kernel,
}

impl Extender {
    /// Creates an extender with these scores.
    pub fn new(scoring: Scoring, x_drop: i32, kernel: Kernel) -> Extender {
        Extender { scoring, x_drop, kernel }
    }

    /// Extends in both directions from before a pair of bases. Also returns the start for the final
    /// alignment (`BLAST_GreedyGappedAlignment` without traceback).
    pub fn extend(
        &self,
        query: Bases<'_>,
        subject: Bases<'_>,
        q_start: u32,
        s_start: u32,
        scratch: &mut GreedyScratch,
    ) -> Extension {
        let right = OutwardSequences::<false>::new(query, subject, q_start, s_start);
        let right = self.extend_one_way(&right, scratch, None);
        let left = OutwardSequences::<true>::new(query, subject, q_start, s_start);
        let left = self.extend_one_way(&left, scratch, None);
        let (score, bounds) = self.join(&left, &right, q_start, s_start);
        let (right_seed, left_seed) = (seed(&right), seed(&left));
        let (q_seed, s_seed) = if right_seed.length > left_seed.length {
            let half = right_seed.length as u32;
            (q_start + right_seed.query as u32 + half, s_start + right_seed.subject as u32 + half)
        } else {
            let half = left_seed.length as u32;
            (q_start - left_seed.query as u32 - half, s_start - left_seed.subject as u32 - half)
        };
        Extension { score, bounds, q_seed, s_seed }
    }

    /// Extends in both directions from before a pair of bases, with columns
    /// (`BLAST_GreedyGappedAlignment`, before `s_ReduceGaps`).
    pub fn align(
        &self,
        query: Bases<'_>,
        subject: Bases<'_>,
        q_start: u32,
        s_start: u32,
        scratch: &mut GreedyScratch,
    ) -> Traced {
        let right = OutwardSequences::<false>::new(query, subject, q_start, s_start);
        let mut tail = Vec::new();
        let right = self.extend_one_way(&right, scratch, Some(&mut tail));
        let left = OutwardSequences::<true>::new(query, subject, q_start, s_start);
        let mut edits = Vec::new();
        let left = self.extend_one_way(&left, scratch, Some(&mut edits));
        for edit in tail.iter().rev() {
            push(&mut edits, edit.op, edit.len as i32);
        }
        let (score, bounds) = self.join(&left, &right, q_start, s_start);
        Traced { score, bounds, edits }
    }

    /// Extends in one direction. Appends the columns to `edits`, the last one first.
    fn extend_one_way<const BACK: bool>(
        &self,
        sequences: &OutwardSequences<'_, BACK>,
        scratch: &mut GreedyScratch,
        edits: Option<&mut Vec<Edit>>,
    ) -> BestEnd {
        let (even, x_drop) = self.scoring.even(self.x_drop);
        if self.scoring.is_linear() {
            let rows = &mut scratch.linear;
            let found = self.linear(rows, sequences, &even, x_drop, edits.is_some());
            scratch.met_subject_end |= rows.met_subject_end;
            if let Some(edits) = edits {
                rows.trace(&found, edits);
            }
            return found;
        }
        scratch.met_subject_end = true;
        let found = scratch.affine.extend(sequences, &even, x_drop);
        if let Some(edits) = edits {
            scratch.affine.trace(&found, edits);
        }
        found
    }

    /// Extends in one direction without gap costs, with the code of the kernel. `keeps` keeps all
    /// rows for a traceback.
    fn linear<const BACK: bool>(
        &self,
        rows: &mut linear::Rows,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        #[cfg(target_arch = "x86_64")]
        {
            use self::vectors::{avx2, avx512};
            let widest = match self.kernel {
                Kernel::Avx512(proof) => avx512::Proof::detect(proof),
                _ => None,
            };
            if let Some(proof) = widest {
                return avx512::extend(proof, rows, sequences, scoring, x_drop, keeps);
            }
            if let Some(proof) = self.kernel.avx2() {
                return avx2::extend(proof, rows, sequences, scoring, x_drop, keeps);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Kernel::Neon(proof) = self.kernel {
            return vectors::neon::extend(proof, rows, sequences, scoring, x_drop, keeps);
        }
        rows.extend(rows::Portable, sequences, scoring, x_drop, keeps)
    }

    /// Returns the score and the box of the alignment that the extensions in both directions form.
    fn join(&self, left: &BestEnd, right: &BestEnd, q: u32, s: u32) -> (i32, Bounds) {
        let scoring = &self.scoring;
        let value = left.value + right.value;
        let score = if scoring.is_linear() {
            let extent = left.query + left.subject + right.query + right.subject;
            extent * scoring.reward / 2 - value * (scoring.reward - scoring.penalty)
        } else if scoring.reward % 2 == 0 {
            value
        } else {
            value / 2
        };
        let bounds = Bounds {
            q_start: q - left.query as u32,
            q_end: q + right.query as u32,
            s_start: s - left.subject as u32,
            s_end: s + right.subject as u32,
        };
        (score, bounds)
    }
}

/// Returns the start of an extension's longest run, and half of the run's length within the box. A
/// run that starts at the end of the box or beyond does not count.
fn seed(found: &BestEnd) -> Run {
    let Run { query, subject, length } = found.longest;
    let room = (found.query - query).min(found.subject - subject);
    if room <= 0 {
        return Run::default();
    }
    Run { query, subject, length: room.min(length) / 2 }
}

/// Appends `len` equal columns; none if `len` is 0.
fn push(edits: &mut Vec<Edit>, op: EditOp, len: i32) {
    if len <= 0 {
        return;
    }
    match edits.last_mut() {
        Some(last) if last.op == op => last.len += len as u32,
        _ => edits.push(Edit { op, len: len as u32 }),
    }
}

/// Divides `value` by `by` and rounds up.
fn divide_up(value: i32, by: i32) -> i32 {
    -(-value).div_euclid(by)
}
