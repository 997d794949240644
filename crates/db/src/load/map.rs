//! Mapped files, read into the page cache before they are used.

use std::sync::Arc;

use super::advice::{Use, advise, announce, populate, prefer_large_pages, resident_bytes};
use super::files::{Files, READ_BYTES, parallel_with};
use super::{HugePages, Loader, Meter, Statistics};
use crate::partition::{Part, Piece, VolumeFile};
use crate::volume::Volume;
use crate::{Contents, Database, DbError, LoadedPartition, Partition};

/// Uses the mapping of the database itself; what is not in the page cache is read first. One copy on a machine,
/// however many processes search it, and nothing to do for a database that was just searched.
pub struct Map {
    database: Database,
    /// Faults read in large pieces.
    large_reads: bool,
    /// Files that something was missing of and that could not be read by way of the mapping.
    files: Files,
    meter: Meter,
}

/// A stretch of a file that is not in the page cache.
struct Missing<'a> {
    piece: &'a Piece,
    file: VolumeFile,
    /// Position in the file.
    from: u64,
    /// Where it is mapped.
    bytes: &'a [u8],
}

impl Map {
    /// A loader for partitions of `database` with these contents.
    pub fn new(database: Database, contents: Contents) -> Self {
        if contents == Contents::Residues {
            // Headers are looked up here and there, for the hits only.
            database.advise(Part::Headers, Use::Random);
            database.advise(Part::HeaderOffsets, Use::Random);
        }
        let large_reads = database.prefer_large_pages(contents);
        let files = Files::new(database.clone());
        Self { database, large_reads, files, meter: Meter::default() }
    }

    /// What of a partition is not in the page cache.
    fn missing<'a>(
        &self,
        partition: &'a Partition,
        loaded: &'a LoadedPartition,
    ) -> Vec<Missing<'a>> {
        let mut missing = Vec::new();
        for (at, piece) in partition.pieces.iter().enumerate() {
            for span in &piece.spans {
                let Some(bytes) = loaded.memory_of(span.part).nth(at) else { continue };
                let file = span.part.file();
                // Memory that is no file need not be asked for, nor can it.
                if self.database.volume_file(piece.volume, file).is_none() {
                    continue;
                }
                let mut from = span.bytes.start;
                for bytes in bytes.chunks(READ_BYTES) {
                    if resident_bytes(bytes).is_some_and(|resident| resident < bytes.len()) {
                        missing.push(Missing { piece, file, from, bytes });
                    }
                    from += bytes.len() as u64;
                }
            }
        }
        missing
    }

    /// Brings into the page cache what is missing, several stretches at a time, so that the device always has something
    /// to do. No byte is copied. Where the kernel cannot do that, plain reads do.
    fn fetch(&self, missing: Vec<Missing>) -> Result<(), DbError> {
        if !self.large_reads {
            missing.iter().for_each(|missing| announce(missing.bytes));
        }
        parallel_with(missing, Vec::new, |buffer, missing| {
            if populate(missing.bytes) {
                return Ok(());
            }
            // The bytes are wanted in the page cache only.
            buffer.resize(missing.bytes.len(), 0);
            match self.files.reader(missing.piece, missing.file) {
                Ok(reader) => reader.read_exact(buffer, missing.from),
                // What is mapped is still the file that was opened.
                Err(DbError::Replaced { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }
}

impl Loader for Map {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let loaded = LoadedPartition::resident(&self.database, partition)?;
        let missing = self.missing(partition, &loaded);
        if !missing.is_empty() {
            let bytes = missing.iter().map(|missing| missing.bytes.len()).sum();
            self.meter.count(bytes, || self.fetch(missing))?;
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

impl Database {
    /// Tells the kernel how a part of all volumes will be used.
    pub(crate) fn advise(&self, part: Part, usage: Use) {
        for (volume, _) in self.volumes() {
            advise(volume.held(part), usage);
        }
    }

    /// Asks for what is read as a whole in large pages; true if faults then read in large pieces.
    pub(crate) fn prefer_large_pages(&self, contents: Contents) -> bool {
        let kind = self.kind();
        let parts = |volume| contents.parts(kind).map(move |part| Volume::held(volume, part));
        let all = self.volumes().flat_map(|(volume, _)| parts(volume));
        // Each is asked for, whatever became of the others.
        all.filter(|bytes| !prefer_large_pages(bytes)).count() == 0
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
