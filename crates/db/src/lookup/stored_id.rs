//! Lookups of the identifiers that the headers store.

use fleetblast_seq::id::{ObjectId, SeqId};

use super::Lookup;
use super::files::VolumeFiles;
use super::stored_keys::{accession_keys, index_keys};
use crate::{Database, DbError};

impl Database {
    /// Returns whether several sequences can have the same identifier, because they are in files
    /// that were made independently: of several databases or, in version 4, of several volumes.
    pub fn can_share_identifiers(&self) -> bool {
        let mut files = self.volumes().map(|(volume, _)| volume.lmdb_path());
        let first = files.next().flatten();
        files.any(|file| file.is_none() || file != first)
    }
}

impl Lookup {
    /// Returns the OIDs that the lookup files have for an identifier of a header, in the order of
    /// the volumes (`CSeqDBImpl::SeqidToOids`, seqdbimpl.cpp). The result is empty if no index has
    /// identifiers of this type.
    ///
    /// # Errors
    /// Those of a missing table of accessions and of a damaged file.
    pub fn oids_of_stored_id(&self, id: &SeqId) -> Result<Vec<u32>, DbError> {
        match id {
            SeqId::General { tag: ObjectId::Number(number), .. } if id.is_ordinal() => {
                let oid = u32::try_from(*number).ok();
                Ok(oid.filter(|&oid| oid < self.database.oid_count()).into_iter().collect())
            }
            SeqId::Gi(gi) => {
                let oids = self.volumes.iter().map(|volume| volume.oid_of_gi(*gi));
                oids.filter_map(Result::transpose).collect()
            }
            id if self.is_version_5() => {
                let mut keys = Vec::new();
                accession_keys(id, |key, is_listed| keys.extend(is_listed.then_some(key)));
                let mut oids = Vec::new();
                for entry in &self.entries {
                    for key in &keys {
                        entry.oids_of_key(key, &mut oids)?;
                    }
                }
                Ok(oids)
            }
            id => {
                let mut oids = Vec::new();
                for volume in self.volumes.iter().filter(|volume| volume.strings.have_both()) {
                    oids.extend(volume.oids_of_first_text(&index_keys(id))?);
                }
                Ok(oids)
            }
        }
    }
}

impl VolumeFiles {
    /// Returns the OIDs of the first key that has any.
    fn oids_of_first_text(&self, keys: &[Vec<u8>]) -> Result<Vec<u32>, DbError> {
        for key in keys {
            let oids = self.oids_of_text(key)?;
            if !oids.is_empty() {
                return Ok(oids.into_iter().map(|oid| self.first_oid + oid).collect());
            }
        }
        Ok(Vec::new())
    }
}
