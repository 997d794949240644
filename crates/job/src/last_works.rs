//! What a job wants done before its process ends for want of memory, which happens anywhere, under any lock.
//!
//! Who ends the process, its allocator, knows nothing but what is static: hence the static here. What it says and how it ends
//! the process are its own matter; what is unfinished then is known to the job alone.

use std::sync::{Mutex, PoisonError};

/// What is done before the end, by number, the last first.
static LAST_WORKS: Mutex<Vec<(u64, Work)>> = Mutex::new(Vec::new());

/// So many at a time take no memory once there is one.
const WORKS: usize = 64;

type Work = Box<dyn Fn() + Send>;

/// Something that is done before the end, as long as this is kept.
pub struct LastWork(u64);

impl Drop for LastWork {
    fn drop(&mut self) {
        if let Ok(mut works) = LAST_WORKS.lock() {
            works.retain(|(number, _)| *number != self.0);
        }
    }
}

/// Has something done before the process ends for want of memory. It must not wait for a lock.
pub fn before_the_end(work: impl Fn() + Send + 'static) -> LastWork {
    // Whoever runs out of memory holding the lock leaves everything undone: so it is had before.
    let (work, mut room): (Work, Vec<(u64, Work)>) = (Box::new(work), Vec::with_capacity(WORKS));
    let mut works = LAST_WORKS.lock().unwrap_or_else(PoisonError::into_inner);
    if works.capacity() == 0 {
        std::mem::swap(&mut *works, &mut room);
    }
    let number = works.last().map_or(0, |(number, _)| number + 1);
    works.push((number, work));
    LastWork(number)
}

/// Does what is to be done, for whoever ends the process. Takes no lock that it would have to wait for.
pub fn do_all() {
    if let Ok(works) = LAST_WORKS.try_lock() {
        works.iter().rev().for_each(|(_, work)| work());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_last_is_done_first_and_what_is_dropped_is_not_done() {
        let done = Arc::new(Mutex::new(Vec::new()));
        let work = |number: u32| {
            let done = Arc::clone(&done);
            before_the_end(move || done.lock().expect("nobody panics").push(number))
        };
        let _kept = (work(1), work(2));
        drop(work(3));
        let _kept_too = work(4);
        do_all();
        assert_eq!(*done.lock().expect("nobody panics"), [4, 2, 1]);
    }
}
