//! Scales the scores of a PSSM to the composition of a subject (`s_ScalePosMatrix`, blast_kappa.c;
//! `s_ScalePSSM`, composition_adjustment.c).
//!
//! The scores are computed anew from the frequencies of the PSSM, without the factor that scaled
//! the PSSM.

use fleetblast_seq::alphabet::{self, SIZE, is_standard};
use fleetblast_stats::frequencies::{AMINO_ACID_CODES, MatrixFrequencies, background_frequencies};
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::lattice::ScoreDistribution;
use fleetblast_stats::matrix::SENTINEL_SCORE;
use fleetblast_stats::scoring::ScoringSystem;

use super::{Composition, log_or_never, scale, scores};
use crate::pssm::scores::{FINE, Positions, nearest, times};
use crate::pssm::{EPSILON, Pssm, PssmMaker};

/// Data for scaling the scores of one query's positions.
#[derive(Clone, Debug)]
pub struct PositionAdjuster {
    /// Scores at the scale of the results.
    start: Positions,
    start_range: (i32, i32),
    /// Logarithms of frequency ratios; [`SENTINEL_SCORE`] where the ratio is 0.
    log_ratios: Vec<[f64; SIZE]>,
    /// λ of background residues per unit of the scaled scores.
    lambda: f64,
    /// Parameters of gapped alignments in raw units.
    pub gapped: KarlinParameters,
}

impl PositionAdjuster {
    /// Creates an adjuster for results `factor` times as large as plain scores. `letters` are the
    /// letters of the query as it is searched.
    ///
    /// Returns `None` if the scores have no ungapped parameters, or the matrix no frequency data.
    pub fn new(
        maker: &PssmMaker,
        scoring: &ScoringSystem,
        pssm: &Pssm,
        letters: &[u8],
        factor: f64,
    ) -> Option<Self> {
        let fine = maker.fine_scores(letters, &pssm.frequencies);
        let mut whole = times(&fine, |score| f64::from(score) / FINE);
        for (row, frequencies) in whole.iter_mut().zip(&pssm.frequencies) {
            // In BLAST+ a residue that cannot occur here scores 0, except in columns without data.
            if frequencies.iter().any(|&frequency| frequency != 0.0) {
                row.iter_mut()
                    .filter(|score| **score == SENTINEL_SCORE)
                    .for_each(|score| *score = 0);
            }
        }
        let ungapped = maker.parameters(letters, &whole)?;
        let start = times(&fine, |score| f64::from(score) * (factor / FINE));
        Some(PositionAdjuster {
            start_range: scale::score_range(&start),
            start,
            log_ratios: log_ratios(scoring, pssm, letters)?,
            lambda: ungapped.lambda / factor,
            gapped: maker.gapped(&ungapped),
        })
    }

    /// Writes the scores of all positions for a subject to `out`. Returns false, and no scores, if
    /// one of the sequences has no true residues. `table` is scratch memory.
    pub fn adjust(
        &self,
        query: &Composition,
        subject: &Composition,
        table: &mut Vec<f64>,
        out: &mut Positions,
    ) -> bool {
        if query.true_residues == 0 || subject.true_residues == 0 {
            return false;
        }
        let shares = &subject.probabilities;
        let ratio = self.ratio(shares, table).clamp(0.5, 1.0);
        let lambda = self.lambda / ratio;
        out.clear();
        out.extend(self.log_ratios.iter().zip(&self.start).map(|(logs, start)| {
            let never = f64::from(SENTINEL_SCORE);
            let mut row = logs.map(|log| if log == never { never } else { log / lambda });
            let x = scores::average(&row, shares).min(scores::LARGEST_X_SCORE);
            row[usize::from(alphabet::X)] = x;
            row[usize::from(alphabet::U)] = row[usize::from(alphabet::C)];
            row[usize::from(alphabet::O)] = x;
            let mut row = row.map(nearest);
            let stop = usize::from(alphabet::STOP);
            row[stop] = start[stop];
            row
        }));
        true
    }

    /// Returns the λ of the subject's residues divided by the λ of the scores. Negative if the
    /// subject's λ does not exist.
    fn ratio(&self, shares: &[f64; SIZE], table: &mut Vec<f64>) -> f64 {
        let (low, high) = self.start_range;
        table.clear();
        table.resize((high - low + 1) as usize, 0.0);
        let of_position = 1.0 / self.start.len() as f64;
        for row in &self.start {
            for code in CODES_ASCENDING {
                if row[code] >= low {
                    table[(row[code] - low) as usize] += of_position * shares[code];
                }
            }
        }
        let lambda = ScoreDistribution::new(low, table).lambda(self.lambda);
        lambda.unwrap_or(-1.0) / self.lambda
    }
}

/// Codes of true residues in the order in which BLAST+ adds up their shares.
const CODES_ASCENDING: [usize; 20] = {
    let (mut codes, mut at, mut code) = ([0; 20], 0, 0);
    while code < SIZE {
        if is_standard(code as u8) {
            codes[at] = code;
            at += 1;
        }
        code += 1;
    }
    assert!(at == AMINO_ACID_CODES.len());
    codes
};

/// Returns the logarithms of the frequency ratios of each position, or of its residue where there
/// are no data.
fn log_ratios(scoring: &ScoringSystem, pssm: &Pssm, letters: &[u8]) -> Option<Vec<[f64; SIZE]>> {
    let matrix = MatrixFrequencies::for_matrix(scoring.name)?.frequency_ratios;
    let standard = background_frequencies();
    let unlike_any = [alphabet::X, alphabet::STOP].map(usize::from);
    let of_position = |(&letter, frequencies): (&u8, &[f64; SIZE])| {
        let letter = usize::from(letter);
        std::array::from_fn(|code| {
            let known = standard[letter] > EPSILON
                && standard[code] > EPSILON
                && !unlike_any.contains(&code)
                && frequencies[code] > EPSILON;
            let ratio =
                if known { frequencies[code] / standard[code] } else { matrix[letter][code] };
            log_or_never(ratio)
        })
    };
    Some(letters.iter().zip(&pssm.frequencies).map(of_position).collect())
}
