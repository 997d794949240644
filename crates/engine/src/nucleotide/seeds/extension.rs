//! Ungapped extensions.

use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::nucleotide::blastna::{BASES, SENTINEL};

use super::SeedRules;
use super::bases::{Bits, window};
use super::contexts::Contexts;
use super::short::{Around, Short};

/// Seeds of at least so many bases are first extended four bases at a time.
pub(super) const LONG_WORD: u32 = 11;

/// So many pairs to a side are looked at together.
pub(super) const RUN: u32 = 28;

/// No score falls by as much but at a sentinel.
const SENTINEL_DROP: i32 = 1 << 29;

/// How ungapped extensions score.
#[derive(Debug)]
pub(super) struct Extender {
    /// Scores of the codes of queries against single bases.
    matrix: [[i32; 4]; 16],
    /// The scores of two equal bases and of two that differ, above 0 and below, if that is all that counts of bases.
    simple: Option<(i32, i32)>,
    /// Which letters are single bases.
    plain: Bits,
    /// Scores of four pairs of bases, by the bits that differ.
    four_scores: [i32; 256],
    /// The four letters from each place on as BLAST+ packs them: of the codes of ambiguities, and of sentinels, the upper bits fall upon
    /// the letter before.
    fours: Vec<u8>,
    four_at_a_time: bool,
    /// Of contexts whose ends are near, where bases are compared one at a time and only whether they are equal counts.
    short: Option<Short>,
}

/// An ungapped extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    pub q_start: u32,
    pub s_start: u32,
    pub length: u32,
    pub score: i32,
    /// It came to the end of the letters that are known beside the contexts, and might have gone on.
    pub strayed: bool,
}

/// What the pairs near a seed tell.
enum Near {
    /// The whole extension.
    All(Extension),
    /// Not enough.
    Part,
}

/// Pairs of bases, or groups of four, to one side of a seed.
struct Groups {
    /// Number of those with the best score.
    best: u32,
    score: i32,
    /// The score fell too far; otherwise the sequences ended.
    ended: bool,
}

impl Extender {
    /// For seeds that are first extended four bases at a time, or not.
    pub fn new(contexts: &Contexts, rules: &SeedRules, four_at_a_time: bool) -> Extender {
        let matrix = rules.matrix.map(|row| [row[0], row[1], row[2], row[3]]);
        let (equal, other) = (rules.reward, rules.penalty);
        let score = |a: usize, b: usize| if a == b { equal } else { other };
        let is_simple = (0..4).all(|a| (0..4).all(|b| matrix[a][b] == score(a, b)));
        let mut plain = Bits::new(contexts.letters().len());
        for (at, _) in contexts.letters().iter().enumerate().filter(|(_, code)| **code < BASES) {
            plain.set(at);
        }
        let pair = |bits: u8| if bits & 3 == 0 { rules.reward } else { rules.penalty };
        let four_scores =
            std::array::from_fn(|bits| (0..4).map(|i| pair((bits >> (2 * i)) as u8)).sum());
        let four = |w: &[u8]| w[0] << 6 | w[1] << 4 | w[2] << 2 | w[3];
        let simple = (is_simple && equal > 0 && other < 0).then_some((equal, other));
        let short = simple.filter(|_| !four_at_a_time);
        Extender {
            matrix,
            short: short.and_then(|(equal, _)| Short::new(contexts, equal)),
            simple,
            plain,
            four_scores,
            fours: contexts.letters().windows(4).map(four).collect(),
            four_at_a_time,
        }
    }

