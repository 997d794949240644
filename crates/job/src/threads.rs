//! Threads that search.

use crate::error::Error;

/// A pool of so many threads.
///
/// # Errors
/// A system that does not start them.
pub fn pool(count: usize) -> Result<rayon::ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map_err(|error| Error::starved(format_args!("cannot start {count} threads: {error}")))
}
