//! The test for nearly identical sequences, which decides whether a subject is masked before its
//! composition is computed (rules 6.3).

use std::ops::Range;

use crate::hits::PrelimHsp;

/// Number of mismatches or gaps that an extension may skip at once, plus one.
const MAX_SHIFT: usize = 8;
/// Length of the words that are compared between the extensions from both ends.
const WORD: usize = 8;
/// Mask of a word, five bits for each letter.
const WORD_MASK: u64 = (1 << (5 * WORD)) - 1;

/// Returns the words of a query that begin at these positions. The last word of the query counts as
/// 0, because it has no entry in BLAST+.
fn words_at(query: &[u8], positions: Range<usize>) -> Vec<u64> {
    let count = (query.len() + 1).saturating_sub(WORD);
    let word_at = |at: usize| match at > 0 && at + 1 == count {
        true => 0,
        false => word(&query[at..at + WORD]),
    };
    (positions.start..positions.end.min(count)).map(word_at).collect()
}

fn word(letters: &[u8]) -> u64 {
    letters.iter().fold(0, |hash, &letter| (hash << 5) + u64::from(letter))
}

/// Length of an extension in query and subject, and its number of identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reach {
    query: usize,
    subject: usize,
    identical: usize,
}

/// Returns whether the parts that `hsp` aligns are nearly identical: whether more than `share` of
/// their residues are identical. `query` has C in place of U. Words are those of `letters`, the
/// unchanged query.
pub(super) fn nearly_identical(
    query: &[u8],
    letters: &[u8],
    subject: &[u8],
    hsp: &PrelimHsp,
    share: f64,
) -> bool {
    let start = hsp.q_start as usize;
    let q = &query[start..hsp.q_end as usize];
    let s = &subject[hsp.s_start as usize..hsp.s_end as usize];
    let length = q.len().min(s.len()) as f64;
    let enough = |identical: usize| identical as f64 / length > share;

    let head = reach_right(q, s);
    if head.query >= q.len() || head.subject >= s.len() {
        return enough(head.identical);
    }
    let (q, s) = (&q[head.query..], &s[head.subject..]);
    let tail = reach_left(q, s);
    let identical = head.identical + tail.identical;
    if tail.query >= q.len() || tail.subject >= s.len() {
        return enough(identical);
    }
    let (q, s) = (&q[..q.len() - tail.query], &s[..s.len() - tail.subject]);
    let middle = start + head.query;
    let words = words_at(letters, middle..middle + q.len());
    enough(identical + identical_by_words(q, &words, s))
}

/// Extends to the right over equal residues. Skips up to seven mismatches, or a gap of up to seven
/// residues, if two equal pairs follow.
fn reach_right(q: &[u8], s: &[u8]) -> Reach {
    let (mut p, mut r, mut identical) = (0, 0, 0);
    while p < q.len() && r < s.len() {
        while p < q.len() && r < s.len() && q[p] == s[r] {
            p += 1;
            r += 1;
            identical += 1;
        }
        let pair = |a: usize, b: usize| q[a] == s[b] && q[a + 1] == s[b + 1];
        let skip = (1..MAX_SHIFT)
            .take_while(|n| p + n + 1 < q.len() && r + n + 1 < s.len())
            .find_map(|n| first_pair([(n, n), (n, 0), (0, n)], |dq, ds| pair(p + dq, r + ds)));
        let Some((dq, ds)) = skip else { break };
        p += dq + 2;
        r += ds + 2;
        identical += 2;
    }
    Reach { query: p, subject: r, identical }
}

/// Extends to the left from the ends, as a mirror image of [`reach_right`]. The first residue of
/// either sequence is never included.
fn reach_left(q: &[u8], s: &[u8]) -> Reach {
    // Positions are one more than those of the residues, so that "none left" is 0.
    let (mut p, mut r, mut identical) = (q.len(), s.len(), 0);
    while p > 0 && r > 0 {
        while p > 1 && r > 1 && q[p - 1] == s[r - 1] {
            p -= 1;
            r -= 1;
            identical += 1;
        }
        let pair = |a: usize, b: usize| q[a - 1] == s[b - 1] && q[a - 2] == s[b - 2];
        let skip = (1..MAX_SHIFT)
            .take_while(|n| p > n + 2 && r > n + 2)
            .find_map(|n| first_pair([(n, n), (n, 0), (0, n)], |dq, ds| pair(p - dq, r - ds)));
        let Some((dq, ds)) = skip else { break };
        p -= dq + 2;
        r -= ds + 2;
        identical += 2;
    }
    Reach { query: q.len() - p, subject: s.len() - r, identical }
}

