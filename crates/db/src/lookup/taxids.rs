//! Lists of the sequences of each taxid (`.?to`), and the table with the lists' offsets (`.?tf`).
//!
//! The lists follow each other in the order of their taxids. So each list must end where the next
//! one begins.

use std::sync::OnceLock;

use super::lmdb::LmdbFile;
use super::side_file::LookupFile;
use super::{FileDamage, oids};
use crate::DbError;

/// Name of the LMDB table with the offsets.
const TABLE: &str = "taxid2offset";

/// The table of taxids, and the lists of sequences.
#[derive(Debug)]
pub(super) struct TaxidLists {
    offsets: LookupFile,
    lists: LookupFile,
    /// All taxids in ascending order, each with the byte offset of its list.
    starts: OnceLock<Vec<(i32, u64)>>,
}

impl TaxidLists {
    pub(super) fn new(offsets: LookupFile, lists: LookupFile) -> Self {
        Self { offsets, lists, starts: OnceLock::new() }
    }

    /// Returns the file of the lists, for messages.
    pub(super) fn file(&self) -> &LookupFile {
        &self.lists
    }

    /// Returns all taxids in ascending order.
    pub(super) fn taxids(&self) -> Result<impl Iterator<Item = i32>, DbError> {
        Ok(self.starts()?.iter().map(|&(taxid, _)| taxid))
    }

    /// Returns the sequence numbers in the list of a taxid; `None` if the taxid is not in the
    /// table.
    pub(super) fn sequences_of_taxid(
        &self,
        taxid: i32,
    ) -> Result<Option<impl Iterator<Item = u32>>, DbError> {
        let at = self.starts()?.binary_search_by_key(&taxid, |&(taxid, _)| taxid);
        at.ok().map(|at| self.list(at)).transpose()
    }

    /// Returns the taxids before and after a taxid that is not in the table, with their lists.
    pub(super) fn neighbours(
        &self,
        taxid: i32,
    ) -> Result<Vec<(i32, impl Iterator<Item = u32>)>, DbError> {
        let starts = self.starts()?;
        let after = starts.partition_point(|&(one, _)| one < taxid);
        let places = after.saturating_sub(1)..starts.len().min(after + 1);
        places.map(|at| Ok((starts[at].0, self.list(at)?))).collect()
    }

    /// Returns the list of the taxid with index `at` in the table.
    fn list(&self, at: usize) -> Result<impl Iterator<Item = u32>, DbError> {
        let file = self.lists.contents()?;
        let starts = self.starts()?;
        let start = starts[at].1;
        let end = starts.get(at + 1).map_or(file.len() as u64, |&(_, start)| start);
        let damaged =
            |problem| self.lists.damage_error(FileDamage { offset: start as usize, problem });
        let list =
            oids::oid_list_at(file, start).map_err(|damage| self.lists.damage_error(damage))?;
        let list: Vec<u32> = list.collect();
        if start + 4 * (list.len() as u64 + 1) != end {
            return Err(damaged("a list that does not end where the next begins"));
        }
        if list.is_empty() || !list.is_sorted_by(|one, next| one < next) {
            return Err(damaged("a list of OIDs out of order"));
        }
        Ok(list.into_iter())
    }

    /// Returns the table. Reads it at the first call.
    fn starts(&self) -> Result<&[(i32, u64)], DbError> {
        if self.starts.get().is_none() {
            // If another thread was faster, its table stays.
            let _ = self.starts.set(self.read()?);
        }
        Ok(self.starts.get().map_or(&[], |starts| starts))
    }

    fn read(&self) -> Result<Vec<(i32, u64)>, DbError> {
        let damaged = |damage| self.offsets.damage_error(damage);
        let wrong = |problem| damaged(FileDamage { offset: 0, problem });
        let contents = self.offsets.contents().map_err(|error| match error {
            DbError::MissingFile { path } => DbError::MissingTaxidLmdb { path },
            error => error,
        })?;
        let env = LmdbFile::open(contents).map_err(damaged)?;
        let table = env.table(TABLE).map_err(damaged)?.ok_or(DbError::MissingTaxidTable)?;
        let mut starts = Vec::new();
        for entry in env.entries(&table).map_err(damaged)? {
            let (key, value) = entry.map_err(damaged)?;
            let taxid = <[u8; 4]>::try_from(key).map(i32::from_le_bytes);
            let start = <[u8; 8]>::try_from(value).map(u64::from_le_bytes);
            let (Ok(taxid), Ok(start)) = (taxid, start) else {
                return Err(wrong("an entry of other than a taxid and an offset"));
            };
            starts.push((taxid, start));
        }
        if starts.len() as u64 != table.stated_entries() {
            return Err(wrong("another number of taxids than stated"));
        }
        starts.sort_unstable();
        let ascend = |one: &(i32, u64), next: &(i32, u64)| one.0 < next.0 && one.1 < next.1;
        if !starts.is_sorted_by(ascend) || starts.first().is_some_and(|first| first.1 != 0) {
            return Err(wrong("offsets that are not in the order of the taxids"));
        }
        Ok(starts)
    }
}
