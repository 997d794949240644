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
    let mut steppers: Vec<Stepper> = kernels().into_iter().map(Stepper::for_kernel).collect();
    #[cfg(target_arch = "x86_64")]
    if let Some(proof) = Avx512::detect() {
        let watches = [ThresholdTest::Comparison, ThresholdTest::Maximum];
        steppers.extend(watches.map(|watch| Stepper::Avx512(proof, watch)));
    }
    steppers
}

#[test]
fn variants_agree_with_the_definition() {
    let scores = ScoreRows::of_matrix(
        &ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap().scores,
    );
    let mut random = Rng::with_seed(99);
    // For cut-offs up to 117, with a highest score of 11, the portable filter detects rises in
    // another way than for higher ones.
    let usual = [&[1][..], &[62], &[63, 64, 65], &[300, 7, 500], &[1500], &[2600, 900]];
    let higher = (112..=132).chain([MAX_CUTOFF]).map(|cutoff| (cutoff, &[300, 7, 80][..]));
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
