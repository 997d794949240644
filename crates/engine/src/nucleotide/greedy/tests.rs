use std::collections::HashMap;

use super::*;
use crate::nucleotide::testing::packed;
use crate::testing::RandomSequences;
use fastrand::Rng;
use fleetblast_seq::nucleotide::Packed;

/// The literal rules of `greedy_align.c`: cells by distance and diagonal, letter by letter.
mod plain {
    use super::*;

    pub struct Plain<'a> {
        pub query: &'a [u8],
        pub subject: &'a [u8],
    }

    impl Plain<'_> {
        fn run(&self, q: i32, s: i32) -> i32 {
            let (mut n, len) = (0, (self.query.len() as i32, self.subject.len() as i32));
            while q + n < len.0 && s + n < len.1 {
                let (a, b) = (self.query[(q + n) as usize], self.subject[(s + n) as usize]);
                if a > 3 || a != b {
                    break;
                }
                n += 1;
            }
            n
        }

        pub fn linear(&self, scoring: &Scoring, x: i32) -> (BestEnd, Vec<Edit>) {
            let (m, cost) = (scoring.reward, scoring.reward - scoring.penalty);
            let (q_len, s_len) = (self.query.len() as i32, self.subject.len() as i32);
            let run = self.run(0, 0);
            let mut longest = Run { query: 0, subject: 0, length: run };
            let mut found = BestEnd { query: run, subject: run, longest, ..BestEnd::default() };
            let mut far: HashMap<(i32, i32), i32> = [((0, 0), run)].into();
            let mut edits = Vec::new();
            if run == q_len || run == s_len {
                push(&mut edits, EditOp::Substitution, run);
                return (found, edits);
            }
            let back = (x + m / 2) / cost + 1;
            let mut best = vec![run * m];
            let (mut lo, mut hi) = (-1, 1);
            let (mut q_end, mut s_end) = (false, false);
            let mut d = 0;
            loop {
                d += 1;
                for k in [lo - 1, lo, hi, hi + 1] {
                    far.remove(&(d - 1, k));
                }
                let at = |far: &HashMap<_, _>, d, k| far.get(&(d, k)).copied().unwrap_or(-2);
                let before = if d >= back { best[(d - back) as usize] } else { 0 };
                let least = f64::from(before + cost * d - x) / f64::from(m / 2);
                let least = least.ceil() as i32;
                let (mut extent, mut s_best, mut k_best) = (0, 0, 0);
                let ks = lo..=hi;
                for k in ks {
                    let mut s = at(&far, d - 1, k + 1).max(at(&far, d - 1, k)) + 1;
                    s = s.max(at(&far, d - 1, k - 1));
                    let mut q = s + k;
                    if s < 0 || q + s < least {
                        if k == lo {
                            lo += 1;
                        }
                        continue;
                    }
                    hi = k;
                    let run = self.run(q, s);
                    if run > longest.length {
                        longest = Run { query: q, subject: s, length: run };
                    }
                    q += run;
                    s += run;
                    far.insert((d, k), s);
                    if q + s > extent {
                        (extent, s_best, k_best) = (q + s, s, k);
                    }
                    if s == s_len {
                        lo = k + 1;
                        s_end = true;
                    }
                    if q == q_len {
                        hi = k - 1;
                        q_end = true;
                    }
                }
                let score = extent * (m / 2) - d * cost;
                if score >= best[d as usize - 1] {
                    best.push(score);
                    found = BestEnd {
                        value: d,
                        distance: d,
                        query: s_best + k_best,
                        subject: s_best,
                        longest,
                    };
                } else {
                    best.push(best[d as usize - 1]);
                }
                if lo > hi {
                    break;
                }
                far.retain(|&(e, k), _| e != d || (lo..=hi).contains(&k));
                lo -= i32::from(!s_end);
                hi += i32::from(!q_end);
            }
            found.longest = longest;
            self.trace_linear(&found, &far, &mut edits);
            (found, edits)
        }

        fn trace_linear(
            &self,
            found: &BestEnd,
            far: &HashMap<(i32, i32), i32>,
            edits: &mut Vec<Edit>,
        ) {
            let (mut k, mut s) = (found.query - found.subject, found.subject);
            for d in (0..found.distance).rev() {
                let at = |k| far.get(&(d, k)).copied().unwrap_or(-2);
                let (less, same, more) = (at(k - 1), at(k), at(k + 1));
                if less > same.max(more) {
                    push(edits, EditOp::Substitution, s - less);
                    push(edits, EditOp::GapInSubject, 1);
                    (s, k) = (less, k - 1);
                } else if same > more {
                    push(edits, EditOp::Substitution, s - same);
                    s = same;
                } else {
                    push(edits, EditOp::Substitution, s - more - 1);
                    push(edits, EditOp::GapInQuery, 1);
                    (s, k) = (more, k + 1);
                }
            }
            push(edits, EditOp::Substitution, s);
        }
    }
}

