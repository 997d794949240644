//! Computes scores of alignments from their columns, with the scores of the subject's ambiguous
//! letters (`Blast_HSPReevaluateWithAmbiguitiesGapped`, `blast_hits.c`).

use super::Hsp;
use crate::hits::{Edit, EditOp};
use crate::nucleotide::greedy::{Letters, Scoring};
use crate::order::Bounds;
use crate::scores::ScoreRows;
use crate::xdrop::GapCosts;

use fleetblast_seq::nucleotide::blastna;

/// Scores of columns, in units in which all scores and costs are whole numbers.
struct Costs<'a> {
    scores: &'a ScoreRows,
    reward: i32,
    gaps: GapCosts,
    /// Number of units in a score of 1.
    units: i32,
}

impl<'a> Costs<'a> {
    fn new(scoring: &Scoring, scores: &'a ScoreRows) -> Self {
        let Scoring { reward, penalty, gaps } = *scoring;
        if !scoring.is_linear() {
            return Costs { scores, reward, gaps, units: 1 };
        }
        let units = if reward % 2 == 1 { 2 } else { 1 };
        let extend = (reward - 2 * penalty) * units / 2;
        Costs { scores, reward, gaps: GapCosts { open: 0, extend }, units }
    }
}

/// A position in an alignment: in the query, in the subject, and the number of the next edit.
#[derive(Clone, Copy, Debug)]
struct Place {
    q: i64,
    s: i64,
    edit: usize,
}

/// A range of columns of an alignment, with its score.
#[derive(Clone, Copy, Debug)]
struct ColumnRange {
    from: Place,
    /// End of the range, with the number of the edit in which it ends.
    to: Place,
    /// Number of columns of the last edit that belong to the range.
    columns: u32,
    score: i32,
}

/// Scores an alignment anew and trims it to the range of columns with the best score. Returns false
/// if that score is below the cut-off.
pub(super) fn rescore(
    hsp: &mut Hsp,
    query: &[u8],
    subject: &[u8],
    scoring: &Scoring,
    scores: &ScoreRows,
    cutoff: i32,
) -> bool {
    let costs = Costs::new(scoring, scores);
    let mut best = best_range(hsp, query, subject, &costs, cutoff);
    best.score /= costs.units;
    if best.from.edit < hsp.edits.len() && best.to.edit < hsp.edits.len() {
        lengthen(&mut best, &mut hsp.edits, query, subject, scoring.reward);
    }
    hsp.score = best.score;
    // The start can be after the end if only the lengthening raised the score to the cut-off.
    if best.score < cutoff || best.to.q < best.from.q || best.to.s < best.from.s {
        return false;
    }
    let place = |at: i64| at as u32;
    hsp.bounds = Bounds {
        q_start: place(best.from.q),
        q_end: place(best.to.q),
        s_start: place(best.from.s),
        s_end: place(best.to.s),
    };
    hsp.edits.truncate(best.to.edit + 1);
    hsp.edits.drain(..best.from.edit.min(best.to.edit));
    if let Some(last) = hsp.edits.last_mut() {
        last.len = best.columns;
    }
    true
}

/// Finds the range of columns with the best score. Removes the columns before the range from the
/// edit in which it begins.
fn best_range(
    hsp: &mut Hsp,
    query: &[u8],
    subject: &[u8],
    costs: &Costs<'_>,
    cutoff: i32,
) -> ColumnRange {
    let letters = Letters { query, subject };
    let edits = &mut hsp.edits;
    let mut at = Place { q: hsp.bounds.q_start.into(), s: hsp.bounds.s_start.into(), edit: 0 };
    let mut begin = at;
    let mut best = ColumnRange { from: at, to: at, columns: 0, score: 0 };
    let mut sum = 0;
    while at.edit < edits.len() {
        let mut column = 0;
        while column < edits[at.edit].len {
            let edit = edits[at.edit];
            column += step(edit, edit.len - column, &mut at, &mut sum, &letters, costs);
            if sum < 0 {
                sum = 0;
                begin = at;
                if column < edit.len {
                    edits[at.edit].len -= column;
                    column = 0;
                } else {
                    begin.edit += 1;
                }
                // A range that has reached the cut-off stays.
                if best.score < cutoff {
                    best.from = begin;
                    best.to.edit = begin.edit;
                    best.score = 0;
                }
            } else if sum > best.score {
                best = ColumnRange { from: begin, to: at, columns: column, score: sum };
            }
        }
        at.edit += 1;
    }
    best
}

/// Advances by a run of equal pairs, by one other pair, or by a whole gap. Adds the score to `sum`.
/// Returns the number of columns.
#[inline(always)]
fn step(
    edit: Edit,
    left: u32,
    at: &mut Place,
    sum: &mut i32,
    letters: &Letters<'_>,
    costs: &Costs<'_>,
) -> u32 {
    let gap = || costs.gaps.open + costs.gaps.extend * edit.len as i32;
    match edit.op {
        EditOp::Substitution => {}
        EditOp::GapInQuery => {
            *sum -= gap();
            at.s += i64::from(edit.len);
            return edit.len;
        }
        EditOp::GapInSubject => {
            *sum -= gap();
            at.q += i64::from(edit.len);
            return edit.len;
        }
    }
    // While the sum only rises, only the last position can be best.
    let equal = (letters.run(at.q as i32, at.s as i32) as u32).min(left);
    let taken = equal.max(1);
    if equal > 0 {
        *sum += costs.units * costs.reward * equal as i32;
    } else {
        let pair = letters.query.get(at.q as usize).zip(letters.subject.get(at.s as usize));
        let score = pair.map_or(0, |(&a, &b)| costs.scores.score((a & 15).into(), b));
        *sum += costs.units * score;
    }
    at.q += i64::from(taken);
    at.s += i64::from(taken);
    taken
}

/// Extends a range at both ends while letters are single bases and equal.
fn lengthen(best: &mut ColumnRange, edits: &mut [Edit], query: &[u8], subject: &[u8], reward: i32) {
    let is_pair = |q: i64, s: i64| {
        let at = |letters: &[u8], at: i64| {
            usize::try_from(at).ok().and_then(|at| letters.get(at).copied())
        };
        let letter = at(query, q).filter(|&letter| letter < blastna::BASES);
        letter.is_some() && letter == at(subject, s)
    };
    let ColumnRange { from, to, .. } = *best;
    let mut before = 0;
    while is_pair(from.q - 1 - i64::from(before), from.s - 1 - i64::from(before)) {
        before += 1;
    }
    best.from.q -= i64::from(before);
    best.from.s -= i64::from(before);
    edits[from.edit].len += before;
    if from.edit == to.edit {
        best.columns += before;
    }
    let mut after = 0;
    while is_pair(to.q + i64::from(after), to.s + i64::from(after)) {
        after += 1;
    }
    best.to.q += i64::from(after);
    best.to.s += i64::from(after);
    edits[to.edit].len += after;
    best.columns += after;
    best.score += (before + after) as i32 * reward;
}
