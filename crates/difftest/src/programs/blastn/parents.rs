//! Draws common ancestors of query sets and databases, so that searches have hits.

use crate::bases::Bases;
use crate::fasta::Record;
use crate::fixtures::rng_for;
use crate::rng::Draw;
use crate::synth::{self, BASES};
use fastrand::Rng;

/// Sequences from which queries and subjects are derived.
pub struct Parents {
    /// Pieces of real genomes, 250 to 900 bases long.
    pub plain: Vec<Record>,
    /// Pieces with repeats.
    pub repeats: Vec<Record>,
    /// Pieces with long low-complexity runs.
    pub low: Vec<Record>,
}

impl Parents {
    /// Draws parents from real genomes.
    pub fn from_bases(bases: &Bases) -> Parents {
        let mut rng = rng_for("bases");
        let plain = (0..8).map(|i| {
            let length = rng.usize(250..=900);
            Record::new(format!("piece_{i} of a genome"), piece(&mut rng, bases, length))
        });
        let plain: Vec<Record> = plain.collect();
        let repeats =
            (0..4).map(|i| Record::new(format!("repeat_parent_{i}"), repeat(&mut rng, &plain)));
        let repeats = repeats.collect();
        let low = (0..4).map(|i| Record::new(format!("low_parent_{i}"), low(&mut rng, &plain)));
        let low = low.collect();
        Parents { plain, repeats, low }
    }
}

/// Draws a piece of a genome from either strand.
pub fn piece(rng: &mut Rng, bases: &Bases, length: usize) -> Vec<u8> {
    let genome = rng.pick(&bases.genomes);
    let piece = synth::fragment(rng, &genome.seq, length);
    either_strand(rng, piece)
}

/// Returns the sequence or its reverse complement.
pub fn either_strand(rng: &mut Rng, seq: Vec<u8>) -> Vec<u8> {
    if rng.chance(0.5) { synth::reverse_complement(&seq) } else { seq }
}

/// Returns a sequence followed by its reverse complement, with up to 19 random bases between them.
pub fn palindrome(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    let length = rng.usize(..20);
    let between = synth::random(rng, BASES.usual, length);
    [seq, &between, &synth::reverse_complement(seq)].concat()
}

/// Returns a unit of 20 to 90 bases, repeated three to eight times between two flanks. The copies
/// are mutated, and some are on the other strand.
fn repeat(rng: &mut Rng, plain: &[Record]) -> Vec<u8> {
    let length = rng.usize(20..=90);
    let unit = synth::fragment(rng, &plain[1].seq, length);
    let times = rng.usize(3..=8);
    let middle: Vec<u8> = (0..times)
        .flat_map(|_| {
            let copy = BASES.mutate(rng, &unit, 0.06);
            if rng.chance(0.3) { synth::reverse_complement(&copy) } else { copy }
        })
        .collect();
    let left = synth::fragment(rng, &plain[0].seq, 120);
    let right = synth::fragment(rng, &plain[plain.len() - 1].seq, 120);
    [left, middle, right].concat()
}

/// Returns a real piece with two low-complexity runs of 20 to 80 bases.
fn low(rng: &mut Rng, plain: &[Record]) -> Vec<u8> {
    let mut seq = rng.pick(plain).seq.clone();
    for _ in 0..2 {
        let length = rng.usize(20..=80);
        let run = BASES.low_complexity(rng, length);
        seq = synth::insert(rng, &seq, &run);
    }
    seq
}
