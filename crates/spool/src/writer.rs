//! Writing records.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use xxhash_rust::xxh3::Xxh3;
use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};

use crate::durable::{make_directory, parent, sync_directory};
use crate::error::{Context, Error};
use crate::key::{Key, Share};
use crate::layout::{FileId, MAX_WRITERS, Run};
use crate::record::{HEADER_BYTES, Header, Place};

/// Compression level of zstd: the fastest, which still makes reports several times smaller.
const LEVEL: i32 = 1;
/// The smallest buffer.
const MIN_BUFFER: usize = 4096;

/// Appends records to the file of one writer.
///
/// Its memory is the buffer and about one megabyte of the compressor, however large the results are. The file comes to
/// be with the first write.
///
/// # After an error
/// A record whose [`append`](Self::append) failed is cut off the file again; those appended before stay, in the buffer
/// if they were there, so that a later [`sync`](Self::sync) may still bring them to disk. After a `sync` that failed
/// with anything but a failure to write, nothing can be appended any more: see [`Error::Unreliable`].
pub struct Writer {
    run: Run,
    id: FileId,
    path: PathBuf,
    file: Option<File>,
    encoder: Encoder<'static>,
    /// What is not written yet: `buffer[..used]`, which belongs at `written` of the file.
    buffer: Box<[u8]>,
    used: usize,
    written: u64,
    unsynced: usize,
    /// Why the system could not bring the file to disk.
    unreliable: Option<String>,
}

/// A record that is being appended.
struct Open {
    offset: u64,
    content: Xxh3,
    length: u64,
    body: Xxh3,
    stored: u64,
}

impl Writer {
    /// Writer number `writer` of a run, which writes at most `buffer_bytes` (at least 4096) at a time.
    ///
    /// # Errors
    /// `writer` is not below [`MAX_WRITERS`], or there is no memory for the compressor.
    pub fn new(run: &Run, writer: u32, buffer_bytes: usize) -> Result<Self, Error> {
        if writer >= MAX_WRITERS {
            return Err(Error::TooManyWriters(writer));
        }
        let id = FileId { run: run.number, writer };
        let path = run.path(id);
        let encoder = Encoder::new(LEVEL).during("compress for", &path)?;
        Ok(Self {
            run: run.clone(),
            id,
            path,
            file: None,
            encoder,
            buffer: vec![0; buffer_bytes.max(MIN_BUFFER)].into(),
            used: 0,
            written: 0,
            unsynced: 0,
            unreliable: None,
        })
    }

    /// Appends a record of which the contents are all `pieces`, one after the other: a share of a result, or all of it.
    ///
    /// It can be read once it is written ([`flush`](Self::flush)), and counts once it is on disk ([`sync`](Self::sync)).
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be made or written, as on a full disk; [`Error::Unreliable`] after a failed
    /// `sync`; [`Error::ShareTooLong`].
    pub fn append<'a>(
        &mut self,
        key: Key,
        share: Share,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Place, Error> {
        self.check_reliable()?;
        let offset = self.end();
        let appended = self.append_at(offset, key, share, pieces);
        match appended {
            Ok(_) => self.unsynced += 1,
            Err(_) => self.cut_back(offset),
        }
        appended
    }

    /// Records that do not count yet.
    pub fn unsynced(&self) -> usize {
        self.unsynced
    }

