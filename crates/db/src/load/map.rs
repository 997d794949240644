//! Mapped files, read into the page cache before they are used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::OFlags;

use super::advice::{Use, advise, resident_bytes};
use super::files::{VolumeReader, parallel_with, read_ahead};
use super::{HugePages, Loader, Meter, Statistics};
use crate::partition::{Part, VolumeFile};
use crate::{Database, DbError, LoadedPartition, Partition};

/// Bytes looked at, and read, at a time. What the kernel is asked to read in advance it cuts to what the device takes
/// at once, which is at least this much.
const STEP: usize = 1 << 20;
/// With less read-ahead than this, a plain read waits for each of its pages.
const LITTLE_READ_AHEAD: u64 = 64 << 10;

/// Uses the mapping of the database itself; what is not in the page cache is read first. One copy on a machine,
/// however many processes search it, and nothing to do for a database that was just searched.
pub struct Map {
    database: Database,
    /// Files that something was missing of.
    files: Mutex<HashMap<(usize, VolumeFile), Arc<Source>>>,
    meter: Meter,
}

/// A file to read into the page cache.
struct Source {
    reader: VolumeReader,
    little_read_ahead: bool,
}

impl Map {
    /// A loader for `database`.
    pub fn new(database: Database) -> Self {
        // Headers are looked up here and there, for the hits only.
        database.advise(Part::Headers, Use::Random);
        database.advise(Part::HeaderOffsets, Use::Random);
        Self { database, files: Mutex::new(HashMap::new()), meter: Meter::default() }
    }

    fn source(
        &self,
        piece: &crate::partition::Piece,
        file: VolumeFile,
    ) -> Result<Arc<Source>, DbError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = files.get(&(piece.volume, file)) {
            return Ok(Arc::clone(source));
        }
        let reader = VolumeReader::of_volume(&self.database, piece, file, OFlags::empty())?;
        let read_ahead = read_ahead(&reader.path).unwrap_or(u64::MAX);
        let source = Arc::new(Source { reader, little_read_ahead: read_ahead < LITTLE_READ_AHEAD });
        files.insert((piece.volume, file), Arc::clone(&source));
        Ok(source)
    }
}

impl Loader for Map {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let loaded = LoadedPartition::resident(&self.database, partition)?;
        let mut missing = Vec::new();
        for (at, piece) in partition.pieces.iter().enumerate() {
            for span in &piece.spans {
                let Some(bytes) = loaded.memory_of(span.part).nth(at) else { continue };
                // Memory that is no file need not be asked for, nor can it.
                if self.database.volume_file(piece.volume, span.part.file()).is_none() {
                    continue;
                }
                let mut from = span.bytes.start;
                for step in bytes.chunks(STEP) {
                    if resident_bytes(step).is_some_and(|resident| resident < step.len()) {
                        missing.push((self.source(piece, span.part.file())?, from, step.len()));
                    }
                    from += step.len() as u64;
                }
            }
        }
        let read: usize = missing.iter().map(|(_, _, length)| length).sum();
        if !missing.is_empty() {
            // One buffer for each thread: the bytes are wanted in the page cache only.
            let read_all = || {
                parallel_with(
                    missing,
                    || vec![0; STEP],
                    |buffer, (source, from, length)| source.read(from, &mut buffer[..length]),
                )
            };
            self.meter.count(read, read_all)?;
        }
        Ok(Arc::new(loaded))
    }

    fn statistics(&self) -> Statistics {
        self.meter.get()
    }

    fn pages(&self) -> Option<HugePages> {
        None
    }
}

impl Source {
    /// Reads a step, so that it is in the page cache.
    fn read(&self, from: u64, buffer: &mut [u8]) -> Result<(), DbError> {
        if self.little_read_ahead {
            let length = std::num::NonZeroU64::new(buffer.len() as u64);
            // Advice that is not taken only makes the read slower.
            let _ =
                rustix::fs::fadvise(&self.reader.file, from, length, rustix::fs::Advice::WillNeed);
        }
        self.reader.read_exact(buffer, from)
    }
}

impl Database {
    /// Tells the kernel how a part of all volumes will be used.
    pub(crate) fn advise(&self, part: Part, usage: Use) {
        for (volume, _) in self.volumes() {
            advise(volume.held(part), usage);
        }
    }

    /// How many bytes of the volumes' files are in the page cache, and how many they have; `None` where the system does
    /// not tell.
    pub fn cached_bytes(&self) -> Option<(u64, u64)> {
        let (mut cached, mut all) = (0, 0);
        for (volume, _) in self.volumes() {
            // The index as a whole is held for each of its tables.
            for part in [Part::SequenceOffsets, Part::Sequences, Part::Headers] {
                let bytes = volume.held(part);
                cached += resident_bytes(bytes)? as u64;
                all += bytes.len() as u64;
            }
        }
        Some((cached, all))
    }

    /// Announces that residues and definition lines of these sequences will be looked at: what is not in the page cache
    /// is read meanwhile, all at once.
    pub fn will_need(&self, oids: impl IntoIterator<Item = u32>) {
        for oid in oids {
            let Ok(partition) = self.partition(oid..oid.saturating_add(1), crate::Contents::All)
            else {
                continue;
            };
            let Ok(loaded) = LoadedPartition::resident(self, &partition) else { continue };
            for part in [Part::Sequences, Part::HeaderOffsets, Part::Headers] {
                loaded.memory_of(part).for_each(|bytes| advise(bytes, Use::Soon));
            }
        }
    }
}
