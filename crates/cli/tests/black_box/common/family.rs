//! Sequences that are alike, so that queries have hits everywhere in a database.

use crate::volumes::Random;

/// Residues of each sequence.
pub const LENGTH: usize = 160;

/// As many sequences, each like some of the others, the same for each seed.
pub fn family(seed: u64, count: usize) -> Vec<(String, Vec<u8>)> {
    let mut random = Random(seed);
    // The ancestors are those of all seeds.
    let mut ancestral = Random(77);
    let ancestors: Vec<_> = (0..6).map(|_| ancestral.protein(LENGTH)).collect();
    let mut member = |number: usize| {
        let mut letters = ancestors[number % ancestors.len()].clone();
        for letter in &mut letters {
            if random.below(100) < 30 {
                *letter = random.protein(1)[0];
            }
        }
        (format!("s{number} of a family"), letters)
    };
    (0..count).map(&mut member).collect()
}

/// The same as queries in FASTA.
pub fn queries(seed: u64, count: usize) -> Vec<String> {
    let text = |(number, (_, letters)): (usize, (String, Vec<u8>))| {
        format!(">q{number}\n{}\n", String::from_utf8_lossy(&letters))
    };
    family(seed, count).into_iter().enumerate().map(text).collect()
}
