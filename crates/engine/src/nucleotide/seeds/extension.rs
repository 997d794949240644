//! Ungapped extensions.

use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::nucleotide::blastna::{BASES, SENTINEL};

use super::SeedRules;
use super::bases::{Bits, window};
use super::contexts::Contexts;
use super::quads::PackedQuads;
use super::short::{ShortContextScreen, ShortContexts};
use super::sides::{PairOrder, RUN, SideExtension, ToTheLeft, ToTheRight, differences, one_side};

/// Least length, in bases, of seeds that are first extended four bases at a time.
pub(super) const LONG_WORD: u32 = 11;

/// Drop of a score that occurs only at a sentinel.
const SENTINEL_DROP: i32 = 1 << 29;

/// Parameters and query data for extending seeds without gaps.
#[derive(Debug)]
pub(super) struct Extender {
    /// Scores by the blastna code of the query and the base of the subject.
    matrix: [[i32; 4]; 16],
    /// Reward (positive) of two equal bases and penalty (negative) of two different ones. `None` if
    /// the matrix has other scores for bases.
    simple: Option<(i32, i32)>,
    /// A bit for each letter, set if the letter is a single base (not ambiguous).
    plain: Bits,
    /// Scores of four pairs of bases, by the bits that differ.
    four_scores: [i32; 256],
    /// Groups of four query letters, if seeds are first extended by them.
    quads: Option<PackedQuads>,
    /// Screen for seeds in short contexts, if bases are compared singly and only equality counts.
    short: Option<ShortContexts>,
}

/// An ungapped extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    pub q_start: u32,
    pub s_start: u32,
    pub length: u32,
    pub score: i32,
    /// Whether the extension reached the end of the known neighbouring letters and might have gone
    /// on.
    pub reached_unknown_letters: bool,
}

/// Result of an extension that compares a bounded number of pairs.
enum Bounded {
    /// The extension ended within these pairs.
    Complete(Extension),
    /// The extension may go on beyond these pairs.
    Incomplete,
}

/// The best extension to one side of a seed, in pairs of bases or in groups of four pairs.
struct Groups {
    /// Number of pairs or groups up to the best score.
    best: u32,
    score: i32,
    /// Whether the extension ended because the score fell too far, not at the end of a sequence.
    ended: bool,
}

impl Groups {
    fn from_side(side: SideExtension, ended: bool) -> Groups {
        Groups { best: side.best, score: side.score, ended }
    }
}

