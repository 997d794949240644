//! What a job wants done before its process ends for want of memory, which happens anywhere, under any lock.
//!
//! Who ends the process, its allocator, knows nothing but what is static: hence the static here. What it says and how it ends
//! the process are its own matter; what is unfinished then is known to the job alone.

use std::sync::{Mutex, PoisonError};

/// What is done before the end, by number, the last first.
static LAST_WORKS: Mutex<Vec<(u64, Work)>> = Mutex::new(Vec::new());

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
    let mut works = LAST_WORKS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = works.last().map_or(0, |(number, _)| number + 1);
    works.push((number, Box::new(work)));
    LastWork(number)
}

/// Does what is to be done, for whoever ends the process. Takes no lock that it would have to wait for.
pub fn do_all() {
    if let Ok(works) = LAST_WORKS.try_lock() {
        works.iter().rev().for_each(|(_, work)| work());
    }
}
