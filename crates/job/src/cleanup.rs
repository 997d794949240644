//! Cleanups that run before a process ends in the middle of its work: for lack of memory, because a
//! mapped file has changed, or after an error on ranks. This can happen at any point of the
//! program, and while any lock is held.
//!
//! An allocator or a panic hook may end the process. They can use only static data, so the list of
//! cleanups is a static. The program decides which message is printed and how the process ends;
//! only the job knows its unfinished files.

use std::sync::{Mutex, PoisonError};

/// The registered cleanups with their numbers. The last one runs first.
static CLEANUPS: Mutex<Vec<(u64, Cleanup)>> = Mutex::new(Vec::new());

/// Number of cleanups that the list can hold before it needs more memory.
const INITIAL_CAPACITY: usize = 64;

type Cleanup = Box<dyn Fn() + Send>;

/// A registered cleanup. Dropping it cancels the cleanup.
pub struct CleanupGuard(u64);

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        if let Ok(mut cleanups) = CLEANUPS.lock() {
            cleanups.retain(|(number, _)| *number != self.0);
        }
    }
}

/// Registers a cleanup that runs if the process ends in the middle of its work. The cleanup must
/// not wait for a lock.
pub fn register_cleanup(cleanup: impl Fn() + Send + 'static) -> CleanupGuard {
    // Allocates before it locks: if memory ran out while the lock is held, no cleanup could run.
    let (cleanup, mut room): (Cleanup, Vec<(u64, Cleanup)>) =
        (Box::new(cleanup), Vec::with_capacity(INITIAL_CAPACITY));
    let mut cleanups = CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner);
    if cleanups.capacity() == 0 {
        std::mem::swap(&mut *cleanups, &mut room);
    }
    let number = cleanups.last().map_or(0, |(number, _)| number + 1);
    cleanups.push((number, cleanup));
    CleanupGuard(number)
}

/// Runs all cleanups, the last registered one first. Does not wait for the lock of the list: if
/// another thread holds it, no cleanup runs.
pub fn run_all() {
    if let Ok(cleanups) = CLEANUPS.try_lock() {
        cleanups.iter().rev().for_each(|(_, cleanup)| cleanup());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn cleanups_run_in_reverse_order_unless_dropped() {
        let done = Arc::new(Mutex::new(Vec::new()));
        let cleanup = |number: u32| {
            let done = Arc::clone(&done);
            register_cleanup(move || done.lock().expect("nobody panics").push(number))
        };
        let _kept = (cleanup(1), cleanup(2));
        drop(cleanup(3));
        let _kept_too = cleanup(4);
        run_all();
        assert_eq!(*done.lock().expect("nobody panics"), [4, 2, 1]);
    }
}
