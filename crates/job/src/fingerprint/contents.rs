//! Fingerprints of the files of a database. The fingerprints of partitions add up to those of
//! volumes, whatever the partitions are.

use std::collections::BTreeMap;

use fleetblast_fleet::ids::PartitionId;
use serde::{Deserialize, Serialize};

use super::SequenceFile;

/// The part of a volume's file that belongs to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FingerprintItem {
    /// Number of the partition.
    pub partition: PartitionId,
    /// Number of the volume, from 0.
    pub volume: usize,
    /// The kind of the file: residues or definition lines.
    pub sequence_file: SequenceFile,
}

/// For each file of each volume, the fingerprint of each partition's part of it.
pub type FingerprintSums = BTreeMap<FingerprintItem, u128>;

/// Fingerprints of the searched part of each volume. Empty if the job does not need them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeFingerprints(BTreeMap<(usize, SequenceFile), u128>);

impl VolumeFingerprints {
    /// Computes the fingerprints of volumes from those of all partitions.
    pub fn from_sums(sums: &FingerprintSums) -> Self {
        let mut volumes = BTreeMap::new();
        for (item, sum) in sums {
            let volume: &mut u128 = volumes.entry((item.volume, item.sequence_file)).or_default();
            *volume = volume.wrapping_add(*sum);
        }
        VolumeFingerprints(volumes)
    }

    /// Returns the fingerprint of one kind of file over all volumes.
    pub fn sum(&self, sequence_file: SequenceFile) -> u128 {
        let own = self.0.iter().filter(|((_, other), _)| *other == sequence_file);
        own.fold(0, |sum: u128, (_, more)| sum.wrapping_add(*more))
    }

    /// Returns the fingerprint of a volume in hexadecimal digits; empty for a volume that is not
    /// searched.
    pub fn volume_fingerprint(&self, volume: usize, sequence_file: SequenceFile) -> String {
        self.0.get(&(volume, sequence_file)).map_or_else(String::new, |sum| format!("{sum:032x}"))
    }
}
