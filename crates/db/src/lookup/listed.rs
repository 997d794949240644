//! Looks up the entries of a list of identifiers or GIs. Each entry stands for at most one
//! sequence.

use super::Lookup;
use super::files::VolumeFiles;
use super::isam::{NumericIndex, StringIndex};
use crate::DbError;

impl Lookup {
    /// Returns the OID that an identifier's key in a list stands for.
    ///
    /// A key can have several OIDs. Version 5 uses the first one in the order of the file, from the
    /// last LMDB file that has the key. Version 4 uses the last one in the order of the file, from
    /// the largest volume that has the key.
    pub(crate) fn listed_oid(&self, key: &[u8]) -> Result<Option<u32>, DbError> {
        if self.is_version_5() {
            return Ok(self.first_oids(key)?.last().copied());
        }
        for volume in self.by_size() {
            volume.required_strings()?;
            let oids = volume.oids_of_text(key)?;
            if let Some(oid) = oids.last() {
                return Ok(Some(volume.first_oid.saturating_add(*oid)));
            }
        }
        Ok(None)
    }

    /// Returns the first OID of a key in each LMDB file of a version-5 database.
    pub(crate) fn first_oids(&self, key: &[u8]) -> Result<Vec<u32>, DbError> {
        let mut oids = Vec::new();
        for entry in &self.entries {
            oids.extend(entry.first_oid(key)?);
        }
        Ok(oids)
    }

    /// Returns the OID that a GI in a list stands for: the one in the largest volume with this GI.
    pub(crate) fn listed_oid_of_gi(&self, gi: i64) -> Result<Option<u32>, DbError> {
        for volume in self.by_size() {
            if let Some(oid) = volume.oid_of_gi(gi)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// Looks up GIs in one volume. Returns the GIs that the volume has, with their OIDs.
    pub(crate) fn oids_of_gis_in(
        &self,
        volume: usize,
        gis: impl IntoIterator<Item = i64>,
    ) -> Result<Vec<(i64, u32)>, DbError> {
        let Some(volume) = self.volumes.get(volume) else { return Ok(Vec::new()) };
        volume.required_gis()?;
        let find = |gi| Ok(volume.oid_of_gi(gi)?.map(|oid| (gi, oid)));
        gis.into_iter().filter_map(|gi| find(gi).transpose()).collect()
    }

    /// Looks up version-4 keys in one volume. Returns the keys that the volume has, each with its
    /// last OID.
    pub(crate) fn oids_of_keys_in<'k>(
        &self,
        volume: usize,
        keys: impl IntoIterator<Item = &'k Vec<u8>>,
    ) -> Result<Vec<(Vec<u8>, u32)>, DbError> {
        let Some(volume) = self.volumes.get(volume) else { return Ok(Vec::new()) };
        volume.required_strings()?;
        let mut found = Vec::new();
        for key in keys {
            let oids = volume.oids_of_text(key)?;
            let last = oids.last().map(|&oid| volume.first_oid.saturating_add(oid));
            found.extend(last.map(|oid| (key.clone(), oid)));
        }
        Ok(found)
    }

    /// Fails if any volume has no index of GIs, because BLAST+ looks up a list in all volumes.
    pub(crate) fn require_gi_index(&self) -> Result<(), DbError> {
        self.by_size().iter().try_for_each(|volume| volume.required_gis().map(|_| ()))
    }

    /// Fails if a version-4 volume has no index of identifiers, or if a version-5 database has no
    /// table of accessions.
    pub(crate) fn require_id_index(&self) -> Result<(), DbError> {
        if self.is_version_5() {
            return self.entries.iter().try_for_each(|entry| entry.first_oid(b"").map(|_| ()));
        }
        self.by_size().iter().try_for_each(|volume| volume.required_strings().map(|_| ()))
    }

    /// Opens the GI index of each volume. Returns it with the volume's first OID.
    pub(crate) fn gi_indexes(&self) -> Result<Vec<(u32, NumericIndex<'_>)>, DbError> {
        self.volumes.iter().map(|volume| Ok((volume.first_oid, volume.checked_gis()?))).collect()
    }

    /// Opens the identifier index of each version-4 volume. Returns it with the volume's first OID.
    pub(crate) fn string_indexes(&self) -> Result<Vec<(u32, StringIndex<'_>)>, DbError> {
        self.volumes
            .iter()
            .map(|volume| Ok((volume.first_oid, volume.checked_strings()?)))
            .collect()
    }

    /// Creates the error for a damaged identifier index of the volume with this first OID.
    pub(crate) fn string_index_error(&self, first: u32, damage: super::FileDamage) -> DbError {
        match self.volumes.iter().find(|volume| volume.first_oid == first) {
            Some(volume) => volume.strings.data.damage_error(damage),
            None => DbError::NoSuchOid { oid: first, count: self.database.oid_count() },
        }
    }

    /// Returns the volumes, the largest number of sequences first.
    fn by_size(&self) -> Vec<&VolumeFiles> {
        let mut volumes: Vec<_> = self.volumes.iter().collect();
        volumes.sort_by_key(|volume| std::cmp::Reverse(volume.sequence_count));
        volumes
    }
}

impl VolumeFiles {
    fn required_gis(&self) -> Result<NumericIndex<'_>, DbError> {
        match self.gis.have_both() {
            true => self.gis.numeric_index(),
            false => Err(DbError::MissingIsamIndex { what: "GI", path: self.base() }),
        }
    }

    fn required_strings(&self) -> Result<StringIndex<'_>, DbError> {
        match self.strings.have_both() {
            true => self.string_index(),
            false => Err(DbError::MissingIsamIndex { what: "SI", path: self.base() }),
        }
    }

    /// Opens the index of GIs. Verifies that the headers have every GI of the index.
    fn checked_gis(&self) -> Result<NumericIndex<'_>, DbError> {
        let gis = self.required_gis()?;
        gis.check_order().map_err(|damage| self.gis.data.damage_error(damage))?;
        (0..gis.len()).try_for_each(|i| {
            let (gi, oid) = gis.get(i);
            self.verify_gi(gi, oid).map(|_| ())
        })?;
        Ok(gis)
    }

    /// Opens the index of identifiers. Verifies that the headers have every key of the index.
    fn checked_strings(&self) -> Result<StringIndex<'_>, DbError> {
        let strings = self.required_strings()?;
        let damaged = |damage| self.strings.data.damage_error(damage);
        strings.check_order().map_err(damaged)?;
        strings.entries().try_for_each(|entry| {
            let (key, oid) = entry.map_err(damaged)?;
            self.verify_text(key, oid)
        })?;
        Ok(strings)
    }

    /// Returns the path of the volume without extension.
    fn base(&self) -> std::path::PathBuf {
        self.gis.index.path.with_extension("")
    }
}
