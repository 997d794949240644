//! Compositional adjustment: corrects the matrix of a query and a subject for their residue
//! compositions.
//!
//! An [`Adjuster`] holds data that depend on the scoring system alone. A [`Workspace`] holds the
//! arrays of the computation, so that adjusting a matrix allocates no memory. The resulting scores
//! are multiplied by a scale (32), for a resolution finer than one raw score unit.

mod cholesky;
mod logs;
mod optimize;
mod positions;
mod pvalue;
mod rule;
mod scale;
mod scores;
#[cfg(test)]
mod tests;
mod vectors;

use fleetblast_seq::alphabet::{self, SIZE};
use fleetblast_stats::frequencies::{AMINO_ACID_CODES, AMINO_ACID_COUNT, MatrixFrequencies};
use fleetblast_stats::matrix::{SENTINEL_SCORE, ScoreMatrix};
use fleetblast_stats::scoring::ScoringSystem;

use crate::hits::Adjustment;
use crate::kernel::Kernel;
use crate::params::CompositionMode;

pub use self::positions::PositionAdjuster;
pub use self::pvalue::PairPvalues;

use self::optimize::{Optimizer, Start};
use self::rule::Rule;
use self::scores::RealMatrix;

/// Frequencies of the true residues, in the order of
/// [`fleetblast_stats::frequencies::AMINO_ACID_LETTERS`].
type Letters = [f64; AMINO_ACID_COUNT];

/// Weight of the background in a composition, as a number of residues (redo_alignment.c).
const PSEUDOCOUNTS: f64 = 20.0;

/// The residue composition of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composition {
    /// Share of each NCBIstdaa code among the true residues; 0 for every other code.
    pub probabilities: [f64; SIZE],
    /// Number of true residues: the 20 standard ones, and `U`, counted as `C`.
    pub true_residues: usize,
}

/// Returns the composition of a sequence of NCBIstdaa codes (`Blast_ReadAaComposition`,
/// composition_adjustment.c).
pub fn composition_of(residues: &[u8]) -> Composition {
    let mut counts = [0_usize; 256];
    for &residue in residues {
        counts[usize::from(residue)] += 1;
    }
    counts[usize::from(alphabet::C)] += counts[usize::from(alphabet::U)];
    let true_residues: usize = AMINO_ACID_CODES.iter().map(|&code| counts[code]).sum();
    let mut probabilities = [0.0; SIZE];
    if true_residues > 0 {
        for code in AMINO_ACID_CODES {
            probabilities[code] = counts[code] as f64 / true_residues as f64;
        }
    }
    Composition { probabilities, true_residues }
}

impl Composition {
    /// Returns the shares of the true residues.
    fn letters(&self) -> Letters {
        AMINO_ACID_CODES.map(|code| self.probabilities[code])
    }

    /// Returns the shares of the true residues, drawn towards a background that counts for 20
    /// observations (`Blast_ApplyPseudocounts`, composition_adjustment.c).
    fn with_pseudocounts(&self, background: &Letters) -> Letters {
        let observed = self.letters();
        let sum: f64 = observed.iter().sum();
        let sum = if sum == 0.0 { 1.0 } else { sum };
        let weight = PSEUDOCOUNTS / (self.true_residues as f64 + PSEUDOCOUNTS);
        std::array::from_fn(|letter| {
            (1.0 - weight) * observed[letter] / sum + weight * background[letter]
        })
    }
}

/// Arrays of an adjustment, which later adjustments reuse.
#[derive(Clone, Debug)]
pub struct Workspace {
    kernel: Kernel,
    optimizer: Optimizer,
    real: RealMatrix,
    score_probabilities: Vec<f64>,
}

impl Workspace {
    /// Creates arrays for computing with these instructions.
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            optimizer: Optimizer::new(),
            real: [[0.0; SIZE]; SIZE],
            score_probabilities: Vec::new(),
        }
    }

    /// Returns scratch memory for the probabilities of scores.
    pub fn table(&mut self) -> &mut Vec<f64> {
        &mut self.score_probabilities
    }
}

/// Data for adjusting the matrix of a scoring system to pairs of compositions.
#[derive(Clone, Debug)]
pub struct Adjuster {
    plain: ScoreMatrix,
    /// Ungapped λ of the background composition, per unit of the scaled scores.
    lambda: f64,
    /// The matrix at the scale of the results, computed from the frequency ratios.
    start: ScoreMatrix,
    /// Smallest score of `start` in the columns of the true residues, at most 0, and the largest
    /// one, at least 0.
    start_range: (i32, i32),
    /// ln of the frequency ratios, [`SENTINEL_SCORE`] where the ratio is 0.
    log_ratios: RealMatrix,
    joint: Start,
    /// Row and column sums of the joint probabilities.
    marginals: (Letters, Letters),
    background: Letters,
    unified: bool,
}

