//! Reads the files of the database by partition, for the fingerprint of the database.

use fleetblast_fleet::ids::PartitionId;

use super::DatabaseCut;
use crate::error::Error;
use crate::fingerprint::{
    FingerprintItem, FingerprintSums, SequenceFile, VolumeFingerprints, fingerprint_sequences,
};
use crate::plan::Plan;
use crate::subjects::SubjectDatabase;
use crate::threads::pool;

/// Returns whether the plan needs the fingerprint of the database: for a checkpoint, or for
/// metadata.
pub fn is_fingerprint_wanted(plan: &Plan, subjects: &SubjectDatabase) -> bool {
    subjects.is_on_disk() && (plan.fleet.checkpoint.is_some() || plan.metadata.is_some())
}

/// Reads the whole database and returns its fingerprint. The fingerprint is empty unless it is
/// [wanted](is_fingerprint_wanted).
///
/// # Errors
/// Files cannot be read, or threads cannot be started.
pub fn read_fingerprint(
    plan: &Plan,
    subjects: &SubjectDatabase,
    cut: &DatabaseCut,
) -> Result<VolumeFingerprints, Error> {
    if !is_fingerprint_wanted(plan, subjects) {
        return Ok(VolumeFingerprints::default());
    }
    let all = (0..cut.topology.partitions).map(PartitionId);
    let all = all.flat_map(|partition| SequenceFile::ALL.map(|side| (partition, side)));
    Ok(VolumeFingerprints::from_sums(&read_sums(plan, subjects, cut, all)?))
}

/// Computes the fingerprints of the `wanted` files of partitions, on the threads of a rank.
///
/// # Errors
/// Files cannot be read, or threads cannot be started.
pub fn read_sums(
    plan: &Plan,
    subjects: &SubjectDatabase,
    cut: &DatabaseCut,
    wanted: impl IntoIterator<Item = (PartitionId, SequenceFile)>,
) -> Result<FingerprintSums, Error> {
    let items = wanted.into_iter().map(|(partition, side)| {
        let oids = cut.partitions.get(partition.index()).cloned().unwrap_or(0..0);
        ((partition, side), side, oids)
    });
    let items: Vec<_> = items.collect();
    let read = || fingerprint_sequences(&subjects.searched, &items);
    let mut sums = FingerprintSums::new();
    for ((partition, sequence_file), volume, sum) in pool(plan.threads.count)?.install(read)? {
        let all = sums.entry(FingerprintItem { partition, volume, sequence_file }).or_default();
        *all = all.wrapping_add(sum);
    }
    Ok(sums)
}
