//! Ungapped extensions.

use fleetblast_seq::nucleotide::{Packed, blastna::BASES};

use super::SeedRules;
use super::bases::{Bits, window};
use super::contexts::Contexts;

/// Seeds of at least so many bases are first extended four bases at a time.
pub(super) const LONG_WORD: u32 = 11;

/// So many equal bases are passed over at once.
const RUN: u32 = 28;

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
        Extender {
            matrix,
            simple: (is_simple && equal > 0 && other < 0).then_some((equal, other)),
            plain,
            four_scores,
            fours: contexts.letters().windows(4).map(four).collect(),
            four_at_a_time,
        }
    }

    /// The extension of a seed. Up to `match_end` of the subject it is known to match. `is_high` tells of which scores an approximate
    /// extension is done again exactly.
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
        self.exact(queries, subject, seed, x_drop)
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
        let differences = |q: u32, s: u32| self.differences(query, subject, (q, s));

        let most = q.min(s);
        let near = if most >= RUN { differences(q - RUN, s - RUN) } else { None };
        let run = |i: u32| differences(q - i - RUN, s - i - RUN) == Some(0);
        let mut ended = true;
        let (left, left_score) = self.near(near, |_| x_drop).unwrap_or_else(|| {
            let best = self.best(most, |i| pair(q - 1 - i, s - 1 - i), run, |_| x_drop);
            ended = best.ended;
            (best.best, best.score)
        });

        let most = (contexts.length() - q).min(subject.length() - s);
        let limit = |score: i32| if score > 0 { x_drop.min(left_score + score) } else { x_drop };
        let near = if most >= RUN { differences(q, s) } else { None };
        // The first pair to the lowest bits, too.
        let near = near.map(|bits| bits.reverse_bits() >> (65 - 2 * RUN));
        let run = |i: u32| differences(q + i, s + i) == Some(0);
        let (right, right_score) = self.near(near, limit).unwrap_or_else(|| {
            let Groups { best, score, .. } = self.best(most, |i| pair(q + i, s + i), run, limit);
            (best, score)
        });
        Extension {
            q_start: q - left,
            s_start: s - left,
            length: left + right,
            score: left_score + right_score,
            // It stops at the sentinel of its context, unless that begins before what is known of it.
            strayed: contexts.more().0 && !ended && q < s,
        }
    }

    /// Which of the next [`RUN`] pairs differ: two bits for a pair, of which the lower one is set if it does, the last pair in the
    /// lowest bits. None if there are letters that are no single bases.
    #[inline]
    fn differences(&self, query: &[u8], subject: Packed<'_>, (q, s): (u32, u32)) -> Option<u64> {
        let bits = window(query, q as usize) ^ window(subject.bytes(), s as usize);
        let bits = bits >> (64 - 2 * RUN);
        let is_plain = self.plain.has_all(q as usize, RUN);
        is_plain.then_some((bits | bits >> 1) & 0x5555_5555_5555_5555)
    }

    /// As [`Extender::best`], for extensions that end within [`RUN`] pairs: from one difference to the next. The first pair is in the
    /// lowest bits.
    #[inline]
    fn near(&self, differences: Option<u64>, limit: impl Fn(i32) -> i32) -> Option<(u32, i32)> {
        let ((equal, other), mut differences) = (self.simple?, differences?);
        let (mut score, mut sum, mut best, mut at) = (0, 0, 0, 0);
        while differences != 0 {
            let run = differences.trailing_zeros() / 2;
            differences = differences >> (2 * run) >> 2;
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
        None
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