impl Adjuster {
    /// Creates an adjuster whose matrices are `scale` times as large as those of `scoring`.
    ///
    /// Returns `None` if the matrix has no frequency data (IDENTITY): BLAST+ then warns and
    /// searches without adjustment.
    pub fn new(scoring: &ScoringSystem, scale: f64) -> Option<Self> {
        let data = MatrixFrequencies::for_matrix(scoring.name)?;
        let lambda = scoring.ideal_parameters.lambda / scale;
        let log_ratios = data.frequency_ratios.map(|row| row.map(log_or_never));
        let mut start = [[SENTINEL_SCORE; SIZE]; SIZE];
        scores::round(&scores::at_lambda(&log_ratios, lambda), &mut start);
        let mut marginals = ([0.0; AMINO_ACID_COUNT], [0.0; AMINO_ACID_COUNT]);
        for (row, values) in data.joint_probabilities.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                marginals.0[row] += value;
                marginals.1[column] += value;
            }
        }
        Some(Self {
            plain: scoring.scores,
            lambda,
            start_range: scale::score_range(&start),
            start,
            log_ratios,
            joint: Start::new(data.joint_probabilities),
            marginals,
            background: data.background_frequencies,
            unified: false,
        })
    }

    /// Sets up the adjuster for unified p-values (`-comp_based_stats 2u`). Scaling may then also
    /// raise scores.
    #[must_use]
    pub fn with_unified_p_values(self) -> Self {
        Self { unified: true, ..self }
    }

    /// Writes the matrix of a query (rows) and a subject (columns) to `out`, and returns the kind
    /// of adjustment (`Blast_AdjustScores`, composition_adjustment.c).
    ///
    /// Lengths are those of the whole sequences, in residues. With [`CompositionMode::Off`] the
    /// matrix is the plain one, not scaled. Returns `None`, and no matrix, if a sequence has no
    /// true residues: its alignments are dropped.
    #[allow(clippy::too_many_arguments)]
    pub fn adjust(
        &self,
        mode: CompositionMode,
        query: &Composition,
        query_length: usize,
        subject: &Composition,
        subject_length: usize,
        workspace: &mut Workspace,
        out: &mut ScoreMatrix,
    ) -> Option<Adjustment> {
        if mode == CompositionMode::Off {
            *out = self.plain;
            return Some(Adjustment::None);
        }
        if query.true_residues == 0 || subject.true_residues == 0 {
            return None;
        }
        let lengths = (query_length, subject_length);
        let rule =
            rule::choose(mode, &query.letters(), &subject.letters(), lengths, &self.background);
        if rule == Rule::RelativeEntropy && self.optimize(query, subject, workspace, out) {
            return Some(Adjustment::Matrix);
        }
        self.scale(query, subject, workspace, out);
        Some(Adjustment::Scaled)
    }

    /// Computes the matrix from the joint probabilities that have the compositions of the two
    /// sequences and are nearest to the original ones (`Blast_CompositionMatrixAdj`,
    /// composition_adjustment.c). Returns false if the computation does not find them.
    fn optimize(
        &self,
        query: &Composition,
        subject: &Composition,
        workspace: &mut Workspace,
        out: &mut ScoreMatrix,
    ) -> bool {
        let rows = query.with_pseudocounts(&self.marginals.0);
        let columns = subject.with_pseudocounts(&self.marginals.1);
        let optimizer = &mut workspace.optimizer;
        if !vectors::optimize(workspace.kernel, optimizer, &self.joint, &rows, &columns) {
            return false;
        }
        let (joint, logs) = (&optimizer.x, &optimizer.new_scores);
        scores::of_joint(joint, logs, &rows, &columns, self.lambda, &mut workspace.real);
        scores::round(&workspace.real, out);
        self.keep_stop(out);
        true
    }

    /// Scales the original matrix to the λ of the two compositions (`Blast_CompositionBasedStats`,
    /// composition_adjustment.c).
    fn scale(
        &self,
        query: &Composition,
        subject: &Composition,
        workspace: &mut Workspace,
        out: &mut ScoreMatrix,
    ) {
        let (p, q) = (&query.probabilities, &subject.probabilities);
        let table = &mut workspace.score_probabilities;
        let ratio = scale::ratio(&self.start, self.start_range, p, q, self.lambda, table);
        let ratio = if self.unified { ratio } else { ratio.min(1.0) }.max(0.5);
        workspace.real = scores::at_lambda(&self.log_ratios, self.lambda / ratio);
        scores::set_averages(&mut workspace.real, p, q);
        scores::round(&workspace.real, out);
        self.keep_stop(out);
    }

    /// Copies the scores of stops from the original matrix.
    fn keep_stop(&self, out: &mut ScoreMatrix) {
        let stop = usize::from(alphabet::STOP);
        out[stop] = self.start[stop];
        for (row, start) in out.iter_mut().zip(&self.start) {
            row[stop] = start[stop];
        }
    }
}

/// Returns the ln of a ratio, [`SENTINEL_SCORE`] for a ratio of 0.
fn log_or_never(ratio: f64) -> f64 {
    if ratio == 0.0 { f64::from(SENTINEL_SCORE) } else { ratio.ln() }
}
