//! Stores results that do not fit into memory in a file without a name.

use std::path::{Path, PathBuf};

use crate::codec::Codec;
use crate::error::{Context, Error};
use crate::key::{ResultKey, ResultKind, ShareRange};
use crate::layout::Run;
use crate::reader::Reader;
use crate::record::StoredShare;
use crate::writer::Writer;

/// Number of bytes that are compressed together and written at once. It is small, since the bytes
/// are read back in small parts.
const BUFFER: usize = 64 << 10;
/// Number of cached records.
const HELD: usize = 32;

/// Storage on disk for results of any length, which the process that wrote them reads again. The
/// file disappears when it is closed.
pub struct ScratchFile {
    writer: Writer,
    reader: Reader,
    results: u64,
}

impl ScratchFile {
    /// Creates an empty scratch file in a directory.
    ///
    /// # Errors
    /// [`Error::Io`] if no file can be created there.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(directory).during("make a file in", directory)?;
        let path: PathBuf = directory.join("(a file without a name)");
        let run = Run { root: directory.to_path_buf(), number: 0, job: 0, codec: Codec::Zstd };
        let writer = Writer::new(&run, 0, BUFFER)?;
        let again = file.try_clone().during("open", &path)?;
        let reader = Reader::from_file(&run, again, writer.id(), &path, HELD);
        Ok(Self { writer: writer.into_file(file, &path), reader, results: 0 })
    }

    /// Stores `bytes` as one result. Returns the places of its parts.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written, as on a full disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Vec<StoredShare>, Error> {
        let key = ResultKey { block: self.results, kind: ResultKind::RESULT };
        self.results += 1;
        self.writer.append(key, ShareRange::whole(bytes.len() as u64), bytes)
    }

    /// Reads a part of the stored bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Damaged`] if the bytes have changed.
    pub fn read(&mut self, place: &StoredShare) -> Result<Vec<u8>, Error> {
        if place.offset >= self.writer.written() {
            self.writer.flush()?;
        }
        self.reader.read(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_in_any_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut scratch = ScratchFile::new(directory.path()).expect("a file");
        let piece = |number: usize| {
            let length = if number.is_multiple_of(50) { 3 * BUFFER + 7 } else { number % 700 };
            (0..length).map(|at| ((at * 31 + number * at / 7) % 251) as u8).collect::<Vec<_>>()
        };
        let mut kept = Vec::new();
        for number in 0..400 {
            kept.push(scratch.write(&piece(number)).expect("room"));
            // Some of these bytes were just stored and are still in the buffers.
            let asked = (number * 7919) % kept.len();
            let read = kept[asked].iter().map(|place| scratch.read(place).expect("sound"));
            assert_eq!(read.collect::<Vec<_>>().concat(), piece(asked));
        }
        assert!(kept.iter().any(|places| places.len() > 1));
        assert_eq!(std::fs::read_dir(directory.path()).expect("readable").count(), 0);
    }
}
