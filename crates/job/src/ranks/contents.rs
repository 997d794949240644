//! Reads what the files of the database hold, partition by partition.

use fleetblast_fleet::ids::PartitionId;

use super::Cut;
use crate::error::Error;
use crate::fingerprint::{
    FingerprintItem, FingerprintSums, SequenceFile, VolumeFingerprints, fingerprint_sequences,
};
use crate::plan::Plan;
use crate::subjects::SubjectDatabase;
use crate::threads::pool;

/// Whether a plan asks for what has to know the contents: a checkpoint, or metadata.
pub fn are_wanted(plan: &Plan, target: &SubjectDatabase) -> bool {
    target.is_on_disk() && (plan.fleet.checkpoint.is_some() || plan.metadata.is_some())
}

/// Reads everything that a plan searches, if that is [wanted](are_wanted).
///
/// # Errors
/// Files that cannot be read; threads that cannot be started.
pub fn of_plan(
    plan: &Plan,
    target: &SubjectDatabase,
    cut: &Cut,
) -> Result<VolumeFingerprints, Error> {
    if !are_wanted(plan, target) {
        return Ok(VolumeFingerprints::default());
    }
    let all = (0..cut.topology.partitions).map(PartitionId);
    let all = all.flat_map(|partition| SequenceFile::ALL.map(|side| (partition, side)));
    Ok(VolumeFingerprints::from_sums(&read(plan, target, cut, all)?))
}

/// Reads parts of the target for their fingerprints, on the threads of a rank.
///
/// # Errors
/// Files that cannot be read; threads that cannot be started.
pub fn read(
    plan: &Plan,
    target: &SubjectDatabase,
    cut: &Cut,
    wanted: impl IntoIterator<Item = (PartitionId, SequenceFile)>,
) -> Result<FingerprintSums, Error> {
    let items = wanted.into_iter().map(|(partition, side)| {
        let oids = cut.partitions.get(partition.index()).cloned().unwrap_or(0..0);
        ((partition, side), side, oids)
    });
    let items: Vec<_> = items.collect();
    let read = || fingerprint_sequences(&target.searched, &items);
    let mut sums = FingerprintSums::new();
    for ((partition, side), volume, sum) in pool(plan.threads.count)?.install(read)? {
        let all = sums.entry(FingerprintItem { partition, volume, side }).or_default();
        *all = all.wrapping_add(sum);
    }
    Ok(sums)
}