const LINEAR: GapCosts = GapCosts { open: 0, extend: 0 };

fn schemes() -> Vec<(Scoring, i32)> {
    let linear = [(1, -2, 13), (1, -2, 54), (2, -3, 30), (1, -3, 12), (4, -5, 90), (1, -5, 7)];
    let linear = linear.map(|(reward, penalty, x)| (Scoring { reward, penalty, gaps: LINEAR }, x));
    let affine = [(1, -2, 2, 2, 13), (2, -3, 5, 2, 33), (1, -3, 0, 2, 20), (1, -1, 4, 1, 25)];
    let affine = affine.map(|(reward, penalty, open, extend, x)| {
        (Scoring { reward, penalty, gaps: GapCosts { open, extend } }, x)
    });
    linear.into_iter().chain(affine).collect()
}

fn pair(random: &mut Rng, round: usize) -> (Vec<u8>, Vec<u8>) {
    let len = random.usize(1..=300);
    let query = if round.is_multiple_of(2) { random.bases(len) } else { random.repetitive(len) };
    let one_in = random.usize(2..32);
    let mut subject = random.mutated(&query, one_in);
    if round.is_multiple_of(3) {
        // Where the subject is longer than paths can reach, extensions end earlier.
        let more = random.usize(..if round.is_multiple_of(2) { 400 } else { 60 });
        subject.extend(random.bases(more));
    }
    subject.push(random.u8(..4));
    (query, subject)
}

fn reverse(letters: &[u8]) -> Vec<u8> {
    letters.iter().rev().copied().collect()
}

/// Extends in one direction with each kernel; all must return the same.
fn with_all_kernels<const BACK: bool>(
    sequences: &OutwardSequences<'_, BACK>,
    scoring: Scoring,
    x_drop: i32,
    scratch: &mut GreedyScratch,
) -> (BestEnd, Vec<Edit>) {
    let mut found = Kernel::available().map(|kernel| {
        let extender = Extender::new(scoring, x_drop, kernel);
        let untraced = extender.extend_one_way(sequences, scratch, None);
        let mut edits = Vec::new();
        let traced = extender.extend_one_way(sequences, scratch, Some(&mut edits));
        assert_eq!(untraced, BestEnd { longest: untraced.longest, ..traced }, "{kernel:?}");
        (untraced, edits)
    });
    let first = found.next().unwrap();
    found.for_each(|other| assert_eq!(other, first));
    first
}

