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
//! All of them are read in place and nothing in them is trusted: a damaged file ends in a [`DbError::LookupFile`].

mod confirm;
mod entry;
pub mod isam;
pub(crate) mod key;
mod listed;
pub mod lmdb;
pub mod oids;
mod taxids;

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::bytes::Bytes;
use crate::{Database, DbError, Defline, range};

use self::entry::Entry;
use self::isam::{Numeric, Strings};

/// What is wrong in a file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (byte {at})")]
pub struct Damage {
    /// Byte offset in the file.
    pub at: usize,
    /// What is wrong.
    pub problem: &'static str,
}

/// A file that is mapped when it is first needed.
#[derive(Debug)]
struct SideFile {
    path: PathBuf,
    bytes: OnceLock<Bytes>,
}

impl SideFile {
    fn new(path: PathBuf) -> Self {
        Self { path, bytes: OnceLock::new() }
    }

    fn exists(&self) -> bool {
        self.path.exists()
    }

    fn get(&self) -> Result<&[u8], DbError> {
        if self.bytes.get().is_none() {
            // Whoever comes second only maps in vain.
            let _ = self.bytes.set(Bytes::map(&self.path)?);
        }
        Ok(self.bytes.get().map_or(&[], |bytes| bytes))
    }

    fn damaged(&self, damage: Damage) -> DbError {
        DbError::LookupFile {
            path: self.path.clone(),
            offset: damage.at as u64,
            problem: damage.problem,
        }
    }
}

/// An index and its data.
#[derive(Debug)]
struct IsamFiles {
    index: SideFile,
    data: SideFile,
    /// The keys are known to ascend.
    ascending: OnceLock<()>,
}

impl IsamFiles {
    /// Makes sure once that the keys ascend.
    fn ascend(&self, check: impl FnOnce() -> Result<(), DbError>) -> Result<(), DbError> {
        if self.ascending.get().is_none() {
            check()?;
            // Whoever comes second only checks in vain.
            let _ = self.ascending.set(());
        }
        Ok(())
    }

    /// True if both files are there; otherwise BLAST+ takes the database for one without them.
    fn exist(&self) -> bool {
        self.index.exists() && self.data.exists()
    }
}

/// The look-up files of one volume.
#[derive(Debug)]
struct VolumeFiles {
    /// Its headers tell whether the files are right.
    database: Database,
    first: u32,
    sequences: u32,
    strings: IsamFiles,
    gis: IsamFiles,
}

/// The look-up files of a database. Cheap to make; files are mapped when they are first needed.
#[derive(Debug)]
pub struct Lookup {
    database: Database,
    volumes: Vec<VolumeFiles>,
    /// One for each LMDB file, in OID order; none in version 4.
    entries: Vec<Entry>,
}

impl Database {
    /// The look-up files of this database.
    ///
    /// # Errors
    /// [`DbError::LmdbVolumes`] where an LMDB file belongs to other volumes, and those of a file that is missing or damaged.
    pub fn lookup(&self) -> Result<Lookup, DbError> {
        let volumes = self.volumes().map(|(volume, oids)| {
            let isam = |index: &str, data: &str| IsamFiles {
                index: SideFile::new(volume.side_file(index)),
                data: SideFile::new(volume.side_file(data)),
                ascending: OnceLock::new(),
            };
            VolumeFiles {
                database: self.clone(),
                first: oids.start,
                sequences: oids.end - oids.start,
                strings: isam("si", "sd"),
                gis: isam("ni", "nd"),
            }
        });
        let volumes = volumes.collect();
        Ok(Lookup { database: self.clone(), volumes, entries: Entry::of(self)? })
    }
}

impl Lookup {
    /// The OIDs of an identifier as a user types it, as `blastdbcmd -entry` finds them: empty if there are none.
    ///
    /// A number is a GI if there is such a GI. OIDs that an alias excludes are left out.
    ///
    /// # Errors
    /// [`DbError::NoAccessions`] for a version-5 database without identifiers; those of a damaged file.
    pub fn oids_of_id(&self, id: &[u8]) -> Result<Vec<u32>, DbError> {
        let key = self.key_of(id);
        if let Some(number) = key::number(&key)
            && let Some(oid) = self.included_oid_of_gi(number)?
        {
            return Ok(vec![oid]);
        }
        let mut oids = self.oids_of_key(&key)?;
        oids.retain(|&oid| self.includes(oid));
        Ok(oids)
    }

    /// What an identifier typed by a user is looked up as, and named as in messages: upper case unless it has a bar or an
    /// underscore (`s_PreProcessAccessionsForDBv5`, blastdbcmd.cpp); version 4 takes it as it is.
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

