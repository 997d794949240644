//! Tests that vector extensions equal those of the scalar code, for all instruction sets.

use super::*;
use crate::kernel::Kernel;
use crate::protein::prelim::testing::{kernels, related_pair};
use crate::scores::rows_of_letters;
use crate::testing::RandomSequences;
use crate::xdrop::Window;
use fastrand::Rng;
use fleetblast_seq::alphabet::{self, SENTINEL};
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

/// Returns the scores of a matrix, and its gap costs with an X-drop of `bits` bits.
fn scheme(matrix: &str, bits: f64) -> (ScoreRows, ExtensionCosts) {
    let scoring = ScoringSystem::new(&Release::V2_12_0, matrix, None, None).unwrap();
    let open_extend = scoring.gap_open + scoring.gap_extend;
    let x_drop = (bits * std::f64::consts::LN_2 / scoring.gapped_statistics.lambda) as i32;
    let costs =
        ExtensionCosts { open_extend, extend: scoring.gap_extend, x_drop: x_drop.max(open_extend) };
    (ScoreRows::of_matrix(&scoring.scores), costs)
}

fn residue(letter: u8) -> u8 {
    alphabet::encode(letter).unwrap()
}

/// Row numbers of a query, and a subject between margins.
type Pair = (Vec<RowNumber>, Vec<u8>);

fn pad((query, subject): (Vec<u8>, Vec<u8>)) -> Pair {
    let subject = [&[SENTINEL; MARGIN], &subject[..], &[SENTINEL; MARGIN]].concat();
    (rows_of_letters(&query), subject)
}

/// Compares extensions of both pairs, with each kernel, with those of the scalar code. Returns the
/// number of extensions for which an [`Extender`] returned none.
fn check(pairs: &[Pair; 2], scores: &ScoreRows, costs: ExtensionCosts) -> usize {
    let expected = [0, 1].map(|i| {
        let (query, subject) = &pairs[i];
        let ended = &subject[MARGIN..=subject.len() - MARGIN];
        extend(query, ended, scores, costs, &mut Vec::new())
    });
    let (mut strayed, mut row) = (0, LastRow::default());
    for kernel in kernels() {
        let extender = Extender::new(scores, costs, kernel).expect("it fits");
        let wide = Wide::new(scores, costs, kernel);
        let found = extender.extend(
            [0, 1].map(|i| {
                let (query, subject) = &pairs[i];
                Direction { query: &query[..], subject, at: MARGIN }
            }),
            &mut row,
        );
        for i in 0..2 {
            strayed += usize::from(found[i].is_none());
            let (query, subject) = &pairs[i];
            let direction = Direction { query: &query[..], subject, at: MARGIN };
            let len = subject.len() - 2 * MARGIN;
            let wide = wide.extend(direction, len, &mut Window::default());
            for extent in [found[i], wide].into_iter().flatten() {
                assert_eq!(extent, expected[i], "{kernel:?} {costs:?} {:?}", pairs[i]);
            }
        }
    }
    strayed
}

/// Cuts the starts off a pair of sequences, at random positions.
fn cut(random: &mut Rng, (mut query, mut subject): (Vec<u8>, Vec<u8>)) -> (Vec<u8>, Vec<u8>) {
    query.drain(..random.usize(..=query.len()));
    subject.drain(..random.usize(..=subject.len()));
    (query, subject)
}

#[test]
fn related_sequences() {
    let mut random = Rng::with_seed(11);
    let mut strayed = 0;
    for (matrix, bits) in
        [("BLOSUM62", 15.0), ("PAM30", 15.0), ("BLOSUM45", 12.0), ("BLOSUM90", 5.0)]
    {
        let (scores, costs) = scheme(matrix, bits);
        for round in 0..1_500 {
            let pairs = [0, 1].map(|_| {
                let len = random.usize(1..=300);
                let pair = related_pair(&mut random, len);
                pad(if round % 2 == 0 { cut(&mut random, pair) } else { pair })
            });
            strayed += check(&pairs, &scores, costs);
        }
    }
    assert!(strayed < 20, "{strayed}");
}

/// Checks queries whose positions have rows of their own, as with a PSSM.
#[test]
fn rows_by_position() {
    let mut random = Rng::with_seed(17);
    let (by_letter, costs) = scheme("BLOSUM62", 15.0);
    for _ in 0..600 {
        let (mut rows, mut pairs) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let len = random.usize(1..=200);
            let (letters, subject) = pad(related_pair(&mut random, len));
            let first = rows.len() as RowNumber;
            for letter in letters {
                let other = random.u64(..28) as RowNumber;
                let mixed = [letter, other][usize::from(random.u64(..4) == 0)];
                rows.push(*by_letter.row(mixed));
            }
            pairs.push(((first..rows.len() as RowNumber).collect(), subject));
        }
        check(&pairs.try_into().expect("two"), &ScoreRows::new(rows), costs);
    }
}

#[test]
fn gap_costs_and_drop_offs_of_all_sorts() {
    let mut random = Rng::with_seed(12);
    let (scores, _) = scheme("BLOSUM62", 15.0);
    for _ in 0..400 {
        let extend = random.i32(1..=7);
        let open_extend = extend + random.i32(0..20);
        let x_drop = open_extend + random.u64(..32 * extend as u64) as i32;
        let costs = ExtensionCosts { open_extend, extend, x_drop: x_drop.min(120) };
        for _ in 0..4 {
            let pairs = [0, 1].map(|_| {
                let len = random.usize(1..=150);
                let pair = related_pair(&mut random, len);
                pad(cut(&mut random, pair))
            });
            check(&pairs, &scores, costs);
        }
    }
}