    /// What tells of seeds at a place of a subject that they score less than `least`, of some of those with this drop, if it is the same
    /// for all.
    #[inline(always)]
    pub fn around<'a>(
        &'a self,
        query: &'a [u8],
        subject: Packed<'_>,
        at: u32,
        (x_drop, least): (Option<i32>, i32),
    ) -> Option<Around<'a>> {
        let short = self.short.as_ref()?;
        x_drop.filter(|&x_drop| x_drop < SENTINEL_DROP)?;
        short.around(query, subject, at, least)
    }

    /// The extension of a seed. Up to `match_end` of the subject it is known to
    /// match. `is_high` tells of which scores an approximate extension is done again exactly.
    #[inline(always)]
    pub fn extend(
        &self,
        queries: (&Contexts, &[u8]),
        subject: Packed<'_>,
        seed: (u32, u32),
        match_end: u32,
        x_drop: i32,
        is_high: impl FnOnce(i32) -> bool,
    ) -> Extension {
        if self.four_at_a_time {
            let extension = self.approximate(queries.0, subject, seed, match_end, x_drop);
            if !is_high(extension.score) {
                return extension;
            }
        }
        match self.near(queries, subject, seed, x_drop) {
            Near::All(extension) => extension,
            Near::Part => self.exact(queries, subject, seed, x_drop),
        }
    }

    /// The extension by groups of four bases from the first multiple of four in the subject on.
    fn approximate(
        &self,
        contexts: &Contexts,
        subject: Packed<'_>,
        (q, s): (u32, u32),
        match_end: u32,
        x_drop: i32,
    ) -> Extension {
        let pad = s.wrapping_neg() % 4;
        let (q, s) = (q + pad, s + pad);
        let (four, byte) = (q as usize, s as usize / 4);
        let bytes = subject.bytes();

        let (known, most) = (q as usize / 4, s as usize / 4);
        let left = (1..=known.min(most)).map(|i| self.fours[four - 4 * i] ^ bytes[byte - i]);
        let Groups { best: left, score: left_score, ended } = self.best_groups(left, x_drop);
        let left_strayed = contexts.more().0 && !ended && known < most;
        let room = |length: u32, from: u32| length.saturating_sub(from) as usize / 4;
        let (known, most) = (room(contexts.length(), q), room(subject.length(), s));
        let right = (0..known.min(most)).map(|i| self.fours[four + 4 * i] ^ bytes[byte + i]);
        let Groups { best: right, score: right_score, ended } = self.best_groups(right, x_drop);
        let right_strayed = contexts.more().1 && !ended && known < most;

        let s_start = s - 4 * left;
        // Without a gain to the right one base counts nevertheless.
        let length = 4 * left + (4 * right).max(1);
        Extension {
            q_start: q - 4 * left,
            s_start,
            length: length.max(match_end.saturating_sub(s_start)),
            score: left_score + right_score,
            strayed: left_strayed || right_strayed,
        }
    }

    /// The best groups from the first on. Groups are told by the bits that differ.
    #[inline]
    fn best_groups(&self, groups: impl Iterator<Item = u8>, x_drop: i32) -> Groups {
        let (mut score, mut sum, mut best) = (0, 0, 0);
        for (i, group) in groups.enumerate() {
            sum += self.four_scores[usize::from(group)];
            if sum > 0 {
                best = i as u32 + 1;
                score += sum;
                sum = 0;
            }
            if sum < -x_drop {
                return Groups { best, score, ended: true };
            }
        }
        Groups { best, score, ended: false }
    }

    /// The extension base by base. To the right it may not fall below what it has gained, either.
    fn exact(
        &self,
        (contexts, query): (&Contexts, &[u8]),
        subject: Packed<'_>,
        (q, s): (u32, u32),
        x_drop: i32,
    ) -> Extension {
        let pair = |q: u32, s: u32| {
            self.matrix[usize::from(contexts.letters()[q as usize] & 15)]
                [usize::from(subject.base(s))]
        };
        let run = |i: u32| self.are_equal(query, subject, (q - i - RUN, s - i - RUN));
        let Groups { best: left, score: left_score, ended } =
            self.best(q.min(s), |i| pair(q - 1 - i, s - 1 - i), run, |_| x_drop);

        let most = (contexts.length() - q).min(subject.length() - s);
        let limit = |score: i32| right_limit(x_drop, left_score, score);
        let run = |i: u32| self.are_equal(query, subject, (q + i, s + i));
        let Groups { best: right, score: right_score, .. } =
            self.best(most, |i| pair(q + i, s + i), run, limit);
        Extension {
            q_start: q - left,
            s_start: s - left,
            length: left + right,
            score: left_score + right_score,
            // It stops at the sentinel of its context, unless that begins before what is known of it.
            strayed: contexts.more().0 && !ended && q < s,
        }
    }

    /// Whether the next [`RUN`] pairs are equal bases.
    #[inline]
    fn are_equal(&self, query: &[u8], subject: Packed<'_>, (q, s): (u32, u32)) -> bool {
        let bits = window(query, q as usize) ^ window(subject.bytes(), s as usize);
        bits >> (64 - 2 * RUN) == 0 && self.plain.has_all(q as usize, RUN)
    }

    /// As [`Extender::exact`], if it ends within [`RUN`] pairs to each side, or at a sentinel.
    #[inline(always)]
    fn near(
        &self,
        (contexts, query): (&Contexts, &[u8]),
        subject: Packed<'_>,
        (q, s): (u32, u32),
        x_drop: i32,
    ) -> Near {
        let Some((equal, other)) = self.simple else { return Near::Part };
        let room = q.min(s).min(contexts.length() - q).min(subject.length() - s);
        if room < RUN || x_drop >= SENTINEL_DROP {
            return Near::Part;
        }
        let plain = self.plain.from((q - RUN) as usize);
        let left = (plain << (64 - RUN)).leading_ones();
        let right = (plain >> RUN).trailing_ones().min(RUN);
        let is_end = |at: u32| contexts.letters()[at as usize] == SENTINEL;
        if left < RUN && !is_end(q - 1 - left) || right < RUN && !is_end(q + right) {
            return Near::Part;
        }
        let differences = |q: u32, s: u32| {
            let bits = window(query, q as usize) ^ window(subject.bytes(), s as usize);
            (bits | bits >> 1) & 0x5555_5555_5555_5555
        };
        // To the left the first pair is in the lowest bits, to the right in the highest.
        let before = differences(q - RUN, s - RUN) >> (64 - 2 * RUN) & !(u64::MAX << (2 * left));
        let after = differences(q, s) & !(u64::MAX >> (2 * right));
        let left_ways = (before, left, |bits: u64| bits.trailing_zeros() / 2);
        let Some((left, left_score)) =
            one_side(left_ways, |bits, run| bits >> (2 * run) >> 2, (equal, other), |_| x_drop)
        else {
            return Near::Part;
        };
        let right_ways = (after, right, |bits: u64| bits.leading_zeros() / 2);
        let limit = |score: i32| right_limit(x_drop, left_score, score);
        let Some((right, right_score)) =
            one_side(right_ways, |bits, run| bits << (2 * run) << 2, (equal, other), limit)
        else {
            return Near::Part;
        };
        Near::All(Extension {
            q_start: q - left,
            s_start: s - left,
            length: left + right,
            score: left_score + right_score,
            strayed: false,
        })
    }

    /// The best pairs from the first on. `limit` tells by the score gained so far how far it may fall; `run` whether
    /// the next [`RUN`] pairs are equal bases.
    #[inline]
    fn best(
        &self,
        most: u32,
        pair: impl Fn(u32) -> i32,
        run: impl Fn(u32) -> bool,
        limit: impl Fn(i32) -> i32,
    ) -> Groups {
        let (mut score, mut sum, mut best) = (0, 0, 0);
        let mut i = 0;
        // Where to look for equal bases next.
        let mut next_run = 0;
        while i < most {
            if let Some((equal, _)) = self.simple
                && sum == 0
                && i >= next_run
                && most - i >= RUN
            {
                if run(i) {
                    i += RUN;
                    best = i;
                    score += RUN as i32 * equal;
                    continue;
                }
                next_run = i + RUN / 2;
            }
            sum += pair(i);
            i += 1;
            if sum > 0 {
                best = i;
                score += sum;
                sum = 0;
            } else if sum < -limit(score) {
                return Groups { best, score, ended: true };
            }
        }
        Groups { best, score, ended: false }
    }
}

