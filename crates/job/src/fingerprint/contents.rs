//! Fingerprints of the files of a database: those of its partitions, which add up to those of the
//! volumes however the database is cut.

use std::collections::BTreeMap;

use fleetblast_fleet::ids::PartitionId;
use serde::{Deserialize, Serialize};

use super::SequenceFile;

/// What of a volume a partition has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Item {
    /// The partition.
    pub partition: PartitionId,
    /// The volume, counted from 0.
    pub volume: usize,
    /// The kind of bytes.
    pub side: SequenceFile,
}

/// Fingerprints of items.
pub type Sums = BTreeMap<Item, u128>;

/// Fingerprints of what is searched of each volume; empty where nobody wants to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<(usize, SequenceFile), u128>);

impl Contents {
    /// Adds up the items of all partitions.
    pub fn of(sums: &Sums) -> Self {
        let mut volumes = BTreeMap::new();
        for (item, sum) in sums {
            let volume: &mut u128 = volumes.entry((item.volume, item.side)).or_default();
            *volume = volume.wrapping_add(*sum);
        }
        Contents(volumes)
    }

    /// The fingerprint of one kind of bytes of all volumes.
    pub fn sum(&self, side: SequenceFile) -> u128 {
        let own = self.0.iter().filter(|((_, other), _)| *other == side);
        own.fold(0, |sum: u128, (_, more)| sum.wrapping_add(*more))
    }

    /// The fingerprint of a volume, in hexadecimal digits; empty if none of it is searched.
    pub fn of_volume(&self, volume: usize, side: SequenceFile) -> String {
        self.0.get(&(volume, side)).map_or_else(String::new, |sum| format!("{sum:032x}"))
    }
}