    /// The OID of a GI, whether included or not: that of the first volume that knows it. `None` also where no volume knows
    /// GIs.
    ///
    /// # Errors
    /// Those of a damaged file.
    pub fn oid_of_gi(&self, gi: i64) -> Result<Option<u32>, DbError> {
        for volume in &self.volumes {
            if let Some(oid) = volume.oid_of_gi(gi)? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// The same, but of the first volume in which the sequence is included.
    fn included_oid_of_gi(&self, gi: i64) -> Result<Option<u32>, DbError> {
        for volume in &self.volumes {
            if let Some(oid) = volume.oid_of_gi(gi)?.filter(|&oid| self.includes(oid)) {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// Whether the first volume has a GI index; without, no GI is printed for a sequence by `blastdbcmd`.
    pub fn has_gis(&self) -> bool {
        self.volumes.first().is_some_and(|volume| volume.gis.exist())
    }

    /// The identifiers of a sequence in the `.?os` file: accession with version and the like, without titles.
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

    /// Adds the OIDs of a taxid, whether included or not, to `oids`, and tells whether the database knows the taxid.
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

    fn includes(&self, oid: u32) -> bool {
        range::contains(self.database.oids(), oid)
    }

    /// The LMDB file that a sequence belongs to, and its number there.
    fn entry_of(&self, oid: u32) -> Result<(&Entry, u32), DbError> {
        let found = self.entries.iter().find_map(|entry| Some((entry, entry.local(oid)?)));
        found.ok_or(DbError::NoSuchOid { oid, count: self.database.oid_count() })
    }

    /// The OIDs, within the volume, of a key in version 4.
    fn version_4_oids(&self, volume: &VolumeFiles, key: &[u8]) -> Result<Vec<u32>, DbError> {
        let wanted = match key::version_4(key) {
            key::Version4::Gi(gi) => {
                let oid = volume.oid_of_gi(gi)?;
                return Ok(oid.map(|oid| oid - volume.first).into_iter().collect());
            }
            key::Version4::Ordinal(oid) => return Ok(vec![oid]),
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

impl VolumeFiles {
    fn oid_of_gi(&self, gi: i64) -> Result<Option<u32>, DbError> {
        if !self.gis.exist() {
            return Ok(None);
        }
        let gis = self.gis()?;
        let damaged = |damage| self.gis.data.damaged(damage);
        match gis.oid(gi) {
            Some(oid) => self.confirm_gi(gi, oid).map(Some),
            None => {
                self.gis.ascend(|| gis.check_order().map_err(damaged))?;
                gis.neighbours(gi)
                    .try_for_each(|(gi, oid)| self.confirm_gi(gi, oid).map(|_| ()))?;
                Ok(None)
            }
        }
    }

    /// The OIDs, within the volume, of a text in version 4.
    fn oids_of_text(&self, text: &[u8]) -> Result<Vec<u32>, DbError> {
        let strings = self.strings()?;
        let damaged = |damage| self.strings.data.damaged(damage);
        let oids = strings.oids(text).map_err(damaged)?;
        let key = text.to_ascii_lowercase();
        oids.iter().try_for_each(|&oid| self.confirm_text(&key, oid))?;
        if oids.is_empty() {
            self.strings.ascend(|| strings.check_order().map_err(damaged))?;
            let neighbours = strings.neighbours(text).map_err(damaged)?.into_iter().flatten();
            neighbours.into_iter().try_for_each(|(key, oid)| self.confirm_text(key, oid))?;
        }
        Ok(oids)
    }

    /// The OID in the whole database of one that the index has for a GI.
    fn confirm_gi(&self, gi: i64, oid: u32) -> Result<u32, DbError> {
        self.confirmed(&self.gis, &gi, oid, |lines| confirm::has_gi(lines, gi))
    }

    fn confirm_text(&self, key: &[u8], oid: u32) -> Result<(), DbError> {
        let shown = String::from_utf8_lossy(key);
        let has = |lines: &[Defline]| confirm::has_name(lines, key);
        self.confirmed(&self.strings, &shown, oid, has).map(|_| ())
    }

    /// The OID in the whole database of one that an index has for a key, which the header must have as well.
    fn confirmed(
        &self,
        files: &IsamFiles,
        key: &dyn Display,
        oid: u32,
        has: impl FnOnce(&[Defline]) -> bool,
    ) -> Result<u32, DbError> {
        if oid >= self.sequences {
            let problem = "an OID that the volume does not have";
            return Err(files.data.damaged(Damage { at: 0, problem }));
        }
        let oid = self.first + oid;
        match has(&self.database.stored_deflines(oid)?) {
            true => Ok(oid),
            false => Err(confirm::disagreement(&files.data, &key.to_string(), oid)),
        }
    }

    /// The GIs of the volume.
    fn gis(&self) -> Result<Numeric<'_>, DbError> {
        let (index, data) = (self.gis.index.get()?, self.gis.data.get()?);
        Numeric::open(index, data).map_err(|damage| self.gis.index.damaged(damage))
    }

    /// The identifiers of the volume.
    fn strings(&self) -> Result<Strings<'_>, DbError> {
        let (index, data) = (self.strings.index.get()?, self.strings.data.get()?);
        Strings::open(index, data).map_err(|damage| self.strings.index.damaged(damage))
    }
}
