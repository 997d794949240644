//! Finds identifiers that two sequences of a volume share.

use std::collections::HashMap;
use std::path::Path;

use fleetblast_seq::id::SeqId;

use crate::error::MakedbError;
use crate::ids;
use crate::sort::ExternalSorter;

/// Number of bits of a sorted value that hold the index of an identifier within its sequence.
const INDEX_BITS: u32 = 20;

/// Collector of the identifiers of all sequences, which finds duplicates.
///
/// BLAST+ refuses a sequence with an identifier that is already in the volume. For a local
/// identifier it does so only if the sequence has no new identifier
/// (`CWriteDB_Volume::WriteSequence`).
#[derive(Debug)]
pub(crate) struct DuplicateFinder {
    /// Sorted records. The key is the volume and the identifier. The value is the number of the
    /// sequence, and the index of the identifier within the sequence.
    labels: ExternalSorter,
    /// Number of identifiers of each sequence that has several, by the number of the sequence.
    several: HashMap<u64, u32>,
}

impl DuplicateFinder {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { labels: ExternalSorter::new(directory), several: HashMap::new() }
    }

    /// Adds the identifiers of a sequence. `number` is the OID of the sequence.
    pub(crate) fn add(
        &mut self,
        ids: &[SeqId],
        volume: u32,
        number: u64,
    ) -> Result<(), MakedbError> {
        for (index, id) in ids.iter().enumerate() {
            let mut key = volume.to_be_bytes().to_vec();
            key.extend(ids::unique_label(id));
            let index = index.min((1 << INDEX_BITS) - 1) as u64;
            self.labels.push(&key, number << INDEX_BITS | index)?;
        }
        if ids.len() > 1 {
            self.several.insert(number, ids.len() as u32);
        }
        Ok(())
    }

    /// Checks that identifiers are unique in each volume. The error names the first sequence that
    /// BLAST+ refuses.
    pub(crate) fn check_unique(self) -> Result<(), MakedbError> {
        let Self { labels, mut several } = self;
        let mut last = Vec::new();
        // The first refused sequence: its number, the index of its identifier, and the identifier.
        let mut first: Option<(u64, u64, Vec<u8>)> = None;
        labels.for_each_sorted(|key, value| {
            if last != key {
                last.clear();
                last.extend_from_slice(key);
                return Ok(());
            }
            let (number, index) = (value >> INDEX_BITS, value & ((1 << INDEX_BITS) - 1));
            let label = &key[4..];
            let new = several.get_mut(&number);
            let refused = !label.starts_with(b"LCL|")
                || new.is_none_or(|new| {
                    *new -= 1;
                    *new == 0
                });
            if refused && first.as_ref().is_none_or(|(n, i, _)| (number, index) < (*n, *i)) {
                first = Some((number, index, label.to_vec()));
            }
            Ok(())
        })?;
        match first {
            None => Ok(()),
            Some((number, _, label)) => {
                let label = String::from_utf8_lossy(&label).into_owned();
                Err(MakedbError::DuplicateIdentifier { label, number })
            }
        }
    }
}
