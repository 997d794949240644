//! Loads partitions through a mapping of their files, and reads its pages in advance.

use std::sync::Arc;

use super::advice::{
    AccessPattern, advise, announce_access, populate_pages, prefer_large_pages, resident_bytes,
};
use super::files::{OpenedFiles, READ_BYTES, run_parallel_with};
use super::{LoadStatistics, Loader, Meter, PageKind};
use crate::partition::{VolumeFile, VolumePart, VolumePiece};
use crate::volume::Volume;
use crate::{Database, DbError, LoadedPartition, Partition, PartitionContents};

/// Loads partitions by reading those pages of the database's mapping that are not in the page
/// cache. All processes of a host share one copy. A second search soon after the first one reads
/// nothing.
pub struct MapLoader {
    database: Database,
    /// Whether page faults in the mapping read 2 MB.
    large_reads: bool,
    /// Opened files, for pages that could not be read through the mapping.
    files: OpenedFiles,
    meter: Meter,
}

/// A range of a file that is not in the page cache.
struct UncachedRange<'a> {
    piece: &'a VolumePiece,
    file: VolumeFile,
    /// Byte offset of the range in the file.
    from: u64,
    /// The range in the mapping.
    bytes: &'a [u8],
}

impl MapLoader {
    /// Creates a loader for partitions of `database` with these contents.
    pub fn new(database: Database, contents: PartitionContents) -> Self {
        if contents == PartitionContents::Residues {
            // The search accesses headers at random, and only those of hits.
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
    ) -> Vec<UncachedRange<'a>> {
        let mut missing = Vec::new();
        for (at, piece) in partition.pieces.iter().enumerate() {
            for span in &piece.spans {
                let Some(bytes) = loaded.part_memory(span.part).nth(at) else { continue };
                let file = span.part.volume_file();
                // A file that is already in memory as bytes has no missing pages.
                if self.database.volume_file(piece.volume, file).is_none() {
                    continue;
                }
                let mut from = span.bytes.start;
                for bytes in bytes.chunks(READ_BYTES) {
                    if resident_bytes(bytes).is_some_and(|resident| resident < bytes.len()) {
                        missing.push(UncachedRange { piece, file, from, bytes });
                    }
                    from += bytes.len() as u64;
                }
            }
        }
        missing
    }

    /// Reads missing ranges into the page cache, several at a time, so that the device is always
    /// busy. Copies nothing, unless the system cannot populate mapped pages. Then ordinary reads
    /// fill the page cache.
    fn fetch(&self, missing: Vec<UncachedRange>) -> Result<(), DbError> {
        if !self.large_reads {
            missing.iter().for_each(|missing| announce_access(missing.bytes));
        }
        run_parallel_with(missing, Vec::new, |buffer, missing| {
            if populate_pages(missing.bytes) {
                return Ok(());
            }
            // Only the page cache needs the bytes, so the next read overwrites the buffer.
            buffer.resize(missing.bytes.len(), 0);
            match self.files.reader(missing.piece, missing.file) {
                Ok(reader) => reader.read_exact(buffer, missing.from),
                // The mapping still belongs to the replaced file, so its pages are read when
                // accessed.
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
    /// Advises the system how the program will access one part of all volumes.
    pub(crate) fn advise(&self, part: VolumePart, usage: AccessPattern) {
        for (volume, _) in self.volumes() {
            advise(volume.loaded_bytes(part), usage);
        }
    }

    /// Requests 2 MB pages for parts that are read completely. Returns true if page faults then
    /// read 2 MB in all of them.
    pub(crate) fn prefer_large_pages(&self, contents: PartitionContents) -> bool {
        let kind = self.kind();
        let parts =
            |volume| contents.parts(kind).map(move |part| Volume::loaded_bytes(volume, part));
        let all = self.volumes().flat_map(|(volume, _)| parts(volume));
        // `count` requests large pages for all parts, even if the first request fails.
        all.filter(|bytes| !prefer_large_pages(bytes)).count() == 0
    }

    /// Returns the number of bytes of the volumes' files in the page cache, and the number of all
    /// their bytes; `None` if the system does not report it.
    pub fn cached_bytes(&self) -> Option<(u64, u64)> {
        let (mut cached, mut all) = (0, 0);
        for (volume, _) in self.volumes() {
            // The offset tables share one mapping of the whole index file, so one of them is
            // counted.
            for part in [VolumePart::SequenceOffsets, VolumePart::Sequences, VolumePart::Headers] {
                let bytes = volume.loaded_bytes(part);
                cached += resident_bytes(bytes)? as u64;
                all += bytes.len() as u64;
            }
        }
        Some((cached, all))
    }

    /// Announces access to residues and definition lines of these sequences. The system reads
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
