//! Makes nucleic acids that code for proteins.

use crate::fasta::Record;
use crate::rng::Draw;
use crate::synth::{self, BASES};
use fastrand::Rng;

/// Numbers of some genetic codes. The standard one is listed more often.
pub const CODES: &[&str] =
    &["1", "1", "2", "3", "4", "5", "6", "9", "11", "14", "16", "22", "31", "33"];
/// Values of `-max_intron_length`. BLAST+'s default is 122, and with values from 1 to 4 it does not
/// link HSPs.
pub const INTRONS: &[&str] =
    &["0", "1", "4", "5", "30", "121", "122", "123", "200", "1000", "100000"];

/// Bases in the order of the standard genetic code.
const TCAG: &[u8; 4] = b"TCAG";
/// The standard genetic code: residues of the codons TTT, TTC, TTA, TTG, TCT, ..., GGG.
const RESIDUES: &[u8; 64] = b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";

/// Maximal number of codons of a residue.
const MOST_CODONS: usize = 6;

/// The number of codons of each residue, and their numbers, ascending; indexed by the residue's
/// letter. It is computed at compile time, because the tester makes tens of millions of codons
/// before each table of cases.
static CODONS: [(usize, [u8; MOST_CODONS]); 128] = codons();

const fn codons() -> [(usize, [u8; MOST_CODONS]); 128] {
    let mut codons = [(0, [0; MOST_CODONS]); 128];
    let mut codon = 0;
    while codon < 64 {
        let (count, numbers) = &mut codons[RESIDUES[codon] as usize];
        numbers[*count] = codon as u8;
        *count += 1;
        codon += 1;
    }
    codons
}

/// Returns random codons of a protein. Letters for several residues have ambiguous codons. The case
/// of the letters stays.
pub fn coding(rng: &mut Rng, protein: &[u8]) -> Vec<u8> {
    let mut bases = Vec::with_capacity(3 * protein.len());
    for &residue in protein {
        bases.extend_from_slice(&codon(rng, residue));
    }
    bases
}

fn codon(rng: &mut Rng, residue: u8) -> [u8; 3] {
    let upper = residue.to_ascii_uppercase();
    let (count, codons) = CODONS.get(usize::from(upper)).copied().unwrap_or_default();
    let mut bases = match upper {
        _ if count > 0 => {
            let codon = usize::from(*rng.pick(&codons[..count]));
            [codon >> 4, codon >> 2 & 3, codon & 3].map(|base| TCAG[base])
        }
        b'B' => *b"RAY",
        b'Z' => *b"SAR",
        b'J' => *b"MTY",
        b'U' => *b"TGA",
        b'O' => *b"TAG",
        _ => *b"NNN",
    };
    if residue.is_ascii_lowercase() {
        bases.make_ascii_lowercase();
    }
    bases
}

/// Returns a gene of a protein between other bases, on either strand. Some genes have introns, or
/// one base more or less, so that one subject has hits in several frames.
pub fn gene(rng: &mut Rng, protein: &[u8]) -> Vec<u8> {
    let mut seq = coding(rng, protein);
    if rng.chance(0.2) {
        for _ in 0..rng.usize(1..=3) {
            let length = *rng.pick(&[15, 60, 100, 118, 122, 126, 150, 300, 900]);
            seq = with_intron(rng, &seq, length);
        }
    }
    if rng.chance(0.2) {
        seq = shift_frame(rng, &seq);
    }
    if rng.chance(0.1) {
        let rate = rng.f64() * 0.05;
        seq = BASES.odd_letters(rng, &seq, rate);
    }
    let (left, right) = (rng.usize(..200), rng.usize(..200));
    let ends = [left, right].map(|length| synth::random(rng, BASES.usual, length));
    let seq = [&ends[0], &seq[..], &ends[1]].concat();
    either_strand(rng, seq)
}

/// Returns genes of proteins, with the definition lines of the proteins.
pub fn genes_of(rng: &mut Rng, proteins: &[Record]) -> Vec<Record> {
    let gene = |protein: &Record| {
        Record::new(protein.header.clone(), gene(rng, &protein.seq.to_ascii_uppercase()))
    };
    proteins.iter().map(gene).collect()
}

/// Draws a sequence for a random trial: mostly a gene of the protein. Sometimes it is only the
/// codons of the protein or of its first `shortest` residues, and sometimes a few bases.
pub fn drawn(rng: &mut Rng, protein: &[u8], shortest: usize) -> Vec<u8> {
    let mut bases = match rng.usize(..12) {
        // This can be too short for a word.
        0 => coding(rng, &protein[..protein.len().min(shortest)]),
        1 => coding(rng, protein),
        _ => gene(rng, protein),
    };
    if rng.chance(0.05) {
        bases.truncate(rng.usize(1..=20));
    }
    bases
}

/// Returns a copy of a protein with two runs of `changed` other residues, one after a fifth of the
/// protein and one after four fifths.
pub fn changed_twice(protein: &[u8], changed: usize) -> Vec<u8> {
    let mut copy = protein.to_vec();
    let length = copy.len();
    for at in [length / 5, length * 4 / 5] {
        for residue in &mut copy[at..length.min(at + changed)] {
            *residue = if *residue == b'W' { b'G' } else { b'W' };
        }
    }
    copy
}

/// Returns records of every third letter, so that they are as long as the frames of the given ones.
pub fn of_frame_length(records: &[Record]) -> Vec<Record> {
    let frame = |record: &Record| {
        let letters: Vec<u8> = record.seq.iter().step_by(3).copied().collect();
        Record::new(record.header.clone(), letters)
    };
    records.iter().map(frame).collect()
}

/// Inserts an intron of this length at a random position.
pub fn with_intron(rng: &mut Rng, seq: &[u8], length: usize) -> Vec<u8> {
    let middle = synth::random(rng, BASES.usual, length.saturating_sub(4));
    let intron = [b"GT", &middle[..], b"AG"].concat();
    synth::insert(rng, seq, &intron)
}

/// Adds or removes a base at a random position.
pub fn shift_frame(rng: &mut Rng, seq: &[u8]) -> Vec<u8> {
    if seq.is_empty() || rng.chance(0.5) {
        let base = [*rng.pick(BASES.usual)];
        return synth::insert(rng, seq, &base);
    }
    let at = rng.usize(..seq.len());
    [&seq[..at], &seq[at + 1..]].concat()
}

/// Returns the sequence, or its reverse complement.
pub fn either_strand(rng: &mut Rng, seq: Vec<u8>) -> Vec<u8> {
    if rng.chance(0.5) { synth::reverse_complement(&seq) } else { seq }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codons_code_for_their_residue() {
        let mut rng = Rng::with_seed(2);
        assert_eq!(coding(&mut rng, b"MWmw"), b"ATGTGGatgtgg");
        assert_eq!(coding(&mut rng, b"BX-"), b"RAYNNNNNN");
        let codon = coding(&mut rng, b"F");
        assert!(codon == b"TTT" || codon == b"TTC");
    }

    #[test]
    fn genes_are_longer_than_their_protein() {
        let mut rng = Rng::with_seed(3);
        let protein = b"MKVLAWGDEFHIRNPQSTYC".repeat(3);
        assert!((0..50).all(|_| gene(&mut rng, &protein).len() >= 3 * protein.len() - 1));
        assert_eq!(with_intron(&mut rng, b"ACGT", 60).len(), 64);
    }
}
