//! An LMDB file and the lookup files of the same name, which several volumes can share.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::confirm::{self, disagreement_error};
use super::lmdb::{LmdbFile, Table};
use super::side_file::LookupFile;
use super::taxids::TaxidLists;
use super::{FileDamage, oids};
use crate::volume::Volume;
use crate::{Database, DbError, LmdbMismatch};

/// Names of the tables of an LMDB file.
const ACCESSIONS: &str = "acc2oid";
const VOLUME_NAMES: &str = "volname";
const VOLUME_SIZES: &str = "volinfo";

/// The sequences of one volume in an LMDB file.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    /// Range of the sequence numbers that the LMDB file gives to the sequences of the volume.
    local: Range<u32>,
    /// OID of the volume's first sequence; `None` if the volume is not part of the database.
    first: Option<u32>,
}

/// An LMDB file and the lookup files of the same name, for one or more consecutive volumes.
#[derive(Debug)]
pub(super) struct LmdbLookup {
    /// The database, whose headers verify entries of the files.
    database: Database,
    lmdb: LookupFile,
    ids: LookupFile,
    taxids: LookupFile,
    taxid_lists: TaxidLists,
    spans: Vec<Span>,
}

impl LmdbLookup {
    /// Opens all LMDB files of a database. A version-4 database has none.
    pub(super) fn open_all(database: &Database) -> Result<Vec<Self>, DbError> {
        let groups = groups(database.volumes()).into_iter();
        groups.map(|(path, members)| Self::open(database, path, &members)).collect()
    }

    /// Verifies that the LMDB files belong to the volumes, as BLAST+ does when it opens a database.
    /// A file that cannot be read is ignored here; its error is reported when the file is used.
    pub(super) fn verify_volumes<'a>(
        volumes: impl Iterator<Item = (&'a Volume, Range<u32>)>,
    ) -> Result<(), DbError> {
        for (path, members) in groups(volumes) {
            let lmdb = LookupFile::new(path);
            if let Ok(volumes) = volumes_of(&lmdb)
                && let Err(mismatch) = spans(&volumes, &members)
            {
                return Err(DbError::LmdbVolumeMismatch { path: lmdb.path, mismatch });
            }
        }
        Ok(())
    }

    fn open(database: &Database, path: PathBuf, members: &[Member]) -> Result<Self, DbError> {
        let beside = |letter| LookupFile::new(beside(&path, letter));
        let (ids, taxids) = (beside("os"), beside("ot"));
        let taxid_lists = TaxidLists::new(beside("tf"), beside("to"));
        let lmdb = LookupFile::new(path.clone());
        let volumes = volumes_of(&lmdb).map_err(|error| match error {
            DbError::MissingFile { path } => DbError::MissingLmdb { path },
            error => error,
        })?;
        let spans = spans(&volumes, members)
            .and_then(|spans| verify_sizes(&spans, members).map(|()| spans))
            .map_err(|mismatch| DbError::LmdbVolumeMismatch { path, mismatch })?;
        Ok(Self { database: database.clone(), lmdb, ids, taxids, taxid_lists, spans })
    }

    /// Returns the path of the LMDB file.
    pub(super) fn path(&self) -> &Path {
        &self.lmdb.path
    }

