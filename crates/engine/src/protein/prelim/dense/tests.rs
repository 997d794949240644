//! Tests that all variants of the filter agree with its definition.

use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

#[cfg(target_arch = "x86_64")]
use super::avx512::ThresholdTest;
use super::*;
#[cfg(target_arch = "x86_64")]
use crate::kernel::Avx512;
use crate::protein::prelim::testing::kernels;
use crate::testing::RandomSequences;
use fastrand::Rng;

/// Finds the rises to the cut-off in a subject, straight from the definition.
fn passing(
    group: &Group,
    index: usize,
    subject: &[u8],
    contexts: &[ChunkContext],
    scores: &ScoreRows,
) -> Vec<Candidate> {
    let mut passing = Vec::new();
    for (number, context) in contexts.iter().enumerate() {
        let (m, n) = (context.len() as i32, subject.len() as i32);
        for diagonal in 1 - n..m {
            let mut run = 0;
            for q in diagonal.max(0)..m.min(n + diagonal) {
                let (a, b) = (context.rows()[q as usize], subject[(q - diagonal) as usize]);
                let before = run;
                run = (run + scores.score(a, b).max(-128)).clamp(0, MAX_CUTOFF);
                if before < group.cutoff && run >= group.cutoff {
                    let (subject, context) = (index as u32, number as u32);
                    let rise = (q - diagonal) as u32;
                    passing.push(Candidate { subject, context, diagonal, rise });
                }
            }
        }
    }
    passing
}

/// Returns the variants that this machine can run.
fn steppers() -> Vec<Stepper> {
    let steppers = kernels().into_iter().map(Stepper::for_kernel);
    #[cfg(target_arch = "x86_64")]
    let steppers = steppers.chain(Avx512::detect().into_iter().flat_map(|proof| {
        let watches = [ThresholdTest::Comparison, ThresholdTest::Maximum];
        watches.map(|watch| Stepper::Avx512(proof, watch))
    }));
    steppers.collect()
}

#[test]
fn variants_agree_with_the_definition() {
    let scores = ScoreRows::of_matrix(
        &ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap().scores,
    );
    let mut random = Rng::with_seed(99);
    // For cut-offs up to 117, with a highest score of 11, the portable filter detects rises in
    // another way than for higher ones.
    let usual = [&[1][..], &[61], &[63, 64, 65], &[300, 7, 500], &[1500], &[2600, 900]];
    // From 36 on, AVX2 and NEON test only the second of two steps.
    let higher =
        (34..=38).chain(112..=132).chain([MAX_CUTOFF]).map(|cutoff| (cutoff, &[300, 7, 80][..]));
    for (cutoff, lengths) in usual.into_iter().map(|lengths| (22, lengths)).chain(higher) {
        let mut contexts = Vec::new();
        for &len in lengths {
            let mut context = ChunkContext::for_test(&random.protein(len));
            context.cutoff_ungapped = cutoff;
            contexts.push(context);
        }
        let members: Vec<usize> = (0..contexts.len()).collect();
        // Subjects: some that saturate (the query itself, twice), one of sentinels, one residue,
        // none, and longer than the contexts.
        let own = contexts[0].residues().to_vec();
        let mut subjects = vec![own.clone(), own, vec![0; 40], vec![20], vec![]];
        subjects.extend([3, 64, 400, 3_000].map(|len| random.protein(len)));
        let block: Vec<&[u8]> = subjects.iter().map(Vec::as_slice).collect();
        for stepper in steppers() {
            let group = Group::with(&contexts, &members, &scores, stepper).unwrap();
            let mut candidates: Vec<Candidate> = Vec::new();
            // State from an earlier block must not matter.
            let mut scratch = FilterScratch::default();
            group.filter(&[&[20; 5_000]], &mut scratch, &mut candidates);
            candidates.clear();
            group.filter(&block, &mut scratch, &mut candidates);
            for (index, subject) in subjects.iter().enumerate() {
                let found: Vec<Candidate> =
                    candidates.iter().filter(|c| c.subject == index as u32).copied().collect();
                let expected = passing(&group, index, subject, &contexts, &scores);
                assert_eq!(found, expected, "{stepper:?} {cutoff} {index}");
            }
        }
    }
}

#[test]
fn rises_at_the_ends_of_pieces_contexts_and_subjects_are_found() {
    let scores = ScoreRows::of_matrix(
        &ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap().scores,
    );
    let mut random = Rng::with_seed(7);
    // One of the variants that test only the second of two steps.
    let Some(stepper) = steppers().into_iter().find(|stepper| stepper.gains_by_pairs()) else {
        return;
    };
    let group = |length: usize, cutoff, random: &mut Rng| {
        let mut context = ChunkContext::for_test(&random.protein(length));
        context.cutoff_ungapped = cutoff;
        let contexts = vec![context];
        let group = Group::with(&contexts, &[0], &scores, stepper).unwrap();
        (contexts, group)
    };
    assert_eq!(group(600, 35, &mut random).1.penalty, None);
    assert_eq!(group(600, 36, &mut random).1.penalty, Some(4));
    for _ in 0..40 {
        let (contexts, group) = group(600, 41, &mut random);
        let query = contexts[0].residues().to_vec();
        let positions = group.stepper.lanes() * group.elements;
        assert!(positions < query.len());
        let piece_ends = positions - 2..=positions + 2;
        for end in piece_ends.chain([query.len() - 1, query.len()]) {
            for (length, before) in (3..14).flat_map(|length| [(length, 20), (length, 21)]) {
                let copy = &query[end - length..end];
                let mut subject = [&random.protein(before)[..], copy].concat();
                // Ends with the copy, or goes on, or has a stored gap after it.
                match random.u8(0..3) {
                    0 => {}
                    1 => subject.extend(random.protein(30)),
                    _ => subject.extend([&[GAP][..], copy].concat()),
                }
                let mut candidates = Vec::new();
                group.filter(&[&subject], &mut FilterScratch::default(), &mut candidates);
                let expected = passing(&group, 0, &subject, &contexts, &scores);
                assert_eq!(candidates, expected, "{end} {length} {before}");
            }
        }
    }
}
