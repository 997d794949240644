//! Position-specific scoring matrices (PSSMs): from what a round found to the matrix of the next
//! (rules of psiblast, 3 and 4).
//!
//! The subjects that are taken are laid on the query ([`alignment`]), copies of others are taken
//! out (`purge`), each is weighed in each column (`weights`), the weights become frequencies of
//! letters (`ratios`) and these become scores (`scores`). What is found of a column on the way is
//! kept for those who want to see it ([`Observed`]).

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
use fleetblast_stats::frequencies::{self, FrequencyData};
use fleetblast_stats::karlin::KarlinBlock;
use fleetblast_stats::scoring::ScoringSystem;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::alignment::QueryAlignment;
use self::blocks::Blocks;
use self::ratios::Pseudocounts;
use self::weights::Weights;

/// A probability that is not larger counts for none.
pub(crate) const EPSILON: f64 = 0.0001;

/// A number for each NCBIstdaa code.
pub type ByCode = [f64; SIZE];

/// What each position of a query scores against each letter, and where that comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pssm {
    /// The letters of the query, NCBIstdaa.
    pub query: Vec<u8>,
    /// Scores by position and code; [`fleetblast_stats::matrix::NEVER`] where a letter must not
    /// stand.
    pub scores: Vec<[i32; SIZE]>,
    /// Estimated frequencies by position and code, from which the scores follow. BLAST+ calls them
    /// ratios.
    pub frequencies: Vec<ByCode>,
    /// Parameters of alignments without gaps.
    pub ungapped: KarlinBlock,
    /// Parameters of alignments with gaps.
    pub gapped: KarlinBlock,
    /// What was found of the columns; of a matrix that was read, nothing may be known.
    pub observed: Option<Observed>,
}

/// What was found of each column of the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Weighted shares of the letters.
    pub weighted: Vec<ByCode>,
    /// Information in bits.
    pub information: Vec<f64>,
    /// Weight of letters, not gaps, against pseudocounts.
    pub gapless: Vec<f64>,
    /// Different letters in the columns of the block, in sum.
    pub sigma: Vec<f64>,
    /// Columns of the block, without those where the query has an `X`.
    pub intervals: Vec<u32>,
    /// Sequences aligned, the query among them.
    pub matching: Vec<u32>,
}

impl Pssm {
    /// Nothing but the statistics of a matrix, which is all that reports tell of it: nothing can be
    /// searched with that.
    pub fn of_statistics(ungapped: KarlinBlock, gapped: KarlinBlock) -> Pssm {
        let (query, scores, frequencies) = (Vec::new(), Vec::new(), Vec::new());
        Pssm { query, scores, frequencies, ungapped, gapped, observed: None }
    }
}

/// Why there is no matrix. The text is that of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PssmError {
    /// Chance alignments would score above 0.
    #[error("PSSM has positive average score")]
    PositiveAverage,
    /// Weights that do not add up to 1.
    #[error("Error computing sequence weights")]
    Weights,
    /// A sequence that starts with a gap.
    #[error("Found flanking gap at start of alignment")]
    StartingGap,
    /// A sequence that ends with a gap.
    #[error("Found flanking gap at end of alignment")]
    EndingGap,
    /// A column in which nothing is aligned.
    #[error("Found column with no sequences aligned in it")]
    UnalignedColumn,
    /// A column of gaps.
    #[error("Found column with only GAP residues")]
    ColumnOfGaps,
    /// A gap in the query.
    #[error("Gap found in query sequence")]
    GapInQuery,
}

/// Makes matrices for searches with a scoring system.
#[derive(Clone, Debug)]
pub struct PssmMaker {
    scoring: ScoringSystem,
    data: FrequencyData,
    standard: ByCode,
    pseudocounts: Pseudocounts,
    /// Bits of a score of 1 to the power of -1 where scores come from the matrix alone.
    bit_scale: f64,
}

/// What differs between alignments of a round and one that was typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// Columns may have nothing aligned.
    pub bare_columns: bool,
    /// The query does not count (`-ignore_msa_master`).
    pub without_query: bool,
    /// What is found of the columns is kept.
    pub observes: bool,
}

impl PssmMaker {
    /// With so many pseudocounts, 0 for as many as suit each column; `None` if the matrix has no
    /// frequencies behind it (IDENTITY).
    pub fn new(scoring: &ScoringSystem, pseudocount: i32) -> Option<Self> {
        let data = FrequencyData::of(scoring.name)?;
        Some(PssmMaker {
            pseudocounts: Pseudocounts::new(&data.background, pseudocount),
            scoring: scoring.clone(),
            data,
            standard: frequencies::background(),
            bit_scale: if scoring.name == "BLOSUM45" { 3.0 } else { 2.0 },
        })
    }

    /// The matrix of an alignment.
    ///
    /// # Errors
    /// An alignment of which none can be made.
    pub fn make(&self, mut alignment: QueryAlignment, habits: Habits) -> Result<Pssm, PssmError> {
        let query = alignment.query();
        purge::purge(&mut alignment);
        if habits.without_query {
            alignment.hide_query();
        } else {
            alignment.check(habits.bare_columns)?;
        }
        let blocks = Blocks::new(&alignment, &query);
        let least = if habits.without_query { 1 } else { 2 };
        let weights = Weights::new(&alignment, &blocks, least, &self.standard)?;
        let (frequencies, pseudocounts) =
            self.pseudocounts.frequencies(&alignment, &blocks, &weights, self);
        let (scores, ungapped) = self.scores(&query, &frequencies)?;
        let gapped = self.gapped(&ungapped);
        let pssm = Pssm { query, scores, frequencies, ungapped, gapped, observed: None };
        if !habits.observes {
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
        let observed = Observed {
            information: pssm.frequencies.iter().map(|column| self.information(column)).collect(),
            gapless: (0..pssm.query.len()).map(gapless).collect(),
            sigma: weights.sigma.clone(),
            intervals: blocks.sizes.clone(),
            matching: weights.matching.clone(),
            weighted: weights.shares,
        };
        Ok(Pssm { observed: Some(observed), ..pssm })
    }

    /// The matrix of frequencies that were read, with its scores.
    ///
    /// # Errors
    /// Frequencies of which there are none.
    pub fn of_frequencies(
        &self,
        query: Vec<u8>,
        frequencies: Vec<ByCode>,
    ) -> Result<Pssm, PssmError> {
        let (scores, ungapped) = self.scores(&query, &frequencies)?;
        let gapped = self.gapped(&ungapped);
        Ok(Pssm { query, scores, frequencies, ungapped, gapped, observed: None })
    }

    /// Parameters of alignments with gaps, from those without.
    pub(crate) fn gapped(&self, ungapped: &KarlinBlock) -> KarlinBlock {
        let standard = self.scoring.gapped.block();
        let k = ungapped.k * standard.k / self.scoring.ideal.k;
        KarlinBlock { k, log_k: k.ln(), ..standard }
    }

    /// Information of a column in bits.
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
