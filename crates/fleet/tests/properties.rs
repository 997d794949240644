//! Whatever the seed: every task once, every byte once and in its place, memory within its bound, no deadlock.

use fleetblast_fleet::sim::trial;

#[test]
fn random_jobs_come_out_right() {
    for seed in 0..400 {
        trial::run(seed, 60).unwrap_or_else(|what| panic!("{what}"));
    }
}