impl Extender {
    /// Creates an extender. With `four_at_a_time` it first extends seeds by groups of four bases.
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
        let simple = (is_simple && equal > 0 && other < 0).then_some((equal, other));
        let short = simple.filter(|_| !four_at_a_time);
        Extender {
            matrix,
            short: short.and_then(|(equal, _)| ShortContexts::new(contexts, equal)),
            simple,
            plain,
            four_scores,
            quads: four_at_a_time.then(|| PackedQuads::new(contexts, (equal, other))),
        }
    }

    /// Prepares to reject seeds at a subject position that cannot score `least`. Returns `None` if
    /// there is no screen for short contexts, if contexts differ in their X-drops (`x_drop` is
    /// `None`), or near the ends of the subject.
    #[inline(always)]
    pub fn prepare_screen<'a>(
        &'a self,
        query: &'a [u8],
        subject: Packed<'_>,
        at: u32,
        (x_drop, least): (Option<i32>, i32),
    ) -> Option<ShortContextScreen<'a>> {
        let short = self.short.as_ref()?;
        x_drop.filter(|&x_drop| x_drop < SENTINEL_DROP)?;
        short.prepare_screen(query, subject, at, least)
    }

    /// Returns the groups of four query letters, if seeds are first extended by them.
    pub fn quads(&self) -> Option<&PackedQuads> {
        self.quads.as_ref()
    }

    /// Extends a seed, which is known to match up to `match_end` in the subject. `is_high` returns
    /// whether an approximate extension with this score is repeated exactly.
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
        if let Some(quads) = &self.quads {
            let queries = (queries.0, quads);
            let extension = self.approximate(queries, subject, seed, match_end, x_drop);
            if !is_high(extension.score) {
                return extension;
            }
        }
        match self.extend_bounded(queries, subject, seed, x_drop) {
            Bounded::Complete(extension) => extension,
            Bounded::Incomplete => self.exact(queries, subject, seed, x_drop),
        }
    }

    /// Extends by groups of four bases, aligned to multiples of four in the subject.
    fn approximate(
        &self,
        (contexts, quads): (&Contexts, &PackedQuads),
        subject: Packed<'_>,
        (q, s): (u32, u32),
        match_end: u32,
        x_drop: i32,
    ) -> Extension {
        let pad = s.wrapping_neg() % 4;
        let (q, s) = (q + pad, s + pad);
        let (before, after) = subject.bytes().split_at(s as usize / 4);

        let (known, most) = (q as usize / 4, s as usize / 4);
        let groups = quads.before(q).iter().rev().zip(before.iter().rev());
        let left = groups.map(|(query, subject)| query ^ subject);
        let Groups { best: left, score: left_score, ended } = self.best_groups(left, x_drop);
        let left_reached_unknown = contexts.truncated_neighbours().0 && !ended && known < most;
        let room = |length: u32, from: u32| length.saturating_sub(from) as usize / 4;
        let (known, most) = (room(contexts.length(), q), room(subject.length(), s));
        let groups = quads.from(q).iter().zip(after).take(known.min(most));
        let right = groups.map(|(query, subject)| query ^ subject);
        let Groups { best: right, score: right_score, ended } = self.best_groups(right, x_drop);
        let right_reached_unknown = contexts.truncated_neighbours().1 && !ended && known < most;

        let s_start = s - 4 * left;
        // If nothing is gained to the right, BLAST+ still counts one base.
        let length = 4 * left + (4 * right).max(1);
        Extension {
            q_start: q - 4 * left,
            s_start,
            length: length.max(match_end.saturating_sub(s_start)),
            score: left_score + right_score,
            reached_unknown_letters: left_reached_unknown || right_reached_unknown,
        }
    }

    /// Finds the number of groups, from the first one on, that have the best total score. A group
    /// is given as the bits that differ.
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

    /// Extends base by base. To the right the extension also ends if the total score falls below 0.
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
        let run = |i: u32| {
            let from = (q - i - RUN, s - i - RUN);
            self.differences(query, subject, from).map(|bits| bits >> (64 - 2 * RUN))
        };
        let one = |i: u32| pair(q - 1 - i, s - 1 - i);
        let Groups { best: left, score: left_score, ended } =
            self.best::<ToTheLeft>(q.min(s), one, run, |_| x_drop);

        let most = (contexts.length() - q).min(subject.length() - s);
        let limit = |score: i32| right_limit(x_drop, left_score, score);
        let run = |i: u32| self.differences(query, subject, (q + i, s + i));
        let one = |i: u32| pair(q + i, s + i);
        let Groups { best: right, score: right_score, .. } =
            self.best::<ToTheRight>(most, one, run, limit);
        Extension {
            q_start: q - left,
            s_start: s - left,
            length: left + right,
            score: left_score + right_score,
            // The extension ends at the sentinel before its context, unless the known letters begin
            // within this context.
            reached_unknown_letters: contexts.truncated_neighbours().0 && !ended && q < s,
        }
    }

    /// Compares the [`RUN`] pairs from a position on. Returns bits that are set where pairs differ,
    /// the first pair in the highest two bits. Returns `None` if some letters are not single bases.
    #[inline(always)]
    fn differences(&self, query: &[u8], subject: Packed<'_>, (q, s): (u32, u32)) -> Option<u64> {
        let bits = differences(window(query, q as usize), window(subject.bytes(), s as usize));
        self.plain.has_all(q as usize, RUN).then_some(bits & u64::MAX << (64 - 2 * RUN))
    }

    /// Does the same as [`Extender::exact`] if the extension ends within [`RUN`] pairs to each
    /// side, or at a sentinel.
    #[inline(always)]
    fn extend_bounded(
        &self,
        (contexts, query): (&Contexts, &[u8]),
        subject: Packed<'_>,
        (q, s): (u32, u32),
        x_drop: i32,
    ) -> Bounded {
        let Some((equal, other)) = self.simple else { return Bounded::Incomplete };
        let room = q.min(s).min(contexts.length() - q).min(subject.length() - s);
        if room < RUN || x_drop >= SENTINEL_DROP {
            return Bounded::Incomplete;
        }
        let plain = self.plain.from((q - RUN) as usize);
        let left = (plain << (64 - RUN)).leading_ones();
        let right = (plain >> RUN).trailing_ones().min(RUN);
        let is_end = |at: u32| contexts.letters()[at as usize] == SENTINEL;
        if left < RUN && !is_end(q - 1 - left) || right < RUN && !is_end(q + right) {
            return Bounded::Incomplete;
        }
        let differences = |q: u32, s: u32| {
            differences(window(query, q as usize), window(subject.bytes(), s as usize))
        };
        // To the left the first pair is in the lowest bits, to the right in the highest.
        let before = differences(q - RUN, s - RUN) >> (64 - 2 * RUN) & !(u64::MAX << (2 * left));
        let after = differences(q, s) & !(u64::MAX >> (2 * right));
        let scores = (equal, other);
        let left = one_side::<ToTheLeft>((before, left), scores, |_| x_drop);
        let Some((left, left_score)) = left else { return Bounded::Incomplete };
        let limit = |score: i32| right_limit(x_drop, left_score, score);
        let right = one_side::<ToTheRight>((after, right), scores, limit);
        let Some((right, right_score)) = right else { return Bounded::Incomplete };
        Bounded::Complete(Extension {
            q_start: q - left,
            s_start: s - left,
            length: left + right,
            score: left_score + right_score,
            reached_unknown_letters: false,
        })
    }

    /// Extends to one side, over at most `most` pairs. `one` returns the score of a pair. `run`
    /// returns which of the next [`RUN`] pairs differ, if all letters are single bases. `limit`
    /// maps the score gained so far to the drop that ends the extension.
    #[inline]
    fn best<W: PairOrder>(
        &self,
        most: u32,
        one: impl Fn(u32) -> i32,
        run: impl Fn(u32) -> Option<u64>,
        limit: impl Fn(i32) -> i32,
    ) -> Groups {
        let mut side = SideExtension::default();
        let mut i = 0;
        while i < most {
            if let Some((equal, other)) = self.simple
                && most - i >= RUN
                && let Some(differences) = run(i)
            {
                let end = i + RUN;
                if side.add_run::<W>(differences, &mut i, (equal, other), &limit) {
                    return Groups::from_side(side, true);
                }
                side.add_pairs((end - i) as i32 * equal, end);
                i = end;
                continue;
            }
            for _ in 0..RUN.min(most - i) {
                let score = one(i);
                i += 1;
                if score > 0 {
                    side.add_pairs(score, i);
                } else if side.add_mismatch(score, limit(side.score)) {
                    return Groups::from_side(side, true);
                }
            }
        }
        Groups::from_side(side, false)
    }
}

/// Returns the drop that ends an extension to the right. The total score of both sides must not
/// fall below 0 either.
#[inline(always)]
fn right_limit(x_drop: i32, left_score: i32, score: i32) -> i32 {
    if score > 0 { x_drop.min(left_score + score) } else { x_drop }
}
