//! Opens the files of volumes for positioned reads.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::fs::{Advice, OFlags, fadvise};

use super::advice::ANNOUNCE_BYTES;
use crate::partition::{VolumeFile, VolumePiece};
use crate::{Database, DbError};

/// Number of bytes per read. It is so large that the disk limits the rate, not the number of calls.
pub(crate) const READ_BYTES: usize = 4 << 20;
/// Number of concurrent reads. One suffices for a local disk; network file systems need several.
const READERS: usize = 4;

/// A file of a volume, opened for positioned reads.
pub(crate) struct VolumeReader {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl VolumeReader {
    /// Opens a file; `flags` are those of `open(2)`.
    pub(crate) fn open(path: PathBuf, flags: OFlags) -> Result<Self, DbError> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(&path)
            .map_err(|source| DbError::open_error(&path, source))?;
        Ok(Self { path, file })
    }

    /// Reads once, from byte offset `from` of the file. Returns the number of bytes read, which can
    /// be less than the size of the buffer.
    pub(crate) fn read_up_to(&self, buffer: &mut [u8], from: u64) -> Result<usize, DbError> {
        loop {
            match self.file.read_at(buffer, from) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(DbError::open_error(&self.path, source)),
                Ok(count) => return Ok(count),
            }
        }
    }

    /// Announces a read, so that the device gets the whole request at once, even if the system's
    /// read-ahead is small.
    pub(crate) fn announce(&self, from: u64, length: usize) {
        for start in (0..length).step_by(ANNOUNCE_BYTES) {
            let bytes = NonZeroU64::new(ANNOUNCE_BYTES.min(length - start) as u64);
            // If the advice is ignored, the read is only slower.
            let _ = fadvise(&self.file, from + start as u64, bytes, Advice::WillNeed);
        }
    }

    /// Fills `buffer` with the bytes of the file from byte offset `from` on.
    pub(crate) fn read_exact(&self, buffer: &mut [u8], from: u64) -> Result<(), DbError> {
        self.file
            .read_exact_at(buffer, from)
            .map_err(|source| self.read_error(from, buffer, source))
    }

    /// Creates the error for a read that failed.
    fn read_error(&self, from: u64, buffer: &[u8], source: std::io::Error) -> DbError {
        if source.kind() != std::io::ErrorKind::UnexpectedEof {
            return DbError::open_error(&self.path, source);
        }
        DbError::FileTruncated {
            path: self.path.clone(),
            what: "a part of the database",
            offset: from,
            needed: from + buffer.len() as u64,
            length: self.file.metadata().map_or(from, |data| data.len()),
        }
    }
}

/// Files of a database's volumes, each opened at its first read.
pub(crate) struct OpenedFiles<T = VolumeReader> {
    database: Database,
    opened: Mutex<HashMap<(usize, VolumeFile), Arc<T>>>,
}

impl<T> OpenedFiles<T> {
    /// Prepares the files of `database` without opening them.
    pub(crate) fn new(database: Database) -> Self {
        Self { database, opened: Mutex::new(HashMap::new()) }
    }

    /// Returns the database that the files belong to.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Returns a file of the volume of `piece`. Only the first call for a file creates it, by
    /// `make`, which gets a function that opens the file with flags of `open(2)`.
    pub(crate) fn get_or_open(
        &self,
        piece: &VolumePiece,
        file: VolumeFile,
        make: impl FnOnce(&dyn Fn(OFlags) -> Result<VolumeReader, DbError>) -> Result<T, DbError>,
    ) -> Result<Arc<T>, DbError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (piece.volume, file);
        if let Some(known) = opened.get(&key) {
            return Ok(Arc::clone(known));
        }
        let volume = self.database.volume(piece.volume).ok_or(DbError::InMemoryDatabase)?;
        let path = volume.path_of(file).ok_or(DbError::InMemoryDatabase)?;
        let open = |flags| {
            let reader = VolumeReader::open(path.clone(), flags)?;
            volume.verify_same_file(&path, &reader.file)?;
            Ok(reader)
        };
        let new = Arc::new(make(&open)?);
        opened.insert(key, Arc::clone(&new));
        Ok(new)
    }
}

impl OpenedFiles {
    /// Returns a file of the volume of `piece`, for ordinary reads.
    pub(crate) fn reader(
        &self,
        piece: &VolumePiece,
        file: VolumeFile,
    ) -> Result<Arc<VolumeReader>, DbError> {
        self.get_or_open(piece, file, |open| open(OFlags::empty()))
    }
}

/// Calls `work` for all items on a few threads. Returns the error of the first item that failed.
pub(crate) fn run_parallel<T: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<(), DbError> + Sync,
) -> Result<(), DbError> {
    run_parallel_with(items, || (), |(), item| work(item))
}

/// Works like [`run_parallel`], but each thread also calls `make` once and passes the value to all
/// its calls of `work`.
pub(crate) fn run_parallel_with<T: Send, S>(
    items: Vec<T>,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<(), DbError> + Sync,
) -> Result<(), DbError> {
    let threads = READERS.min(items.len());
    if threads <= 1 {
        let mut own = make();
        return items.into_iter().try_for_each(|item| work(&mut own, item));
    }
    let slots: Vec<Mutex<Option<T>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<(usize, DbError)>> = Mutex::new(None);
    let run = || {
        let mut own = make();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = slots.get(number) else { return };
            let item = slot.lock().ok().and_then(|mut item| item.take());
            let done = item.map(|item| work(&mut own, item));
            let Some(Err(error)) = done else { continue };
            next.store(slots.len(), Ordering::Relaxed);
            if let Ok(mut failure) = failure.lock()
                && failure.as_ref().is_none_or(|(first, _)| number < *first)
            {
                *failure = Some((number, error));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    match failure.into_inner() {
        Ok(Some((_, error))) => Err(error),
        _ => Ok(()),
    }
}

/// Returns the read-ahead in bytes of the device with this file; `None` if the system does not
/// report it.
pub fn read_ahead_bytes(path: &Path) -> Option<u64> {
    let device = rustix::fs::stat(path).ok()?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let text = std::fs::read_to_string(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"));
    text.ok()?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_returned() {
        let done = AtomicUsize::new(0);
        let all = run_parallel((0..100).collect(), |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert!(all.is_ok() && done.into_inner() == 100);
        let error = run_parallel((0..100u32).collect(), |oid| match oid {
            10.. => Err(DbError::NoSuchOid { oid, count: 0 }),
            _ => Ok(()),
        });
        assert!(matches!(error, Err(DbError::NoSuchOid { oid: 10, .. })), "{error:?}");
    }
}
