//! Selects the position from which an alignment starts (`BlastGetOffsetsForGappedAlignment`,
//! `BlastGetStartForGappedAlignmentNucl` and `AdjustSubjectRange`, `blast_gapalign.c`).

use std::ops::Range;

use crate::hits::PrelimHsp;
use crate::scores::ScoreRows;

/// A start in a run of more equal letters than this stays where it is.
const RUN: i32 = 10;
/// A start that is moved goes into the first run of more equal letters than this.
const LONG_RUN: i32 = 15;
/// Number of pairs in the window by which an unknown start is chosen.
const WINDOW: usize = 11;

/// Least length, in letters, of a subject that is aligned only near the start.
const LONG_SUBJECT: u32 = 90_000;
/// Estimated largest total length of gaps.
const MAX_TOTAL_GAPS: u32 = 3000;

/// Greatest number of letters by which the query may extend beyond a preliminary HSP in
/// [`near_hsps`]. If the query extends further, extensions often read the whole range before they
/// have fallen by the X-drop.
const FAR: u32 = 192;
/// Number of subject letters by which [`near_hsps`] makes its range longer on each side.
const SLACK: u32 = 64;

/// Returns the start of an HSP's alignment in the query and in the subject; `None` drops the HSP. A
/// preliminary start at the very first pair of letters means that the start is unknown.
pub(super) fn revised(
    query: &[u8],
    subject: &[u8],
    hsp: &PrelimHsp,
    scores: &ScoreRows,
) -> Option<(u32, u32)> {
    if (hsp.q_seed, hsp.s_seed) == (0, 0) {
        return best_window(query, subject, hsp, scores);
    }
    if in_run(query, subject, hsp) {
        return Some((hsp.q_seed, hsp.s_seed));
    }
    let by = longest_run(query, subject, hsp).unwrap_or(0);
    Some(((i64::from(hsp.q_seed) + by) as u32, (i64::from(hsp.s_seed) + by) as u32))
}

/// Returns whether two letters exist and are equal, ambiguous or not.
fn is_equal(query: &[u8], subject: &[u8], q: i64, s: i64) -> bool {
    let at =
        |letters: &[u8], at: i64| usize::try_from(at).ok().and_then(|at| letters.get(at).copied());
    at(query, q).is_some_and(|letter| at(subject, s) == Some(letter))
}

/// Returns whether the start lies in a long enough run of equal letters. BLAST+ counts the letters
/// at the start twice, but begins to count at -1.
fn in_run(query: &[u8], subject: &[u8], hsp: &PrelimHsp) -> bool {
    let (q, s) = (i64::from(hsp.q_seed), i64::from(hsp.s_seed));
    let right =
        (0..i64::from(hsp.q_end) - q).take_while(|i| is_equal(query, subject, q + i, s + i));
    let left = (0..=q).take_while(|i| is_equal(query, subject, q - i, s - i));
    // Longer runs need not be distinguished.
    right.map(|_| ()).chain(left.map(|_| ())).take(RUN as usize + 2).count() as i32 > RUN + 1
}

/// Returns the distance from the start to the middle of a run of equal letters on its diagonal: the
/// longest run, or the first one longer than [`LONG_RUN`].
fn longest_run(query: &[u8], subject: &[u8], hsp: &PrelimHsp) -> Option<i64> {
    let [q_seed, s_seed, q_start, s_start, q_end, s_end] =
        [hsp.q_seed, hsp.s_seed, hsp.q_start, hsp.s_start, hsp.q_end, hsp.s_end].map(i64::from);
    let back = (s_seed - s_start).min(q_seed - q_start);
    let (q, s) = (q_seed - back, s_seed - back);
    let length = (s_end - s).min(q_end - q);
    let mut best = (0, None);
    let mut run = 0;
    for i in 0..length {
        if is_equal(query, subject, q + i, s + i) {
            run += 1;
            if run > LONG_RUN {
                return Some(i - i64::from(LONG_RUN / 2) - back);
            }
            continue;
        }
        if run > best.0 {
            best = (run, Some(i - i64::from(run / 2) - back));
        }
        run = 0;
    }
    if run > best.0 {
        best = (run, Some(length - i64::from(run / 2) - back));
    }
    best.1
}

