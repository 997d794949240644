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

    /// Returns the middle line of two rows of capital letters. A column has the letter (for
    /// nucleotides a bar) if both letters are equal, `+` if their score is positive, else a blank.
    pub fn midline(&self, query_row: &[u8], subject_row: &[u8]) -> Vec<u8> {
        let columns = query_row.iter().zip(subject_row);
        match self {
            Self::Matrix(table) => columns
                .map(|(&q, &s)| {
                    let unequal = [b' ', b'+'][usize::from(table[index(q)][index(s)])];
                    if q == s { q } else { unequal }
                })
                .collect(),
            Self::Equal => columns.map(|(q, s)| if q == s { b'|' } else { b' ' }).collect(),
        }
    }
}

/// Counts the columns of a middle line with equal letters or a positive score.
pub fn count_positives(midline: &[u8]) -> usize {
    midline.iter().filter(|&&symbol| symbol != b' ').count()
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