#[test]
fn short_sequences_and_sequences_of_few_letters() {
    let mut random = Rng::with_seed(13);
    let (scores, costs) = scheme("BLOSUM62", 15.0);
    let mut strayed = 0;
    for _ in 0..3_000 {
        let pairs = [0, 1].map(|_| {
            let letters = [&b"AG"[..], b"W", b"LIVM", b"PQCX*"][random.usize(..4)];
            let mut sequence = || {
                let len = match random.u64(..3) {
                    0 => random.u64(..4),
                    1 => random.u64(60..70),
                    _ => random.u64(120..320),
                };
                let letter = |_| residue(letters[random.usize(..letters.len())]);
                (0..len).map(letter).collect()
            };
            pad((sequence(), sequence()))
        });
        strayed += check(&pairs, &scores, costs);
    }
    assert!(strayed > 0, "wide windows are among them: {strayed}");
}

#[test]
fn the_frame_follows_gaps_that_add_up() {
    let mut random = Rng::with_seed(14);
    let (scores, costs) = scheme("BLOSUM62", 15.0);
    for _ in 0..40 {
        let mut sequences = [Vec::new(), Vec::new()];
        for _ in 0..12 {
            let shared = random.protein(30);
            sequences.iter_mut().for_each(|sequence| sequence.extend_from_slice(&shared));
            let longer = random.usize(8..18);
            sequences[0].extend(random.protein(longer));
        }
        let [long, short] = sequences;
        let pairs = [pad((long.clone(), short.clone())), pad((short, long))];
        assert_eq!(check(&pairs, &scores, costs), 0);
        let (query, subject) = &pairs[0];
        let ended = &subject[MARGIN..=subject.len() - MARGIN];
        let extent = extend(query, ended, &scores, costs, &mut Vec::new());
        assert!(extent.query > extent.subject + 80, "{extent:?}");
    }
}

#[test]
fn long_high_scores_move_the_base() {
    let (scores, costs) = scheme("BLOSUM62", 15.0);
    let mut random = Rng::with_seed(15);
    let query = random.protein(3_000);
    let pairs = [pad((query.clone(), query.clone())), pad((vec![residue(b'W'); 500], query))];
    assert_eq!(check(&pairs, &scores, costs), 0);
}

#[test]
fn sentinels_within_end_an_extension() {
    let (scores, costs) = scheme("BLOSUM62", 15.0);
    let mut random = Rng::with_seed(16);
    for _ in 0..200 {
        let pairs = [0, 1].map(|_| {
            let (query, mut subject) = related_pair(&mut random, 120);
            let at = random.usize(..subject.len());
            subject[at] = SENTINEL;
            pad((query, subject))
        });
        check(&pairs, &scores, costs);
    }
}

#[test]
fn scores_beyond_sixteen_bits_are_left_to_the_scalar_code() {
    let (scores, costs) = scheme("BLOSUM62", 15.0);
    let extender = Extender::new(&scores, costs, Kernel::Portable).expect("it fits");
    for (len, fits) in [(2_600, true), (2_700, false)] {
        let (query, subject) = pad((vec![residue(b'W'); len], vec![residue(b'W'); len]));
        let direction = Direction { query: &query[..], subject: &subject, at: MARGIN };
        let extent = Extent { score: 11 * len as i32, query: len, subject: len };
        let found = extender.extend([direction; 2], &mut LastRow::default());
        assert_eq!(found, [fits.then_some(extent); 2], "{len}");
    }
}

#[test]
fn what_small_numbers_cannot_hold_is_left_to_the_scalar_code() {
    let (scores, _) = scheme("BLOSUM62", 15.0);
    let costs = ExtensionCosts { open_extend: 12, extend: 1, x_drop: 38 };
    let by_16 = |row: &ScoreRow| row.map(|score| score.saturating_mul(16));
    let scaled = ScoreRows::new(scores.all().iter().map(by_16).collect());
    for kernel in kernels() {
        let fits = |scores: &ScoreRows, costs| Extender::new(scores, costs, kernel).is_some();
        assert!(fits(&scores, costs));
        assert!(!fits(&ScoreRows::new(vec![[0; 32]; 28]), costs), "sentinels that pair");
        // Bytes hold less than numbers of sixteen bits.
        let portable = kernel == Kernel::Portable;
        assert!(fits(&scores, ExtensionCosts { x_drop: 43, ..costs }));
        let with = |open_extend, extend, x_drop| ExtensionCosts { open_extend, extend, x_drop };
        assert_eq!(fits(&scores, with(12, 1, 44)), portable, "gaps longer than two sections");
        assert_eq!(fits(&scores, with(12, 0, 38)), portable);
        assert_eq!(fits(&scores, with(200, 1, 200)), portable);
        assert_eq!(fits(&scores, with(24, 8, 38)), portable, "costs of a section");
        assert_eq!(fits(&scaled, costs), portable);
        assert!(!fits(&scores, with(12, 1, 5_000)));
        assert!(!fits(&scores, with(5_000, 1, 5_000)));
    }
}