fn first_pair(
    shifts: [(usize, usize); 3],
    matches: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    shifts.into_iter().find(|&(dq, ds)| matches(dq, ds))
}

/// Counts identities around common words of eight letters. `words` are the query's words from the
/// first residue of `q` on.
fn identical_by_words(q: &[u8], words: &[u64], s: &[u8]) -> usize {
    if q.len() < WORD || s.len() < WORD {
        return 0;
    }
    let (mut q_from, mut s_from, mut identical) = (0, 0, 0);
    let mut at = 0;
    let mut hash = word(&s[..WORD]);
    while at < s.len() - WORD {
        let candidates = words.get(q_from..q.len() - WORD).unwrap_or_default();
        let Some(found) = candidates.iter().position(|&w| w == hash) else {
            hash = ((hash << 5) & WORD_MASK) + u64::from(s[at + WORD]);
            at += 1;
            continue;
        };
        let (q_word, s_word) = (q_from + found, at);
        let left = reach_left(&q[q_from..q_word], &s[s_from..s_word]);
        let right = reach_right(&q[q_word + WORD..], &s[s_word + WORD..]);
        identical += WORD + left.identical + right.identical;
        q_from = q_word + WORD + right.query;
        s_from = s_word + WORD + right.subject;
        at = s_from;
        if at + WORD <= s.len() {
            hash = word(&s[at..at + WORD]);
        }
    }
    identical
}

#[cfg(test)]
mod tests {
    use fleetblast_stats::release::Release;

    use fleetblast_seq::frame::Frame;

    use super::*;

    fn hsp(q: (u32, u32), s: (u32, u32)) -> PrelimHsp {
        PrelimHsp {
            score: 0,
            q_start: q.0,
            q_end: q.1,
            s_start: s.0,
            s_end: s.1,
            q_seed: 0,
            s_seed: 0,
            evalue: 0.0,
            linked: 1,
            context: 0,
            frame: Frame::Protein,
        }
    }

    /// Returns residues 1..=20 in random order, the same for each length.
    fn sequence(len: usize) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(12345);
        (0..len).map(|_| random.u8(1..=20)).collect()
    }

    #[test]
    fn right_reach_skips_mismatches_and_gaps() {
        let q = sequence(40);
        let mut s = q.clone();
        s[10] = 27;
        assert_eq!(reach_right(&q, &s), Reach { query: 40, subject: 40, identical: 39 });
        s.insert(20, 27);
        assert_eq!(reach_right(&q, &s), Reach { query: 40, subject: 41, identical: 39 });
        s[30..38].fill(26);
        let stopped = reach_right(&q, &s);
        assert_eq!((stopped.query, stopped.subject), (29, 30));
    }

    #[test]
    fn left_reach_never_takes_the_first_residue() {
        let q = sequence(12);
        assert_eq!(reach_left(&q, &q), Reach { query: 11, subject: 11, identical: 11 });
        assert_eq!(reach_left(&[], &q), Reach { query: 0, subject: 0, identical: 0 });
    }

    #[test]
    fn more_than_the_share_of_the_release_is_needed() {
        let q = sequence(100);
        let all = hsp((0, 100), (0, 100));
        let with = |changes: &[usize]| {
            let mut s = q.clone();
            for &at in changes {
                s[at] = 27;
            }
            let near = |share| nearly_identical(&q, &q, &s, &all, share);
            (near(Release::V2_12_0.near_identical_fraction), near(0.95))
        };
        assert_eq!(with(&[20, 40, 60]), (true, true));
        assert_eq!(with(&[20, 40, 60, 80]), (false, true), "exactly 0.96 is not enough");
    }

    #[test]
    fn words_find_identities_behind_long_differences() {
        let q = sequence(1000);
        let mut s = q.clone();
        // Eight changes in a row stop the extensions from either end. Only words reach the residues
        // between them.
        s[100..108].fill(27);
        s[800..808].fill(27);
        let all = hsp((0, 1000), (0, 1000));
        assert!(nearly_identical(&q, &q, &s, &all, 0.96));
        assert!(!nearly_identical(&q, &[0; 1000], &s, &all, 0.96));
    }

    #[test]
    fn the_last_word_of_a_query_is_blank() {
        let q = sequence(9);
        assert_eq!(words_at(&q, 0..9), vec![word(&q[..8]), 0]);
        assert_eq!(words_at(&q[..8], 0..8), vec![word(&q[..8])]);
        assert!(words_at(&q[..7], 0..7).is_empty());
    }
}
