//! Sequences with chosen properties, made from real ones: mutated, shuffled, repeated, joined,
//! enriched with low complexity or odd letters.

use crate::fasta::Record;
use crate::rng::Rng;

/// The twenty amino acids.
pub const AMINO: &[u8] = b"ARNDCQEGHILKMFPSTWYV";
/// Letters that are legal in a protein but are none of the twenty.
pub const ODD: &[u8] = b"BZJXUO*";

/// `length` independent letters with the frequencies of `like`.
pub fn random(rng: &mut Rng, like: &[u8], length: usize) -> Vec<u8> {
    let source = if like.is_empty() { AMINO } else { like };
    (0..length).map(|_| *rng.pick(source)).collect()
}

/// A part of `seq` of at most `length` letters from a random place.
pub fn fragment(rng: &mut Rng, seq: &[u8], length: usize) -> Vec<u8> {
    let length = length.min(seq.len());
    let start = rng.below(seq.len() - length + 1);
    seq[start..start + length].to_vec()
}

/// `seq` with each letter replaced with probability `rate`, and short insertions and deletions
/// with probability `rate / 10`.
pub fn mutate(rng: &mut Rng, seq: &[u8], rate: f64) -> Vec<u8> {
    let mut out = Vec::with_capacity(seq.len() + 16);
    let mut at = 0;
    while at < seq.len() {
        if rng.chance(rate / 10.0) {
            if rng.chance(0.5) {
                at += rng.between(1, 8);
                continue;
            }
            let length = rng.between(1, 8);
            out.extend(random(rng, AMINO, length));
        }
        out.push(if rng.chance(rate) { *rng.pick(AMINO) } else { seq[at] });
        at += 1;
    }
    out
}

/// The letters of `seq` in random order.
pub fn shuffle(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    let mut out = seq.to_vec();
    for i in (1..out.len()).rev() {
        out.swap(i, rng.below(i + 1));
    }
    out
}

/// `unit` repeated `times` in tandem, each copy mutated by itself.
pub fn tandem(rng: &mut Rng, unit: &[u8], times: usize, rate: f64) -> Vec<u8> {
    (0..times).flat_map(|_| mutate(rng, unit, rate)).collect()
}

/// A low-complexity run: one to three letters, in order or mixed.
pub fn low_complexity(rng: &mut Rng, length: usize) -> Vec<u8> {
    let kinds = rng.between(1, 3);
    let letters: Vec<u8> = (0..kinds).map(|_| *rng.pick(AMINO)).collect();
    if rng.chance(0.5) {
        (0..length).map(|i| letters[i % kinds]).collect()
    } else {
        (0..length).map(|_| *rng.pick(&letters)).collect()
    }
}

/// `seq` with `piece` put in at a random place.
pub fn insert(rng: &mut Rng, seq: &[u8], piece: &[u8]) -> Vec<u8> {
    let at = rng.below(seq.len() + 1);
    [&seq[..at], piece, &seq[at..]].concat()
}

/// `seq` with about a fraction `rate` of its letters replaced by [`ODD`] ones.
pub fn odd_letters(rng: &mut Rng, seq: &[u8], rate: f64) -> Vec<u8> {
    seq.iter().map(|&b| if rng.chance(rate) { *rng.pick(ODD) } else { b }).collect()
}

/// `seq` with some stretches in lower case, as masked by the user.
pub fn lower_case_runs(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    let mut out = seq.to_vec();
    for _ in 0..rng.between(1, 3) {
        let length = rng.between(1, 60).min(out.len());
        let start = rng.below(out.len() - length + 1);
        out[start..start + length].make_ascii_lowercase();
    }
    out
}

/// Whole members of `pool` joined until there are at least `length` residues.
pub fn chimera(rng: &mut Rng, pool: &[Record], length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < length {
        out.extend_from_slice(&rng.pick(pool).seq);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_letters_are_as_promised() {
        let mut rng = Rng::new(3);
        let seq = random(&mut rng, AMINO, 200);
        assert_eq!(seq.len(), 200);
        let mut shuffled = shuffle(&mut rng, &seq);
        let mut sorted = seq.clone();
        assert_ne!(shuffled, seq);
        shuffled.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(shuffled, sorted);
        assert_eq!(mutate(&mut rng, &seq, 0.0), seq);
        assert_ne!(mutate(&mut rng, &seq, 0.3), seq);
        assert_eq!(tandem(&mut rng, &seq, 3, 0.0).len(), 600);
        assert_eq!(fragment(&mut rng, &seq, 500), seq);
        let masked = lower_case_runs(&mut rng, &seq);
        assert!(masked.iter().any(u8::is_ascii_lowercase));
        assert_eq!(masked.to_ascii_uppercase(), seq);
        let pool = [Record::new("a", &b"MK"[..])];
        assert_eq!(chimera(&mut rng, &pool, 5), b"MKMKMK");
    }
}