/// Returns twice the score of the columns, and the numbers of query and subject letters that they
/// cover.
fn columns(query: &[u8], subject: &[u8], edits: &[Edit], scoring: &Scoring) -> (i32, usize, usize) {
    let (mut q, mut s, mut twice) = (0, 0, 0);
    for edit in edits {
        let len = edit.len as usize;
        let gap = if scoring.is_linear() {
            edit.len as i32 * (scoring.reward - 2 * scoring.penalty)
        } else {
            2 * (scoring.gaps.open + edit.len as i32 * scoring.gaps.extend)
        };
        match edit.op {
            EditOp::Substitution => {
                for i in 0..len {
                    let equal = query[q + i] == subject[s + i] && query[q + i] < 4;
                    twice += 2 * if equal { scoring.reward } else { scoring.penalty };
                }
                (q, s) = (q + len, s + len);
            }
            EditOp::GapInSubject => (q, twice) = (q + len, twice - gap),
            EditOp::GapInQuery => (s, twice) = (s + len, twice - gap),
        }
    }
    (twice, q, s)
}

/// Compares an extension in both directions with the literal rules. Returns its result.
fn check(
    query: &[u8],
    subject: &[u8],
    scoring: Scoring,
    x_drop: i32,
    scratch: &mut GreedyScratch,
) -> (BestEnd, Vec<Edit>) {
    let (even, x) = scoring.even(x_drop);
    let expected = plain::Plain { query, subject }.linear(&even, x);
    let packed = [query, subject].map(Packing::whole);
    let forward = OutwardSequences::<false>::new(packed[0].all(), packed[1].all(), 0, 0);
    scratch.met_subject_end = false;
    assert_eq!(with_all_kernels(&forward, scoring, x_drop, scratch), expected);
    if !scratch.met_subject_end {
        let longer = [subject, query, query].concat();
        assert_eq!(plain::Plain { query, subject: &longer }.linear(&even, x), expected);
    }
    let packed = [query, subject].map(|letters| Packing::whole(&reverse(letters)));
    let (q, s) = (query.len() as u32, subject.len() as u32);
    let backward = OutwardSequences::<true>::new(packed[0].all(), packed[1].all(), q, s);
    assert_eq!(with_all_kernels(&backward, scoring, x_drop, scratch), expected);
    expected
}

#[test]
fn linear_extension_is_that_of_the_literal_rules() {
    let mut random = Rng::with_seed(11);
    let mut scratch = GreedyScratch::default();
    let (mut gapped, mut ends) = (0, 0);
    for round in 0..1500 {
        let (mut query, mut subject) = pair(&mut random, round);
        if round % 4 == 0 {
            random.blur(&mut query, 40);
            random.blur(&mut subject, 40);
        }
        for (scoring, x_drop) in schemes().into_iter().filter(|(s, _)| s.is_linear()) {
            let (found, edits) = check(&query, &subject, scoring, x_drop, &mut scratch);
            gapped += usize::from(edits.len() > 1);
            ends += usize::from(found.query as usize == query.len());
        }
    }
    assert!(gapped > 1000 && ends > 1000, "{gapped} {ends}");
}

#[test]
fn wide_rows_and_long_runs_are_those_of_the_literal_rules() {
    let mut random = Rng::with_seed(15);
    let mut scratch = GreedyScratch::default();
    let (mut wide, mut long) = (0, 0);
    for round in 0..36 {
        let len = random.usize(200..800);
        let query = if round % 3 == 0 { random.repetitive(len) } else { random.bases(len) };
        let one_in = 2 + random.usize(..[4, 30, 300][round % 3]);
        let subject = match round % 4 {
            0 => random.mutated(&query, one_in),
            1 => random.mutated(&query[..len / 8], one_in),
            2 => [random.mutated(&query, one_in), random.bases(2000)].concat(),
            _ => random.bases(len),
        };
        let subject = if subject.is_empty() { vec![0] } else { subject };
        let scoring = |reward, penalty| Scoring { reward, penalty, gaps: LINEAR };
        let schemes = [(1, -2, 0), (1, -2, 14), (1, -2, 150), (3, -2, 400)];
        for (scoring, x_drop) in schemes.map(|(reward, penalty, x)| (scoring(reward, penalty), x)) {
            let (found, _) = check(&query, &subject, scoring, x_drop, &mut scratch);
            wide += usize::from((found.query - found.subject).unsigned_abs() > 40);
            long += usize::from(found.longest.length > 100);
        }
    }
    assert!(wide > 5 && long > 10, "{wide} {long}");
}

