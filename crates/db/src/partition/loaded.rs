//! A partition whose bytes are in memory.

use std::fmt;
use std::ops::Range;

use super::{FileSpan, Partition, VolumeFile, VolumePart};
use crate::bytes::{FileBytes, SharedBytes};
use crate::defline::Defline;
use crate::volume::Volume;
use crate::{Bases, Database, DbError};

/// Memory that contains the bytes of one [`FileSpan`](super::FileSpan).
#[derive(Clone)]
pub struct FilledMemory {
    /// The memory.
    pub memory: SharedBytes,
    /// Byte offset of the span in the memory.
    pub start: usize,
}

impl fmt::Debug for FilledMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filled({}..)", self.start)
    }
}

/// A partition whose bytes are in memory. A search of it needs no file.
#[derive(Clone, Debug)]
pub struct LoadedPartition {
    oids: Range<u32>,
    /// Volumes that are partly in memory, each with the OIDs of this part and the volume's first
    /// OID.
    pieces: Vec<(Volume, Range<u32>, u32)>,
}

impl LoadedPartition {
    /// Makes `partition` of `database` searchable from memory. `filled` has the bytes of each span
    /// of each piece, in that order. Nothing is copied. From the database it uses only the fields
    /// of the indexes before the offset tables.
    ///
    /// # Errors
    /// [`DbError::FileTruncated`] if the memory of a span is too short.
    pub fn new(
        database: &Database,
        partition: &Partition,
        filled: impl IntoIterator<Item = FilledMemory>,
    ) -> Result<Self, DbError> {
        let mut filled = filled.into_iter();
        Self::with(database, partition, |loaded, volume, span| {
            let (start, length) = (span.bytes.start, span.bytes.end - span.bytes.start);
            let bytes = filled.next().map(|filled| {
                FileBytes::from_memory(filled.memory, filled.start, length as usize, start as usize)
            });
            let held = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            match bytes {
                Some(bytes) if held == length => loaded.set_bytes(span.part, bytes),
                _ => return Err(volume.truncation_error(span.part, &span.bytes, start + held)),
            }
            Ok(())
        })
    }

    /// Creates a partition of a database whose bytes are all mapped or in memory.
    ///
    /// # Errors
    /// [`DbError::FileTruncated`] if bytes of the partition are not in memory.
    pub fn from_resident(database: &Database, partition: &Partition) -> Result<Self, DbError> {
        Self::with(database, partition, |loaded, volume, span| {
            loaded.share_bytes(volume, span.part, &span.bytes)
        })
    }

    /// Creates the partition from volumes without bytes. `put` sets the bytes of each span.
    fn with(
        database: &Database,
        partition: &Partition,
        mut put: impl FnMut(&mut Volume, &Volume, &FileSpan) -> Result<(), DbError>,
    ) -> Result<Self, DbError> {
        let mut pieces = Vec::with_capacity(partition.pieces.len());
        for piece in &partition.pieces {
            let Some((volume, all)) = database.volumes().nth(piece.volume) else {
                return Err(database.no_such_oid_error(piece.oids.start));
            };
            let mut loaded = volume.without_bytes();
            for span in &piece.spans {
                put(&mut loaded, volume, span)?;
            }
            pieces.push((loaded, piece.oids.clone(), all.start));
        }
        Ok(Self { oids: partition.oids.clone(), pieces })
    }

    /// Returns the OIDs of the partition.
    pub fn oids(&self) -> Range<u32> {
        self.oids.clone()
    }

    /// Returns the residues of a sequence like [`Database::residues_of`]. They are empty for an OID
    /// that is not in the partition.
    #[inline]
    pub fn residues_of(&self, oid: u32) -> &[u8] {
        self.locate(oid).map_or(&[], |(volume, first)| volume.residues(oid - first))
    }

    /// Returns the stored bytes of a sequence like [`Database::stored_bytes_of`]. They are empty
    /// for an OID that is not in the partition.
    pub fn stored_bytes_of(&self, oid: u32) -> &[u8] {
        let Some((volume, first)) = self.locate(oid) else { return &[] };
        volume.stored_bytes(VolumeFile::Sequences, oid - first)
    }

    /// Returns the bases of a nucleotide sequence.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`] for an OID that is not in the partition, [`DbError::InvalidOffset`]
    /// for a damaged database.
    #[inline]
    pub fn bases_of(&self, oid: u32) -> Result<Bases<'_>, DbError> {
        match self.locate(oid) {
            Some((volume, first)) => volume.bases(oid - first, first),
            None => Err(DbError::NoSuchOid { oid, count: self.oids.end }),
        }
    }

    /// Returns the length of a sequence like [`Database::length_of`]; 0 for an OID that is not in
    /// the partition.
    #[inline]
    pub fn length_of(&self, oid: u32) -> u32 {
        self.locate(oid).map_or(0, |(volume, first)| volume.length(oid - first))
    }

    /// Returns the definition lines of a sequence like [`Database::deflines`]. The partition must
    /// have been loaded with [`PartitionContents::All`](super::PartitionContents::All).
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`] for an OID that is not in the partition; [`DbError::InvalidOffset`]
    /// or [`DbError::InvalidHeader`] for a damaged database and for a partition without headers.
    pub fn deflines(&self, oid: u32) -> Result<Vec<Defline>, DbError> {
        match self.locate(oid) {
            Some((volume, first)) => volume.deflines(oid - first, first),
            None => Err(DbError::NoSuchOid { oid, count: self.oids.end }),
        }
    }

    /// Checks all sequences of the partition like [`Database::validate`].
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] or [`DbError::InvalidResidue`], naming file, byte and OID.
    pub fn validate(&self) -> Result<(), DbError> {
        self.pieces.iter().try_for_each(|(volume, oids, first)| {
            volume.validate(oids.start - first..oids.end - first, *first)
        })
    }

    /// Checks the sequences of `range` that are in the partition like [`Database::validate`].
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] or [`DbError::InvalidResidue`], naming file, byte and OID.
    pub fn validate_range(&self, range: &Range<u32>) -> Result<(), DbError> {
        self.pieces.iter().try_for_each(|(volume, oids, first)| {
            let (start, end) = (range.start.max(oids.start), range.end.min(oids.end));
            if start < end { volume.validate(start - first..end - first, *first) } else { Ok(()) }
        })
    }

    /// Returns the memory of this part of the files for each piece, in OID order.
    pub fn part_memory(&self, part: VolumePart) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(move |(volume, ..)| volume.loaded_bytes(part))
    }

    /// Returns the pieces: a volume that is partly in memory, the OIDs of this part, and the
    /// volume's first OID.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &(Volume, Range<u32>, u32)> {
        self.pieces.iter()
    }

    #[inline]
    fn locate(&self, oid: u32) -> Option<(&Volume, u32)> {
        // Most partitions have one piece.
        let at = self.pieces.partition_point(|(_, oids, _)| oids.end <= oid);
        let (volume, oids, first) = self.pieces.get(at)?;
        (oids.start <= oid).then_some((volume, *first))
    }
}
