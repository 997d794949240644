//! Tests that scanning near the rises finds the same HSPs as scanning whole diagonals.

use fleetblast_seq::frame::Frame;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::*;
use crate::protein::prelim::block::{SubjectBlock, SubjectFrame};
use crate::scores::ScoreRows;
use crate::subjects::Masks;
use crate::testing::RandomSequences;
use fastrand::Rng;

/// Draws a protein in which some ranges repeat a few residues.
fn sequence(random: &mut Rng) -> Vec<u8> {
    let mut sequence = random.protein(1);
    for _ in 0..random.u64(..12) {
        let len = random.usize(..90);
        let period = random.usize(1..=60);
        let unit = random.protein(period);
        sequence.extend(unit.iter().cycle().take(len));
    }
    sequence
}

/// Draws two sequences. The second one copies ranges of the first one, so that some diagonals have
/// enough seeds.
fn pair(random: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let (query, mut subject) = (sequence(random), sequence(random));
    for _ in 0..random.u64(..6) {
        let from = random.usize(..query.len());
        let len = random.usize(..60).min(query.len() - from);
        let at = random.usize(..subject.len());
        subject.splice(at..at, query[from..from + len].iter().copied());
    }
    (query, subject)
}

/// Finds the rises of the filter's score on a diagonal, as offsets in the part.
fn rises(stretch: &FilteredDiagonal, threshold: i32) -> Vec<usize> {
    let mut score = 0;
    let mut rises = Vec::new();
    for i in 0..stretch.query.len() {
        let before = score;
        score = (score + stretch.pair(i).max(-128)).clamp(0, 255);
        if before < threshold && score >= threshold {
            rises.push(stretch.s + i);
        }
    }
    rises
}

/// Finds the HSPs of a whole diagonal by processing all its seeds in order.
fn whole(stretch: &FilteredDiagonal) -> Vec<UngappedHsp> {
    let mut found = Vec::new();
    let mut state = Diagonal::fresh(stretch.rule.window);
    let size = stretch.rule.word_size;
    for at in 0..(stretch.query.len() + 1).saturating_sub(size) {
        let sum = (at..at + size).map(|i| stretch.pair(i)).sum();
        if sum >= i32::from(stretch.limits[at]) {
            stretch.process_hit(WordHit { at, sum }, &mut state, &mut |hsp| found.push(hsp));
        }
    }
    found
}

#[test]
fn nothing_is_lost_far_from_rises() {
    let scores = ScoreRows::of_matrix(
        &ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap().scores,
    );
    let mut random = Rng::with_seed(7);
    let (mut found, mut skipped) = (0, 0);
    for round in 0..1500 {
        let (query, subject) = pair(&mut random);
        let cutoff = [9, 14, 25, 255][random.usize(..4)];
        let mut context = ChunkContext::for_test(&query);
        context.cutoff_ungapped = cutoff + random.i32(0..4);
        context.x_drop = random.i32(1..=40);
        let word_size = random.usize(2..6);
        let window = [0, 1, 8, 40, 1_000][random.usize(..5)];
        let threshold = [0, 6, 11, 14][random.usize(..4)];
        let rule = DiagonalRule { scores: &scores, word_size, window };
        let word_rule = WordRule { size: word_size, threshold };
        let limits = word_rule.limits(&context, &scores);
        let start = random.u32(..subject.len() as u32);
        let mask = start..(start + random.u32(..9)).min(subject.len() as u32);
        let masks = if round % 3 == 0 { std::slice::from_ref(&mask) } else { &[] };
        let mut block = SubjectBlock::default();
        let (residues, masks) = (&subject[..], Masks::Soft(masks));
        let subject_len = residues.len();
        let subject_frame =
            SubjectFrame { oid: 0, frame: Frame::Protein, subject_len, residues, masks };
        block.push(subject_frame, word_size);
        let part = &block.parts[0];
        for diagonal in 1 - subject.len() as i32..query.len() as i32 {
            let stretch =
                FilteredDiagonal::new(&context, &limits, part, diagonal, &rule, &word_rule);
            let rises = rises(&stretch, cutoff);
            let mut near = Vec::new();
            stretch.scan(rises.iter().copied(), cutoff, &mut Vec::new(), |hsp| near.push(hsp));
            let whole = whole(&stretch);
            assert_eq!(near, whole, "round {round}, diagonal {diagonal}, {rises:?}");
            found += whole.len();
            skipped += usize::from(rises.is_empty());
        }
    }
    assert!(found > 2_000 && skipped > 10_000, "{found} HSPs, {skipped} diagonals passed over");
}
