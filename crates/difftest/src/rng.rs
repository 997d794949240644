//! Random numbers for tests. The same seed gives the same test on every machine.

use fastrand::Rng;

/// Draws of random values that [`Rng`] lacks.
pub trait Draw {
    /// Returns true with probability `p`.
    fn chance(&mut self, p: f64) -> bool;

    /// Returns one of `items`, which must not be empty.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T;
}

impl Draw for Rng {
    fn chance(&mut self, p: f64) -> bool {
        self.f64() < p
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.usize(..items.len())]
    }
}

/// Returns the generator for item `index` of the run with `seed`, independent of those for other
/// items.
pub fn for_item(seed: u64, index: u64) -> Rng {
    // The first numbers of neighbouring seeds are correlated, so the seed itself is drawn.
    Rng::with_seed(Rng::with_seed(seed).u64(..) ^ index).fork()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A seed in a report of a failure must always give the same test.
    #[test]
    fn seeds_give_the_same_numbers_on_every_machine() {
        let numbers = [(7, 1), (7, 2), (8, 1)].map(|(seed, index)| {
            let mut rng = for_item(seed, index);
            (rng.usize(..1000), rng.chance(0.5))
        });
        assert_eq!(numbers, [(297, true), (673, false), (615, false)]);
    }
}