    /// Writes what is in the buffer, so that other processes can read it.
    ///
    /// # Errors
    /// [`Error::Io`]. Nothing is lost then: the buffer is as before.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write(self.used)
    }

    /// Brings all records to disk: from now on they count.
    ///
    /// # Errors
    /// [`Error::Io`]. If it was the writing that failed, nothing is lost and it can be tried again.
    /// [`Error::Unreliable`] after an earlier failure to bring the file to disk.
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

    /// A file that could not be synchronised is never tried again: the second attempt would succeed, though the pages
    /// that the first could not write may be gone.
    fn check_reliable(&self) -> Result<(), Error> {
        match &self.unreliable {
            None => Ok(()),
            Some(cause) => Err(Error::Unreliable { path: self.path.clone(), cause: cause.clone() }),
        }
    }

    /// Where the next record begins.
    fn end(&self) -> u64 {
        self.written + self.used as u64
    }

    fn append_at<'a>(
        &mut self,
        offset: u64,
        key: Key,
        share: Share,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Place, Error> {
        self.encoder.reinit().during("compress for", &self.path)?;
        let mut record =
            Open { offset, content: Xxh3::new(), length: 0, body: Xxh3::new(), stored: 0 };
        self.reserve_header(offset)?;
        for piece in pieces {
            record.content.update(piece);
            record.length += piece.len() as u64;
            let mut input = InBuffer::around(piece);
            while input.pos() < piece.len() {
                self.compress(&mut record, |encoder, output| encoder.run(&mut input, output))?;
            }
        }
        while self.compress(&mut record, |encoder, output| encoder.finish(output, false))? > 0 {}
        if !share.has_room(record.length) {
            return Err(Error::ShareTooLong { key, share, length: record.length });
        }
        let place = Place {
            file: self.id,
            offset,
            key,
            share,
            stored: record.stored,
            length: record.length,
            content: record.content.digest(),
        };
        self.put_header(&Header { place, body: record.body.digest() })?;
        Ok(place)
    }

    /// Leaves room for the header, whose contents are known last.
    fn reserve_header(&mut self, offset: u64) -> Result<(), Error> {
        if self.buffer.len() - self.used < HEADER_BYTES {
            self.make_room(offset)?;
        }
        self.buffer[self.used..self.used + HEADER_BYTES].fill(0);
        self.used += HEADER_BYTES;
        Ok(())
    }

    /// One step of the compressor; returns what it returned.
    fn compress(
        &mut self,
        record: &mut Open,
        step: impl FnOnce(&mut Encoder<'_>, &mut OutBuffer<'_, [u8]>) -> std::io::Result<usize>,
    ) -> Result<usize, Error> {
        if self.used == self.buffer.len() {
            self.make_room(record.offset)?;
        }
        let mut output = OutBuffer::around(&mut self.buffer[self.used..]);
        let left = step(&mut self.encoder, &mut output).during("compress for", &self.path)?;
        record.body.update(output.as_slice());
        let count = output.pos();
        record.stored += count as u64;
        self.used += count;
        Ok(left)
    }

    /// Writes what stands before the record at `offset`, so that it begins the buffer; or all, if it does already. So
    /// each record that fits in the buffer is written at once, with its header.
    fn make_room(&mut self, offset: u64) -> Result<(), Error> {
        match offset.saturating_sub(self.written) {
            0 => self.write(self.used),
            before => self.write(before as usize),
        }
    }

    fn put_header(&mut self, header: &Header) -> Result<(), Error> {
        let bytes = header.encode(self.run.job);
        let offset = header.place.offset;
        if let Some(at) = offset.checked_sub(self.written) {
            let at = at as usize;
            self.buffer[at..at + HEADER_BYTES].copy_from_slice(&bytes);
            return Ok(());
        }
        let file = opened(&mut self.file, &self.run, self.id)?;
        file.write_all_at(&bytes, offset).during_at("write", &self.path, offset)
    }

    /// Writes the first `count` bytes of the buffer and takes them out of it.
    fn write(&mut self, count: usize) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let file = opened(&mut self.file, &self.run, self.id)?;
        if let Err(error) = file.write_all_at(&self.buffer[..count], self.written) {
            // Gives back what the failed write took of a full disk. Without, a scan would tell of a torn tail.
            let _ = file.set_len(self.written);
            return Err(error).during_at("write", &self.path, self.written);
        }
        self.buffer.copy_within(count..self.used, 0);
        self.used -= count;
        self.written += count as u64;
        Ok(())
    }

    /// Forgets everything from `offset` on.
    fn cut_back(&mut self, offset: u64) {
        if let Some(before) = offset.checked_sub(self.written) {
            self.used = before as usize;
            return;
        }
        self.used = 0;
        self.written = offset;
        if let Some(file) = &self.file {
            // Without a header, what is left would be skipped by a scan, or be overwritten by the next record.
            let _ = file.set_len(offset);
        }
    }
}

/// The file, made when it is first wanted. No other run has one of this name, so one that is there is an error.
fn opened<'a>(slot: &'a mut Option<File>, run: &Run, id: FileId) -> Result<&'a File, Error> {
    if let Some(file) = slot {
        return Ok(file);
    }
    let path = run.path(id);
    let inner = parent(&path);
    let outer = parent(inner);
    make_directory(outer)?;
    make_directory(inner)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&path).during("make", &path)?;
    // All three, whoever made them: another writer that did may not have come to this yet.
    let synced = [inner, outer, &run.root].into_iter().try_for_each(sync_directory);
    if synced.is_err() {
        // So that it can be tried again.
        let _ = fs::remove_file(&path);
    }
    synced.map(|()| &*slot.insert(file))
}

#[cfg(test)]
mod tests;
