//! Work spaces that threads share, so that no more are made than threads use at a time.

use std::sync::Mutex;

/// Work spaces that no thread uses at present.
#[derive(Debug)]
pub struct ScratchPool<T>(Mutex<Vec<T>>);

/// A work space and its pool, to which it returns when dropped.
pub struct PooledScratch<'a, T> {
    /// The work space; `None` if the pool had none.
    pub scratch: Option<T>,
    pool: &'a ScratchPool<T>,
}

impl<T> Default for ScratchPool<T> {
    fn default() -> Self {
        ScratchPool(Mutex::default())
    }
}

impl<T> ScratchPool<T> {
    /// Takes a work space from the pool.
    ///
    /// # Panics
    /// If a thread panicked while it took or returned a work space.
    pub fn acquire(&self) -> PooledScratch<'_, T> {
        let scratch = self.0.lock().expect("no thread panicked").pop();
        PooledScratch { scratch, pool: self }
    }

    /// Returns whether a work space in the pool passes a test.
    ///
    /// # Panics
    /// As [`ScratchPool::acquire`].
    pub fn any(&self, test: impl FnMut(&T) -> bool) -> bool {
        self.0.lock().expect("no thread panicked").iter().any(test)
    }
}

impl<T> Drop for PooledScratch<'_, T> {
    fn drop(&mut self) {
        if let (Some(scratch), Ok(mut scratches)) = (self.scratch.take(), self.pool.0.lock()) {
            scratches.push(scratch);
        }
    }
}
