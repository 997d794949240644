//! Loads partitions through the mapping of their files, whose pages are read in advance.

use std::sync::Arc;

use super::advice::{
    AccessPattern, advise, announce_access, populate_pages, prefer_large_pages, resident_bytes,
};
use super::files::{OpenedFiles, READ_BYTES, run_parallel_with};
use super::{LoadStatistics, Loader, Meter, PageKind};
use crate::partition::{VolumeFile, VolumePart, VolumePiece};
use crate::volume::Volume;
use crate::{Database, DbError, LoadedPartition, Partition, PartitionContents};

/// Loads partitions by reading the pages of the database's mapping that are not in the page cache.
/// All processes of a machine share one copy. Nothing is read for a database that was just
/// searched.
pub struct MapLoader {
    database: Database,
    /// Whether faults read pages of 2 MB.
    large_reads: bool,
    /// Files whose pages could not be read through the mapping.
    files: OpenedFiles,
    meter: Meter,
}

/// A range of a file that is not in the page cache.
struct Missing<'a> {
    piece: &'a VolumePiece,
    file: VolumeFile,
    /// Position in the file.
    from: u64,
    /// Where the range is mapped.
    bytes: &'a [u8],
}

impl MapLoader {
    /// Makes a loader for partitions of `database` with these contents.
    pub fn new(database: Database, contents: PartitionContents) -> Self {
        if contents == PartitionContents::Residues {
            // Headers are accessed at random, for the hits only.
            database.advise(VolumePart::Headers, AccessPattern::Random);
            database.advise(VolumePart::HeaderOffsets, AccessPattern::Random);
        }
        let large_reads = database.prefer_large_pages(contents);
        let files = OpenedFiles::new(database.clone());
        Self { database, large_reads, files, meter: Meter::default() }
    }

    /// Returns the ranges of a partition that are not in the page cache.
    fn missing<'a>(
        &self,
        partition: &'a Partition,
        loaded: &'a LoadedPartition,
    ) -> Vec<Missing<'a>> {
        let mut missing = Vec::new();
        for (at, piece) in partition.pieces.iter().enumerate() {
            for span in &piece.spans {
                let Some(bytes) = loaded.part_memory(span.part).nth(at) else { continue };
                let file = span.part.volume_file();
                // Memory that is not a mapping of a file has no missing pages.
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

    /// Reads missing ranges into the page cache, several at a time, so that the device is always
    /// busy. Nothing is copied. If the kernel cannot do that, ordinary reads are used.
    fn fetch(&self, missing: Vec<Missing>) -> Result<(), DbError> {
        if !self.large_reads {
            missing.iter().for_each(|missing| announce_access(missing.bytes));
        }
        run_parallel_with(missing, Vec::new, |buffer, missing| {
            if populate_pages(missing.bytes) {
                return Ok(());
            }
            // Only the page cache needs the bytes, so the buffer is discarded.
            buffer.resize(missing.bytes.len(), 0);
            match self.files.reader(missing.piece, missing.file) {
                Ok(reader) => reader.read_exact(buffer, missing.from),
                // The mapping still belongs to the file that was opened.
                Err(DbError::FileReplaced { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }
}

impl Loader for MapLoader {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let loaded = LoadedPartition::from_resident(&self.database, partition)?;
        let missing = self.missing(partition, &loaded);
        if !missing.is_empty() {
            let bytes = missing.iter().map(|missing| missing.bytes.len()).sum();
            self.meter.count(bytes, || self.fetch(missing))?;
        }
        Ok(Arc::new(loaded))
    }

    fn statistics(&self) -> LoadStatistics {
        self.meter.get()
    }

    fn page_kind(&self) -> Option<PageKind> {
        None
    }
}

impl Database {
    /// Advises the kernel how the program will access a part of all volumes.
    pub(crate) fn advise(&self, part: VolumePart, usage: AccessPattern) {
        for (volume, _) in self.volumes() {
            advise(volume.loaded_bytes(part), usage);
        }
    }

    /// Requests large pages for parts that are read completely. Returns true if faults then read
    /// large pages.
    pub(crate) fn prefer_large_pages(&self, contents: PartitionContents) -> bool {
        let kind = self.kind();
        let parts =
            |volume| contents.parts(kind).map(move |part| Volume::loaded_bytes(volume, part));
        let all = self.volumes().flat_map(|(volume, _)| parts(volume));
        // All are requested, whatever the result of the first ones.
        all.filter(|bytes| !prefer_large_pages(bytes)).count() == 0
    }

    /// Number of bytes of the volumes' files in the page cache, and of all their bytes; `None` if
    /// the system does not report it.
    pub fn cached_bytes(&self) -> Option<(u64, u64)> {
        let (mut cached, mut all) = (0, 0);
        for (volume, _) in self.volumes() {
            // The tables of an index share one mapping of the whole file.
            for part in [VolumePart::SequenceOffsets, VolumePart::Sequences, VolumePart::Headers] {
                let bytes = volume.loaded_bytes(part);
                cached += resident_bytes(bytes)? as u64;
                all += bytes.len() as u64;
            }
        }
        Some((cached, all))
    }

    /// Announces access to residues and definition lines of these sequences. The kernel reads
    /// missing pages in the background, all at once.
    pub fn announce_sequences(&self, oids: impl IntoIterator<Item = u32>) {
        for oid in oids {
            let Ok(partition) =
                self.partition(oid..oid.saturating_add(1), crate::PartitionContents::All)
            else {
                continue;
            };
            let Ok(loaded) = LoadedPartition::from_resident(self, &partition) else { continue };
            for part in [VolumePart::Sequences, VolumePart::HeaderOffsets, VolumePart::Headers] {
                loaded.part_memory(part).for_each(|bytes| advise(bytes, AccessPattern::Soon));
            }
        }
    }
}