/// Returns the middle of a short HSP. Otherwise examines the windows of pairs on the diagonal of
/// the HSP's start, and returns the last pair of the one with the best score. If no window scores
/// above 0, returns the middle of the window at the HSP's end, if that scores above 0.
fn best_window(
    query: &[u8],
    subject: &[u8],
    hsp: &PrelimHsp,
    scores: &ScoreRows,
) -> Option<(u32, u32)> {
    let (q_span, s_span) = (hsp.q_end - hsp.q_start, hsp.s_end - hsp.s_start);
    if q_span as usize <= WINDOW {
        return Some((hsp.q_start + q_span / 2, hsp.s_start + q_span / 2));
    }
    let pairs = |q: u32, s: u32, length: usize| -> Option<Vec<i32>> {
        let pairs = query.get(q as usize..)?.iter().zip(subject.get(s as usize..)?);
        Some(pairs.take(length).map(|(&a, &b)| scores.score(a.into(), b)).collect())
    };
    let length = (q_span.min(s_span) as usize).max(WINDOW);
    let mut best = (0, 0);
    for (i, window) in pairs(hsp.q_start, hsp.s_start, length)?.windows(WINDOW).enumerate() {
        let score = window.iter().sum();
        if score > best.0 {
            best = (score, (i + WINDOW - 1) as u32);
        }
    }
    if best.0 > 0 {
        return Some((hsp.q_start + best.1, hsp.s_start + best.1));
    }
    let window = WINDOW as u32;
    let last = pairs(hsp.q_end - window, hsp.s_end.checked_sub(window)?, WINDOW)?;
    let half = window / 2;
    (last.iter().sum::<i32>() > 0).then_some((hsp.q_end - half, hsp.s_end - half))
}

/// Returns the range of a subject in which an alignment from a start may lie.
pub(super) fn near(q_start: u32, q_len: u32, s_start: u32, s_len: u32) -> Range<u32> {
    if s_len < LONG_SUBJECT {
        return 0..s_len;
    }
    let start = s_start.saturating_sub(q_start + MAX_TOTAL_GAPS);
    start..s_len.min(s_start + (q_len - q_start) + MAX_TOTAL_GAPS)
}

/// Returns the range of a subject that contains all letters that alignments from an HSP can read.
pub(crate) fn reach(q_len: u32, hsp: &PrelimHsp, s_len: u32) -> Range<u32> {
    if s_len < LONG_SUBJECT {
        return 0..s_len;
    }
    // A start that is moved stays on one of these diagonals.
    let pairs = [(hsp.s_seed, hsp.q_seed), (hsp.s_start, hsp.q_start), (hsp.s_end, hsp.q_end)];
    let diagonals = pairs.map(|(s, q)| i64::from(s) - i64::from(q));
    let gaps = i64::from(MAX_TOTAL_GAPS);
    let start = diagonals.iter().min().map_or(0, |diagonal| diagonal - gaps);
    let end = diagonals.iter().max().map_or(0, |diagonal| diagonal + i64::from(q_len) + gaps);
    let within = |at: i64| at.clamp(0, i64::from(s_len)) as u32;
    within(start).min(hsp.s_start)..within(end).max(hsp.s_end)
}

/// Returns the range of a subject that contains most alignments from these HSPs. It extends as far
/// beyond them as the query does, and a little further. Returns `None` if the query extends more
/// than [`FAR`] letters beyond an HSP.
pub(crate) fn near_hsps(q_len: u32, hsps: &[PrelimHsp], s_len: u32) -> Option<Range<u32>> {
    let mut near: Option<Range<u32>> = None;
    for hsp in hsps {
        let (before, after) = (hsp.q_start, q_len.saturating_sub(hsp.q_end));
        if before.max(after) > FAR {
            return None;
        }
        let start = hsp.s_start.saturating_sub(before + SLACK).min(hsp.s_seed);
        let end = (hsp.s_end + after + SLACK).max(hsp.s_seed);
        let all = near.get_or_insert(start..end);
        *all = all.start.min(start)..all.end.max(end);
    }
    near.map(|near| near.start..near.end.min(s_len))
}
