//! Reads a file that another thread writes, up to the bytes that are on the disk.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// State of a growing file: its bytes on the disk, and whether it is complete. Clones share the
/// state.
#[derive(Clone, Debug, Default)]
pub struct FileGrowth(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of bytes of the file that are on the disk.
    bytes: u64,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// The file is complete.
    Complete,
    /// The file stays incomplete.
    Broken,
}

impl FileGrowth {
    /// Records that `bytes` bytes are on the disk.
    pub fn set_bytes(&self, bytes: u64) {
        self.change(|state| state.bytes = bytes);
    }

    /// Records that the file is complete.
    pub fn finish(&self) {
        self.change(|state| state.end = Some(End::Complete));
    }

    /// Records that no more bytes follow. The file stays incomplete unless [`finish`](Self::finish)
    /// was called.
    pub fn give_up(&self) {
        self.change(|state| state.end = state.end.or(Some(End::Broken)));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.changed.notify_all();
    }

    /// Locks the state, which is valid even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reader of a file that another thread writes. It starts at the first byte.
#[derive(Debug)]
pub struct GrowingFile {
    file: File,
    position: u64,
    growth: FileGrowth,
}

impl GrowingFile {
    /// Creates a reader of a file whose growth is recorded in `growth`.
    pub fn new(file: File, growth: FileGrowth) -> Self {
        GrowingFile { file, position: 0, growth }
    }
}

impl Read for GrowingFile {
    /// Reads bytes, and waits for them. A file that stays incomplete is an error, not an end of
    /// file.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.growth.lock();
        while state.bytes <= self.position && state.end.is_none() {
            let changed = self.growth.0.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        let (bytes, end) = (state.bytes, state.end);
        drop(state);
        if let Some(End::Broken) = end {
            return Err(io::Error::other("the rest did not come"));
        }
        let room = usize::try_from(bytes.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let room = room.min(into.len());
        let count = self.file.read_at(&mut into[..room], self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    #[test]
    fn bytes_are_read_as_the_file_grows_and_an_incomplete_file_is_an_error() {
        for whole in [true, false] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"abcdefgh").unwrap();
            let growth = FileGrowth::default();
            growth.set_bytes(3);
            let mut growing = GrowingFile::new(file, growth.clone());
            let mut first = [0; 8];
            assert_eq!(growing.read(&mut first).unwrap(), 3);
            let reader = thread::spawn(move || {
                let mut rest = Vec::new();
                growing.read_to_end(&mut rest).map(|_| rest)
            });
            growth.set_bytes(5);
            if whole {
                growth.set_bytes(8);
                growth.finish();
            }
            growth.give_up();
            let read = reader.join().unwrap();
            assert_eq!(read.ok(), whole.then(|| b"defgh".to_vec()));
        }
    }
}
