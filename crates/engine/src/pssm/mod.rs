//! Position-specific scoring matrices (PSSMs): from the hits of an iteration to the matrix of the
//! next (rules of psiblast, 3 and 4).
//!
//! The included subjects are aligned with the query ([`alignment`]), and copies of other sequences
//! are removed (`purge`). Each sequence gets a weight in each column (`weights`). The weights
//! become frequencies of letters (`ratios`), and these become scores (`scores`). Intermediate
//! results by column are kept for reports ([`ColumnResults`]).

pub mod alignment;
mod blocks;
mod purge;
mod ratios;
pub(crate) mod scores;
#[cfg(test)]
mod tests;
pub mod typed;
mod weights;

use fleetblast_seq::alphabet::{self, SIZE};
use fleetblast_stats::frequencies::{self, MatrixFrequencies};
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::scoring::ScoringSystem;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::alignment::QueryAlignment;
use self::blocks::Blocks;
use self::ratios::Pseudocounts;
use self::weights::Weights;

/// Limit up to which probabilities count as 0.
pub(crate) const EPSILON: f64 = 0.0001;

/// A number for each NCBIstdaa code.
pub type ByCode = [f64; SIZE];

/// A position-specific scoring matrix: scores of each position of a query against each letter, and
/// the frequencies from which they are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pssm {
    /// The letters of the query, NCBIstdaa.
    pub query: Vec<u8>,
    /// Scores by position and code; [`fleetblast_stats::matrix::SENTINEL_SCORE`] where a letter
    /// must not occur.
    pub scores: Vec<[i32; SIZE]>,
    /// Estimated frequencies by position and code, from which the scores follow. BLAST+ calls them
    /// ratios.
    pub frequencies: Vec<ByCode>,
    /// Parameters of ungapped alignments.
    pub ungapped: KarlinParameters,
    /// Parameters of gapped alignments.
    pub gapped: KarlinParameters,
    /// Intermediate results by column; a matrix read from a file may have none.
    pub observed: Option<ColumnResults>,
}

/// Intermediate results for each column of the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnResults {
    /// Weighted shares of the letters.
    pub weighted: Vec<ByCode>,
    /// Information of the column in bits.
    pub information: Vec<f64>,
    /// Weight of observed letters (not gaps) relative to pseudocounts.
    pub gapless: Vec<f64>,
    /// Sum of the numbers of different letters in the columns of the alignment block of each
    /// column.
    pub letter_kinds_sum: Vec<f64>,
    /// Number of columns in the alignment block of each column, without those where the query has
    /// an `X`.
    pub intervals: Vec<u32>,
    /// Number of aligned sequences, including the query.
    pub matching: Vec<u32>,
}

impl Pssm {
    /// Creates a PSSM for reports that has nothing but statistics. It cannot be used for a search.
    pub fn of_statistics(ungapped: KarlinParameters, gapped: KarlinParameters) -> Pssm {
        let (query, scores, frequencies) = (Vec::new(), Vec::new(), Vec::new());
        Pssm { query, scores, frequencies, ungapped, gapped, observed: None }
    }
}

/// Reason why a PSSM cannot be computed. The text is that of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PssmError {
    /// Chance alignments would score above 0.
    #[error("PSSM has positive average score")]
    PositiveAverage,
    /// Weights do not add up to 1.
    #[error("Error computing sequence weights")]
    Weights,
    /// A sequence starts with a gap.
    #[error("Found flanking gap at start of alignment")]
    StartingGap,
    /// A sequence ends with a gap.
    #[error("Found flanking gap at end of alignment")]
    EndingGap,
    /// No sequence is aligned in a column.
    #[error("Found column with no sequences aligned in it")]
    UnalignedColumn,
    /// All letters of a column are gaps.
    #[error("Found column with only GAP residues")]
    ColumnOfGaps,
    /// The query has a gap.
    #[error("Gap found in query sequence")]
    GapInQuery,
}

/// A maker of PSSMs for searches with a scoring system.
#[derive(Clone, Debug)]
pub struct PssmMaker {
    scoring: ScoringSystem,
    data: MatrixFrequencies,
    standard: ByCode,
    pseudocounts: Pseudocounts,
    /// Number of score units in a bit, for positions whose scores come from the matrix alone.
    bit_scale: f64,
}

