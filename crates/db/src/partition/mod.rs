//! Virtual partitions: ranges of OIDs, and the ranges of files that they need.
//!
//! The files of a database are not cut. [`Database::partitions`] returns ranges of OIDs with nearly
//! equal numbers of residues. [`Database::partition`] returns the ranges of bytes that one of them
//! needs, from a few offsets of the index. Any reader of files (threads, MPI-IO, another process)
//! can fill memory with these bytes. [`LoadedPartition`] makes the memory searchable.

mod cut;
mod loaded;

use std::fs::Metadata;
use std::ops::Range;
use std::path::PathBuf;

pub(crate) use self::cut::{ResidueCounts, cut_into_ranges};
pub use self::loaded::{FilledMemory, LoadedPartition};
pub use crate::parts::{FileSpan, VolumeFile, VolumePart};
use crate::{Database, DbError, SequenceKind};

/// The part of a partition in one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePiece {
    /// Number of the volume, from 0 in OID order.
    pub volume: usize,
    /// OIDs of the piece, in the whole database.
    pub oids: Range<u32>,
    /// Ranges of files that the piece needs.
    pub spans: Vec<FileSpan>,
}

/// The contents of a partition to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionContents {
    /// Residues only, for a search.
    Residues,
    /// Residues and definition lines, for a search and its report.
    All,
}

impl PartitionContents {
    /// Returns the parts to load, in the order of the spans of a piece.
    pub(crate) fn parts(self, kind: SequenceKind) -> impl Iterator<Item = VolumePart> {
        VolumePart::ALL.into_iter().filter(move |part| match part {
            VolumePart::SequenceOffsets | VolumePart::Sequences => true,
            VolumePart::AmbiguityOffsets => kind == SequenceKind::Nucleotide,
            VolumePart::HeaderOffsets | VolumePart::Headers => self == Self::All,
        })
    }
}

/// A range of OIDs over all volumes, and the ranges of files that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// OIDs of the partition.
    pub oids: Range<u32>,
    /// Pieces of the partition, by volume in OID order.
    pub pieces: Vec<VolumePiece>,
}

impl Partition {
    /// Returns the total number of bytes to load.
    pub fn byte_count(&self) -> u64 {
        let spans = self.pieces.iter().flat_map(|piece| &piece.spans);
        spans.map(|span| span.bytes.end - span.bytes.start).sum()
    }
}

impl Database {
    /// Determines the bytes to load for the OIDs `oids`, clipped to those that exist. Reads at most
    /// four offsets for each volume.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] if these offsets are out of order or outside their file.
    pub fn partition(
        &self,
        oids: Range<u32>,
        contents: PartitionContents,
    ) -> Result<Partition, DbError> {
        let mut pieces = Vec::new();
        for (number, (volume, all)) in self.volumes().enumerate() {
            let part = oids.start.max(all.start)..oids.end.min(all.end);
            if part.is_empty() {
                continue;
            }
            let local = part.start - all.start..part.end - all.start;
            let spans = contents.parts(volume.index().kind).map(|part| {
                let bytes = volume.byte_range(part, &local, all.start)?;
                Ok(FileSpan { part, bytes: bytes.start as u64..bytes.end as u64 })
            });
            let spans = spans.collect::<Result<_, DbError>>()?;
            pieces.push(VolumePiece { volume: number, oids: part, spans });
        }
        Ok(Partition { oids, pieces })
    }

    /// Returns the number of volumes.
    pub fn volume_count(&self) -> usize {
        self.volumes().count()
    }

    /// Returns the attributes of the index, sequence and header files of all volumes, as they were
    /// when the files were opened. Other files may have the same paths now.
    pub fn file_metadata(&self) -> impl Iterator<Item = &Metadata> {
        self.volumes().flat_map(|(volume, _)| volume.file_metadata())
    }

    /// Returns the path of a file of the volume with this number (see [`VolumePiece::volume`]);
    /// `None` for a database in memory.
    pub fn volume_file(&self, volume: usize, file: VolumeFile) -> Option<PathBuf> {
        self.volume(volume)?.path_of(file)
    }
}
