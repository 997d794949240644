//! The share of all comparisons that a run of the tests makes.

use std::env;

/// The variable that chooses; `make test` sets it to its `SAMPLE`. `all` is everything.
pub const SAMPLE: &str = "FLEETBLAST_SAMPLE";

fn wanted() -> String {
    let wanted = env::var(SAMPLE).unwrap_or_default();
    println!("{SAMPLE}={wanted}");
    wanted
}

/// A seed for random tests.
#[must_use]
pub fn seed() -> u64 {
    wanted().parse().unwrap_or(1)
}

/// One of so many shares.
pub fn sample<T>(shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    sample_from(0, shares, all)
}

/// The same, where tests of the same things with other inputs, by `turn`, are to take different shares.
pub fn sample_from<T>(turn: usize, shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let wanted = wanted();
    let seed: usize = wanted.parse().unwrap_or(1);
    let is_taken = |number: usize| wanted == "all" || (number + turn + seed).is_multiple_of(shares);
    let all = all.into_iter().enumerate();
    all.filter(|(number, _)| is_taken(*number)).map(|(_, one)| one).collect()
}
