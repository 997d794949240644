use super::*;
use crate::protein::prelim::testing::kernels;
use crate::scores::{ScoreRows, rows_of_letters};
use crate::testing::RandomSequences;
use fastrand::Rng;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

/// Returns a random sequence of six letters.
fn sequence(random: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| random.u8(3..9)).collect()
}

fn blosum62() -> ScoreRows {
    ScoreRows::of_matrix(
        &ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None)
            .expect("a known matrix")
            .scores,
    )
}

fn close(residues: &[u8]) -> Vec<u8> {
    residues.iter().copied().chain([0]).collect()
}

fn reverse(residues: &[u8]) -> Vec<u8> {
    residues.iter().rev().copied().collect()
}

fn align(q: &[u8], s: &[u8], seed: (usize, usize), scheme: &Scheme<'_>) -> Traced {
    align_as(q, s, |sequences, dp| align_from(sequences, seed.0, seed.1, scheme, dp))
}

fn align_as<T>(q: &[u8], s: &[u8], align: impl Fn(&Sequences<'_>, &mut DpScratch) -> T) -> T {
    let (query_back, subject) = (reverse(q), close(s));
    let subject_back = close(&reverse(s));
    let sequences = Sequences {
        query: &rows_of_letters(q),
        query_back: &rows_of_letters(&query_back),
        subject: &subject,
        subject_back: &subject_back,
    };
    align(&sequences, &mut DpScratch::new(Kernel::detect()))
}

#[test]
fn an_alignment_within_a_part_is_that_of_the_whole() {
    let scores = blosum62();
    let scheme = Scheme { scores: &scores, gaps: GapCosts { open: 11, extend: 1 }, x_drop: 25 };
    let mut random = Rng::with_seed(8);
    let (mut within, mut beyond) = (0, 0);
    for _ in 0..300 {
        let s = random.protein(300);
        let (start, end) = (random.usize(60..140), random.usize(160..240));
        let q = [random.protein(20), s[130..170].to_vec(), random.protein(20)].concat();
        let part = &s[start..end];
        let found = align_as(&q, part, |sequences, dp| {
            align_within(sequences, 40, 150 - start, &scheme, dp)
        });
        let Some(mut found) = found else {
            beyond += 1;
            continue;
        };
        within += 1;
        found.bounds.s_start += start as u32;
        found.bounds.s_end += start as u32;
        assert_eq!(found, align(&q, &s, (40, 150), &scheme));
    }
    assert!(within > 50 && beyond > 50, "{within}, {beyond}");
}

/// Returns the score of the columns of an alignment, and their ends in both sequences.
fn rescore(q: &[u8], s: &[u8], traced: &Traced, scheme: &Scheme<'_>) -> (i32, usize, usize) {
    let (mut i, mut j) = (traced.bounds.q_start as usize, traced.bounds.s_start as usize);
    let mut score = 0;
    for edit in &traced.edits {
        let len = edit.len as usize;
        match edit.op {
            EditOp::Substitution => {
                let pairs = q[i..i + len].iter().zip(&s[j..j + len]);
                score += pairs.map(|(&a, &b)| scheme.scores.score(a.into(), b)).sum::<i32>();
                i += len;
                j += len;
            }
            EditOp::GapInSubject => i += len,
            EditOp::GapInQuery => j += len,
        }
        if edit.op != EditOp::Substitution {
            score -= scheme.gaps.open + scheme.gaps.extend * edit.len as i32;
        }
    }
    (score, i, j)
}

/// Returns the best score of an alignment of prefixes, by the plain recurrence over the whole
/// matrix.
fn best_prefixes(q: &[u8], s: &[u8], scheme: &Scheme<'_>) -> i32 {
    let GapCosts { open, extend } = scheme.gaps;
    let width = s.len() + 1;
    let first = |j: usize| if j == 0 { 0 } else { -open - extend * j as i32 };
    let mut above: Vec<(i32, i32)> = (0..width).map(|j| (first(j), NEVER)).collect();
    let mut best = 0;
    for (i, &a) in q.iter().enumerate() {
        let start = -open - extend * (i as i32 + 1);
        let mut row = vec![(start, start)];
        let mut gap_row = NEVER;
        for (j, &b) in s.iter().enumerate() {
            gap_row = (row[j].0 - open - extend).max(gap_row - extend);
            let gap_col = (above[j + 1].0 - open - extend).max(above[j + 1].1 - extend);
            let pair = above[j].0 + scheme.scores.score(a.into(), b);
            let cell = pair.max(gap_row).max(gap_col);
            best = best.max(cell);
            row.push((cell, gap_col));
        }
        above = row;
    }
    best
}

#[test]
fn with_a_wide_drop_off_the_score_is_optimal_and_belongs_to_the_columns() {
    let scores = blosum62();
    let mut random = Rng::with_seed(3);
    let (mut gapped, mut exact) = (0, 0);
    for _ in 0..300 {
        let q = sequence(&mut random, 30);
        let mut s = q.clone();
        s.splice(8..random.usize(8..14), []);
        let insert = random.usize(1..=5);
        let at = random.usize(..20);
        s.splice(at..at, sequence(&mut random, insert));
        let gaps = GapCosts { open: 4, extend: 1 };
        let scheme = Scheme { scores: &scores, gaps, x_drop: 10_000 };
        let seed = (random.usize(..30), random.usize(..s.len()));
        let traced = align(&q, &s, seed, &scheme);
        let b = traced.bounds;
        let q_across = (b.q_start..b.q_end).contains(&(seed.0 as u32));
        if !(q_across && (b.s_start..b.s_end).contains(&(seed.1 as u32))) {
            // A gap at the seed ended up at an end of the alignment and was removed.
            continue;
        }
        let left = best_prefixes(&reverse(&q[..=seed.0]), &reverse(&s[..=seed.1]), &scheme);
        let right = best_prefixes(&q[seed.0 + 1..], &s[seed.1 + 1..], &scheme);
        let (score, q_end, s_end) = rescore(&q, &s, &traced, &scheme);
        assert_eq!(traced.score, left + right);
        // A gap that runs through the seed was opened twice, which BLAST+ does not correct.
        assert!([0, gaps.open].contains(&(score - traced.score)), "{traced:?}");
        exact += usize::from(score == traced.score);
        assert_eq!((q_end as u32, s_end as u32), (traced.bounds.q_end, traced.bounds.s_end));
        gapped += usize::from(traced.edits.len() > 1);
    }
    assert!(gapped > 80 && exact > 80, "{gapped} {exact}");
}

#[test]
fn ties_prefer_pairs_and_extended_gaps() {
    let scores = blosum62();
    let gaps = GapCosts { open: 2, extend: 1 };
    let scheme = Scheme { scores: &scores, gaps, x_drop: 100 };
    // W W W A A W W W against W W W A W W W: either A may be left out.
    let (q, s) = ([20, 20, 20, 1, 1, 20, 20, 20], [20, 20, 20, 1, 20, 20, 20]);
    let from_left = align(&q, &s, (0, 0), &scheme);
    let edit = |op, len| Edit { op, len };
    assert_eq!(
        from_left.edits,
        [
            edit(EditOp::Substitution, 3),
            edit(EditOp::GapInSubject, 1),
            edit(EditOp::Substitution, 4)
        ]
    );
    let from_right = align(&q, &s, (7, 6), &scheme);
    assert_eq!(
        from_right.edits,
        [
            edit(EditOp::Substitution, 4),
            edit(EditOp::GapInSubject, 1),
            edit(EditOp::Substitution, 3)
        ]
    );
}

#[test]
fn a_tie_between_an_open_gap_and_a_new_one_keeps_the_open_one() {
    let scores = blosum62();
    let gaps = GapCosts { open: 2, extend: 1 };
    let scheme = Scheme { scores: &scores, gaps, x_drop: 100 };
    // W N Q C W W W against W E W W W: E pairs with N (0) before a gap of two, or with Q (2)
    // between two gaps.
    let (q, s) = ([20, 13, 15, 3, 20, 20, 20], [20, 5, 20, 20, 20]);
    let lengths: Vec<u32> = align(&q, &s, (0, 0), &scheme).edits.iter().map(|e| e.len).collect();
    assert_eq!(lengths, [2, 2, 3]);
}

#[test]
fn the_drop_off_stops_an_alignment_strictly_below_it() {
    let scores = blosum62();
    // W W then four pairs W-P of -4 each, then six W.
    let q = [20; 12];
    let mut s = [20; 12];
    s[2..6].fill(14);
    let end = |x_drop| {
        let gaps = GapCosts { open: 8, extend: 8 };
        align(&q, &s, (0, 0), &Scheme { scores: &scores, gaps, x_drop }).bounds.q_end
    };
    assert_eq!(end(16), 12, "a loss of exactly the drop-off is borne");
    assert_eq!(end(15), 12, "the drop-off is never below the cost of a gap of one");
    let costly = Scheme { scores: &scores, gaps: GapCosts { open: 7, extend: 8 }, x_drop: 15 };
    assert_eq!(align(&q, &s, (0, 0), &costly).bounds.q_end, 2);
}

#[test]
fn gaps_at_the_ends_are_taken_off_again() {
    let gaps = GapCosts { open: 11, extend: 1 };
    let mut traced = Traced {
        score: 20,
        bounds: Bounds { q_start: 4, q_end: 20, s_start: 6, s_end: 21 },
        edits: Vec::new(),
    };
    let edits = [
        Edit { op: EditOp::GapInQuery, len: 2 },
        Edit { op: EditOp::GapInSubject, len: 1 },
        Edit { op: EditOp::Substitution, len: 12 },
        Edit { op: EditOp::GapInSubject, len: 3 },
    ];
    assert_eq!(cut_end_gaps(&mut traced, &edits, gaps), 2..3);
    assert_eq!(traced.score, 20 + 13 + 12 + 14);
    assert_eq!(traced.bounds, Bounds { q_start: 5, q_end: 17, s_start: 8, s_end: 21 });
}

/// Draws two sequences with a common but mutated range and gaps. Some consist of few letters. The
/// last residue of the second is not aligned.
fn pair(random: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let len = random.usize(1..=250);
    let mut query = random.protein(len);
    if random.u64(..4) == 0 {
        query.iter_mut().for_each(|residue| *residue = 1 + *residue % 3);
    }
    let mut subject = Vec::new();
    for &residue in &query {
        match random.u64(..24) {
            0 => {}
            1 => {
                let extra = random.usize(1..=12);
                subject.extend(random.protein(extra));
            }
            2..=7 => subject.extend(random.protein(1)),
            _ => subject.push(residue),
        }
    }
    query.drain(..random.usize(..10).min(len));
    subject.drain(..random.usize(..10).min(subject.len()));
    let unrelated = random.usize(..40);
    query.extend(random.protein(unrelated));
    subject.extend(random.protein(1 + unrelated / 2));
    (query, subject)
}

/// Compares the extents and columns of all kernels with those of the scalar rows. Returns the
/// number of edits.
fn check(query: &[u8], subject: &[u8], scheme: &Scheme<'_>) -> usize {
    let mut scalar = DpScratch::new(Kernel::Portable);
    let mut expected = Vec::new();
    let rows = &rows_of_letters(query);
    let extent = scalar.extend(rows, subject, scheme);
    scalar.trace.back(extent, &mut expected);
    for kernel in kernels() {
        let mut dp = DpScratch::new(kernel);
        let mut edits = Vec::new();
        // State that an earlier extension leaves behind must not matter.
        dp.extend(&rows_of_letters(subject), subject, scheme);
        assert_eq!(dp.extend(rows, subject, scheme), extent, "{kernel:?} {query:?} {subject:?}");
        dp.trace.back(extent, &mut edits);
        assert_eq!(edits, expected, "{kernel:?} {query:?} {subject:?}");
    }
    expected.len()
}

#[test]
fn vector_rows_are_the_scalar_ones_whatever_the_instructions() {
    let mut random = Rng::with_seed(21);
    let mut edits = 0;
    for matrix in ["BLOSUM62", "PAM30", "BLOSUM45"] {
        let system =
            ScoringSystem::new(&Release::V2_12_0, matrix, None, None).expect("a known matrix");
        let plain = ScoreRows::of_matrix(&system.scores);
        let scaled = ScoreRows::of_matrix(&system.scores.map(|row| {
            row.map(|score| if score > -1000 { score * 32 + random.i32(0..32) } else { score })
        }));
        for round in 0..600 {
            let (scores, scale) = if round % 2 == 0 { (&plain, 1) } else { (&scaled, 32) };
            let gaps = if round % 3 == 0 {
                let open = random.i32(0..12);
                GapCosts { open: open * scale, extend: random.i32(1..=4) * scale }
            } else {
                GapCosts { open: system.gap_open * scale, extend: system.gap_extend * scale }
            };
            let x_drop = random.u64(..if round % 5 == 0 { 400 } else { 80 }) as i32 * scale;
            let (query, subject) = pair(&mut random);
            edits += check(&query, &subject, &Scheme { scores, gaps, x_drop });
        }
    }
    assert!(edits > 10_000, "{edits}");
}

#[test]
fn lengths_around_those_of_chunks() {
    let scores = blosum62();
    let mut random = Rng::with_seed(22);
    let gaps = GapCosts { open: 11, extend: 1 };
    for len in (1..5).chain(14..19).chain(30..35).chain(62..67) {
        for x_drop in [0, 12, 38, 65, 300] {
            let sequence = random.protein(len);
            let scheme = Scheme { scores: &scores, gaps, x_drop };
            for end in 1..=len {
                // The residue after the last one matches as well, but does not count.
                check(&sequence, &sequence[..end], &scheme);
                check(&sequence[len - end..], &sequence, &scheme);
            }
        }
    }
}
