//! Translation of nucleotides to proteins by the genetic codes of NCBI.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::alphabet;
use crate::frame::{Frame, Strand};
use crate::nucleotide::blastna;

const TABLE: &str = include_str!("../data/genetic_codes.tsv");

/// Number of codons of the four bases.
const CODONS: usize = 64;
/// Number of ncbi4na codes.
const AMBIGUOUS: usize = 16;
/// Number of codons of ncbi4na codes.
const AMBIGUOUS_CODONS: usize = AMBIGUOUS * AMBIGUOUS * AMBIGUOUS;
/// The ncbi4na codes of T, C, A and G, which is the order of bases in the table's codons.
const TCAG: [u8; 4] = [8, 2, 1, 4];

/// The frames of a translated sequence in the order of BLAST+'s contexts.
pub const FRAMES: [Frame; 6] = [
    Frame::Codons(Strand::Plus, 0),
    Frame::Codons(Strand::Plus, 1),
    Frame::Codons(Strand::Plus, 2),
    Frame::Codons(Strand::Minus, 0),
    Frame::Codons(Strand::Minus, 1),
    Frame::Codons(Strand::Minus, 2),
];

/// A genetic code (`-query_gencode`, `-db_gencode`).
#[derive(Clone)]
pub struct GeneticCode {
    id: u8,
    /// NCBIstdaa code of each codon of ncbi4na codes. The first base is the most significant.
    codons: Box<[u8; AMBIGUOUS_CODONS]>,
    /// As `codons`, with the residues that reports show.
    shown: Box<[u8; AMBIGUOUS_CODONS]>,
    /// NCBIstdaa code of each codon of bases (A 0, C 1, G 2, T 3). The first base is the most
    /// significant.
    of_bases: [u8; CODONS],
}

impl GeneticCode {
    /// Returns NCBI's number of the code.
    pub fn number(&self) -> u8 {
        self.id
    }

    /// Returns the genetic code with NCBI's number `id`; `None` for an unknown number.
    pub fn new(id: u8) -> Option<GeneticCode> {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
        let mut rows = lines.filter_map(|line| line.split_once('\t'));
        let (_, letters) = rows.find(|(number, _)| number.parse() == Ok(id))?;
        let residues: Vec<u8> = letters.bytes().filter_map(alphabet::encode).collect();
        let residues: [u8; CODONS] = residues.try_into().ok()?;
        let table = |join: fn(u8, u8) -> u8| {
            let mut codons = Box::new([0; AMBIGUOUS_CODONS]);
            for (codon, residue) in codons.iter_mut().enumerate() {
                let bases = [codon >> 8, codon >> 4 & 15, codon & 15].map(|base| base as u8);
                *residue = joined_residue(&residues, bases, join);
            }
            codons
        };
        let (codons, shown) = (table(|_, _| alphabet::X), table(shown_residue));
        let bases = |codon: usize| [codon >> 4, codon >> 2 & 3, codon & 3].map(|base| base as u8);
        let of_bases = std::array::from_fn(|codon| codons[codon_index(bases(codon))]);
        Some(GeneticCode { id, codons, shown, of_bases })
    }

    /// Returns the standard genetic code.
    pub fn standard() -> GeneticCode {
        GeneticCode::new(1).expect("the table begins with the standard code")
    }

    /// Returns NCBI's number of the code.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Translates blastna codes from the first letter on. An ambiguous codon becomes X, unless all
    /// codons that it can mean have the same residue. One or two letters left at the end are
    /// ignored.
    pub fn translate(&self, letters: &[u8]) -> Vec<u8> {
        // A codon with a gap has no residue (`BLAST_GetTranslation`, blast_util.c).
        letters.as_chunks().0.iter().map(|codon| self.residue(*codon)).filter(|&r| r != 0).collect()
    }

    /// Translates the strand of `frame` from its first letter on. `letters` is the plus strand.
    pub fn translate_strand(&self, letters: &[u8], frame: Frame) -> Vec<u8> {
        match frame.strand() {
            Some(Strand::Minus) => self.translate(&blastna::reverse_complement(letters)),
            Some(Strand::Plus) | None => self.translate(letters),
        }
    }

    /// Translates like [`Self::translate`], but to the residues that reports show: an ambiguous
    /// codon can also become B, Z or J.
    pub fn translate_for_report(&self, letters: &[u8]) -> Vec<u8> {
        let codons = letters.as_chunks().0.iter().filter(|codon| self.residue(**codon) != 0);
        codons.map(|codon| self.shown[codon_index(*codon)]).collect()
    }

    /// Translates bases (A 0, C 1, G 2, T 3) in a frame of codons, and appends the residues. For
    /// other frames it does nothing.
    pub fn append_frame(&self, bases: &[u8], frame: Frame, residues: &mut Vec<u8>) {
        let Frame::Codons(strand, offset) = frame else { return };
        let length = bases.len().saturating_sub(usize::from(offset));
        let residue = |first: u8, second: u8, third: u8| {
            self.of_bases[usize::from((first & 3) << 4 | (second & 3) << 2 | third & 3)]
        };
        match strand {
            Strand::Plus => {
                let codons = bases[bases.len() - length..].as_chunks::<3>().0;
                residues.extend(codons.iter().map(|&[a, b, c]| residue(a, b, c)));
            }
            Strand::Minus => {
                // The codes of a base and its complement add up to 3.
                let codons = bases[..length].as_rchunks::<3>().1.iter().rev();
                residues.extend(codons.map(|&[c, b, a]| residue(3 - a, 3 - b, 3 - c)));
            }
        }
    }

