//! Loads partitions from memory that the caller fills, and reads the bytes for this memory from
//! files.
//!
//! The memory of a partition has [`Partition::byte_count`] bytes: the spans of its pieces, in order
//! and without gaps. Any range of these bytes can be read, sent and stored on its own.

use std::ops::Range;
use std::sync::Arc;

use super::choice::LOAD_UNIT_BYTES;
use super::files::OpenedFiles;
use super::supply::{PartitionSupply, group_into_units};
use super::{LoadStatistics, Loader, PageKind};
use crate::partition::{FileSpan, FilledMemory, VolumeFile, VolumePiece};
use crate::{Database, DbError, LoadedPartition, Partition, PartitionContents};

/// Reads the bytes of partitions from the files of a database.
pub struct FileSource {
    files: OpenedFiles,
}

/// A range of a file that belongs to the bytes of a partition.
struct Stretch<'a> {
    piece: &'a VolumePiece,
    file: VolumeFile,
    /// Byte offset of the range in the file.
    from: u64,
    length: usize,
}

impl FileSource {
    /// Prepares the files of `database`. Each file is opened at its first read.
    pub fn new(database: Database) -> Self {
        Self { files: OpenedFiles::new(database) }
    }

    /// Fills `buffer` with the bytes of a partition from byte `start` on. Several threads can call
    /// it at once.
    ///
    /// # Errors
    /// Errors of files that cannot be read or are too short; [`DbError::NotLoaded`] if the
    /// partition has fewer bytes.
    pub fn read(
        &self,
        partition: &Partition,
        start: u64,
        mut buffer: &mut [u8],
    ) -> Result<(), DbError> {
        for stretch in stretches(partition, start..start + buffer.len() as u64) {
            let (part, rest) = buffer.split_at_mut(stretch.length);
            let reader = self.files.reader(stretch.piece, stretch.file)?;
            reader.announce(stretch.from, part.len());
            reader.read_exact(part, stretch.from)?;
            buffer = rest;
        }
        if buffer.is_empty() {
            Ok(())
        } else {
            Err(not_loaded_error(&partition.oids, &partition.oids))
        }
    }
}

/// Returns the ranges of files that make up the bytes `wanted` of a partition.
fn stretches(partition: &Partition, wanted: Range<u64>) -> impl Iterator<Item = Stretch<'_>> {
    place_spans(partition).filter_map(move |(piece, span, at)| {
        let (start, end) = (wanted.start.max(at.start), wanted.end.min(at.end));
        (start < end).then(|| Stretch {
            piece,
            file: span.part.volume_file(),
            from: span.bytes.start + (start - at.start),
            length: (end - start) as usize,
        })
    })
}

/// Returns the spans of a partition, each with its range in the bytes of the partition.
fn place_spans(
    partition: &Partition,
) -> impl Iterator<Item = (&VolumePiece, &FileSpan, Range<u64>)> {
    let spans = partition.pieces.iter().flat_map(|piece| {
        let of_piece = piece.spans.iter();
        of_piece.map(move |span| (piece, span))
    });
    spans.scan(0, |end, (piece, span)| {
        let start = *end;
        *end += span.bytes.end - span.bytes.start;
        Some((piece, span, start..*end))
    })
}

/// Loads ranges of one partition that is entirely in memory, without reading or copying.
#[derive(Clone)]
pub struct MemoryLoader {
    database: Database,
    partition: Partition,
    filled: FilledMemory,
    statistics: LoadStatistics,
    page_kind: PageKind,
}

impl MemoryLoader {
    /// Creates a loader for ranges of `partition`, whose bytes are in `filled`. The caller gives
    /// the `statistics` of filling the memory and the kind of its pages.
    pub fn new(
        database: Database,
        partition: Partition,
        filled: FilledMemory,
        statistics: LoadStatistics,
        page_kind: PageKind,
    ) -> Self {
        Self { database, partition, filled, statistics, page_kind }
    }

    /// Makes the supply of the sequences in `ranges`, which must be within the partition.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order.
    pub fn supply(self, ranges: Vec<Range<u32>>) -> Result<PartitionSupply, DbError> {
        let units =
            group_into_units(&self.database, ranges, PartitionContents::Residues, LOAD_UNIT_BYTES)?;
        Ok(PartitionSupply::new(Box::new(self), units, true))
    }

    /// Returns the offset in memory of a span of a volume; `None` if the span is not in the
    /// partition.
    fn find(&self, volume: usize, wanted: &FileSpan) -> Option<usize> {
        let (_, span, at) = place_spans(&self.partition).find(|(piece, span, _)| {
            let within =
                span.bytes.start <= wanted.bytes.start && wanted.bytes.end <= span.bytes.end;
            piece.volume == volume && span.part == wanted.part && within
        })?;
        Some(self.filled.start + (at.start + wanted.bytes.start - span.bytes.start) as usize)
    }
}

impl Loader for MemoryLoader {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let mut filled = Vec::new();
        for (piece, span, _) in place_spans(partition) {
            let start = self
                .find(piece.volume, span)
                .ok_or_else(|| not_loaded_error(&partition.oids, &self.partition.oids))?;
            filled.push(FilledMemory { memory: Arc::clone(&self.filled.memory), start });
        }
        LoadedPartition::new(&self.database, partition, filled).map(Arc::new)
    }

    fn statistics(&self) -> LoadStatistics {
        self.statistics
    }

    fn page_kind(&self) -> Option<PageKind> {
        Some(self.page_kind)
    }
}

fn not_loaded_error(wanted: &Range<u32>, held: &Range<u32>) -> DbError {
    DbError::NotLoaded { wanted: wanted.clone(), held: held.clone() }
}
