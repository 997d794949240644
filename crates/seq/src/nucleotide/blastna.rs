//! The alphabet blastna, in which BLAST+ compares nucleotides: the four bases first, then the
//! ambiguity codes.

/// Number of codes.
pub const SIZE: usize = 16;

/// The letter of each code.
pub const LETTERS: [u8; SIZE] = *b"ACGTRYMKWSBDHVN-";

/// Codes below this one are single bases.
pub const BASES: u8 = 4;
/// Code of `N`, any base.
pub const N: u8 = 14;
/// The sentinel before, between and after contexts in memory. Its letter is the gap.
pub const SENTINEL: u8 = 15;

/// The blastna code of each ncbi4na code.
const OF_NCBI4NA: [u8; SIZE] = [15, 0, 1, 6, 2, 4, 9, 13, 3, 8, 5, 12, 7, 11, 10, 14];

/// The ncbi4na code of each blastna code.
const NCBI4NA: [u8; SIZE] = [1, 2, 4, 8, 5, 10, 3, 12, 9, 6, 14, 13, 11, 7, 15, 0];

/// Converts an ncbi4na code to blastna.
///
/// ```
/// use fleetblast_seq::nucleotide::{blastna, encode};
/// let code = |letter| blastna::from_ncbi4na(encode(letter).unwrap());
/// assert_eq!([b'A', b'c', b'g', b'U', b'R', b'n'].map(code), [0, 1, 2, 3, 4, blastna::N]);
/// ```
pub const fn from_ncbi4na(code: u8) -> u8 {
    OF_NCBI4NA[(code & 15) as usize]
}

/// Converts a blastna code to ncbi4na, which has one bit for each of A, C, G and T, from the
/// lowest.
pub const fn to_ncbi4na(code: u8) -> u8 {
    NCBI4NA[(code & 15) as usize]
}

/// Returns the complement of a code. The complement of the sentinel is the sentinel.
pub const fn complement(code: u8) -> u8 {
    // In ncbi4na, A and T swap their bits, and C and G.
    from_ncbi4na(to_ncbi4na(code).reverse_bits() >> 4)
}

/// Returns the reverse complement of a sequence of blastna codes.
pub fn reverse_complement(codes: &[u8]) -> Vec<u8> {
    codes.iter().rev().map(|&code| complement(code)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nucleotide;

    #[test]
    fn codes_are_those_of_the_letters() {
        for code in 0..SIZE as u8 {
            let letter = nucleotide::LETTERS[usize::from(to_ncbi4na(code))];
            assert_eq!(letter, LETTERS[usize::from(code)]);
            assert_eq!(from_ncbi4na(to_ncbi4na(code)), code);
            assert_eq!(complement(complement(code)), code);
        }
    }

    #[test]
    fn complements_are_those_of_iupac() {
        let complements: Vec<u8> =
            (0..SIZE as u8).map(|code| LETTERS[usize::from(complement(code))]).collect();
        assert_eq!(complements, *b"TGCAYRKMWSVHDBN-");
    }
}
