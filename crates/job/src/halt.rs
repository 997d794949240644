//! A flag that ends a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flag that ends a search early, because its results are no longer wanted. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Sets the flag, so that the search ends.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the search must end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
