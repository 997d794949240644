//! The plan of a psiblast search, whose hits become the PSSM of the next iteration.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params, ProteinParams};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::search::Search;
use fleetblast_report::scoremat::PssmDescription;

use super::Plan;
use crate::error::Error;

/// Minimum number of residues of a block, because smaller blocks take more time in total.
const MIN_BLOCK_RESIDUES: u64 = 5_000;

impl Plan {
    /// Returns the number of residues of queries in a block: `usual_residues` without iterations.
    /// With iterations a block may be smaller, because all copies of a PSSM together take about a
    /// kilobyte per residue. PSSMs must not take more memory than a small database, but a large
    /// database should be read rarely.
    pub(crate) fn block_residues(&self, usual_residues: u64, database_residues: u64) -> u64 {
        match self.iteration {
            Some(_) => usual_residues.min((database_residues / 1000).max(MIN_BLOCK_RESIDUES)),
            None => usual_residues,
        }
    }
}

/// The iterations of each query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IterationPlan {
    /// Maximum number of iterations of each query; `None` to iterate until no new subject is found.
    pub max_iterations: Option<usize>,
    /// Parameters of searches with a PSSM.
    pub params: ProteinParams,
    /// Whether BLAST+ resets the mode of composition-based statistics, because PSSMs do not support
    /// it, and warns about it.
    pub resets_composition: bool,
    /// Pseudocount; 0 to adapt it to each column of a PSSM.
    pub pseudocount: i32,
    /// The error in the options or in the pattern that BLAST+ finds only when it searches.
    pub fault: Option<Error>,
    /// Warnings about the options, printed before the first iteration of each query.
    pub warnings: Vec<String>,
    /// File for the PSSMs in the checkpoint format (`-out_pssm`).
    pub checkpoint: Option<PathBuf>,
    /// File for the PSSMs as ASCII tables (`-out_ascii_pssm`).
    pub table: Option<PathBuf>,
    /// Whether to save the PSSM of the last iteration, too.
    pub save_last: bool,
    /// Whether to save each PSSM in a file of its own.
    pub save_each: bool,
}

/// A PSSM that replaces the query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InitialPssm {
    /// The PSSM.
    pub pssm: Arc<Pssm>,
    /// Whether the PSSM lacks statistics of ungapped alignments, so that the search uses those of
    /// the query's letters.
    pub lacks_ungapped: bool,
    /// Description of the PSSM in checkpoints, with the name of the query from which it was made.
    pub description: PssmDescription,
}

impl IterationPlan {
    /// Creates the engine for searches with PSSMs in a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals, kernel: Kernel) -> Search {
        Search::new(Params::Protein(self.params.clone()), totals, kernel)
    }
}
