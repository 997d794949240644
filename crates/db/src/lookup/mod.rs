//! Finding sequences by identifier, GI or taxonomy, and back: the files beside the volumes.
//!
//! | file | found by | version |
//! |---|---|---|
//! | `.?db` (LMDB) | accession, local or other identifier | 5 |
//! | `.?si` `.?sd` (ISAM) | the same | 4 |
//! | `.?ni` `.?nd` (ISAM) | GI | 4, 5 |
//! | `.?os` | OID to identifiers | 5 |
//! | `.?ot` | OID to taxids | 5 |
//! | `.?tf` (LMDB), `.?to` | taxid to OIDs | 5 |
//!
//! All of them are read in place and nothing in them is trusted: a damaged file ends in a
//! [`DbError::LookupFile`].

mod confirm;
mod entry;
mod files;
pub mod isam;
mod listed;
pub mod lmdb;
pub mod oids;
mod side_file;
pub(crate) mod stored_keys;
mod taxids;

use std::collections::BTreeSet;
use std::ops::Range;

use self::entry::Entry;
use self::files::VolumeFiles;
use crate::key;
use crate::volume::Volume;
use crate::{Database, DbError, IdentifierError, OidCursor};

/// An error in a look-up file, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (byte {at})")]
pub struct Damage {
    /// Byte offset in the file.
    pub at: usize,
    /// Description of the error.
    pub problem: &'static str,
}

/// The look-up files of a database. Cheap to make; files are mapped when they are first needed.
#[derive(Debug)]
pub struct Lookup {
    database: Database,
    volumes: Vec<VolumeFiles>,
    /// One for each LMDB file, in OID order; none in version 4.
    entries: Vec<Entry>,
}

/// Makes sure that LMDB files belong to the volumes that name them, which are in OID order.
///
/// # Errors
/// [`DbError::LmdbVolumes`].
pub(crate) fn check_lmdb_names<'a>(
    volumes: impl Iterator<Item = (&'a Volume, Range<u32>)>,
) -> Result<(), DbError> {
    Entry::check_names(volumes)
}

impl Database {
    /// The look-up files of this database.
    ///
    /// # Errors
    /// [`DbError::LmdbVolumes`] where an LMDB file belongs to other volumes, and those of a file
    /// that is missing or damaged.
    pub fn lookup(&self) -> Result<Lookup, DbError> {
        let files = |(volume, oids): (&Volume, _)| VolumeFiles::new(self, volume, oids);
        let volumes = self.volumes().map(files).collect();
        Ok(Lookup { database: self.clone(), volumes, entries: Entry::open_all(self)? })
    }
}

impl Lookup {
    /// The OIDs of an identifier as a user types it, as `blastdbcmd -entry` finds them: empty if
    /// there are none.
    ///
    /// A number is a GI if [`Lookup::shown_oid_of_gi`] has an OID for it. OIDs that an alias
    /// excludes are left out.
    ///
    /// # Errors
    /// [`DbError::NoAccessions`] for a version-5 database without identifiers; those of a
    /// damaged file.
    pub fn oids_of_id(&self, id: &[u8], cursor: &mut OidCursor) -> Result<Vec<u32>, DbError> {
        let key = self.key_of(id);
        if let Some(oid) = self.shown_oid_of_gi(&key, cursor)? {
            return Ok(vec![oid]);
        }
        cursor.set_up();
        let mut oids = self.oids_of_key(&key)?;
        oids.retain(|&oid| cursor.includes(oid));
        Ok(oids)
    }

    /// The OID of a key as `blastdbcmd -entry_batch` finds it; of several, the one that
    /// a list of identifiers would have in version 5, and the first that is included in version 4.
    ///
    /// # Errors
    /// As [`Lookup::oids_of_id`].
    pub fn oid_of_batch_key(
        &self,
        key: &[u8],
        cursor: &mut OidCursor,
    ) -> Result<Option<u32>, DbError> {
        if self.is_version_5() {
            return Ok(self.listed_oid(key)?.filter(|&oid| cursor.includes(oid)));
        }
        cursor.set_up();
        Ok(self.oids_of_key(key)?.into_iter().find(|&oid| cursor.includes(oid)))
    }

