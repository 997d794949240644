//! Reduces the gaps of greedy alignments (`s_ReduceGaps`, `blast_gapalign.c`). Long runs of pairs
//! grow over neighbouring gaps. Two gaps of different kinds become shorter if only a short run of
//! pairs lies between them. Scores play no role.

use crate::hits::{Edit, EditOp};
use crate::order::Bounds;

/// Least number of pairs in a run that grows. Two gaps and the run between them are rearranged only
/// if they have fewer columns than this.
const LONG: u32 = 12;

/// Both sequences, and the bounds of the alignment in them.
#[derive(Clone, Copy)]
struct Letters<'a> {
    query: &'a [u8],
    subject: &'a [u8],
    bounds: Bounds,
}

impl Letters<'_> {
    /// Returns whether two letters exist and are equal. Positions count from the start of the
    /// alignment.
    fn equal(&self, q: i64, s: i64) -> bool {
        let at = |letters: &[u8], start: u32, at: i64| {
            usize::try_from(i64::from(start) + at).ok().and_then(|at| letters.get(at).copied())
        };
        let letter = at(self.query, self.bounds.q_start, q);
        letter.is_some() && letter == at(self.subject, self.bounds.s_start, s)
    }

    /// Counts the equal pairs on the diagonal before a position, back to the first aligned query
    /// letter at most.
    fn equal_before(&self, q: i64, s: i64) -> u32 {
        (1..=q).take_while(|i| self.equal(q - i, s - i)).count() as u32
    }

    /// Counts the equal pairs on the diagonal from a position on. The last aligned letters do not
    /// count. Also returns whether they were reached.
    fn equal_after(&self, q: i64, s: i64) -> (u32, bool) {
        let Bounds { q_start, q_end, s_start, s_end } = self.bounds;
        let room = (i64::from(q_end - q_start) - q).min(i64::from(s_end - s_start) - s) - 1;
        let equal = (0..room.max(0)).take_while(|i| self.equal(q + i, s + i)).count() as i64;
        (equal as u32, equal >= room)
    }
}

/// Reduces the gaps of an alignment.
pub(super) fn reduce_gaps(edits: &mut Vec<Edit>, bounds: Bounds, query: &[u8], subject: &[u8]) {
    let letters = Letters { query, subject, bounds };
    grow_runs(edits, &letters);
    rebuild(edits);
    drop_short_runs(edits, &letters);
    rebuild(edits);
}

/// Extends each long run of pairs over its neighbours.
fn grow_runs(edits: &mut [Edit], letters: &Letters) {
    let (mut q, mut s) = (0, 0);
    for at in 0..edits.len() {
        let len = i64::from(edits[at].len);
        match edits[at].op {
            _ if len == 0 => {}
            EditOp::GapInSubject => q += len,
            EditOp::GapInQuery => s += len,
            EditOp::Substitution if edits[at].len < LONG => (q, s) = (q + len, s + len),
            EditOp::Substitution => {
                let before = if at > 0 { letters.equal_before(q, s) } else { 0 };
                (q, s) = (q + len, s + len);
                let (mut after, mut at_end) = (0, true);
                if at + 1 < edits.len() {
                    (after, at_end) = letters.equal_after(q, s);
                }
                // A run that cannot grow to the left as far as it should does not grow to the right
                // either.
                if grow_left(edits, at, before).is_some() {
                    grow_right(edits, at, after);
                }
                // If the end was reached, BLAST+ continues one letter before this position.
                let on = i64::from(after) - i64::from(at_end);
                (q, s) = (q + on, s + on);
            }
        }
    }
}

/// Number of query and subject letters that a run still takes from its neighbours.
#[derive(Clone, Copy)]
struct MissingLetters {
    query: i64,
    subject: i64,
}

impl MissingLetters {
    fn subtract(&mut self, edit: Edit) {
        let len = i64::from(edit.len);
        match edit.op {
            EditOp::Substitution => {
                (self.query, self.subject) = (self.query - len, self.subject - len)
            }
            EditOp::GapInSubject => self.query -= len,
            EditOp::GapInQuery => self.subject -= len,
        }
    }

    fn is_met(self) -> bool {
        self.query <= 0 && self.subject <= 0
    }

    /// Returns, as pairs, the rest of the edit from which letters were taken last.
    fn rest(self) -> Edit {
        let len = -self.query.max(self.subject);
        Edit { op: EditOp::Substitution, len: len as u32 }
    }

    /// Returns the gap between the run that has grown and the rest of the edit from which letters
    /// were taken last.
    fn gap(self) -> Edit {
        let more = self.query - self.subject;
        let op = if more > 0 { EditOp::GapInQuery } else { EditOp::GapInSubject };
        Edit { op, len: more.unsigned_abs() as u32 }
    }
}

