//! Errors with which BLAST+ ends a search before the last query.

use super::messages::all_empty_error;
use crate::error::{Error, NO_SEQUENCES};

/// Facts about a batch, by which BLAST+ decides whether to search it.
#[derive(Default)]
pub struct BatchFacts {
    /// The error that ended reading before the batch was full.
    pub read_error: Option<Error>,
    /// Number of queries.
    pub queries: usize,
    /// Whether a query has letters.
    pub has_letters: bool,
    /// Whether BLAST+ expects queries: in the first batch, and in a batch whose queries all end
    /// before `-query_loc` starts.
    pub expects_queries: bool,
}

impl BatchFacts {
    /// Returns the error with which BLAST+ ends its search instead of searching this batch.
    /// `refuse` returns the error with which BLAST+ refuses the plan's options for this batch, if
    /// it does.
    pub fn error(self, refuse: impl FnOnce() -> Option<Error>) -> Option<Error> {
        match self {
            BatchFacts { read_error: Some(error), .. } => Some(error),
            BatchFacts { queries: 0, expects_queries, .. } => {
                expects_queries.then(|| Error::engine(NO_SEQUENCES))
            }
            BatchFacts { has_letters: false, queries, .. } => Some(all_empty_error(queries)),
            _ => refuse(),
        }
    }
}
