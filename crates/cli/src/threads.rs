//! Threads that search.

use crate::error::{CliError, exit};

/// A pool of so many threads.
///
/// # Errors
/// A system that does not start them.
pub(crate) fn pool(count: usize) -> Result<rayon::ThreadPool, CliError> {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(|error| {
        CliError::new(exit::UNKNOWN, format!("Cannot start {count} threads: {error}"))
    })
}
