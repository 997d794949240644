//! Makes sequences with chosen properties from real ones: mutated, shuffled, repeated, joined, with
//! low complexity or odd letters.

use crate::fasta::Record;
use crate::rng::Draw;
use fastrand::Rng;

/// The alphabet of a kind of sequence.
#[derive(Debug)]
pub struct Letters {
    /// Usual letters.
    pub usual: &'static [u8],
    /// Other legal letters.
    pub odd: &'static [u8],
}

/// The twenty amino acids, and the other letters of proteins.
pub const PROTEIN: Letters = Letters { usual: b"ARNDCQEGHILKMFPSTWYV", odd: b"BZJXUO*" };
/// The four bases, and the letters for sets of bases.
pub const BASES: Letters = Letters { usual: b"ACGT", odd: b"NNNNRYMKWSBDHV" };

/// Returns `length` independent letters with the frequencies of `like`, which must not be empty.
pub fn random(rng: &mut Rng, like: &[u8], length: usize) -> Vec<u8> {
    (0..length).map(|_| *rng.pick(like)).collect()
}

impl Letters {
    /// Replaces each letter of `seq` with probability `rate`, and makes short insertions and
    /// deletions with probability `rate / 10`.
    pub fn mutate(&self, rng: &mut Rng, seq: &[u8], rate: f64) -> Vec<u8> {
        let mut out = Vec::with_capacity(seq.len() + 16);
        let mut at = 0;
        while at < seq.len() {
            if rng.chance(rate / 10.0) {
                if rng.chance(0.5) {
                    at += rng.usize(1..=8);
                    continue;
                }
                let length = rng.usize(1..=8);
                out.extend(random(rng, self.usual, length));
            }
            out.push(if rng.chance(rate) { *rng.pick(self.usual) } else { seq[at] });
            at += 1;
        }
        out
    }

    /// Repeats `unit` `times` in tandem, each copy mutated separately.
    pub fn tandem(&self, rng: &mut Rng, unit: &[u8], times: usize, rate: f64) -> Vec<u8> {
        (0..times).flat_map(|_| self.mutate(rng, unit, rate)).collect()
    }

    /// Returns a low-complexity run of one to three different letters, in a fixed or a random
    /// order.
    pub fn low_complexity(&self, rng: &mut Rng, length: usize) -> Vec<u8> {
        let kinds = rng.usize(1..=3);
        let letters: Vec<u8> = (0..kinds).map(|_| *rng.pick(self.usual)).collect();
        if rng.chance(0.5) {
            (0..length).map(|i| letters[i % kinds]).collect()
        } else {
            (0..length).map(|_| *rng.pick(&letters)).collect()
        }
    }

    /// Replaces about a fraction `rate` of the letters by odd ones.
    pub fn odd_letters(&self, rng: &mut Rng, seq: &[u8], rate: f64) -> Vec<u8> {
        seq.iter().map(|&b| if rng.chance(rate) { *rng.pick(self.odd) } else { b }).collect()
    }
}

/// Returns a part of `seq` of at most `length` letters from a random position.
pub fn fragment(rng: &mut Rng, seq: &[u8], length: usize) -> Vec<u8> {
    let length = length.min(seq.len());
    let start = rng.usize(..=seq.len() - length);
    seq[start..start + length].to_vec()
}

/// Returns the letters of `seq` in random order.
pub fn shuffle(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    let mut out = seq.to_vec();
    rng.shuffle(&mut out);
    out
}

/// Inserts `piece` into `seq` at a random position.
pub fn insert(rng: &mut Rng, seq: &[u8], piece: &[u8]) -> Vec<u8> {
    let at = rng.usize(..=seq.len());
    [&seq[..at], piece, &seq[at..]].concat()
}

/// Puts some ranges of `seq` in lower case, by which users mark masks.
pub fn lower_case_runs(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    let mut out = seq.to_vec();
    for _ in 0..rng.usize(1..=3) {
        let length = rng.usize(1..=60).min(out.len());
        let start = rng.usize(..=out.len() - length);
        out[start..start + length].make_ascii_lowercase();
    }
    out
}

/// Joins whole sequences of `pool` until there are at least `length` residues.
pub fn chimera(rng: &mut Rng, pool: &[Record], length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < length {
        out.extend_from_slice(&rng.pick(pool).seq);
    }
    out
}

/// The complement of each base or ambiguity code, indexed by letter; N for any other letter.
/// Letters keep their case.
static COMPLEMENTS: [u8; 256] = complements();

const fn complements() -> [u8; 256] {
    let (from, to) = (b"ACGTRYMKWSBDHVN", b"TGCAYRKMWSVHDBN");
    let mut complements = [b'N'; 256];
    let mut letter = b'a';
    while letter <= b'z' {
        complements[letter as usize] = b'n';
        letter += 1;
    }
    let mut at = 0;
    while at < from.len() {
        complements[from[at] as usize] = to[at];
        complements[from[at].to_ascii_lowercase() as usize] = to[at].to_ascii_lowercase();
        at += 1;
    }
    complements
}

/// Returns the reverse complement.
pub fn reverse_complement(seq: &[u8]) -> Vec<u8> {
    seq.iter().rev().map(|&base| COMPLEMENTS[usize::from(base)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_letters_are_as_promised() {
        let mut rng = Rng::with_seed(3);
        let seq = random(&mut rng, PROTEIN.usual, 200);
        assert_eq!(seq.len(), 200);
        let mut shuffled = shuffle(&mut rng, &seq);
        let mut sorted = seq.clone();
        assert_ne!(shuffled, seq);
        shuffled.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(shuffled, sorted);
        assert_eq!(PROTEIN.mutate(&mut rng, &seq, 0.0), seq);
        assert_ne!(PROTEIN.mutate(&mut rng, &seq, 0.3), seq);
        assert_eq!(PROTEIN.tandem(&mut rng, &seq, 3, 0.0).len(), 600);
        assert_eq!(fragment(&mut rng, &seq, 500), seq);
        let masked = lower_case_runs(&mut rng, &seq);
        assert!(masked.iter().any(u8::is_ascii_lowercase));
        assert_eq!(masked.to_ascii_uppercase(), seq);
        let pool = [Record::new("a", &b"MK"[..])];
        assert_eq!(chimera(&mut rng, &pool, 5), b"MKMKMK");
    }

    #[test]
    fn the_other_strand_of_the_other_strand_is_the_same() {
        let seq = b"ACGTnRYMKWSBDHVacgt";
        assert_eq!(reverse_complement(b"AACGr"), b"yCGTT");
        assert_eq!(reverse_complement(&reverse_complement(seq)), seq);
    }
}
