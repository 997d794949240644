//! Ending a search early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a search is to end early, because nobody wants what it finds any more. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// From now on it is to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