/// How far an extension to the right may fall: not below what it has gained to both sides, either.
#[inline(always)]
fn right_limit(x_drop: i32, left_score: i32, score: i32) -> i32 {
    if score > 0 { x_drop.min(left_score + score) } else { x_drop }
}

/// The best pairs to one side and their score, if that ends within [`RUN`] pairs: from one difference to the next. Of the pairs, up to
/// a sentinel if they are fewer, the differences are told by bits; `first` finds the first of them, `after` goes on behind it.
#[inline(always)]
fn one_side(
    (mut differences, pairs, first): (u64, u32, impl Fn(u64) -> u32),
    after: impl Fn(u64, u32) -> u64,
    (equal, other): (i32, i32),
    limit: impl Fn(i32) -> i32,
) -> Option<(u32, i32)> {
    let (mut score, mut sum, mut best, mut at) = (0, 0, 0, 0);
    while differences != 0 {
        let run = first(differences);
        differences = after(differences, run);
        sum += run as i32 * equal;
        // Nobody can tell beforehand whether it gains, hence no branches.
        let gains = sum > 0;
        score += if gains { sum } else { 0 };
        best = if gains { at + run } else { best };
        sum = if gains { 0 } else { sum };
        at += run + 1;
        sum += other;
        if sum < -limit(score) {
            return Some((best, score));
        }
    }
    if pairs == RUN {
        return None;
    }
    sum += (pairs - at) as i32 * equal;
    Some(if sum > 0 { (pairs, score + sum) } else { (best, score) })
}
