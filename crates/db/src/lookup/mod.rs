//! Finds sequences by identifier, GI or taxid, and the reverse, with the lookup files of a
//! database.
//!
//! | file | found by | version |
//! |---|---|---|
//! | `.?db` (LMDB) | accession, local or other identifier | 5 |
//! | `.?si` `.?sd` (ISAM) | the same | 4 |
//! | `.?ni` `.?nd` (ISAM) | GI | 4, 5 |
//! | `.ppi` `.ppd` (ISAM) | PIG (protein identity group) | 4, 5 |
//! | `.?os` | OID to identifiers | 5 |
//! | `.?ot` | OID to taxids | 5 |
//! | `.?tf` (LMDB), `.?to` | taxid to OIDs | 5 |
//!
//! The files are read in place and not trusted: damage causes [`DbError::DamagedLookupFile`].

mod confirm;
mod entry;
mod files;
pub mod isam;
mod listed;
pub mod lmdb;
pub mod oids;
mod side_file;
mod stored_id;
pub(crate) mod stored_keys;
mod taxids;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use self::entry::LmdbLookup;
use self::files::VolumeFiles;
use crate::key;
use crate::volume::Volume;
use crate::{Database, DbError, IdentifierError, OidCursor, TaxidSign};

/// An error in a lookup file, with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (byte {offset})")]
pub struct FileDamage {
    /// Byte offset in the file.
    pub offset: usize,
    /// Description of the error.
    pub problem: &'static str,
}

/// The lookup files of a database. A `Lookup` is cheap to create: each file is mapped at its first
/// use.
#[derive(Debug)]
pub struct Lookup {
    database: Database,
    volumes: Vec<VolumeFiles>,
    /// The LMDB files in OID order; none in version 4.
    entries: Vec<LmdbLookup>,
}

/// Verifies that the LMDB files belong to the volumes that name them. The volumes are in OID order.
///
/// # Errors
/// [`DbError::LmdbVolumeMismatch`] if they do not.
pub(crate) fn verify_lmdb_volumes<'a>(
    volumes: impl Iterator<Item = (&'a Volume, Range<u32>)>,
) -> Result<(), DbError> {
    LmdbLookup::verify_volumes(volumes)
}

impl Database {
    /// Prepares the lookup files of this database.
    ///
    /// # Errors
    /// [`DbError::LmdbVolumeMismatch`] if an LMDB file belongs to other volumes; the errors of a
    /// missing or damaged file.
    pub fn lookup(&self) -> Result<Lookup, DbError> {
        let files = |(volume, oids): (&Volume, _)| VolumeFiles::new(self, volume, oids);
        let volumes = self.volumes().map(files).collect();
        Ok(Lookup { database: self.clone(), volumes, entries: LmdbLookup::open_all(self)? })
    }
}

impl Lookup {
    /// Returns the OIDs of an identifier that a user typed, as `blastdbcmd -entry` finds them. The
    /// result is empty if the identifier is not found.
    ///
    /// A number is a GI if [`Lookup::blastdbcmd_oid_of_gi`] returns an OID for it. For other
    /// identifiers, OIDs that an alias excludes are omitted.
    ///
    /// # Errors
    /// [`DbError::MissingAccessionTable`] for a version-5 database without identifiers; the errors
    /// of a damaged file.
    pub fn oids_of_id(&self, id: &[u8], cursor: &mut OidCursor) -> Result<Vec<u32>, DbError> {
        let key = self.key_of_typed_id(id);
        if let Some(oid) = self.blastdbcmd_oid_of_gi(&key, cursor)? {
            return Ok(vec![oid]);
        }
        cursor.apply_alias_limits();
        let mut oids = self.oids_of_key(&key)?;
        oids.retain(|&oid| cursor.includes_oid(oid));
        Ok(oids)
    }

    /// Finds the OID of a key as `blastdbcmd -entry_batch` does. A key can have several OIDs.
    /// Version 5 uses the one that a list of identifiers would get, version 4 the first included
    /// one.
    ///
    /// # Errors
    /// Those of [`Lookup::oids_of_id`].
    pub fn oid_of_batch_key(
        &self,
        key: &[u8],
        cursor: &mut OidCursor,
    ) -> Result<Option<u32>, DbError> {
        if self.is_version_5() {
            return Ok(self.listed_oid(key)?.filter(|&oid| cursor.includes_oid(oid)));
        }
        cursor.apply_alias_limits();
        Ok(self.oids_of_key(key)?.into_iter().find(|&oid| cursor.includes_oid(oid)))
    }

