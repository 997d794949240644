//! Threads that search.

use crate::error::CliError;

/// A pool of so many threads.
///
/// # Errors
/// A system that does not start them.
pub fn pool(count: usize) -> Result<rayon::ThreadPool, CliError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map_err(|error| CliError::starved(format_args!("cannot start {count} threads: {error}")))
}