#[test]
fn the_largest_x_drop_gives_nothing_up() {
    let mut random = Rng::with_seed(23);
    let mut scratch = GreedyScratch::default();
    for round in 0..40 {
        let (query, subject) = pair(&mut random, round);
        let packed = [&query, &subject].map(|letters| Packing::whole(letters));
        let sequences = OutwardSequences::<false>::new(packed[0].all(), packed[1].all(), 0, 0);
        for (scoring, _) in schemes() {
            let [enough, most, beyond] = [1_000_000, i32::MAX, TOO_LARGE]
                .map(|x_drop| with_all_kernels(&sequences, scoring, x_drop, &mut scratch));
            assert_eq!(most, enough, "{scoring:?}");
            assert_eq!(beyond, enough, "{scoring:?}");
            // Nothing but the first run continues.
            let (found, _) = with_all_kernels(&sequences, scoring, -i32::MAX, &mut scratch);
            assert_eq!((found.distance, found.query), (0, found.longest.length), "{scoring:?}");
            // Only the agreement of the kernels is checked.
            with_all_kernels(&sequences, scoring, -3, &mut scratch);
        }
    }
}

#[test]
fn columns_score_what_the_extension_says() {
    let mut random = Rng::with_seed(12);
    let mut scratch = GreedyScratch::default();
    for round in 0..1500 {
        let (query, subject) = pair(&mut random, round);
        let packed = [&query, &subject].map(|letters| Packing::whole(letters));
        for (scoring, x_drop) in schemes() {
            let (q, s) = (random.usize(..=query.len()), random.usize(..=subject.len()));
            let extender = Extender::new(scoring, x_drop, Kernel::detect());
            let (bases, q, s) = (packed.each_ref().map(Packing::all), q as u32, s as u32);
            let traced = extender.align(bases[0], bases[1], q, s, &mut scratch);
            let b = traced.bounds;
            let (q_part, s_part) = (&query[b.q_start as usize..], &subject[b.s_start as usize..]);
            let (twice, q_len, s_len) = columns(q_part, s_part, &traced.edits, &scoring);
            assert_eq!(b.q_start as usize + q_len, b.q_end as usize, "{scoring:?}");
            assert_eq!(b.s_start as usize + s_len, b.s_end as usize, "{scoring:?}");
            // Half scores are lost where the directions are joined, and two gaps may become one
            // there.
            let more = twice - 2 * traced.score;
            let saved = if more > 1 { 2 * scoring.gaps.open } else { 0 };
            assert!((more - saved).abs() <= 1, "{scoring:?} {twice} {}", traced.score);
        }
    }
}

#[test]
fn bases_of_a_database_extend_like_letters() {
    let mut random = Rng::with_seed(13);
    let mut scratch = GreedyScratch::default();
    for round in 0..1500 {
        let (mut query, subject) = pair(&mut random, round);
        if round % 2 == 0 {
            random.blur(&mut query, 25);
        }
        // No bytes surround the subject.
        let bytes = packed(&subject);
        let bases = Bases::of_database(Packed::new(&bytes, subject.len() as u32));
        let (query, letters) = (Packing::whole(&query), Packing::whole(&subject));
        for (scoring, x_drop) in schemes() {
            let (q, s) = (random.usize(..=query.all().length), random.usize(..=subject.len()));
            let (q, s) = (q as u32, s as u32);
            for kernel in Kernel::available() {
                let extender = Extender::new(scoring, x_drop, kernel);
                let found = extender.extend(query.all(), bases, q, s, &mut scratch);
                let traced = extender.align(query.all(), letters.all(), q, s, &mut scratch);
                assert_eq!((found.score, found.bounds), (traced.score, traced.bounds));
                let b = found.bounds;
                assert!((b.q_start..=b.q_end).contains(&found.q_seed));
                assert!((b.s_start..=b.s_end).contains(&found.s_seed));
            }
        }
    }
}

