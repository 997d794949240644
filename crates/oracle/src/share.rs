//! Selects the share of all comparisons that a test run makes.

use std::env;

/// Name of the environment variable that selects the share: a number, or `all` for everything.
/// `make test` sets it to its variable `SAMPLE`.
pub const SAMPLE: &str = "FLEETBLAST_SAMPLE";

/// Number of items per share from which on a list counts as long. Long lists get smaller shares,
/// because each start of BLAST+ takes about 0.1 s.
const LONG: usize = 6;

fn wanted() -> String {
    let wanted = env::var(SAMPLE).unwrap_or_default();
    println!("{SAMPLE}={wanted}");
    wanted
}

/// Returns the seed for random tests: the number in [`SAMPLE`], or 1.
#[must_use]
pub fn seed() -> u64 {
    wanted().parse().unwrap_or(1)
}

/// Returns the items of `all` that belong to this test run's share: one in `shares`. In long lists
/// the share is half as large.
pub fn sample<T>(shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    sample_from(0, shares, all)
}

/// Selects items as [`sample`] does, but another share for each `turn`. Tests of the same things
/// with different inputs use different turns.
pub fn sample_from<T>(turn: usize, shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let wanted = wanted();
    let seed: usize = wanted.parse().unwrap_or(1);
    let all: Vec<T> = all.into_iter().collect();
    let shares = if all.len() >= LONG * shares { 2 * shares } else { shares };
    let is_taken = |number: usize| wanted == "all" || (number + turn + seed).is_multiple_of(shares);
    let all = all.into_iter().enumerate();
    all.filter(|(number, _)| is_taken(*number)).map(|(_, one)| one).collect()
}
