use super::*;
use crate::nucleotide::testing::{self, Random, packed};

/// Both extensions cell by cell.
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
    let mut random = Random::new(21);
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
                let len = 1 + random.below(if round % 10 == 0 { 2000 } else { 300 });
                let bases = if round % 2 == 0 { random.bases(len) } else { random.repetitive(len) };
                let one_in = 3 + random.below(30);
                let subject = random.mutated(&bases, one_in);
                let mut query = bases;
                if round % 3 == 0 {
                    random.blur(&mut query, 30);
                }
                let q = random.below(len + 1);
                let s = if round % 4 == 0 { random.below(subject.len() + 1) } else { q };
                let s = s.min(subject.len());
                let x_drop = (open + extend).max(random.below(x_drop as usize + 1) as i32);
                let bytes = packed(&subject);
                let found = extender.both_ways(
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
