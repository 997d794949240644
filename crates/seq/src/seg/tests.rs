//! The expected values are those of `segmasker -in x.fa -window W -locut L -hicut H`, which does
//! not merge overlapping segments, unlike BLAST. The results are also compared with a plain
//! implementation of the rules.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]

use fastrand::Rng;

use super::tables::{CLASS, CLASSES, entropy, state_vector};
use super::*;
use crate::alphabet::encode;

fn codes(letters: &str) -> Vec<u8> {
    letters.bytes().map(|letter| encode(letter).unwrap()).collect()
}

/// Returns a sequence with ranges in which few different letters occur.
fn random_sequence(random: &mut Rng, length: usize) -> Vec<u8> {
    let mut sequence = Vec::new();
    while sequence.len() < length {
        let (letters, stretch) = (random.u8(1..=22), random.u8(1..=40));
        let first = random.u8(..27);
        for _ in 0..stretch {
            sequence.push(1 + (first + random.u8(..letters)) % 27);
        }
    }
    sequence.truncate(length);
    sequence
}

const PROTEIN: &str = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV\
    QQQQQQQQPQQQQPPPQQQSSSSSSGSSSGSSSHHAAHLKWKRQTLGQHDFSAGEGLYTHMKALRPDEDRLSPLHSVYVDQWD\
    WEEEEEKEEEKEKEEEDXXXXXXEEKEEEEWWCCYHMKRPNDGE";

#[test]
fn equals_segmasker() {
    let protein = codes(PROTEIN);
    // From segmasker -window 12 -locut 2.2 -hicut 2.5.
    assert_eq!(mask(&protein, &SegParams::QUERY), [70..103, 154..169, 174..183]);
    // From segmasker -window 10 -locut 1.8 -hicut 2.1.
    assert_eq!(mask(&protein, &SegParams::SUBJECT), [70..103, 154..169, 174..183]);
}

#[test]
fn parameters_are_corrected() {
    let protein = codes(PROTEIN);
    let odd = SegParams { window: 0, locut: 2.5, hicut: 2.2 };
    let meant = SegParams { window: 12, locut: 2.5, hicut: 2.5 };
    assert_eq!(mask(&protein, &odd), mask(&protein, &meant));
    for given in [
        SegParams { window: -3, locut: 0.0, hicut: 0.0 },
        SegParams { window: 12, locut: -1.0, hicut: -2.0 },
        SegParams { window: 0, locut: 2.2, hicut: f64::NAN },
    ] {
        assert_eq!(mask(&protein, &given), mask(&protein, &SegParams::QUERY), "{given:?}");
    }
    assert_eq!(mask(&protein, &SegParams { window: i32::MAX, locut: 1.0, hicut: 1.0 }), []);
}

#[test]
fn a_masker_keeps_nothing_between_sequences() {
    let mut random = Rng::with_seed(11);
    let mut masker = Masker::new(&SegParams::SUBJECT);
    for _ in 0..200 {
        let length = random.usize(..300);
        let sequence = random_sequence(&mut random, length);
        assert_eq!(masker.mask(&sequence), mask(&sequence, &SegParams::SUBJECT));
    }
}

/// Returns the entropy of every window, each computed from its own counts.
fn entropies(residues: &[u8], window: usize) -> Vec<Option<f64>> {
    let entropy_of = |window: &[u8]| {
        let mut counts = [0; CLASSES + 1];
        window.iter().for_each(|&code| counts[CLASS[code as usize] as usize] += 1);
        let (state, used) = state_vector(&counts);
        (counts[CLASSES] <= 2).then(|| entropy(&state[..used]))
    };
    residues.windows(window).map(entropy_of).collect()
}

#[test]
fn the_estimate_decides_as_the_entropies_do() {
    let mut random = Rng::with_seed(5);
    for round in 0..300 {
        let window = random.usize(1..=30);
        let locut = f64::from(random.u32(..430)) / 100.0;
        let params = SegParams { window: window as i32, locut, hicut: locut + 0.25 };
        let sequence = random_sequence(&mut random, window + round);
        let mut windows = Windows::new(params);
        windows.classify(&sequence);
        for (i, entropy) in entropies(&sequence, window).into_iter().enumerate() {
            let centre = i + windows.before;
            assert_eq!(
                windows.can_start_segment(centre),
                entropy.is_some_and(|h| h <= params.locut)
            );
            assert_eq!(
                windows.can_extend_segment(centre),
                entropy.is_some_and(|h| h <= params.hicut)
            );
        }
    }
}

#[test]
fn an_entropy_equal_to_the_cut_off_is_within() {
    // Two residues in equal numbers have one bit, in the rounded logarithms of ten residues.
    let exact = entropy(&[5, 5]);
    let sequence = codes("ACACACACAC");
    let at = |locut| mask(&sequence, &SegParams { window: 10, locut, hicut: locut });
    assert_eq!(at(exact), [0..10]);
    assert_eq!(at(exact - 1e-12), []);
}

#[test]
fn trimming_skips_no_better_stretch() {
    let mut random = Rng::with_seed(17);
    for _ in 0..150 {
        let length = random.usize(1..=120);
        let residues = random_sequence(&mut random, length);
        let trimmed = Trimmer::default().trim(&residues);
        assert_eq!(trimmed, trim::tests::by_definition(&residues));
    }
}
