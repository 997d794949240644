//! Sequences that are alike, so that queries have hits everywhere in a database.

use crate::volumes::protein;
use fastrand::Rng;

/// Number of residues of each sequence.
pub const LENGTH: usize = 160;

/// Returns a copy of a protein with this percentage of its letters replaced.
pub fn mutated(random: &mut Rng, parent: &[u8], percent: u64) -> Vec<u8> {
    let mut copy = parent.to_vec();
    for letter in &mut copy {
        if random.u64(..100) < percent {
            *letter = protein(random, 1)[0];
        }
    }
    copy
}

/// Returns `count` sequences with their titles. Each is similar to some of the others; equal seeds
/// give equal sequences.
pub fn family(seed: u64, count: usize) -> Vec<(String, Vec<u8>)> {
    let mut random = Rng::with_seed(seed);
    // The ancestors are the same for all seeds.
    let mut ancestral = Rng::with_seed(77);
    let ancestors: Vec<_> = (0..6).map(|_| protein(&mut ancestral, LENGTH)).collect();
    let mut member = |number: usize| {
        let letters = mutated(&mut random, &ancestors[number % ancestors.len()], 30);
        (format!("s{number} of a family"), letters)
    };
    (0..count).map(&mut member).collect()
}

/// Returns the sequences of [`family()`] as queries in FASTA, one text for each.
pub fn queries(seed: u64, count: usize) -> Vec<String> {
    let text = |(number, (_, letters)): (usize, (String, Vec<u8>))| {
        format!(">q{number}\n{}\n", String::from_utf8_lossy(&letters))
    };
    family(seed, count).into_iter().enumerate().map(text).collect()
}
