//! Threads that search.

use crate::error::{CliError, exit};
use crate::memory;

/// A pool of so many threads.
///
/// # Errors
/// A system that does not start them.
pub(crate) fn pool(count: usize) -> Result<rayon::ThreadPool, CliError> {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(|error| {
        CliError::new(
            exit::MEMORY,
            memory::message(format_args!("cannot start {count} threads: {error}")),
        )
    })
}
