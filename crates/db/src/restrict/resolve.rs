//! Converts the entries of lists to OIDs, by the rules of BLAST+ for each kind of list and version.

use std::collections::BTreeMap;
use std::path::Path;

use super::bits::OidSet;
use super::list::SeqIdList;
use super::warning::ListWarning;
use crate::defline_filter::IdSet;
use crate::key;
use crate::lookup::Lookup;
use crate::{DbError, IdentifierError, TaxidSign};

/// Returns the keys of the user's list of identifiers without duplicates. Keys of a binary list
/// keep their order, others are sorted.
///
/// In version 5, words of a text list are converted to keys, and GIs among them are ignored.
pub(super) fn user_keys(
    list: &SeqIdList,
    lookup: &Lookup,
    database_residues: u64,
    warnings: &mut Vec<ListWarning>,
) -> Result<Vec<Vec<u8>>, DbError> {
    let mut keys: Vec<Vec<u8>>;
    if !lookup.is_version_5() {
        if list.is_binary {
            return Err(DbError::BinarySeqIdListNeedsVersion5);
        }
        keys = keys_of_version_4(&list.ids, None)?;
    } else if list.is_binary {
        keys = list.ids.clone();
    } else {
        warnings.push(ListWarning::TextList);
        keys = Vec::with_capacity(list.ids.len());
        for id in &list.ids {
            let word = String::from_utf8_lossy(id).into_owned();
            let found = match key::version_5_list_key(id) {
                Ok(found) => found,
                Err(refusal) => {
                    return Err(IdentifierError::InvalidInUserList { word, refusal }.into());
                }
            };
            let surplus = ListWarning::SurplusPart { word };
            warnings.extend(std::iter::repeat_n(surplus, found.surplus_parts));
            keys.extend(found.key);
        }
        if keys.is_empty() {
            warnings.push(ListWarning::NoIdentifiers);
        }
    }
    let made_for = if list.is_binary { list.database_residues } else { 0 };
    if made_for != 0 && made_for != database_residues {
        warnings.push(ListWarning::OtherDatabase);
    }
    if !list.is_binary {
        keys.sort_unstable();
        keys.dedup();
    }
    Ok(keys)
}

/// Converts words to version-4 keys. `list` is the path of an alias's list; `None` for the user's
/// list.
pub(super) fn keys_of_version_4<C: FromIterator<Vec<u8>>>(
    words: &[Vec<u8>],
    list: Option<&Path>,
) -> Result<C, DbError> {
    let key = |word: &Vec<u8>| {
        key::version_4_list_key(word).map_err(|refusal| IdentifierError::InvalidInVersion4List {
            word: String::from_utf8_lossy(word).into_owned(),
            list: list.map(Path::to_path_buf),
            refusal,
        })
    };
    Ok(words.iter().map(key).collect::<Result<C, _>>()?)
}

/// Returns one OID for each key that the database has.
pub(super) fn oids_of_keys(lookup: &Lookup, keys: &[Vec<u8>]) -> Result<Vec<u32>, DbError> {
    let mut oids = Vec::new();
    for key in keys {
        oids.extend(lookup.listed_oid(key)?);
    }
    Ok(oids)
}

/// Returns one OID for each GI that the database has.
pub(super) fn oids_of_gis(
    lookup: &Lookup,
    gis: impl IntoIterator<Item = i64>,
) -> Result<Vec<u32>, DbError> {
    let mut oids = Vec::new();
    lookup.require_gi_index()?;
    for gi in gis {
        oids.extend(lookup.listed_oid_of_gi(gi)?);
    }
    Ok(oids)
}

/// Returns the OIDs of all sequences that have one of the taxids.
pub(super) fn oids_of_taxids(
    lookup: &Lookup,
    taxids: impl IntoIterator<Item = i32>,
) -> Result<Vec<u32>, DbError> {
    let mut oids = Vec::new();
    for taxid in taxids {
        lookup.oids_of_taxid(taxid, &mut oids)?;
    }
    if oids.is_empty() {
        return Err(lookup.no_such_taxids(TaxidSign::Positive));
    }
    Ok(oids)
}

/// Returns the OIDs of the sequences whose taxids are all in the excluding list `set`; none if the
/// database has none of the taxids.
pub(super) fn excluded_by_taxids(lookup: &Lookup, set: &IdSet) -> Result<Vec<u32>, DbError> {
    let mut oids = Vec::new();
    for &taxid in &set.taxids {
        lookup.oids_of_taxid(taxid, &mut oids)?;
    }
    oids.sort_unstable();
    oids.dedup();
    let mut excluded = Vec::new();
    for oid in oids {
        if lookup.taxids_of(oid)?.iter().all(|taxid| set.taxids.contains(taxid)) {
            excluded.push(oid);
        }
    }
    Ok(excluded)
}