#[test]
fn runs_are_counted_letter_by_letter() {
    let mut random = Rng::with_seed(14);
    for _ in 0..3000 {
        let len = random.usize(1..=120);
        let mut query = random.bases(len);
        let mut subject = query.clone();
        for _ in 0..random.usize(..3) {
            subject[random.usize(..len)] ^= 1;
        }
        if random.usize(..3) == 0 {
            random.blur(&mut query, 60);
        }
        let (q, s) = (random.usize(..=len), random.usize(..=len));
        let bytes = packed(&subject);
        let bases = Bases::of_database(Packed::new(&bytes, len as u32));
        let packed = Packing::whole(&query);
        let pairs = query[q..].iter().zip(&subject[s..]);
        let expected = pairs.take_while(|&(a, b)| a == b).count() as i32;
        let forward =
            OutwardSequences::<false>::new(packed.all(), bases, q as u32 / 2, s as u32 / 3);
        let (q_away, s_away) = ((q - q / 2) as i32, (s - s / 3) as i32);
        assert_eq!(forward.run(q_away, s_away, 0), expected);
        assert_eq!(forward.run(q_away, s_away, expected / 2), expected);
        let letters = Letters { query: &query, subject: &subject };
        assert_eq!(letters.run(q as i32, s as i32), expected);
        let pairs = query[..q].iter().rev().zip(subject[..s].iter().rev());
        let expected = pairs.take_while(|&(a, b)| a == b).count() as i32;
        let (more_q, more_s) = (random.usize(..=len - q), random.usize(..=len - s));
        let (q_start, s_start) = ((q + more_q) as u32, (s + more_s) as u32);
        let backward = OutwardSequences::<true>::new(packed.all(), bases, q_start, s_start);
        assert_eq!(backward.run(more_q as i32, more_s as i32, 0), expected);
    }
}

#[test]
fn parts_are_packed_when_they_are_asked_for() {
    let mut random = Rng::with_seed(16);
    let mut packing = Packing::default();
    for round in 0..20 {
        let len = random.usize(..100_000);
        let mut letters = random.bases(len);
        if round % 2 == 0 {
            random.blur(&mut letters, 5000);
        }
        packing.start(len);
        for _ in 0..5 {
            let start = random.usize(..=len);
            let end = start + random.usize(..=len - start);
            packing.pack(&letters, start..end);
            let part = packing.part(start..end);
            let place = |at: usize| ((part.first + at) / 4, 6 - 2 * ((part.first + at) % 4));
            for (at, &letter) in letters[start..end].iter().enumerate() {
                let (byte, bits) = place(at);
                let marks = part.ambiguous.map_or(0, |marks| marks[byte] >> bits & 3);
                assert_eq!(marks, if letter < 4 { 0 } else { 3 });
                assert_eq!(part.bytes[byte] >> bits & 3, letter & 3);
            }
            assert_eq!(part.length, end - start);
        }
    }
}

#[test]
fn gaps_that_cost_millions_are_those_that_an_x_drop_excludes() {
    // In both schemes distances have no common divisor, and a gap costs more than the X-drop.
    let schemes = [(1000, 101), (10_000_001, 10_000_001)].map(|(open, extend)| Scoring {
        reward: 1,
        penalty: -2,
        gaps: GapCosts { open, extend },
    });
    let mut random = Rng::with_seed(24);
    let mut scratch = GreedyScratch::default();
    for round in 0..200 {
        let (query, subject) = pair(&mut random, round);
        let packed = [&query, &subject].map(|letters| Packing::whole(letters));
        let sequences = OutwardSequences::<false>::new(packed[0].all(), packed[1].all(), 0, 0);
        let [cheap, dear] =
            schemes.map(|scoring| with_all_kernels(&sequences, scoring, 13, &mut scratch));
        assert_eq!(cheap, dear, "round {round}");
    }
}
