//! Fingerprints that distinguish different databases of the same name.
//!
//! The fingerprint of several sequences is the sum of their fingerprints, and each depends on the
//! OID. So the sum does not depend on the cuts and the order of partitions. Fingerprints detect
//! accidental changes; they do not resist forgery.

use std::ops::Range;
use std::path::PathBuf;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

pub use crate::encoding::encode_for_fingerprint;
use crate::load::{Loader, MapLoader};
use crate::partition::{VolumeFile, VolumePart};
use crate::volume::Volume;
use crate::{Database, DbError, PartitionContents};

/// Path, date, size and fingerprint of a volume, from its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSummary {
    /// Path without extension.
    pub path: PathBuf,
    /// Date of creation.
    pub date: String,
    /// Number of sequences, as stated.
    pub sequence_count: u32,
    /// Fingerprint of the index fields before the offset tables.
    pub index_fingerprint: u128,
}

/// Computes fingerprints of sequences.
pub struct Fingerprinter {
    database: Database,
    map: MapLoader,
}

impl Fingerprinter {
    /// Creates a fingerprinter for the sequences of `database`.
    pub fn new(database: &Database) -> Self {
        let map = MapLoader::new(database.clone(), PartitionContents::All);
        Self { database: database.clone(), map }
    }

    /// Computes the fingerprint of the included sequences of `oids` in one type of file, for each
    /// volume with such sequences. Returns pairs of volume number and fingerprint. Large reads
    /// bring the bytes into the page cache first.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order;
    /// [`DbError::FileTruncated`] and [`DbError::Io`] for files that cannot be read.
    pub fn compute_fingerprints(
        &self,
        oids: Range<u32>,
        file: VolumeFile,
    ) -> Result<Vec<(usize, u128)>, DbError> {
        let mut partition = self.database.partition(oids, PartitionContents::All)?;
        for piece in &mut partition.pieces {
            piece.spans.retain(|span| is_needed(span.part, file));
        }
        let loaded = self.map.load(&partition)?;
        let volumes = partition.pieces.iter().map(|piece| piece.volume);
        let sums = volumes.zip(loaded.pieces()).map(|(number, (volume, oids, first))| {
            let included = self.database.included_oids_in(oids.clone()).into_iter().flatten();
            let add = |sum: u128, oid| {
                sum.wrapping_add(volume.sequence_fingerprint(file, oid - first, oid))
            };
            (number, included.fold(0, add))
        });
        Ok(sums.collect())
    }
}

/// Returns whether fingerprints of sequences in `file` depend on this part.
fn is_needed(part: VolumePart, file: VolumeFile) -> bool {
    match part {
        VolumePart::HeaderOffsets => file == VolumeFile::Headers,
        VolumePart::SequenceOffsets | VolumePart::AmbiguityOffsets => file == VolumeFile::Sequences,
        part => part.volume_file() == file,
    }
}

impl Volume {
    /// Computes the fingerprint of sequence `i` of the volume from its stored bytes in `file` and
    /// its OID `oid`. Definition lines in memory have no stored bytes, so their encoding replaces
    /// them.
    fn sequence_fingerprint(&self, file: VolumeFile, i: u32, oid: u32) -> u128 {
        let content = match (file, self.parsed_deflines(i)) {
            (VolumeFile::Headers, Some(lines)) => xxh3_128(&encode_for_fingerprint(lines)),
            _ => xxh3_128(self.stored_bytes(file, i)),
        };
        // Sequences with equal bytes differ if their ambiguities start at different offsets.
        let packed = if file == VolumeFile::Sequences { self.packed_byte_count(i) } else { 0 };
        let mut all = [0; 24];
        all[..16].copy_from_slice(&content.to_le_bytes());
        all[16..20].copy_from_slice(&oid.to_le_bytes());
        all[20..].copy_from_slice(&packed.to_le_bytes());
        xxh3_128(&all)
    }
}

impl Database {
    /// Describes each volume by the contents of its index.
    pub fn volume_summaries(&self) -> impl Iterator<Item = VolumeSummary> {
        self.volumes().map(|(volume, _)| {
            let index = volume.index();
            VolumeSummary {
                path: volume.name().to_owned(),
                date: index.date.clone(),
                sequence_count: index.sequence_count,
                index_fingerprint: xxh3_128(&encode_for_fingerprint(index)),
            }
        })
    }

    /// Computes the fingerprint of the effect of aliases and lists: names, titles, numbers for
    /// statistics, included sequences, and shown definition lines.
    pub fn selection_fingerprint(&self) -> u128 {
        let mut state = Xxh3::new();
        let stated =
            (self.database_infos(), self.title(), self.date(), self.counted_length_bounds());
        let numbers = (self.stats_sequence_count(), self.stats_residue_count());
        state.update(&encode_for_fingerprint(&(stated, numbers)));
        self.add_included(&mut state);
        state.digest128()
    }

    /// Computes the fingerprint of the effect of lists alone: included sequences and shown
    /// definition lines.
    pub fn included_fingerprint(&self) -> u128 {
        let mut state = Xxh3::new();
        self.add_included(&mut state);
        state.digest128()
    }

    fn add_included(&self, state: &mut Xxh3) {
        for range in self.included_oids() {
            state.update(&range.start.to_le_bytes());
            state.update(&range.end.to_le_bytes());
        }
        if let Some(filter) = self.volumes().find_map(|(volume, _)| volume.filter()) {
            state.update(&filter.encode());
        }
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::id::SeqId;

    use super::*;
    use crate::{Defline, SequenceKind};

    /// Metadata files contain fingerprints, which are compared with those of other versions.
    #[test]
    fn definition_lines_are_hashed_by_a_lasting_encoding() {
        let ids = vec![SeqId::Gi(7)];
        let line = Defline { title: b"one".to_vec(), ids, taxid: 9, ..Defline::default() };
        let expected = [1, 3, b'o', b'n', b'e', 1, 2, 14, 18, 0, 0, 0];
        assert_eq!(encode_for_fingerprint(&[line][..]), expected);
        assert_eq!(
            encode_for_fingerprint(&[SequenceKind::Protein, SequenceKind::Nucleotide]),
            [0, 1]
        );
    }
}