/// Returns the OIDs of the sequences whose identifiers are all in the excluding list `keys`, in
/// version 5.
pub(super) fn excluded_by_keys(lookup: &Lookup, keys: &[Vec<u8>]) -> Result<Vec<u32>, DbError> {
    let mut listed: BTreeMap<u32, Vec<&[u8]>> = BTreeMap::new();
    for key in keys {
        for oid in lookup.first_oids(key)? {
            listed.entry(oid).or_default().push(key);
        }
    }
    let mut excluded = Vec::new();
    for (oid, mut keys) in listed {
        keys.sort_unstable();
        if all_listed(&lookup.ids_of(oid)?, &keys) {
            excluded.push(oid);
        }
    }
    Ok(excluded)
}

/// Returns whether all of a sequence's identifiers are among the keys. Both must be sorted
/// (`s_CompareIdList`, seqdb_lmdb.cpp).
fn all_listed(ids: &[Vec<u8>], keys: &[&[u8]]) -> bool {
    let (mut i, mut k) = (0, 0);
    while i < ids.len() && k < keys.len() {
        if ids[i] == keys[k] {
            (i, k) = (i + 1, k + 1);
            continue;
        }
        match key::PartialKeyMatch::compare(&ids[i], keys[k]) {
            // The key of a PDB entry matches all chains of the entry. BLAST+ continues as long as
            // the first letter is one of the entry's.
            key::PartialKeyMatch::PdbEntry => {
                let entry = keys[k];
                let shares = |id: &[u8]| id.first().is_some_and(|letter| entry.contains(letter));
                i += 1;
                while i < ids.len() && shares(&ids[i]) {
                    i += 1;
                }
                while k < keys.len() && shares(keys[k]) {
                    k += 1;
                }
            }
            key::PartialKeyMatch::WithoutVersion => {
                k += 1;
                if k < keys.len() && ids[i] == keys[k] {
                    k += 1;
                }
                i += 1;
            }
            key::PartialKeyMatch::NoMatch => break,
        }
    }
    i == ids.len()
}

/// The sequences of an index with listed entries, and those with entries that are not listed.
#[derive(Debug, Default)]
pub(super) struct ExclusionScan {
    /// OIDs with entries that the excluding list lacks.
    shown: OidSet,
    /// OIDs with entries that the excluding list has.
    hidden: OidSet,
}

impl ExclusionScan {
    fn see(&mut self, oid: u32, listed: bool) {
        if listed { &mut self.hidden } else { &mut self.shown }.insert(oid);
    }

    /// Returns the excluded OIDs, and the end of the OIDs in the index. BLAST+ excludes all OIDs
    /// from this end on.
    pub(super) fn excluded_oids(&self) -> (Vec<u32>, u32) {
        let excluded = self.hidden.iter().filter(|&oid| !self.shown.contains(oid)).collect();
        (excluded, self.hidden.end().max(self.shown.end()))
    }
}

/// Scans the GI indexes of all volumes for GIs in the excluding list `set`.
pub(super) fn scan_gi_indexes(lookup: &Lookup, set: &IdSet) -> Result<ExclusionScan, DbError> {
    let mut remainder = ExclusionScan::default();
    for (first, gis) in lookup.gi_indexes()? {
        for i in 0..gis.len() {
            let (gi, oid) = gis.get(i);
            remainder.see(check_oid(lookup, first, oid)?, set.gis.contains(&gi));
        }
    }
    Ok(remainder)
}

/// Scans the string indexes of version 4 for identifiers in the excluding list `set`.
///
/// An accession without version does not count if the next key in the same page of the index is the
/// same accession with a version (`CSeqDBIsam::x_SearchNegativeMultiSeq`, seqdbisam.cpp).
pub(super) fn scan_string_indexes(lookup: &Lookup, set: &IdSet) -> Result<ExclusionScan, DbError> {
    let mut remainder = ExclusionScan::default();
    for (first, strings) in lookup.string_indexes()? {
        let damaged = |damage| lookup.string_index_error(first, damage);
        let entries = strings.entries().collect::<Result<Vec<_>, _>>().map_err(damaged)?;
        for page in entries.chunks(strings.keys_per_sample()) {
            let mut i = 0;
            while let Some(&(key, oid)) = page.get(i) {
                let oid = check_oid(lookup, first, oid)?;
                let again = page.get(i + 1).is_some_and(|(next, _)| is_versioned(next, key));
                if set.keys.contains(key) {
                    remainder.see(oid, true);
                    i += usize::from(again);
                } else if !again {
                    remainder.see(oid, false);
                }
                i += 1;
            }
        }
    }
    Ok(remainder)
}

fn is_versioned(next: &[u8], key: &[u8]) -> bool {
    !key.contains(&b'.') && next.strip_prefix(key).is_some_and(|rest| rest.starts_with(b"."))
}

/// Converts a sequence number from an index, which can be damaged, to an OID. Checks that the
/// database has this OID.
fn check_oid(lookup: &Lookup, first: u32, oid: u32) -> Result<u32, DbError> {
    let count = lookup.database().oid_count();
    let whole = first.checked_add(oid).filter(|&oid| oid < count);
    whole.ok_or(DbError::NoSuchOid { oid, count })
}
