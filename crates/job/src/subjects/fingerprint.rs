//! Fingerprints of the searched subjects.

use fleetblast_db::Database;
use fleetblast_db::fingerprint::Fingerprinter;

use super::SubjectDatabase;
use crate::digest::Digest;
use crate::error::Error;
use crate::fingerprint::SequenceFile;

impl SubjectDatabase {
    /// Computes the fingerprint of all searched data except for the sequences in files of volumes.
    ///
    /// # Errors
    /// Sequences that cannot be read, which never happens for sequences in memory.
    pub fn selection_fingerprint(&self) -> Result<u128, Error> {
        let mut state = Digest::default();
        let selected = [&self.searched, &self.whole].map(Database::selection_fingerprint);
        let masks = (&self.lower_case, &self.masks, self.has_hard_masks);
        let rest = (&self.totals, self.is_listed, self.is_database_empty, &self.summary);
        state.add(&(selected, masks, rest, self.searched_start));
        if !self.is_on_disk() {
            state.add(&self.memory_fingerprint()?);
        }
        Ok(state.finish())
    }

    /// Computes the fingerprint of masks, statistics and lists: of all data but sequences and
    /// definition lines. Names and dates do not count.
    pub fn rest_fingerprint(&self) -> u128 {
        let mut state = Digest::default();
        let included = [&self.searched, &self.whole].map(Database::included_fingerprint);
        let masks = (&self.lower_case, &self.masks, self.has_hard_masks);
        let rest = (&self.totals, self.is_listed, self.is_database_empty, self.searched_start);
        state.add(&(included, masks, rest));
        state.finish()
    }

    /// Returns the fingerprints of the sequences in memory and of their definition lines. Both
    /// cover the searched parts and the whole subjects.
    ///
    /// # Errors
    /// Sequences that cannot be read, which never happens for sequences in memory.
    pub fn memory_fingerprint(&self) -> Result<[u128; 2], Error> {
        let mut digests = SequenceFile::ALL.map(|_| Digest::default());
        for database in [&self.searched, &self.whole] {
            let fingerprinter = Fingerprinter::new(database);
            for (digest, side) in digests.iter_mut().zip(SequenceFile::ALL) {
                let volumes =
                    fingerprinter.compute_fingerprints(0..database.oid_count(), side.file())?;
                let sum = |sum: u128, (_, more)| sum.wrapping_add(more);
                digest.add(&volumes.into_iter().fold(0, sum));
            }
        }
        Ok(digests.map(|digest| digest.finish()))
    }
}