    /// Converts an identifier that a user typed to the key for lookups and messages. The key is in
    /// upper case unless the identifier has a bar or an underscore
    /// (`s_PreProcessAccessionsForDBv5`, blastdbcmd.cpp). In version 4 the key is the identifier
    /// itself.
    pub fn key_of_typed_id(&self, id: &[u8]) -> Vec<u8> {
        if self.is_version_5() { key::typed_id_key(id) } else { id.to_vec() }
    }

    /// Returns the OIDs of a key, included or not, in the order of the files.
    ///
    /// # Errors
    /// Those of [`Lookup::oids_of_id`].
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
                let oid = volume.first_oid.saturating_add(oid);
                if !oids.contains(&oid) {
                    oids.push(oid);
                }
            }
        }
        Ok(oids)
    }

    /// Finds the OID that `blastdbcmd` shows for a key that is a GI. It is the OID in the first
    /// volume whose sequence with this GI is included. Returns `None` if the key is not a number.
    ///
    /// If no sequence is included, but the last volume has the GI, BLAST+ shows the OID at which
    /// its search ended. This is the next included sequence, or the excluded sequence itself.
    /// (`CBlastDBCmdApp::x_GetOids`, blastdbcmd.cpp, ignores whether
    /// `CSeqDBImpl::GiToOidwFilterCheck` succeeded.)
    ///
    /// # Errors
    /// Those of a damaged file.
    pub fn blastdbcmd_oid_of_gi(
        &self,
        key: &[u8],
        cursor: &mut OidCursor,
    ) -> Result<Option<u32>, DbError> {
        let Some(gi) = key::parse_integer_key(key) else { return Ok(None) };
        let mut last = None;
        for volume in &self.volumes {
            last = match volume.oid_of_gi(gi)? {
                None => None,
                Some(oid) => match cursor.find_oid(oid) {
                    Ok(()) => return Ok(Some(oid)),
                    Err(other) => Some(other),
                },
            };
        }
        Ok(last)
    }

    /// Returns the OID of a PIG (protein identity group) in the first volume that has it, included
    /// or not.
    ///
    /// # Errors
    /// Those of a damaged file.
    pub fn oid_of_pig(&self, pig: i64) -> Result<Option<u32>, DbError> {
        for volume in &self.volumes {
            if let Some(oid) = volume.oid_of_pig(pig)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// Returns whether any volume has an index of PIGs.
    pub fn has_pig_index(&self) -> bool {
        self.volumes.iter().any(|volume| volume.pigs.have_both())
    }

    /// Returns the identifiers that the `.?os` file has for a sequence, such as an accession with
    /// version. Titles are not included.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`] if there is no such sequence; those of a missing or damaged file.
    pub fn ids_of(&self, oid: u32) -> Result<Vec<Vec<u8>>, DbError> {
        let (entry, local) = self.entry_of(oid)?;
        entry.ids_of(oid, local)
    }

    /// Returns the taxids that the `.?ot` file has for a sequence. An unknown taxid is 0.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`] if there is no such sequence; those of a missing or damaged file.
    pub fn taxids_of(&self, oid: u32) -> Result<Vec<i32>, DbError> {
        let (entry, local) = self.entry_of(oid)?;
        entry.taxids_of(oid, local)
    }

    /// Appends the OIDs of a taxid to `oids`, both included and excluded ones. Returns whether the
    /// database contains the taxid.
    ///
    /// # Errors
    /// [`DbError::TaxidLookupNeedsVersion5`] in version 4; those of a missing or damaged file.
    pub fn oids_of_taxid(&self, taxid: i32, oids: &mut Vec<u32>) -> Result<bool, DbError> {
        if !self.is_version_5() {
            return Err(DbError::TaxidLookupNeedsVersion5);
        }
        let mut known = false;
        for entry in &self.entries {
            known |= entry.oids_of_taxid(taxid, oids)?;
        }
        Ok(known)
    }

    /// Returns the taxids of the included sequences, ascending and without duplicates, as
    /// `blastdbcmd -tax_info` lists them.
    ///
    /// # Errors
    /// [`DbError::TaxidLookupNeedsVersion5`] in version 4; those of a missing or damaged file.
    pub fn included_taxids(&self) -> Result<Vec<i32>, DbError> {
        if self.database.listed_oids().is_none() || !self.is_version_5() {
            return self.taxids();
        }
        let mut cursor = self.database.oid_cursor();
        cursor.apply_alias_limits();
        let mut taxids = BTreeSet::new();
        for oid in cursor.walk_included() {
            taxids.extend(self.taxids_of(oid)?);
        }
        Ok(taxids.into_iter().collect())
    }

    /// Returns all taxids of the database, ascending and without duplicates, also those of excluded
    /// sequences.
    ///
    /// # Errors
    /// [`DbError::TaxidLookupNeedsVersion5`] in version 4; those of a missing or damaged file.
    pub fn taxids(&self) -> Result<Vec<i32>, DbError> {
        if !self.is_version_5() {
            return Err(DbError::TaxidLookupNeedsVersion5);
        }
        let mut taxids = Vec::new();
        for entry in &self.entries {
            entry.taxids(&mut taxids)?;
        }
        taxids.sort_unstable();
        taxids.dedup();
        Ok(taxids)
    }

    /// Returns the paths of the LMDB files; none in version 4.
    pub fn lmdb_paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(LmdbLookup::path)
    }

    /// Returns the error for taxids that the database does not have.
    pub fn no_such_taxids(&self, sign: TaxidSign) -> DbError {
        let name = |entry: &LmdbLookup| entry.name();
        DbError::NoSuchTaxids { sign, databases: self.entries.iter().map(name).collect() }
    }

    /// Returns the database that the lookup files belong to.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    pub(crate) fn is_version_5(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Finds the LMDB file of a sequence, and the number of the sequence in this file.
    fn entry_of(&self, oid: u32) -> Result<(&LmdbLookup, u32), DbError> {
        let found = self.entries.iter().find_map(|entry| Some((entry, entry.local_number(oid)?)));
        found.ok_or(DbError::NoSuchOid { oid, count: self.database.oid_count() })
    }

    /// Returns the OIDs, counted within the volume, of a version-4 key.
    fn version_4_oids(&self, volume: &VolumeFiles, key: &[u8]) -> Result<Vec<u32>, DbError> {
        let wanted = key::version_4_lookup(key)
            .map_err(|refusal| IdentifierError::InvalidEntry { refusal })?;
        let wanted = match wanted {
            key::Version4Lookup::Gi(gi) => {
                let oid = volume.oid_of_gi(gi)?;
                fits_32_bits(gi)?;
                return Ok(oid.map(|oid| oid - volume.first_oid).into_iter().collect());
            }
            key::Version4Lookup::Trace(number) => {
                let has_strings = volume.strings.have_both();
                let oids = if has_strings { volume.oids_of_text(key)? } else { Vec::new() };
                fits_32_bits(number)?;
                return Ok(oids);
            }
            key::Version4Lookup::Ordinal(oid) => return Ok(vec![oid]),
            key::Version4Lookup::Pig(pig) => {
                let oid = volume.oid_of_pig(pig)?;
                return Ok(oid.map(|oid| oid - volume.first_oid).into_iter().collect());
            }
            key::Version4Lookup::Text(text) => text,
        };
        if !volume.strings.have_both() {
            return Ok(Vec::new());
        }
        let oids = volume.oids_of_text(&wanted)?;
        if !oids.is_empty() {
            return Ok(oids);
        }
        if let Some((accession, version)) = key::split_version(&wanted) {
            // Only sequences count whose definition lines have this version.
            let mut oids = volume.oids_of_text(accession)?;
            let mut kept = Vec::new();
            for oid in oids.drain(..) {
                let lines = self.database.deflines(volume.first_oid.saturating_add(oid))?;
                let ids = lines.iter().flat_map(|line| &line.ids);
                if key::has_version(ids, key, version) {
                    kept.push(oid);
                }
            }
            if !kept.is_empty() {
                return Ok(kept);
            }
        }
        match key::fasta_id(&wanted) {
            Some(fasta) => volume.oids_of_text(&fasta),
            None => Ok(Vec::new()),
        }
    }
}

/// Fails if a GI or trace number has more than 32 bits, as BLAST+ does after the lookup. BLAST+
/// treats −1 as no number.
fn fits_32_bits(number: i64) -> Result<(), IdentifierError> {
    match number == -1 || u32::try_from(number).is_ok() {
        true => Ok(()),
        false => Err(IdentifierError::NumberTooLarge),
    }
}
