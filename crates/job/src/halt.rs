//! A flag that ends a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a search must end early, because its results are no longer wanted. Clones share the
/// flag.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Ends the search.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search must end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