    /// Returns the NCBIstdaa code of a codon of blastna codes; 0 if it contains a gap.
    fn residue(&self, codon: [u8; 3]) -> u8 {
        self.codons[codon_index(codon)]
    }
}

/// Returns the index in the tables of a codon of blastna codes.
fn codon_index(codon: [u8; 3]) -> usize {
    let [first, second, third] = codon.map(|letter| usize::from(blastna::to_ncbi4na(letter)));
    first << 8 | second << 4 | third
}

/// Returns the residue that reports show for two different residues: B for D and N, Z for E and Q,
/// J for I and L, otherwise X (`CTrans_table::x_InitFsaTransl`, Genetic_code_table.cpp).
fn shown_residue(first: u8, second: u8) -> u8 {
    let pairs = [(*b"DN", b'B'), (*b"EQ", b'Z'), (*b"IL", b'J')];
    let letters = [first, second].map(alphabet::decode);
    let joint = pairs.into_iter().find(|(pair, joint)| {
        pair.contains(&letters[1]) && (pair.contains(&letters[0]) || letters[0] == *joint)
    });
    joint.and_then(|(_, joint)| alphabet::encode(joint)).unwrap_or(alphabet::X)
}

/// Returns the residue of a codon of ncbi4na codes, if all codons that it can mean have the same
/// one; 0 if there are none (`s_CodonToAA`, blast_util.c). `join` returns the residue for two
/// different ones.
fn joined_residue(residues: &[u8; 64], bases: [u8; 3], join: fn(u8, u8) -> u8) -> u8 {
    let plain_bases = |base: u8| (0..4).filter(move |&place| base & TCAG[place] != 0);
    let mut common = 0;
    for first in plain_bases(bases[0]) {
        for second in plain_bases(bases[1]) {
            for third in plain_bases(bases[2]) {
                let residue = residues[16 * first + 4 * second + third];
                match common {
                    0 => common = residue,
                    _ if common != residue => common = join(common, residue),
                    _ => {}
                }
            }
        }
    }
    common
}

/// Error for a number that is not the number of a genetic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownGeneticCode;

impl TryFrom<i64> for GeneticCode {
    type Error = UnknownGeneticCode;

    fn try_from(id: i64) -> Result<Self, UnknownGeneticCode> {
        u8::try_from(id).ok().and_then(GeneticCode::new).ok_or(UnknownGeneticCode)
    }
}

impl fmt::Debug for GeneticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GeneticCode").field(&self.id).finish()
    }
}

impl PartialEq for GeneticCode {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Serialize for GeneticCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GeneticCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = u8::deserialize(deserializer)?;
        GeneticCode::new(id).ok_or_else(|| D::Error::custom("unknown genetic code"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nucleotide;

    fn translate(code: u8, bases: &str) -> String {
        let letter =
            |base: u8| nucleotide::encode(base).map_or(blastna::SENTINEL, blastna::from_ncbi4na);
        let letters: Vec<u8> = bases.bytes().map(letter).collect();
        let residues = GeneticCode::new(code).expect("a known code").translate(&letters);
        residues.into_iter().map(|residue| char::from(alphabet::decode(residue))).collect()
    }

    #[test]
    fn codes_differ() {
        assert_eq!(translate(1, "ATGTGAAGAATA"), "M*RI");
        assert_eq!(translate(2, "ATGTGAAGAATAT"), "MW*M");
    }

    #[test]
    fn ambiguous_codons_have_the_residue_of_all_their_plain_codons() {
        assert_eq!(translate(1, "GCNATHYTRAARGGNMGNTARNNN"), "AILKGX*X");
        assert_eq!(translate(1, "GC-ATG"), "M");
        let shown = |bases: &str| {
            let letter = |base| nucleotide::encode(base).map_or(15, blastna::from_ncbi4na);
            let letters: Vec<u8> = bases.bytes().map(letter).collect();
            let residues =
                GeneticCode::new(1).expect("a known code").translate_for_report(&letters);
            residues.into_iter().map(|residue| char::from(alphabet::decode(residue))).collect()
        };
        let shown: String = shown("RAYSARMTTGCNATNMGNAARNAR");
        assert_eq!(shown, "BZJAXXKX");
    }

    #[test]
    fn frames_of_bases_are_those_of_letters() {
        let mut random = fastrand::Rng::with_seed(5);
        for length in [0, 1, 2, 3, 4, 5, 50, 301] {
            let bases: Vec<u8> = (0..length).map(|_| random.u8(..4)).collect();
            let minus = blastna::reverse_complement(&bases);
            let code = GeneticCode::new(random.u8(1..=6)).expect("a known code");
            for frame in FRAMES {
                let Frame::Codons(strand, offset) = frame else { unreachable!() };
                let strand = if strand == Strand::Plus { &bases } else { &minus };
                let letters = strand.get(usize::from(offset)..).unwrap_or_default();
                let mut residues = Vec::new();
                code.append_frame(&bases, frame, &mut residues);
                assert_eq!(residues, code.translate(letters), "{frame:?}, {length} bases");
            }
        }
    }

    #[test]
    fn the_standard_code_is_the_first() {
        assert_eq!(
            GeneticCode::new(1).expect("a known code").codons,
            GeneticCode::standard().codons
        );
    }

    #[test]
    fn only_the_numbers_of_ncbi_exist() {
        let known: Vec<u8> = (0..=255).filter(|&id| GeneticCode::new(id).is_some()).collect();
        let expected: Vec<u8> = (1..=6).chain(9..=16).chain(21..=33).collect();
        assert_eq!(known, expected);
    }
}