/// Rules that differ between alignments of an iteration and alignments that the user provides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentRules {
    /// Whether columns without aligned sequences are allowed.
    pub allows_unaligned_columns: bool,
    /// Whether the query is excluded (`-ignore_msa_master`).
    pub without_query: bool,
    /// Whether the PSSM keeps the intermediate results of its columns.
    pub keeps_observed: bool,
}

impl PssmMaker {
    /// Creates a maker with this pseudocount; 0 chooses the pseudocount of each column. Returns
    /// `None` if the matrix has no frequency data (IDENTITY).
    pub fn new(scoring: &ScoringSystem, pseudocount: i32) -> Option<Self> {
        let data = MatrixFrequencies::for_matrix(scoring.name)?;
        Some(PssmMaker {
            pseudocounts: Pseudocounts::new(&data.background_frequencies, pseudocount),
            scoring: scoring.clone(),
            data,
            standard: frequencies::background_frequencies(),
            bit_scale: if scoring.name == "BLOSUM45" { 3.0 } else { 2.0 },
        })
    }

    /// Computes the PSSM of an alignment.
    ///
    /// # Errors
    /// If BLAST+ refuses the alignment, or if it gives no valid matrix.
    pub fn make(
        &self,
        mut alignment: QueryAlignment,
        rules: AlignmentRules,
    ) -> Result<Pssm, PssmError> {
        let query = alignment.query();
        purge::purge(&mut alignment);
        if rules.without_query {
            alignment.hide_query();
        } else {
            alignment.check(rules.allows_unaligned_columns)?;
        }
        let blocks = Blocks::new(&alignment, &query);
        let least = if rules.without_query { 1 } else { 2 };
        let weights = Weights::new(&alignment, &blocks, least, &self.standard)?;
        let (frequencies, pseudocounts) =
            self.pseudocounts.frequencies(&alignment, &blocks, &weights, self);
        let (scores, ungapped) = self.scores(&query, &frequencies)?;
        let gapped = self.gapped(&ungapped);
        let pssm = Pssm { query, scores, frequencies, ungapped, gapped, observed: None };
        if !rules.keeps_observed {
            return Ok(pssm);
        }
        let is_seen =
            |p: usize| weights.matching[p] > 1 && alignment.query_letter(p) != alphabet::X;
        let gapless = |p: usize| {
            if !is_seen(p) {
                return 0.0;
            }
            let share = weights.gapless[p] / pseudocounts[p];
            share * (weights.sigma[p] / f64::from(blocks.sizes[p]) - 1.0)
        };
        let observed = ColumnResults {
            information: pssm.frequencies.iter().map(|column| self.information(column)).collect(),
            gapless: (0..pssm.query.len()).map(gapless).collect(),
            letter_kinds_sum: weights.sigma.clone(),
            intervals: blocks.sizes.clone(),
            matching: weights.matching.clone(),
            weighted: weights.shares,
        };
        Ok(Pssm { observed: Some(observed), ..pssm })
    }

    /// Computes the PSSM of given frequencies.
    ///
    /// # Errors
    /// If the frequencies give no valid matrix.
    pub fn of_frequencies(
        &self,
        query: Vec<u8>,
        frequencies: Vec<ByCode>,
    ) -> Result<Pssm, PssmError> {
        let (scores, ungapped) = self.scores(&query, &frequencies)?;
        let gapped = self.gapped(&ungapped);
        Ok(Pssm { query, scores, frequencies, ungapped, gapped, observed: None })
    }

    /// Returns the parameters of gapped alignments, derived from the ungapped ones.
    pub(crate) fn gapped(&self, ungapped: &KarlinParameters) -> KarlinParameters {
        let standard = self.scoring.gapped_statistics.karlin_parameters();
        let k = ungapped.k * standard.k / self.scoring.ideal_parameters.k;
        KarlinParameters { k, log_k: k.ln(), ..standard }
    }

    /// Returns the information of a column in bits.
    fn information(&self, frequencies: &ByCode) -> f64 {
        let mut sum = 0.0;
        for (&frequency, &standard) in frequencies.iter().zip(&self.standard) {
            if standard > EPSILON {
                let ratio = frequency / standard;
                if ratio > EPSILON {
                    sum += frequency * ratio.ln() / std::f64::consts::LN_2;
                }
            }
        }
        sum
    }
}
