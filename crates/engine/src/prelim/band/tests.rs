use super::*;
use crate::prelim::gapped::{extend, extend_restricted};
use crate::prelim::profile;
use crate::prelim::testing::{Random, kernels, related};
use fleetblast_seq::alphabet;
use fleetblast_stats::scoring::ScoringSystem;

/// A pair of sequences without their first residues.
fn shortened(random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let len = 1 + random.below(50) as usize;
    let (mut query, mut subject) = related(random, len);
    query.drain(..random.below(query.len() as u64) as usize);
    subject.drain(..random.below(subject.len() as u64) as usize);
    (query, [&[0; MARGIN], &subject[..], &[0; MARGIN]].concat())
}

#[test]
fn nothing_is_excluded_that_an_extension_reaches() {
    let mut random = Random::new(7);
    let (mut excluded, mut all) = (0, 0);
    for (matrix, bits) in [("BLOSUM62", 15.0), ("PAM30", 15.0), ("BLOSUM45", 12.0)] {
        let scoring = ScoringSystem::new(matrix, None, None).unwrap();
        let scores = profile::pad(&scoring.scores);
        let costs = GapCosts {
            open_extend: scoring.gap_open + scoring.gap_extend,
            extend: scoring.gap_extend,
            x_drop: (bits * std::f64::consts::LN_2 / scoring.gapped.lambda) as i32,
        };
        let mut cells = Vec::new();
        for _ in 0..4_000 {
            let pairs = [shortened(&mut random), shortened(&mut random)];
            let (mut exact, mut restricted) = (0, 0);
            for (query, padded) in &pairs {
                let ended = &padded[MARGIN..=padded.len() - MARGIN];
                exact += extend(query, ended, &scores, costs, &mut cells).score;
                restricted += extend_restricted(query, ended, &scores, costs, &mut cells).score;
            }
            let directions = [0, 1].map(|i| {
                let (query, subject) = &pairs[i];
                Direction { query, subject, at: MARGIN }
            });
            // The extensions take what they reach, so the smallest cut-off that is not reached tells how tight the bound is.
            let reached = exact.max(restricted);
            for (cutoff, may_exclude) in [(reached, false), (reached + 1, true)] {
                let answers = kernels().into_iter().map(|kernel| {
                    Band::new(&scores, costs, kernel).unwrap().excludes(directions, cutoff)
                });
                let answers: Vec<bool> = answers.collect();
                assert!(answers.iter().all(|&answer| answer == answers[0]), "{matrix}");
                assert!(may_exclude || !answers[0], "{matrix}: {reached}");
                all += usize::from(may_exclude);
                excluded += usize::from(answers[0]);
            }
        }
    }
    assert!(excluded * 10 > all * 9, "{excluded} of {all}");
}

#[test]
fn what_bytes_or_the_band_cannot_hold_is_not_bounded() {
    let scoring = ScoringSystem::new("BLOSUM62", None, None).unwrap();
    let scores = profile::pad(&scoring.scores);
    let costs = GapCosts { open_extend: 12, extend: 1, x_drop: 38 };
    let band = |costs| Band::new(&scores, costs, Kernel::detect());
    assert!(band(costs).is_some());
    assert!(band(GapCosts { x_drop: 44, ..costs }).is_none(), "gaps longer than the band");
    assert!(band(GapCosts { x_drop: 200, extend: 10, ..costs }).is_none());
    assert!(band(GapCosts { extend: 0, ..costs }).is_none());
    let subject = [0; 2 * MARGIN];
    let nowhere = [Direction { query: &[], subject: &subject, at: MARGIN }; 2];
    assert!(band(costs).unwrap().excludes(nowhere, 1));
    assert!(!band(costs).unwrap().excludes(nowhere, 0));
    // Scores beyond a byte.
    let query = [alphabet::encode(b'W').unwrap(); 60];
    let subject = [&[0; MARGIN], &query[..], &[0; MARGIN]].concat();
    let far = [Direction { query: &query, subject: &subject, at: MARGIN }; 2];
    assert!(!band(costs).unwrap().excludes(far, 5_000));
}
