//! Fingerprints of the sequences of a database, read on several threads.

mod contents;

use std::ops::Range;

use fleetblast_db::Database;
use fleetblast_db::fingerprint::Fingerprinter;
use fleetblast_db::partition::VolumeFile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::contents::{FingerprintItem, FingerprintSums, VolumeFingerprints};
use crate::error::Error;

/// Number of residues that a thread reads at a time.
const READ_RESIDUES: u64 = 16 << 20;
/// Minimum number of ranges of OIDs for each thread, so that no thread is idle for long at the end.
const RANGES_PER_THREAD: usize = 4;

/// One of the two files of a volume that are fingerprinted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SequenceFile {
    /// Residues or bases.
    Residues,
    /// Definition lines.
    Headers,
}

impl SequenceFile {
    /// Both files of a volume that are fingerprinted.
    pub const ALL: [SequenceFile; 2] = [SequenceFile::Residues, SequenceFile::Headers];

    /// Converts this value to the kind of file that the database crate uses.
    pub fn file(self) -> VolumeFile {
        match self {
            SequenceFile::Residues => VolumeFile::Sequences,
            SequenceFile::Headers => VolumeFile::Headers,
        }
    }
}

/// Computes fingerprints of sequences on the threads of the current pool. Each item is a key that
/// the caller chooses, a file and a range of OIDs. Each result is a key, the number of a volume and
/// a fingerprint. The caller adds up the fingerprints of the same key and volume.
///
/// # Errors
/// Files that cannot be read.
pub fn fingerprint_sequences<K: Copy + Send>(
    database: &Database,
    items: &[(K, SequenceFile, Range<u32>)],
) -> Result<Vec<(K, usize, u128)>, Error> {
    let by_size = usize::try_from(database.residue_count() / READ_RESIDUES).unwrap_or(usize::MAX);
    let least = by_size.saturating_add(1).max(RANGES_PER_THREAD * rayon::current_num_threads());
    let parts = least.div_ceil(items.len().max(1));
    let ranges = items.iter().flat_map(|(key, side, oids)| {
        let ranges = database.partitions_within(oids.clone(), parts);
        ranges.into_iter().map(|oids| (*key, *side, oids))
    });
    let ranges: Vec<_> = ranges.collect();
    let fingerprinter = Fingerprinter::new(database);
    let read = |(key, side, oids): (K, SequenceFile, Range<u32>)| {
        let volumes = fingerprinter.compute_fingerprints(oids, side.file())?;
        Ok(volumes.into_iter().map(move |(volume, sum)| (key, volume, sum)))
    };
    let read: Result<Vec<_>, Error> = ranges.into_par_iter().map(read).collect();
    Ok(read?.into_iter().flatten().collect())
}