    /// What an identifier typed by a user is looked up as, and named as in messages: upper case
    /// unless it has a bar or an underscore (`s_PreProcessAccessionsForDBv5`, blastdbcmd.cpp);
    /// version 4 takes it as it is.
    pub fn key_of(&self, id: &[u8]) -> Vec<u8> {
        if self.is_version_5() { key::typed(id) } else { id.to_vec() }
    }

    /// The OIDs of a key, whether included or not, in the order of the files.
    ///
    /// # Errors
    /// As [`Lookup::oids_of_id`].
    pub fn oids_of_key(&self, key: &[u8]) -> Result<Vec<u32>, DbError> {
        let mut oids = Vec::new();
        if self.is_version_5() {
            for entry in &self.entries {
                entry.oids_of_key(key, &mut oids)?;
            }
            return Ok(oids);
        }
        for volume in &self.volumes {
            for oid in self.version_4_oids(volume, key)? {
                let oid = volume.first.saturating_add(oid);
                if !oids.contains(&oid) {
                    oids.push(oid);
                }
            }
        }
        Ok(oids)
    }

    /// The OID that `blastdbcmd` shows for a key that is a GI: that of the first volume in which
    /// the sequence is included. `None` if the key is no number.
    ///
    /// If there is none, but the last volume knows the GI, BLAST+ takes the OID at which it looked
    /// last: that of the next included sequence, or of the excluded one itself
    /// (`CBlastDBCmdApp::x_GetOids`, blastdbcmd.cpp, which does not ask whether
    /// `CSeqDBImpl::GiToOidwFilterCheck` has succeeded).
    ///
    /// # Errors
    /// Those of a damaged file.
    pub fn shown_oid_of_gi(
        &self,
        key: &[u8],
        cursor: &mut OidCursor,
    ) -> Result<Option<u32>, DbError> {
        let Some(gi) = key::number(key) else { return Ok(None) };
        let mut last = None;
        for volume in &self.volumes {
            last = match volume.oid_of_gi(gi)? {
                None => None,
                Some(oid) => match cursor.find(oid) {
                    Ok(()) => return Ok(Some(oid)),
                    Err(other) => Some(other),
                },
            };
        }
        Ok(last)
    }

    /// Whether the first volume has a GI index; without, no GI is printed for a sequence by
    /// `blastdbcmd`.
    pub fn has_gis(&self) -> bool {
        self.volumes.first().is_some_and(|volume| volume.gis.exist())
    }

    /// The identifiers of a sequence in the `.?os` file: accession with version and the like,
    /// without titles.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`]; those of a missing or damaged file.
    pub fn ids_of(&self, oid: u32) -> Result<Vec<Vec<u8>>, DbError> {
        let (entry, local) = self.entry_of(oid)?;
        entry.ids_of(oid, local)
    }

    /// The taxids of a sequence in the `.?ot` file, 0 where unknown.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`]; those of a missing or damaged file.
    pub fn taxids_of(&self, oid: u32) -> Result<Vec<i32>, DbError> {
        let (entry, local) = self.entry_of(oid)?;
        entry.taxids_of(oid, local)
    }

    /// Adds the OIDs of a taxid, whether included or not, to `oids`, and returns whether the
    /// database knows the taxid.
    ///
    /// # Errors
    /// [`DbError::TaxonomyVersion`] in version 4; those of a missing or damaged file.
    pub fn oids_of_taxid(&self, taxid: i32, oids: &mut Vec<u32>) -> Result<bool, DbError> {
        if !self.is_version_5() {
            return Err(DbError::TaxonomyVersion);
        }
        let mut known = false;
        for entry in &self.entries {
            known |= entry.oids_of_taxid(taxid, oids)?;
        }
        Ok(known)
    }

