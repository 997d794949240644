//! The lookup files of one volume: for GIs and PIGs, and in version 4 for identifiers. Entries of
//! these files are verified by the headers.

use std::fmt::Display;
use std::ops::Range;
use std::sync::OnceLock;

use super::isam::{NumericIndex, StringIndex};
use super::side_file::LookupFile;
use super::{FileDamage, confirm};
use crate::key::trim_trailing_blanks;
use crate::volume::Volume;
use crate::{Database, DbError, Defline};

/// Index file and data file of an ISAM index.
#[derive(Debug)]
pub(super) struct IsamFiles {
    pub(super) index: LookupFile,
    pub(super) data: LookupFile,
    /// Set when the keys have been verified to ascend.
    ascending: OnceLock<()>,
}

impl IsamFiles {
    /// Verifies by `check`, at the first call only, that the keys ascend.
    pub(super) fn verify_ascending(
        &self,
        check: impl FnOnce() -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if self.ascending.get().is_none() {
            check()?;
            // If another thread was faster, the value is already set.
            let _ = self.ascending.set(());
        }
        Ok(())
    }

    /// Opens an index of numbers.
    pub(super) fn numeric_index(&self) -> Result<NumericIndex<'_>, DbError> {
        let (index, data) = (self.index.contents()?, self.data.contents()?);
        NumericIndex::open(index, data).map_err(|damage| self.index.damage_error(damage))
    }

    /// Returns whether the index file and the data file exist. Otherwise BLAST+ treats the database
    /// as one without this index.
    pub(super) fn have_both(&self) -> bool {
        self.index.exists() && self.data.exists()
    }
}

/// The lookup files of one volume, for GIs, PIGs and version-4 identifiers.
#[derive(Debug)]
pub(super) struct VolumeFiles {
    /// The database, whose headers verify the entries of the files.
    pub(super) database: Database,
    pub(super) first_oid: u32,
    pub(super) sequence_count: u32,
    pub(super) strings: IsamFiles,
    pub(super) gis: IsamFiles,
    pub(super) pigs: IsamFiles,
}

impl VolumeFiles {
    /// Prepares the lookup files of a volume, whose sequences have the OIDs `oids` in the database.
    pub(super) fn new(database: &Database, volume: &Volume, oids: Range<u32>) -> Self {
        let isam = |index: &str, data: &str| IsamFiles {
            index: LookupFile::new(volume.auxiliary_path(index)),
            data: LookupFile::new(volume.auxiliary_path(data)),
            ascending: OnceLock::new(),
        };
        Self {
            database: database.clone(),
            first_oid: oids.start,
            sequence_count: oids.end - oids.start,
            strings: isam("si", "sd"),
            gis: isam("ni", "nd"),
            pigs: isam("pi", "pd"),
        }
    }

    /// Returns the OID of a GI; `None` if the index does not have it.
    pub(super) fn oid_of_gi(&self, gi: i64) -> Result<Option<u32>, DbError> {
        self.oid_of_number(&self.gis, gi, |gi, oid| self.verify_gi(gi, oid))
    }

    /// Returns the OID of a PIG; `None` if the index does not have it.
    pub(super) fn oid_of_pig(&self, pig: i64) -> Result<Option<u32>, DbError> {
        self.oid_of_number(&self.pigs, pig, |pig, oid| {
            self.verified_oid(&self.pigs, &pig, oid, |lines| confirm::has_pig(lines, pig))
        })
    }

    /// Returns the OID of a GI or PIG in an index; `None` if the index does not have it. `verify`
    /// converts the sequence number in the index to an OID, and checks the header.
    fn oid_of_number(
        &self,
        files: &IsamFiles,
        number: i64,
        verify: impl Fn(i64, u32) -> Result<u32, DbError>,
    ) -> Result<Option<u32>, DbError> {
        if !files.have_both() {
            return Ok(None);
        }
        let index = files.numeric_index()?;
        let damaged = |damage| files.data.damage_error(damage);
        match index.oid_of_key(number) {
            Some(oid) => verify(number, oid).map(Some),
            None => {
                files.verify_ascending(|| index.check_order().map_err(damaged))?;
                index.neighbours(number).try_for_each(|(key, oid)| verify(key, oid).map(|_| ()))?;
                Ok(None)
            }
        }
    }

    /// Returns the OIDs, counted within the volume, of a version-4 key.
    pub(super) fn oids_of_text(&self, text: &[u8]) -> Result<Vec<u32>, DbError> {
        let strings = self.string_index()?;
        let damaged = |damage| self.strings.data.damage_error(damage);
        let oids = strings.oids_of_key(text).map_err(damaged)?;
        let key = text.to_ascii_lowercase();
        let key = trim_trailing_blanks(&key);
        oids.iter().try_for_each(|&oid| self.verify_text(key, oid))?;
        if oids.is_empty() {
            self.strings.verify_ascending(|| strings.check_order().map_err(damaged))?;
            let neighbours = strings.neighbours(text).map_err(damaged)?.into_iter().flatten();
            neighbours.into_iter().try_for_each(|(key, oid)| self.verify_text(key, oid))?;
        }
        Ok(oids)
    }

    /// Converts the sequence number that the index has for a GI to an OID. Verifies that the header
    /// has the GI.
    pub(super) fn verify_gi(&self, gi: i64, oid: u32) -> Result<u32, DbError> {
        self.verified_oid(&self.gis, &gi, oid, |lines| confirm::has_gi(lines, gi))
    }

    /// Verifies that the header of sequence `oid` of the volume has a version-4 key.
    pub(super) fn verify_text(&self, key: &[u8], oid: u32) -> Result<(), DbError> {
        let shown = String::from_utf8_lossy(key);
        let has = |lines: &[Defline]| confirm::has_name(lines, key, oid);
        self.verified_oid(&self.strings, &shown, oid, has).map(|_| ())
    }

    /// Converts the sequence number that an index has for a key to an OID. Verifies that the header
    /// has the key.
    pub(super) fn verified_oid(
        &self,
        files: &IsamFiles,
        key: &dyn Display,
        oid: u32,
        has: impl FnOnce(&[Defline]) -> bool,
    ) -> Result<u32, DbError> {
        if oid >= self.sequence_count {
            let problem = "an OID that the volume does not have";
            return Err(files.data.damage_error(FileDamage { offset: 0, problem }));
        }
        let oid = self.first_oid + oid;
        match has(&self.database.stored_deflines(oid)?) {
            true => Ok(oid),
            false => Err(confirm::disagreement_error(&files.data, &key.to_string(), oid)),
        }
    }

    /// Opens the index of identifiers.
    pub(super) fn string_index(&self) -> Result<StringIndex<'_>, DbError> {
        let (index, data) = (self.strings.index.contents()?, self.strings.data.contents()?);
        StringIndex::open(index, data).map_err(|damage| self.strings.index.damage_error(damage))
    }
}
