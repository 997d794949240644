//! A file that grows, read as far as it is on the disk.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How far a file has grown. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Growth(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes on the disk.
    bytes: u64,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// It is whole.
    Whole,
    /// There will be no more, though it is not.
    Broken,
}

impl Growth {
    /// So many bytes are on the disk.
    pub fn reach(&self, bytes: u64) {
        self.change(|state| state.bytes = bytes);
    }

    /// That is all.
    pub fn finish(&self) {
        self.change(|state| state.end = Some(End::Whole));
    }

    /// There will be no more, unless it is whole.
    pub fn give_up(&self) {
        self.change(|state| state.end = state.end.or(Some(End::Broken)));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.changed.notify_all();
    }

    /// Nothing panics while it holds the lock, and the state is valid in any case.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads such a file from its begin.
#[derive(Debug)]
pub struct Growing {
    file: File,
    at: u64,
    growth: Growth,
}

impl Growing {
    /// Of a file that grows so.
    pub fn new(file: File, growth: Growth) -> Self {
        Growing { file, at: 0, growth }
    }
}

impl Read for Growing {
    /// Waits where there is nothing yet. What will not be whole is an error: it is not to be taken for an end.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.growth.lock();
        while state.bytes <= self.at && state.end.is_none() {
            let changed = self.growth.0.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        let (bytes, end) = (state.bytes, state.end);
        drop(state);
        if let Some(End::Broken) = end {
            return Err(io::Error::other("the rest did not come"));
        }
        let room = usize::try_from(bytes.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let room = room.min(into.len());
        let count = self.file.read_at(&mut into[..room], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    #[test]
    fn no_more_is_read_than_is_there_and_an_end_is_told_from_a_break() {
        for whole in [true, false] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"abcdefgh").unwrap();
            let growth = Growth::default();
            growth.reach(3);
            let mut growing = Growing::new(file, growth.clone());
            let mut first = [0; 8];
            assert_eq!(growing.read(&mut first).unwrap(), 3);
            let reader = thread::spawn(move || {
                let mut rest = Vec::new();
                growing.read_to_end(&mut rest).map(|_| rest)
            });
            growth.reach(5);
            if whole {
                growth.reach(8);
                growth.finish();
            }
            growth.give_up();
            let read = reader.join().unwrap();
            assert_eq!(read.ok(), whole.then(|| b"defgh".to_vec()));
        }
    }
}
