//! The letters of reports, and which pairs of different letters count as positive.

use fleetblast_engine::params::Params;
use fleetblast_seq::frame::Frame;
use fleetblast_seq::{alphabet, nucleotide::blastna};
use fleetblast_stats::matrix::ScoreMatrix;

/// Returns the letters by code: of residues for proteins and codons, of bases for strands.
pub fn frame_letters(frame: Frame) -> &'static [u8] {
    match frame {
        Frame::Protein | Frame::Codons(..) => &alphabet::LETTERS,
        Frame::Strand(_) => &blastna::LETTERS,
    }
}

/// Pairs of different letters that count as positive, since their score in the standard matrix is
/// positive. The rules of XML differ from those of the other formats. For nucleotides only equal
/// letters count.
#[derive(Clone, Debug)]
pub enum PositivePairs {
    /// Indexed by NCBIstdaa codes.
    Matrix(Box<Table>),
    /// No pairs but the equal ones.
    Equal,
}

type Table = [[bool; alphabet::SIZE]; alphabet::SIZE];

impl PositivePairs {
    /// The positive pairs of the pairwise and tabular formats: the letters of the old matrices,
    /// without `J`, `O` and `*`; `U` counts as `C` against `C` (`GetAsciiProteinMatrix`,
    /// align_format_util.cpp).
    pub fn for_text(params: &Params) -> Self {
        let Params::Protein(params) = params else { return Self::Equal };
        let scores = &params.scoring.scores;
        let mut table = among(scores, b"ARNDCQEGHILKMFPSTWYVBZX");
        let (u, c) = (usize::from(alphabet::U), usize::from(alphabet::C));
        table[u][c] = scores[c][c] > 0;
        table[c][u] = scores[c][c] > 0;
        Self::Matrix(table)
    }

    /// The positive pairs of XML: the letters of the matrix as stored (`x_FillScoreMatrix`,
    /// data4xmlformat.cpp).
    pub fn for_xml(params: &Params) -> Self {
        match params {
            Params::Protein(params) => {
                Self::Matrix(among(&params.scoring.scores, b"ARNDCQEGHILKMFPSTWYVBJZX*"))
            }
            Params::Nucleotide(_) => Self::Equal,
        }
    }

    /// Whether the pairwise report has a number of positives.
    pub fn are_reported(&self) -> bool {
        matches!(self, Self::Matrix(_))
    }

    /// Whether a pair of capital letters is equal or has a positive score; never for a gap.
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
        match (self, alphabet::encode(query), alphabet::encode(subject)) {
            (Self::Matrix(table), Some(q), Some(s)) => table[usize::from(q)][usize::from(s)],
            _ => false,
        }
    }
}

fn among(scores: &ScoreMatrix, letters: &[u8]) -> Box<Table> {
    let mut positive = Box::new([[false; alphabet::SIZE]; alphabet::SIZE]);
    let codes: Vec<_> =
        letters.iter().filter_map(|&c| alphabet::encode(c)).map(usize::from).collect();
    for &q in &codes {
        for &s in &codes {
            positive[q][s] = scores[q][s] > 0;
        }
    }
    positive
}
