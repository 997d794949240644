//! Simulates random jobs of many seeds. Every task of every pass must be searched once and every
//! byte written once at its offset. Memory must stay within its limit, and no job may deadlock.

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::sim::ledger::Checkpoint;
use fleetblast_fleet::sim::trial;
use fleetblast_oracle::sample;

#[test]
fn random_jobs_come_out_right() {
    let mut resumed = 0;
    // If the sample resumes too few runs to prove anything, further seeds follow.
    for seed in sample(2, 0..1_000).into_iter().chain(1_000..2_000) {
        if seed >= 1_000 && resumed > 10 {
            break;
        }
        let outcomes = trial::simulate_seed(seed, 60).unwrap_or_else(|what| panic!("{what}"));
        let left = outcomes.iter().rev().skip(1).map(|outcome| &outcome.checkpoint);
        resumed += left.filter(|checkpoint| has_passes(checkpoint)).count();
    }
    assert!(resumed > 10, "only {resumed} runs began with passes that were kept");
}

/// Whether the checkpoint has passes of a block that is not finished.
fn has_passes(checkpoint: &Checkpoint) -> bool {
    let finished = checkpoint.finished_blocks();
    let blocks = (0..100).map(BlockId).filter(|block| !finished.contains_key(block));
    blocks.into_iter().any(|block| checkpoint.first_pass(block) > PassId(0))
}
