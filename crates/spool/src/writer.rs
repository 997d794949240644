//! Writes records.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Compressor;
use crate::durable::{make_directory, parent, sync_directory};
use crate::error::{Context, Error};
use crate::key::{ResultKey, ShareRange};
use crate::layout::{FileId, MAX_WRITERS, Run};
use crate::record::{HEADER_BYTES, Header, MOST_CONTENTS, MOST_SHARES, StoredShare, table};

/// Minimal size of a buffer in bytes.
const MIN_BUFFER: usize = 4096;

/// Appends results to the file of one writer, through two buffers.
///
/// The first buffer collects results. When it is full, it is compressed to a record in the second
/// buffer. When the second buffer is full, it is written at once. The writer needs memory for both
/// buffers, however large the results are. The first write creates the file.
///
/// # After an error
/// The buffers keep their contents, so that a later [`sync`](Self::sync) can still bring them to
/// disk. The file is truncated to its length before the failed write. If a `sync` fails for another
/// reason than a failed write, the writer accepts no more results: see [`Error::Unreliable`].
pub struct Writer {
    run: Run,
    id: FileId,
    path: PathBuf,
    file: Option<File>,
    compressor: Compressor,
    /// The first buffer.
    contents: Vec<u8>,
    /// The places of the shares in the first buffer.
    places: Vec<StoredShare>,
    /// Capacity of the first buffer in bytes.
    room: usize,
    /// The second buffer. It will be written at offset `written` of the file.
    records: Vec<u8>,
    /// Capacity of the second buffer in bytes. A longer record is written alone.
    most: usize,
    written: u64,
    unsynced: usize,
    /// The error of the system that could not bring the file to disk; `None` if there was none.
    unreliable: Option<String>,
}

impl Writer {
    /// Creates the writer with this number in a run. It writes at most `buffer_bytes` (at least
    /// 4096) at a time.
    ///
    /// # Errors
    /// [`Error::TooManyWriters`] if `writer` is not below [`MAX_WRITERS`]; [`Error::Io`] if there
    /// is no memory for the compressor.
    pub fn new(run: &Run, writer: u32, buffer_bytes: usize) -> Result<Self, Error> {
        if writer >= MAX_WRITERS {
            return Err(Error::TooManyWriters(writer));
        }
        let id = FileId { run: run.number, writer };
        let path = run.path(id);
        Ok(Self {
            compressor: Compressor::new(run.codec).during("compress for", &path)?,
            run: run.clone(),
            id,
            path,
            file: None,
            contents: Vec::new(),
            places: Vec::new(),
            room: buffer_bytes.clamp(MIN_BUFFER, MOST_CONTENTS),
            records: Vec::new(),
            most: buffer_bytes.max(MIN_BUFFER),
            written: 0,
            unsynced: 0,
            unreliable: None,
        })
    }

    /// Makes the writer use the open file `file`. Messages call it `path`.
    pub(crate) fn into_file(self, file: File, path: &Path) -> Self {
        Self { file: Some(file), path: path.to_path_buf(), ..self }
    }

    /// Returns the identifier of the writer's file.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns the number of bytes written to the file so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends a result, or a share of it. Returns the places of its parts. There are several parts
    /// if it is longer than the first buffer.
    ///
    /// The parts can be read after they are written ([`flush`](Self::flush)), and survive a crash
    /// after they are on disk ([`sync`](Self::sync)).
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created or written, as on a full disk;
    /// [`Error::Unreliable`] after a failed `sync`; [`Error::ShareTooLong`] if the bytes do not fit
    /// into the result.
    pub fn append(
        &mut self,
        key: ResultKey,
        share: ShareRange,
        bytes: &[u8],
    ) -> Result<Vec<StoredShare>, Error> {
        self.check_reliable()?;
        let length = bytes.len() as u64;
        if !share.has_room(length) {
            return Err(Error::ShareTooLong { key, share, length });
        }
        let mut places = Vec::with_capacity(1 + bytes.len() / self.room);
        let mut start = share.start;
        if bytes.is_empty() {
            places.push(self.collect(key, share, bytes)?);
        }
        for part in bytes.chunks(self.room) {
            places.push(self.collect(key, ShareRange { start, ..share }, part)?);
            start += part.len() as u64;
        }
        self.unsynced += 1;
        Ok(places)
    }

    /// Returns the number of results appended since the last `sync`.
    pub fn unsynced(&self) -> usize {
        self.unsynced
    }

