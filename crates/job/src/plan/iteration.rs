//! The plan of a psiblast search, whose hits become the PSSM of the next iteration.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params, ProteinParams};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::search::Search;
use fleetblast_seq::id::ObjectId;

use super::Plan;
use crate::error::Error;

/// Smaller blocks take more time.
const MIN_BLOCK_RESIDUES: u64 = 5_000;

impl Plan {
    /// Residues of queries in a block; `usual` without iterations. PSSMs take about a kilobyte per
    /// residue, in all copies. They must not take more memory than a small database, and a large
    /// one should be read rarely.
    pub(crate) fn block_residues(&self, usual_residues: u64, database_residues: u64) -> u64 {
        match self.iteration {
            Some(_) => usual_residues.min((database_residues / 1000).max(MIN_BLOCK_RESIDUES)),
            None => usual_residues,
        }
    }
}

/// How queries are iterated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Iteration {
    /// Iterations of each query, at most; `None` to iterate until nothing new is found.
    pub max_iterations: Option<usize>,
    /// Parameters of searches with a PSSM.
    pub params: ProteinParams,
    /// Whether BLAST+ resets the composition-based statistics, which no PSSM allows, and warns of
    /// it.
    pub resets_composition: bool,
    /// Pseudocounts; 0 to adapt them to each column.
    pub pseudocount: i32,
    /// The error in the options or in the pattern that BLAST+ finds only when it searches.
    pub fault: Option<Error>,
    /// Warnings of the options before the searches of each query.
    pub warnings: Vec<String>,
    /// File for the PSSMs as checkpoints.
    pub checkpoint: Option<PathBuf>,
    /// File for the PSSMs as tables.
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
    /// Whether it lacks statistics of ungapped alignments, so that those of the query's letters are
    /// used.
    pub lacks_ungapped: bool,
    /// The identifier of its query.
    pub id: ObjectId,
    /// The title of the query.
    pub title: Option<Vec<u8>>,
    /// The PSSM as a checkpoint, written before the first search.
    pub checkpoint: Vec<u8>,
}

impl Iteration {
    /// Creates the engine for searches with PSSMs in a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals, kernel: Kernel) -> Search {
        Search::new(Params::Protein(self.params.clone()), totals, kernel)
    }
}