    /// Returns the name of the LMDB file, without directory and extension.
    pub(super) fn name(&self) -> String {
        self.lmdb.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Converts an OID to the sequence number in the LMDB file.
    pub(super) fn local_number(&self, oid: u32) -> Option<u32> {
        self.spans.iter().find_map(|span| {
            let offset = oid.checked_sub(span.first?)?;
            (offset < span.local.len() as u32).then(|| span.local.start + offset)
        })
    }

    /// Converts a sequence number in the LMDB file to an OID; `None` if its volume is not part of
    /// the database. `file` is the file with the number, for the error.
    fn global(&self, file: &LookupFile, local: u32) -> Result<Option<u32>, DbError> {
        let Some(span) = self.spans.iter().find(|span| span.local.contains(&local)) else {
            let problem = "an OID that no volume has";
            return Err(file.damage_error(FileDamage { offset: 0, problem }));
        };
        Ok(span.first.map(|first| first + (local - span.local.start)))
    }

    /// Converts a value of the table of accessions to an OID. Verifies that the header of the
    /// sequence has the key.
    fn confirm_oid(&self, key: &[u8], value: &[u8]) -> Result<Option<u32>, DbError> {
        let damage = FileDamage { offset: 0, problem: "an OID of other than four bytes" };
        let local = word(value).ok_or_else(|| self.lmdb.damage_error(damage))?;
        let Some(oid) = self.global(&self.lmdb, local)? else { return Ok(None) };
        if confirm::has_accession(&self.database.stored_deflines(oid)?, key) {
            return Ok(Some(oid));
        }
        Err(disagreement_error(&self.lmdb, &String::from_utf8_lossy(key), oid))
    }

    /// Verifies that a key is really missing in the table of accessions, by checking that its
    /// neighbours are not damaged.
    fn confirm_missing(
        &self,
        env: &LmdbFile<'_>,
        table: &Table,
        key: &[u8],
    ) -> Result<(), DbError> {
        let damaged = |damage| self.lmdb.damage_error(damage);
        for neighbour in env.neighbours(table, key).map_err(damaged)?.into_iter().flatten() {
            let first = env.values(table, neighbour).map_err(damaged)?.next().transpose();
            self.confirm_oid(neighbour, first.map_err(damaged)?.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Appends the OIDs of a key to `oids`.
    pub(super) fn oids_of_key(&self, key: &[u8], oids: &mut Vec<u32>) -> Result<(), DbError> {
        let damaged = |damage| self.lmdb.damage_error(damage);
        let (env, table) = Self::table(&self.lmdb, ACCESSIONS)?;
        let Some(table) = table else { return Err(DbError::MissingAccessionTable) };
        if key.is_empty() {
            return Err(DbError::EmptyKey { path: self.lmdb.path.clone() });
        }
        let mut found = false;
        for value in env.values(&table, key).map_err(damaged)? {
            oids.extend(self.confirm_oid(key, value.map_err(damaged)?)?);
            found = true;
        }
        if found { Ok(()) } else { self.confirm_missing(&env, &table, key) }
    }

    /// Returns the OID of the first value of a key; `None` if the key is missing, or if the volume
    /// of the sequence is not part of the database.
    pub(super) fn first_oid(&self, key: &[u8]) -> Result<Option<u32>, DbError> {
        let damaged = |damage| self.lmdb.damage_error(damage);
        let (env, table) = Self::table(&self.lmdb, ACCESSIONS)?;
        let Some(table) = table else { return Err(DbError::MissingAccessionTable) };
        match env.values(&table, key).map_err(damaged)?.next() {
            Some(value) => self.confirm_oid(key, value.map_err(damaged)?),
            None => self.confirm_missing(&env, &table, key).map(|()| None),
        }
    }

    /// Returns the identifiers of the sequence `oid`, whose number in the files is `local`.
    pub(super) fn ids_of(&self, oid: u32, local: u32) -> Result<Vec<Vec<u8>>, DbError> {
        let found = oids::ids_of_sequence(self.ids.contents()?, local)
            .map_err(|d| self.ids.damage_error(d))?;
        let ids = found.ok_or_else(|| self.ids.damage_error(TOO_FEW))?;
        match confirm::are_identifiers(&self.database.stored_deflines(oid)?, &ids) {
            true => Ok(ids),
            false => Err(disagreement_error(&self.ids, "the identifiers listed for it", oid)),
        }
    }

    /// Returns the taxids of the sequence `oid`, whose number in the files is `local`.
    pub(super) fn taxids_of(&self, oid: u32, local: u32) -> Result<Vec<i32>, DbError> {
        let found = oids::taxids_of_sequence(self.taxids.contents()?, local)
            .map_err(|d| self.taxids.damage_error(d))?;
        let taxids = found.ok_or_else(|| self.taxids.damage_error(TOO_FEW))?;
        match confirm::are_taxids(&self.database.stored_deflines(oid)?, &taxids) {
            true => Ok(taxids),
            false => Err(disagreement_error(&self.taxids, "the taxids listed for it", oid)),
        }
    }

    /// Appends the OIDs of a taxid to `oids`. Returns false if the files do not contain the taxid.
    pub(super) fn oids_of_taxid(&self, taxid: i32, oids: &mut Vec<u32>) -> Result<bool, DbError> {
        let lists = &self.taxid_lists;
        let Some(list) = lists.sequences_of_taxid(taxid)? else {
            // If damage changed the stored taxid, one of its neighbours in the table is the changed
            // one.
            for (other, mut list) in lists.neighbours(taxid)? {
                list.next().map_or(Ok(None), |local| self.with_taxid(other, local))?;
            }
            return Ok(false);
        };
        for local in list {
            oids.extend(self.with_taxid(taxid, local)?);
        }
        Ok(true)
    }

    /// Converts a sequence number in the list of a taxid to an OID. Verifies that the header of the
    /// sequence has the taxid.
    fn with_taxid(&self, taxid: i32, local: u32) -> Result<Option<u32>, DbError> {
        let file = self.taxid_lists.file();
        let Some(oid) = self.global(file, local)? else { return Ok(None) };
        if confirm::has_taxid(&self.database.stored_deflines(oid)?, taxid) {
            return Ok(Some(oid));
        }
        Err(disagreement_error(file, &format!("taxid {taxid}"), oid))
    }

    /// Appends all taxids of the files to `taxids`.
    pub(super) fn taxids(&self, taxids: &mut Vec<i32>) -> Result<(), DbError> {
        taxids.extend(self.taxid_lists.taxids()?);
        Ok(())
    }

    fn table<'a>(
        file: &'a LookupFile,
        name: &str,
    ) -> Result<(LmdbFile<'a>, Option<Table>), DbError> {
        let damaged = |damage| file.damage_error(damage);
        let env = LmdbFile::open(file.contents()?).map_err(damaged)?;
        Ok((env, env.table(name).map_err(damaged)?))
    }
}

const TOO_FEW: FileDamage =
    FileDamage { offset: 0, problem: "fewer sequences than in the volumes" };

fn word(bytes: &[u8]) -> Option<u32> {
    <[u8; 4]>::try_from(bytes).ok().map(u32::from_le_bytes)
}

/// Returns the path of the lookup file that has the name of an LMDB file. Its extension is the
/// first letter of the LMDB file's extension, then `letters`.
fn beside(lmdb: &Path, letters: &str) -> PathBuf {
    let kind = lmdb.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    lmdb.with_extension(format!("{}{letters}", kind.get(..1).unwrap_or_default()))
}

/// Groups the volumes of a database by their LMDB files.
fn groups<'a>(
    volumes: impl Iterator<Item = (&'a Volume, Range<u32>)>,
) -> Vec<(PathBuf, Vec<Member>)> {
    let mut groups: Vec<(PathBuf, Vec<Member>)> = Vec::new();
    for (volume, oids) in volumes {
        let Some(path) = volume.lmdb_path() else { continue };
        let member = Member { name: volume.base_name(), oids };
        match groups.last_mut() {
            Some((last, members)) if *last == path => members.push(member),
            _ => groups.push((path, vec![member])),
        }
    }
    groups
}

/// A volume of the database.
struct Member {
    /// Path of the volume without directory and extension.
    name: Vec<u8>,
    oids: Range<u32>,
}

/// Reads name and number of sequences of each volume in an LMDB file, in the order of the file.
fn volumes_of(lmdb: &LookupFile) -> Result<Vec<(Vec<u8>, u32)>, DbError> {
    let damaged = |damage| lmdb.damage_error(damage);
    let env = LmdbFile::open(lmdb.contents()?).map_err(damaged)?;
    let table = |name| match env.table(name).map_err(damaged)? {
        Some(table) => Ok(table),
        None => {
            Err(damaged(FileDamage { offset: 0, problem: "the tables of the volumes are missing" }))
        }
    };
    let (names, sizes) = (table(VOLUME_NAMES)?, table(VOLUME_SIZES)?);
    let mut volumes = Vec::new();
    for entry in env.entries(&names).map_err(damaged)? {
        let (key, name) = entry.map_err(damaged)?;
        let size = env.values(&sizes, key).map_err(damaged)?.next().transpose();
        let size = size.map_err(damaged)?.and_then(word);
        let damage = FileDamage { offset: 0, problem: "a volume without its number of sequences" };
        volumes.push((name.to_vec(), size.ok_or_else(|| damaged(damage))?));
    }
    Ok(volumes)
}

/// Finds the database's volumes among those of the LMDB file as BLAST+ does (`CSeqDBLMDBEntry`,
/// seqdblmdbset.cpp). Both are in the same order, but the file can have more volumes. If the file
/// lacks a volume, this volume and all later ones are not found. This is an error only if it is the
/// first one.
fn spans(volumes: &[(Vec<u8>, u32)], members: &[Member]) -> Result<Vec<Span>, LmdbMismatch> {
    if members.len() > volumes.len() {
        return Err(LmdbMismatch::FewerVolumes);
    }
    let mut members = members.iter().peekable();
    let mut start = 0u32;
    let mut spans = Vec::new();
    for (name, size) in volumes {
        let end = start.checked_add(*size).ok_or(LmdbMismatch::TooManySequences)?;
        let member = members.next_if(|member| member.name == *name);
        spans.push(Span { local: start..end, first: member.map(|member| member.oids.start) });
        start = end;
    }
    let has_sequences = |span: &Span| span.first.is_some() && !span.local.is_empty();
    if spans.iter().any(has_sequences) { Ok(spans) } else { Err(LmdbMismatch::OtherVolumes) }
}

/// Verifies that the volumes have as many sequences as the LMDB file states.
fn verify_sizes(spans: &[Span], members: &[Member]) -> Result<(), LmdbMismatch> {
    let found = spans.iter().filter(|span| span.first.is_some());
    match found.zip(members).all(|(span, member)| span.local.len() == member.oids.len()) {
        true => Ok(()),
        false => Err(LmdbMismatch::SequenceCounts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_that_are_not_opened_leave_gaps() {
        let volumes = [(b"x.00".to_vec(), 3), (b"x.01".to_vec(), 2), (b"x.02".to_vec(), 4)];
        let member = |name: &[u8], oids| Member { name: name.to_vec(), oids };
        let found = spans(&volumes, &[member(b"x.00", 5..8), member(b"x.02", 8..12)]).unwrap();
        let span = |local, first| Span { local, first };
        assert_eq!(found, [span(0..3, Some(5)), span(3..5, None), span(5..9, Some(8))]);
        assert_eq!(verify_sizes(&found, &[member(b"x.00", 5..8), member(b"x.02", 8..12)]), Ok(()));
        assert!(verify_sizes(&found, &[member(b"x.00", 5..8), member(b"x.02", 8..11)]).is_err());
        let one = &volumes[..1];
        let too_many = spans(one, &[member(b"x.00", 0..3), member(b"x.01", 3..5)]);
        assert_eq!(too_many, Err(LmdbMismatch::FewerVolumes));
    }

    #[test]
    fn only_an_unknown_first_volume_is_refused() {
        let volumes = [(b"x.00".to_vec(), 3), (b"x.01".to_vec(), 2), (b"x.02".to_vec(), 4)];
        let firsts = |names: &[&[u8]]| {
            let members = (0..)
                .zip(names)
                .map(|(at, name)| Member { name: name.to_vec(), oids: 10 * at..10 * at + 1 });
            let found = spans(&volumes, &members.collect::<Vec<_>>())?;
            Ok(found.into_iter().map(|span| span.first).collect::<Vec<_>>())
        };
        assert_eq!(firsts(&[b"x.00", b"z.01"]), Ok(vec![Some(0), None, None]));
        assert_eq!(firsts(&[b"x.01", b"z.01", b"x.02"]), Ok(vec![None, Some(0), None]));
        assert_eq!(firsts(&[b"w.00", b"x.01"]), Err(LmdbMismatch::OtherVolumes));
        assert_eq!(firsts(&[]), Err(LmdbMismatch::OtherVolumes));
    }
}
