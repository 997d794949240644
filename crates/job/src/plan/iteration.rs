//! A search that is iterated: what is found becomes a matrix, by which is searched again.

use std::path::PathBuf;
use std::sync::Arc;

use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params, ProteinParams};
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_seq::id::ObjectId;

use super::Plan;
use crate::error::Error;

/// Fewer take more time.
const LEAST_BLOCK_RESIDUES: u64 = 5_000;

impl Plan {
    /// Residues of queries that are searched together, where these are `usual`, in a database of so many. Matrices take about a kilobyte a
    /// residue, in all copies, and are not to take more memory than a small database does. A large one is to be read rarely.
    pub(crate) fn block_residues(&self, usual: u64, database: u64) -> u64 {
        match self.iteration {
            Some(_) => usual.min((database / 1000).max(LEAST_BLOCK_RESIDUES)),
            None => usual,
        }
    }
}

/// How queries are searched again.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// Searches of each query at most; `None` for as many as it takes to find nothing new.
    pub rounds: Option<usize>,
    /// How to search with a matrix.
    pub params: ProteinParams,
    /// A matrix does not go with the composition-based statistics that were asked for: BLAST+ says so.
    pub resets_composition: bool,
    /// Pseudocounts, 0 for as many as suit each column.
    pub pseudocount: i32,
    /// What is wrong with the options or the pattern of the first search, as far as BLAST+ finds that only when it searches.
    pub fault: Option<Error>,
    /// What is warned of the options before the searches of each query.
    pub warnings: Vec<String>,
    /// The matrix of the first search, which brings its query along.
    pub start: Option<Start>,
    /// File for the matrices as checkpoints.
    pub checkpoint: Option<PathBuf>,
    /// File for the matrices as tables.
    pub table: Option<PathBuf>,
    /// The matrix that the last search brings about is kept, too.
    pub save_last: bool,
    /// Each matrix gets a file of its own.
    pub save_each: bool,
}

/// A matrix to begin with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The matrix.
    pub pssm: Arc<Pssm>,
    /// It has no statistics of alignments without gaps: those of the letters of the query stand for them.
    pub lacks_ungapped: bool,
    /// What its query is called.
    pub id: ObjectId,
    /// The title of the query.
    pub title: Option<Vec<u8>>,
    /// The matrix as a checkpoint, as it is written before the first search.
    pub checkpoint: Vec<u8>,
}

impl Start {
    /// The matrix as the query is searched with it.
    pub(crate) fn pssm_of(&self, query: &Query) -> Arc<Pssm> {
        match query.first().karlin {
            Some(ungapped) if self.lacks_ungapped => {
                Arc::new(Pssm { ungapped, ..Pssm::clone(&self.pssm) })
            }
            _ => self.pssm.clone(),
        }
    }
}

impl Iteration {
    /// The search with matrices of a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals, kernel: Kernel) -> Search {
        Search::new(Params::Protein(self.params.clone()), totals, kernel)
    }
}
