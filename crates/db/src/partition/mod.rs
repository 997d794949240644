//! Virtual partitions: consecutive OIDs, and the ranges of files that they need.
//!
//! Databases are not cut into fragment files. [`Database::partitions`] returns ranges of OIDs of
//! nearly equal size, and [`Database::partition`] the byte ranges of one of them, both from a few
//! offsets of the index. Any reader of files (threads, MPI-IO, another process) can fill memory
//! with these bytes; [`LoadedPartition`] makes them searchable.

mod cut;
mod loaded;

use std::fs::Metadata;
use std::ops::Range;
use std::path::PathBuf;

pub(crate) use self::cut::{Balance, cut};
pub use self::loaded::{Filled, LoadedPartition};
pub use crate::parts::{Part, Span, VolumeFile};
use crate::{Database, DbError, SequenceKind};

/// The part of a partition in one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The volume, counted from 0 in OID order.
    pub volume: usize,
    /// OIDs, in the whole database.
    pub oids: Range<u32>,
    /// The bytes.
    pub spans: Vec<Span>,
}

/// The purpose of a partition's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Searching: residues only.
    Residues,
    /// Searching and reporting: definition lines too.
    All,
}

impl Contents {
    /// The parts, in the order of the spans of a piece.
    pub(crate) fn parts(self, kind: SequenceKind) -> impl Iterator<Item = Part> {
        Part::ALL.into_iter().filter(move |part| match part {
            Part::SequenceOffsets | Part::Sequences => true,
            Part::AmbiguityOffsets => kind == SequenceKind::Nucleotide,
            Part::HeaderOffsets | Part::Headers => self == Self::All,
        })
    }
}

/// A range of OIDs over all volumes, and the bytes it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// OIDs.
    pub oids: Range<u32>,
    /// One for each volume it touches, in OID order.
    pub pieces: Vec<Piece>,
}

impl Partition {
    /// Bytes to load in all.
    pub fn size(&self) -> u64 {
        let spans = self.pieces.iter().flat_map(|piece| &piece.spans);
        spans.map(|span| span.bytes.end - span.bytes.start).sum()
    }
}

impl Database {
    /// Describes the partition of these OIDs, clipped to existing ones: the bytes to load. Reads at
    /// most four offsets for each volume that it touches.
    ///
    /// # Errors
    /// [`DbError::Offset`] if these offsets are out of order or outside their file.
    pub fn partition(&self, oids: Range<u32>, contents: Contents) -> Result<Partition, DbError> {
        let mut pieces = Vec::new();
        for (number, (volume, all)) in self.volumes().enumerate() {
            let part = oids.start.max(all.start)..oids.end.min(all.end);
            if part.is_empty() {
                continue;
            }
            let local = part.start - all.start..part.end - all.start;
            let spans = contents.parts(volume.index().kind).map(|part| {
                let bytes = volume.bytes_of(part, &local, all.start)?;
                Ok(Span { part, bytes: bytes.start as u64..bytes.end as u64 })
            });
            let spans = spans.collect::<Result<_, DbError>>()?;
            pieces.push(Piece { volume: number, oids: part, spans });
        }
        Ok(Partition { oids, pieces })
    }

    /// Number of volumes.
    pub fn volume_count(&self) -> usize {
        self.volumes().count()
    }

    /// The attributes of the index, sequence and header files of all volumes when they were opened.
    /// Other files may have their names by now.
    pub fn opened_files(&self) -> impl Iterator<Item = &Metadata> {
        self.volumes().flat_map(|(volume, _)| volume.opened_files())
    }

    /// The path of a file of volume `volume` (see [`Piece::volume`]); `None` for a database that
    /// was never files.
    pub fn volume_file(&self, volume: usize, file: VolumeFile) -> Option<PathBuf> {
        self.volume(volume)?.path_of(file)
    }
}
