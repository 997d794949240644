//! The letters of reports, and which pairs of different ones count as positive.

use fleetblast_seq::frame::Frame;
use fleetblast_seq::{alphabet, nucleotide};
use fleetblast_stats::matrix::Scores;

/// The letters of the codes that are read in a frame.
pub fn alphabet(frame: Frame) -> &'static [u8] {
    match frame {
        Frame::Protein | Frame::Codons(..) => &alphabet::LETTERS,
        Frame::Strand(_) => &nucleotide::LETTERS,
    }
}

/// The pairs of letters with a positive score in the standard matrix, as one of the two families of
/// writers sees them.
#[derive(Clone, Debug)]
pub struct Positives {
    /// Indexed by NCBIstdaa codes.
    positive: [[bool; alphabet::SIZE]; alphabet::SIZE],
}

impl Positives {
    /// For the pairwise and tabular formats: the letters of the old matrices without `J`, `O` and
    /// `*`; `U` counts as `C` against `C` (`GetAsciiProteinMatrix`, align_format_util.cpp).
    pub fn plain(scores: &Scores) -> Self {
        let mut table = Self::among(scores, b"ARNDCQEGHILKMFPSTWYVBZX");
        let (u, c) = (usize::from(alphabet::U), usize::from(alphabet::C));
        table.positive[u][c] = scores[c][c] > 0;
        table.positive[c][u] = scores[c][c] > 0;
        table
    }

    /// For XML: the letters of the matrix as stored (`x_FillScoreMatrix`, data4xmlformat.cpp).
    pub fn xml(scores: &Scores) -> Self {
        Self::among(scores, b"ARNDCQEGHILKMFPSTWYVBJZX*")
    }

    fn among(scores: &Scores, letters: &[u8]) -> Self {
        let mut positive = [[false; alphabet::SIZE]; alphabet::SIZE];
        let codes: Vec<_> =
            letters.iter().filter_map(|&c| alphabet::encode(c)).map(usize::from).collect();
        for &q in &codes {
            for &s in &codes {
                positive[q][s] = scores[q][s] > 0;
            }
        }
        Self { positive }
    }

    /// True if the two letters (upper case) score positive; a gap never does.
    pub fn score(&self, query: u8, subject: u8) -> bool {
        match (alphabet::encode(query), alphabet::encode(subject)) {
            (Some(q), Some(s)) => self.positive[usize::from(q)][usize::from(s)],
            _ => false,
        }
    }
}