/// Extends the run of pairs number `at` to the left by `by` pairs. Returns `None` if there are too
/// few letters.
fn grow_left(edits: &mut [Edit], at: usize, by: u32) -> Option<()> {
    if by == 0 {
        return Some(());
    }
    let mut wanted = MissingLetters { query: by.into(), subject: by.into() };
    let mut reached = at;
    while !wanted.is_met() {
        reached = reached.checked_sub(1)?;
        wanted.subtract(edits[reached]);
    }
    edits[reached] = wanted.rest();
    for edit in &mut edits[reached + 1..at.max(reached + 2) - 1] {
        edit.len = 0;
    }
    edits[at].len += by;
    edits[at - 1] = wanted.gap();
    Some(())
}

/// Extends the run of pairs number `at` to the right by `by` pairs. Returns `None` if there are too
/// few letters.
fn grow_right(edits: &mut [Edit], at: usize, by: u32) -> Option<()> {
    if by == 0 {
        return Some(());
    }
    let mut wanted = MissingLetters { query: by.into(), subject: by.into() };
    let mut reached = at;
    while !wanted.is_met() {
        reached += 1;
        wanted.subtract(*edits.get(reached)?);
    }
    edits[reached] = wanted.rest();
    for edit in &mut edits[(at + 2).min(reached)..reached] {
        edit.len = 0;
    }
    edits[at].len += by;
    edits[at + 1] = wanted.gap();
    Some(())
}

/// Drops empty edits, joins equal neighbours, and replaces the common length of two gaps of
/// different kinds by pairs.
fn rebuild(edits: &mut Vec<Edit>) {
    let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
    for &edit in edits.iter() {
        if edit.len == 0 {
            continue;
        }
        match kept.last_mut() {
            Some(last) if last.op == edit.op => last.len += edit.len,
            Some(&mut last)
                if last.op != EditOp::Substitution && edit.op != EditOp::Substitution =>
            {
                let common = last.len.min(edit.len);
                kept.pop();
                // Without an edit before the gaps, BLAST+ writes outside of its memory.
                if let Some(before) = kept.last_mut() {
                    before.len += common;
                }
                let longer = if last.len > edit.len { last } else { edit };
                if longer.len > common {
                    kept.push(Edit { len: longer.len - common, ..longer });
                }
            }
            _ => kept.push(edit),
        }
    }
    *edits = kept;
}

/// Shortens two gaps of different kinds with a short run of pairs between them. Both gaps lose the
/// same length, and the run moves to another diagonal, if the pairs there are as good. If all three
/// have one column, they always become one run.
fn drop_short_runs(edits: &mut [Edit], letters: &Letters) {
    let (mut q, mut s) = (0, 0);
    for at in 0..edits.len() {
        let edit = edits[at];
        if edit.op == EditOp::Substitution {
            (q, s) = (q + i64::from(edit.len), s + i64::from(edit.len));
            continue;
        }
        if at > 1 && edits[at - 2].op != edit.op && edits[at - 2].len > 0 {
            let [first, middle, second] = [at - 2, at - 1, at].map(|i| edits[i].len);
            let total = first + middle + second;
            let less = if total == 3 {
                1
            } else if total < LONG {
                let less = first.min(second);
                let from = (q - i64::from(middle), s - i64::from(middle));
                if is_as_good(letters, from, edit.op, middle, less) { less } else { 0 }
            } else {
                0
            };
            edits[at - 2].len -= less;
            edits[at - 1].len += less;
            edits[at].len -= less;
            // The earlier gap has become shorter, and the pairs longer. So only this position
            // changes.
            match edit.op {
                EditOp::GapInSubject => q += i64::from(less),
                _ => s += i64::from(less),
            }
        }
        match edit.op {
            EditOp::GapInSubject => q += i64::from(edits[at].len),
            _ => s += i64::from(edits[at].len),
        }
    }
}

/// Returns whether the pairs of a diagonal `less` columns away are about as good as the run of
/// `middle` pairs between two gaps. The run starts at `(q, s)`; `op` is the kind of the later gap.
fn is_as_good(letters: &Letters, (q, s): (i64, i64), op: EditOp, middle: u32, less: u32) -> bool {
    let count = |q: i64, s: i64, len: u32| {
        (0..i64::from(len)).filter(|i| letters.equal(q + i, s + i)).count() as i64
    };
    let aside = i64::from(less);
    let (q_aside, s_aside) = match op {
        EditOp::GapInSubject => (q, s - aside),
        _ => (q - aside, s),
    };
    count(q_aside, s_aside, middle + less) >= count(q, s, middle) - aside
}
