//! Selects the share of all comparisons that a test run makes.

use std::env;

/// The variable that selects the share; `make test` sets it to its `SAMPLE`. `all` selects
/// everything.
pub const SAMPLE: &str = "FLEETBLAST_SAMPLE";

/// Items per share from which on a list is long. Each start of BLAST+ takes some 0.1 s.
const LONG: usize = 6;

fn wanted() -> String {
    let wanted = env::var(SAMPLE).unwrap_or_default();
    println!("{SAMPLE}={wanted}");
    wanted
}

/// The seed for random tests.
#[must_use]
pub fn seed() -> u64 {
    wanted().parse().unwrap_or(1)
}

/// Selects one of `shares` shares, and of long lists one of twice as many.
pub fn sample<T>(shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    sample_from(0, shares, all)
}

/// As `sample`, with another share for each `turn`. Tests of the same things with other inputs use
/// different turns.
pub fn sample_from<T>(turn: usize, shares: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let wanted = wanted();
    let seed: usize = wanted.parse().unwrap_or(1);
    let all: Vec<T> = all.into_iter().collect();
    let shares = if all.len() >= LONG * shares { 2 * shares } else { shares };
    let is_taken = |number: usize| wanted == "all" || (number + turn + seed).is_multiple_of(shares);
    let all = all.into_iter().enumerate();
    all.filter(|(number, _)| is_taken(*number)).map(|(_, one)| one).collect()
}
