//! Reads results from records.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Context, Error};
use crate::layout::{FileId, Run};
use crate::record::{HEADER_BYTES, Header, StoredShare};

/// Reads shares from any file of a job, whatever its writer and run. It caches the last records,
/// since the next share can be in one of them.
pub struct Reader {
    run: Run,
    /// The file that was read last.
    open: Option<(FileId, File)>,
    /// Name of the file in messages, if it has no path.
    nameless: Option<PathBuf>,
    held: VecDeque<Record>,
    /// Maximal number of cached records.
    most: usize,
}

/// A record that was read and verified.
struct Record {
    file: FileId,
    offset: u64,
    places: Vec<StoredShare>,
    contents: Vec<u8>,
}

impl Reader {
    /// Creates a reader for the job that `run` belongs to.
    pub fn new(run: &Run) -> Self {
        Self { run: run.clone(), open: None, nameless: None, held: VecDeque::new(), most: 1 }
    }

    /// Creates a reader of an open file, which is the only one of its job. Caches up to `most`
    /// records.
    pub(crate) fn from_file(run: &Run, file: File, id: FileId, path: &Path, most: usize) -> Self {
        let nameless = Some(path.to_path_buf());
        Self { open: Some((id, file)), nameless, most, ..Self::new(run) }
    }

    /// Reads a share of a result. A writer's shares can be read after its
    /// [`flush`](crate::Writer::flush).
    ///
    /// # Errors
    /// [`Error::Damaged`] if the bytes are not those that were written; [`Error::Io`] if they
    /// cannot be read.
    pub fn read(&mut self, place: &StoredShare) -> Result<Vec<u8>, Error> {
        let path = self.path(place.file);
        let damaged = |what| Error::Damaged { path: path.clone(), offset: place.offset, what };
        let record = self.record(place.file, place.offset)?;
        if !record.places.contains(place) {
            return Err(damaged("there is no such record"));
        }
        // The table was verified, so the share is inside the contents.
        let (start, end) =
            (place.contents_offset as usize, (place.contents_offset + place.length) as usize);
        let bytes = record.contents.get(start..end).filter(|bytes| xxh3_64(bytes) == place.content);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| damaged("the contents are not those of its table"))
    }

    fn path(&self, file: FileId) -> PathBuf {
        self.nameless.clone().unwrap_or_else(|| self.run.path(file))
    }

    /// Returns the record at an offset of a file.
    fn record(&mut self, file: FileId, offset: u64) -> Result<&Record, Error> {
        let known = self.held.iter().position(|held| (held.file, held.offset) == (file, offset));
        let record = match known.and_then(|known| self.held.remove(known)) {
            Some(record) => record,
            None => self.fetch(file, offset)?,
        };
        self.held.truncate(self.most - 1);
        self.held.push_front(record);
        Ok(&self.held[0])
    }

    fn fetch(&mut self, id: FileId, offset: u64) -> Result<Record, Error> {
        let path = self.path(id);
        let damaged = |what| Error::Damaged { path: path.clone(), offset, what };
        let file = match self.open.take() {
            Some((open, file)) if open == id => file,
            _ => File::open(&path).during("open", &path)?,
        };
        let (_, file) = self.open.insert((id, file));

        let length = file.metadata().during("read", &path)?.len();
        // The reader never reads beyond the file, whatever lengths the header states.
        let within = |start: u64, bytes: u64| {
            let end = start.checked_add(bytes).filter(|&end| end <= length);
            end.ok_or_else(|| damaged("the file ends before the record does"))
        };
        within(offset, HEADER_BYTES as u64)?;
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact_at(&mut bytes, offset).during_at("read", &path, offset)?;
        let header = Header::decode(&bytes, self.run.job, id, offset);
        let header = header.ok_or_else(|| damaged("there is no such record"))?;
        let rest = offset + HEADER_BYTES as u64;
        let size = header.stored.saturating_add(header.table_bytes() as u64);
        within(rest, size)?;
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, rest).during_at("read", &path, rest)?;
        let (table, stored) = bytes.split_at(header.table_bytes());
        let places =
            header.places(table).ok_or_else(|| damaged("the table of the record is wrong"))?;
        if xxh3_64(stored) != header.body {
            return Err(damaged("the checksum of the record is wrong"));
        }
        let contents = header.codec.decompress(stored, header.length);
        let contents = contents.map_err(|_| damaged("the record cannot be decompressed"))?;
        Ok(Record { file: id, offset, places, contents })
    }
}
