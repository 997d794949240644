use super::*;
use crate::nucleotide::testing::{self, packed};
use crate::testing::RandomSequences;
use fastrand::Rng;

/// Computes both extensions cell by cell.
fn in_turn(
    query: &[u8],
    subject: &[u8],
    (q, s): (usize, usize),
    extender: &Extender,
    x_drop: i32,
) -> [Extent; 2] {
    let reversed = |letters: &[u8]| letters.iter().rev().copied().collect::<Vec<u8>>();
    let run = |mut letters: Vec<u8>, bases: Vec<u8>| {
        letters.push(blastna::SENTINEL);
        let (scores, gaps) = (&extender.scores, extender.gaps);
        scalar::extend(&letters, bases.into_iter(), scores, gaps, x_drop, &mut Vec::new())
    };
    [
        run(reversed(&query[..q]), reversed(&subject[..s])),
        run(query[q..].to_vec(), subject[s..].to_vec()),
    ]
}

#[test]
fn vectors_find_what_the_cells_in_turn_do() {
    let mut random = Rng::with_seed(21);
    let schemes = [
        (2, -3, 5, 2, 33),
        (1, -3, 2, 2, 16),
        (1, -2, 0, 2, 20),
        (1, -1, 3, 2, 40),
        (5, -4, 10, 6, 120),
        (1, -4, 1, 1, 11),
    ];
    let (mut in_vectors, mut gapped) = (0, 0);
    for (reward, penalty, open, extend, x_drop) in schemes {
        let scores = testing::scores(reward, penalty);
        let gaps = GapCosts { open, extend };
        for kernel in Kernel::available() {
            let extender = Extender::new(&scores, gaps, x_drop, kernel);
            for round in 0..300 {
                let len = 1 + random.usize(..if round % 10 == 0 { 2000 } else { 300 });
                let bases = if round % 2 == 0 { random.bases(len) } else { random.repetitive(len) };
                let one_in = random.usize(3..33);
                let subject = random.mutated(&bases, one_in);
                let mut query = bases;
                if round % 3 == 0 {
                    random.blur(&mut query, 30);
                }
                let q = random.usize(..=len);
                let s = if round % 4 == 0 { random.usize(..=subject.len()) } else { q };
                let s = s.min(subject.len());
                let x_drop = (open + extend).max(random.usize(..=x_drop as usize) as i32);
                let bytes = packed(&subject);
                let found = extender.extend_both_ways(
                    &QueryLetters::new(&query),
                    Packed::new(&bytes, subject.len() as u32),
                    (q as u32, s as u32),
                    x_drop,
                    &mut GappedScratch::default(),
                );
                assert_eq!(found, in_turn(&query, &subject, (q, s), &extender, x_drop));
                in_vectors += usize::from(found.iter().any(|e| e.score > 0));
                gapped += usize::from(found.iter().any(|e| e.query != e.subject));
            }
        }
    }
    assert!(in_vectors > 2000 && gapped > 1000, "{in_vectors} {gapped}");
}

#[test]
fn extensions_start_at_whole_bytes() {
    let segment = Segment { score: 40, q_start: 2, s_start: 5, length: 20, q_seed: 3, s_seed: 6 };
    assert_eq!(seed(&segment), (6, 9));
    assert_eq!(seed(&Segment { length: 8, ..segment }), (3, 6));
    assert_eq!(start(6, 9, 100, 100), (9, 12));
    assert_eq!(start(5, 8, 100, 100), (9, 12));
    assert_eq!(start(6, 9, 8, 100), (5, 8));
}

#[test]
fn many_side_by_side_find_what_each_does_alone() {
    let mut random = Rng::with_seed(5);
    let (mut ahead, mut alone, mut positive) = (0, 0, 0);
    for (reward, penalty, open, extend, x_drop) in
        [(2, -3, 5, 2, 33), (1, -3, 2, 2, 16), (1, -2, 0, 2, 20), (4, -5, 12, 8, 40)]
    {
        let scores = testing::scores(reward, penalty);
        let gaps = GapCosts { open, extend };
        let in_turn = Extender::new(&scores, gaps, x_drop, Kernel::Portable);
        for round in 0..12 {
            let len = 40 + random.usize(..if round % 4 == 0 { 3000 } else { 400 });
            let bases = if round % 2 == 0 { random.bases(len) } else { random.repetitive(len) };
            let one_in = random.usize(3..33);
            let subject = random.mutated(&bases, one_in);
            let bytes = packed(&subject);
            let subject = Packed::new(&bytes, subject.len() as u32);
            let mut query = bases;
            match round % 3 {
                0 => random.blur(&mut query, 200),
                1 => query[len / 2] = UNKNOWN,
                _ => {}
            }
            let queries = [&query[..], &query[len / 3..]].map(QueryLetters::new);
            let segments: Vec<_> = (0..[20, 150, 700][round % 3])
                .map(|number| {
                    let query = &queries[number % 2];
                    let q = random.usize(..query.length() - 11) as u32;
                    let near = q + random.u32(..4) + (number % 2 * len / 3) as u32;
                    let s = if number % 5 == 0 { random.usize(..len) as u32 } else { near };
                    let s = s.min(subject.length().saturating_sub(11));
                    let length = 11;
                    let score = random.i32(0..60);
                    let (q_start, s_start) = (q, s);
                    (query, Segment { score, q_start, s_start, length, q_seed: q, s_seed: s })
                })
                .collect();
            for kernel in Kernel::available() {
                let extender = Extender::new(&scores, gaps, x_drop, kernel);
                let mut scratch = GappedScratch::default();
                // Twice, as the memory is reused.
                for _ in 0..2 {
                    let found = extender.extend_all(&segments, subject, &mut scratch);
                    for ((query, segment), found) in segments.iter().zip(found) {
                        let Some(found) = found else {
                            alone += 1;
                            continue;
                        };
                        let expected = in_turn.extend(query, subject, segment, &mut scratch);
                        assert_eq!(found, expected);
                        ahead += 1;
                        positive += usize::from(found.score > 3 * reward * 11);
                    }
                }
            }
        }
    }
    assert!(ahead > 10_000 && alone > 0 && positive > 1000, "{ahead} {alone} {positive}");
}

#[test]
fn segments_are_apart_on_other_strands_or_far_diagonals() {
    let segment =
        Segment { score: 40, q_start: 10, s_start: 1000, length: 20, q_seed: 12, s_seed: 1002 };
    let mut apart = DistantSegments::default();
    apart.clear();
    assert!(apart.insert(0, &segment));
    assert!(!apart.insert(0, &Segment { s_start: 1060, ..segment }));
    assert!(!apart.insert(0, &Segment { q_start: 70, ..segment }));
    assert!(apart.insert(1, &segment));
    assert!(apart.insert(0, &Segment { s_start: 5000, ..segment }));
    apart.clear();
    assert!(apart.insert(0, &segment));
}
