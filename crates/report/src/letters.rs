//! The letters of reports, and which pairs of different letters count as positive.

use fleetblast_engine::params::Params;
use fleetblast_seq::frame::Frame;
use fleetblast_seq::{alphabet, nucleotide::blastna};
use fleetblast_stats::matrix::ScoreMatrix;

/// Returns the letters of a frame, indexed by code: residues for proteins and codons, bases for
/// strands.
pub fn frame_letters(frame: Frame) -> &'static [u8] {
    match frame {
        Frame::Protein | Frame::Codons(..) => &alphabet::LETTERS,
        Frame::Strand(_) => &blastna::LETTERS,
    }
}

/// Number of indexes of letters: their codes, and [`NO_LETTER`] for any other byte.
const INDEXES: usize = 32;
const NO_LETTER: usize = INDEXES - 1;
const _: () = assert!(alphabet::SIZE <= NO_LETTER);

/// The pairs of different letters that count as positive, because their score in the standard
/// matrix is positive. XML has other pairs than the other formats. For nucleotides only equal
/// letters count.
#[derive(Clone, Debug)]
pub enum PositivePairs {
    /// For each pair of letters, by index, whether it is positive.
    Matrix(Box<Table>),
    /// Only equal letters count.
    Equal,
}

type Table = [[bool; INDEXES]; INDEXES];

impl PositivePairs {
    /// Returns the positive pairs of the pairwise and tabular formats. They cover the letters of
    /// the old matrices, without `J`, `O` and `*`. A pair of `U` and `C` scores as `C` against `C`
    /// (`GetAsciiProteinMatrix`, align_format_util.cpp).
    pub fn for_text(params: &Params) -> Self {
        let Params::Protein(params) = params else { return Self::Equal };
        let scores = &params.scoring.scores;
        let mut table = among(scores, b"ARNDCQEGHILKMFPSTWYVBZX");
        let (u, c) = (usize::from(alphabet::U), usize::from(alphabet::C));
        table[u][c] = scores[c][c] > 0;
        table[c][u] = scores[c][c] > 0;
        Self::Matrix(table)
    }

    /// Returns the positive pairs of XML, which cover all letters of the stored matrix
    /// (`x_FillScoreMatrix`, data4xmlformat.cpp).
    pub fn for_xml(params: &Params) -> Self {
        match params {
            Params::Protein(params) => {
                Self::Matrix(among(&params.scoring.scores, b"ARNDCQEGHILKMFPSTWYVBJZX*"))
            }
            Params::Nucleotide(_) => Self::Equal,
        }
    }

    /// Whether the pairwise report prints the number of positives.
    pub fn are_reported(&self) -> bool {
        matches!(self, Self::Matrix(_))
    }

    /// Whether two capital letters are equal or have a positive score; false for different letters
    /// if one is a gap.
    pub fn is_positive(&self, query: u8, subject: u8) -> bool {
        query == subject || self.score(query, subject)
    }

    /// Returns the character of the middle line for a pair of letters.
    pub fn midline_symbol(&self, query: u8, subject: u8) -> u8 {
        match (query == subject, self) {
            (true, Self::Matrix(_)) => query,
            (true, Self::Equal) => b'|',
            (false, _) if self.score(query, subject) => b'+',
            (false, _) => b' ',
        }
    }

    fn score(&self, query: u8, subject: u8) -> bool {
        match self {
            Self::Matrix(table) => table[index(query)][index(subject)],
            Self::Equal => false,
        }
    }
}

fn index(letter: u8) -> usize {
    // All indexes are below this power of two; the mask spares a check of bounds.
    alphabet::encode(letter).map_or(NO_LETTER, usize::from) & (INDEXES - 1)
}

fn among(scores: &ScoreMatrix, letters: &[u8]) -> Box<Table> {
    let mut positive = Box::new([[false; INDEXES]; INDEXES]);
    let codes: Vec<_> =
        letters.iter().filter_map(|&c| alphabet::encode(c)).map(usize::from).collect();
    for &q in &codes {
        for &s in &codes {
            positive[q][s] = scores[q][s] > 0;
        }
    }
    positive
}