    /// The taxids of the included sequences, ascending, each once, as `blastdbcmd -tax_info` lists
    /// them.
    ///
    /// # Errors
    /// [`DbError::TaxonomyVersion`] in version 4; those of a missing or damaged file.
    pub fn included_taxids(&self) -> Result<Vec<i32>, DbError> {
        if self.database.listed().is_none() || !self.is_version_5() {
            return self.taxids();
        }
        let mut cursor = self.database.oid_cursor();
        cursor.set_up();
        let mut taxids = BTreeSet::new();
        for oid in cursor.walk() {
            taxids.extend(self.taxids_of(oid)?);
        }
        Ok(taxids.into_iter().collect())
    }

    /// All taxids of the database, ascending, each once; excluded sequences count.
    ///
    /// # Errors
    /// [`DbError::TaxonomyVersion`] in version 4; those of a missing or damaged file.
    pub fn taxids(&self) -> Result<Vec<i32>, DbError> {
        if !self.is_version_5() {
            return Err(DbError::TaxonomyVersion);
        }
        let mut taxids = Vec::new();
        for entry in &self.entries {
            entry.taxids(&mut taxids)?;
        }
        taxids.sort_unstable();
        taxids.dedup();
        Ok(taxids)
    }

    /// The database they belong to.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    pub(crate) fn is_version_5(&self) -> bool {
        !self.entries.is_empty()
    }

    /// The LMDB file that a sequence belongs to, and its number there.
    fn entry_of(&self, oid: u32) -> Result<(&Entry, u32), DbError> {
        let found = self.entries.iter().find_map(|entry| Some((entry, entry.local(oid)?)));
        found.ok_or(DbError::NoSuchOid { oid, count: self.database.oid_count() })
    }

    /// The OIDs, within the volume, of a key in version 4.
    fn version_4_oids(&self, volume: &VolumeFiles, key: &[u8]) -> Result<Vec<u32>, DbError> {
        let wanted = key::version_4(key).map_err(|refusal| IdentifierError::Typed { refusal })?;
        let wanted = match wanted {
            key::Version4::Gi(gi) => {
                let oid = volume.oid_of_gi(gi)?;
                fits_32_bits(gi)?;
                return Ok(oid.map(|oid| oid - volume.first).into_iter().collect());
            }
            key::Version4::Trace(number) => {
                let has_strings = volume.strings.exist();
                let oids = if has_strings { volume.oids_of_text(key)? } else { Vec::new() };
                fits_32_bits(number)?;
                return Ok(oids);
            }
            key::Version4::Ordinal(oid) => return Ok(vec![oid]),
            key::Version4::Pig => return Ok(Vec::new()),
            key::Version4::Text(text) => text,
        };
        if !volume.strings.exist() {
            return Ok(Vec::new());
        }
        let oids = volume.oids_of_text(&wanted)?;
        if !oids.is_empty() {
            return Ok(oids);
        }
        if let Some((accession, version)) = key::without_version(&wanted) {
            // Only the sequences that bear this version in their definition lines.
            let mut oids = volume.oids_of_text(accession)?;
            let mut kept = Vec::new();
            for oid in oids.drain(..) {
                let lines = self.database.deflines(volume.first.saturating_add(oid))?;
                let ids = lines.iter().flat_map(|line| &line.ids);
                if key::has_version(ids, key, version) {
                    kept.push(oid);
                }
            }
            if !kept.is_empty() {
                return Ok(kept);
            }
        }
        match key::fasta(&wanted) {
            Some(fasta) => volume.oids_of_text(&fasta),
            None => Ok(Vec::new()),
        }
    }
}

/// BLAST+ refuses other numbers when it has looked them up. It takes −1 for no number.
fn fits_32_bits(number: i64) -> Result<(), IdentifierError> {
    match number == -1 || u32::try_from(number).is_ok() {
        true => Ok(()),
        false => Err(IdentifierError::Overflow),
    }
}
