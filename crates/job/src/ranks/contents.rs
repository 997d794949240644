//! What the files of the database hold: fingerprints of each partition, which add up to those of the volumes however the
//! database is cut.

use std::collections::BTreeMap;

use fleetblast_fleet::ids::PartitionId;
use serde::{Deserialize, Serialize};

use super::Cut;
use crate::error::Error;
use crate::fingerprint::{SequenceFile, fingerprint_sequences};
use crate::plan::Plan;
use crate::subjects::Target;
use crate::threads::pool;

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

    /// Whether a plan asks for what has to know them: a checkpoint, or metadata.
    pub fn are_wanted(plan: &Plan, target: &Target) -> bool {
        target.is_on_disk() && (plan.fleet.checkpoint.is_some() || plan.metadata.is_some())
    }

    /// Reads everything that a plan searches, if they are [wanted](Self::are_wanted).
    ///
    /// # Errors
    /// Files that cannot be read; threads that cannot be started.
    pub fn for_plan(plan: &Plan, target: &Target, cut: &Cut) -> Result<Self, Error> {
        if !Self::are_wanted(plan, target) {
            return Ok(Self::default());
        }
        let all = (0..cut.topology.partitions).map(PartitionId);
        let all = all.flat_map(|partition| SequenceFile::ALL.map(|side| (partition, side)));
        Ok(Self::of(&read(plan, target, cut, all)?))
    }

    /// The fingerprint of one kind of bytes of all volumes.
    pub fn sum(&self, side: SequenceFile) -> u128 {
        let own = self.0.iter().filter(|((_, other), _)| *other == side);
        own.fold(0, |sum: u128, (_, more)| sum.wrapping_add(*more))
    }

    /// The fingerprint of a volume, in hexadecimal digits; empty for one of which nothing is searched.
    pub fn of_volume(&self, volume: usize, side: SequenceFile) -> String {
        self.0.get(&(volume, side)).map_or_else(String::new, |sum| format!("{sum:032x}"))
    }
}

/// Reads parts of the target for their fingerprints, on the threads of a rank.
///
/// # Errors
/// Files that cannot be read; threads that cannot be started.
pub fn read(
    plan: &Plan,
    target: &Target,
    cut: &Cut,
    wanted: impl IntoIterator<Item = (PartitionId, SequenceFile)>,
) -> Result<Sums, Error> {
    let items = wanted.into_iter().map(|(partition, side)| {
        let oids = cut.partitions.get(partition.index()).cloned().unwrap_or(0..0);
        ((partition, side), side, oids)
    });
    let items: Vec<_> = items.collect();
    let read = || fingerprint_sequences(&target.searched, &items);
    let mut sums = Sums::new();
    for ((partition, side), volume, sum) in pool(plan.threads.count)?.install(read)? {
        let all = sums.entry(Item { partition, volume, side }).or_default();
        *all = all.wrapping_add(sum);
    }
    Ok(sums)
}
