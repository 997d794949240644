//! What a job wants done before its process ends in the middle of its work, for want of memory or
//! because a mapped file has changed. That happens anywhere, under any lock.
//!
//! An allocator or a hook of panics ends the process then. Both know nothing that is not static:
//! hence the static here. What they say and how they end the process are matters of the program;
//! what is unfinished then is known to the job alone.

use std::sync::{Mutex, PoisonError};

/// What is done before the end, by number, the last first.
static LAST_WORKS: Mutex<Vec<(u64, Work)>> = Mutex::new(Vec::new());

/// This number at a time takes no memory once there is one.
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

/// Has something done before the process ends in the middle of its work. It must not wait for a lock.
pub fn before_the_end(work: impl Fn() + Send + 'static) -> LastWork {
    // A thread that runs out of memory while it holds the lock leaves everything undone: so memory is
    // taken before.
    let (work, mut room): (Work, Vec<(u64, Work)>) = (Box::new(work), Vec::with_capacity(WORKS));
    let mut works = LAST_WORKS.lock().unwrap_or_else(PoisonError::into_inner);
    if works.capacity() == 0 {
        std::mem::swap(&mut *works, &mut room);
    }
    let number = works.last().map_or(0, |(number, _)| number + 1);
    works.push((number, work));
    LastWork(number)
}

/// Does what is to be done before the process ends. Takes no lock that it would have to wait for.
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