    /// Writes the buffers to the file, so that other processes can read their results.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written. Nothing is lost then: the buffers are
    /// unchanged.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.seal()?;
        self.write()
    }

    /// Brings all appended results to disk, so that they survive a crash.
    ///
    /// # Errors
    /// [`Error::Io`] if the system reports an error. If a write failed, nothing is lost and the
    /// call can be repeated. [`Error::Unreliable`] after an earlier failure to bring the file to
    /// disk.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.check_reliable()?;
        self.flush()?;
        if self.unsynced == 0 {
            return Ok(());
        }
        if let Some(file) = &self.file {
            file.sync_data().during("bring to disk", &self.path).inspect_err(|error| {
                self.unreliable = Some(error.to_string());
            })?;
        }
        self.unsynced = 0;
        Ok(())
    }

    /// Fails if an earlier synchronisation failed. It must not be repeated: a second attempt would
    /// succeed, although the pages that the first one could not write may be gone.
    fn check_reliable(&self) -> Result<(), Error> {
        match &self.unreliable {
            None => Ok(()),
            Some(cause) => Err(Error::Unreliable { path: self.path.clone(), cause: cause.clone() }),
        }
    }

    /// Adds a part of a result, which must fit into the first buffer.
    fn collect(
        &mut self,
        key: ResultKey,
        share: ShareRange,
        part: &[u8],
    ) -> Result<StoredShare, Error> {
        if self.contents.len() + part.len() > self.room || self.places.len() == MOST_SHARES {
            self.seal()?;
        }
        let place = StoredShare {
            file: self.id,
            // The offset of the record that the first buffer will become.
            offset: self.written + self.records.len() as u64,
            contents_offset: self.contents.len() as u64,
            key,
            share,
            length: part.len() as u64,
            content: xxh3_64(part),
        };
        self.contents.extend_from_slice(part);
        self.places.push(place);
        Ok(place)
    }

    /// Compresses the first buffer to a record in the second buffer.
    fn seal(&mut self) -> Result<(), Error> {
        if self.places.is_empty() {
            return Ok(());
        }
        let body = self.compressor.compress(&self.contents).during("compress for", &self.path)?;
        let table = table(&self.places);
        let size = HEADER_BYTES + table.len() + body.len();
        if self.records.len() + size > self.most {
            self.write()?;
        }
        let header = Header {
            file: self.id,
            offset: self.written + self.records.len() as u64,
            codec: self.run.codec,
            shares: self.places.len(),
            stored: body.len() as u64,
            length: self.contents.len() as u64,
            table: xxh3_64(&table),
            body: xxh3_64(&body),
        };
        self.records.reserve_exact(size.max(self.most.saturating_sub(self.records.len())));
        self.records.extend_from_slice(&header.encode(self.run.job));
        self.records.extend_from_slice(&table);
        self.records.extend_from_slice(&body);
        self.contents.clear();
        self.places.clear();
        Ok(())
    }

    /// Writes the second buffer to the file.
    fn write(&mut self) -> Result<(), Error> {
        if self.records.is_empty() {
            return Ok(());
        }
        let file = open_file(&mut self.file, &self.run, self.id)?;
        if let Err(error) = file.write_all_at(&self.records, self.written) {
            // This releases the space of the failed write. Otherwise a scan would report an
            // incomplete record at the end.
            let _ = file.set_len(self.written);
            return Err(error).during_at("write", &self.path, self.written);
        }
        self.written += self.records.len() as u64;
        self.records.clear();
        Ok(())
    }
}

/// Returns the file, and creates it at the first call. No other run has a file of this name, so an
/// existing file is an error.
fn open_file<'a>(slot: &'a mut Option<File>, run: &Run, id: FileId) -> Result<&'a File, Error> {
    if let Some(file) = slot {
        return Ok(file);
    }
    let path = run.path(id);
    let inner = parent(&path);
    let outer = parent(inner);
    make_directory(outer)?;
    make_directory(inner)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&path).during("make", &path)?;
    // All three directories are synchronised even if they exist: another writer that created them
    // may not have synchronised them yet.
    let synced = [inner, outer, &run.root].into_iter().try_for_each(sync_directory);
    if synced.is_err() {
        // The file is removed so that the call can be repeated.
        let _ = fs::remove_file(&path);
    }
    synced.map(|()| &*slot.insert(file))
}

#[cfg(test)]
mod tests;
