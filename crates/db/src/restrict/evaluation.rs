//! Evaluates the lists of the user and of the aliases.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_seq::id::IdException;

use super::crossing::{self, ListedId};
use super::list::{self, ListError, SeqIdList};
use super::masks::{AliasBranch, AliasFilter};
use super::oid_list::read_oid_list;
use super::warning::ListWarning;
use super::{ListEntries, Member, Restriction, resolve};
use crate::defline_filter::{DeflineFilter, IdSet, UserList, VolumeFilter};
use crate::lookup::Lookup;
use crate::{Database, DbError, IdentifierError, TaxidSign, range};

/// The OIDs that the user's list includes or excludes.
pub(super) enum UserSelection {
    All,
    Only(Vec<Range<u32>>),
    /// Excludes these OIDs, and all OIDs from the second value on.
    Without(Vec<Range<u32>>, u32),
}

impl UserSelection {
    pub(super) fn apply(&self, oids: Vec<Range<u32>>) -> Vec<Range<u32>> {
        match self {
            Self::All => oids,
            Self::Only(chosen) => range::intersection(&oids, chosen),
            Self::Without(excluded, end) => {
                range::difference(&range::clip(&oids, &(0..*end)), excluded)
            }
        }
    }
}

/// Evaluates lists in BLAST+'s order: the user's list, then those of the aliases for each volume.
pub(super) struct ListEvaluation<'a> {
    whole: &'a Database,
    /// The lookup files, opened for the first list. Ranges of OIDs do not need them.
    lookup: OnceCell<Lookup>,
    user: Option<UserList>,
    /// Identifiers of the user's list, sorted before the first comparison with a list of an alias.
    names: OnceCell<Vec<ListedId>>,
    /// Whether the database is a single volume, and no alias selects some of its sequences.
    is_one_range: bool,
    /// Lists and membership bits of the aliases for each volume.
    volumes: Vec<VolumeFilter>,
    /// Lists of aliases by path; each file is read once.
    read: HashMap<PathBuf, AliasList>,
}

/// A list of an alias. Its entries are looked up in one volume after the other. Each volume gets
/// only the entries that no earlier volume has (`CSeqDBIsam::x_TranslateGiList`, seqdbisam.hpp).
struct AliasList {
    set: Arc<IdSet>,
    /// OIDs of the GIs that earlier volumes have.
    gis: HashMap<i64, u32>,
    /// OIDs of the version-4 identifiers that earlier volumes have.
    keys: HashMap<Vec<u8>, u32>,
}

impl<'a> ListEvaluation<'a> {
    /// Creates an evaluation without restrictions. `branches` has the part of the alias tree for
    /// each volume of the database `whole`.
    pub(super) fn new(whole: &'a Database, branches: &[AliasBranch]) -> Self {
        Self {
            whole,
            lookup: OnceCell::new(),
            user: None,
            names: OnceCell::new(),
            is_one_range: matches!(branches, [only] if !only.selects()),
            volumes: vec![VolumeFilter::default(); branches.len()],
            read: HashMap::new(),
        }
    }

    /// Returns the filter of definition lines that the evaluated lists require.
    pub(super) fn into_filter(self) -> DeflineFilter {
        DeflineFilter { user: self.user, volumes: self.volumes }
    }

    fn lookup(&self) -> Result<&Lookup, DbError> {
        if self.lookup.get().is_none() {
            // Nothing else sets the cell, so the call cannot fail.
            let _ = self.lookup.set(self.whole.lookup()?);
        }
        self.lookup.get().ok_or(DbError::MissingAccessionTable)
    }

    pub(super) fn is_version_5(&self) -> bool {
        self.whole.version() == 5
    }

    /// Evaluates the user's list. Returns the OIDs that it includes or excludes.
    pub(super) fn evaluate_user_list(
        &mut self,
        user: &Restriction,
        warnings: &mut Vec<ListWarning>,
    ) -> Result<UserSelection, DbError> {
        let mut set = IdSet::default();
        let mut keys = Vec::new();
        match &user.entries {
            ListEntries::Sequences(list) => {
                let residues = self.whole.volume_residue_count();
                keys = resolve::user_keys(list, self.lookup()?, residues, warnings)?;
                set.keys = keys.iter().cloned().collect();
            }
            ListEntries::Gis(gis) => set.gis = gis.iter().map(|&gi| i64::from(gi)).collect(),
            ListEntries::Taxids(taxids) => set.taxids = taxids.iter().copied().collect(),
        }
        if !set.taxids.is_empty() {
            if !self.is_version_5() {
                return Err(DbError::TaxidListNeedsVersion5);
            }
            // BLAST+ ignores taxids that the database lacks.
            let known: BTreeSet<i32> = self.lookup()?.taxids()?.into_iter().collect();
            if !set.taxids.is_disjoint(&known) {
                set.taxids = set.taxids.intersection(&known).copied().collect();
            }
        }
        let selection = match user.is_negative {
            false => self.only(&set, &keys)?,
            true => self.without(&set, &keys, user.accepts_unknown_taxids)?,
        };
        let excludes_hidden = match user.entries {
            ListEntries::Gis(_) => true,
            ListEntries::Sequences(_) => user.is_negative,
            ListEntries::Taxids(_) => false,
        };
        let shows_all = user.shows_all_without_identifiers && keys.is_empty();
        let is_negative = user.is_negative;
        self.user = Some(UserList { set, keys, is_negative, excludes_hidden, shows_all });
        Ok(selection)
    }

    fn only(&self, set: &IdSet, keys: &[Vec<u8>]) -> Result<UserSelection, DbError> {
        let oids = if !set.taxids.is_empty() {
            resolve::oids_of_taxids(self.lookup()?, set.taxids.iter().copied())?
        } else if !set.gis.is_empty() {
            resolve::oids_of_gis(self.lookup()?, set.gis.iter().copied())?
        } else if !keys.is_empty() {
            self.lookup()?.require_id_index()?;
            resolve::oids_of_keys(self.lookup()?, keys)?
        } else {
            // BLAST+ clears the bits of all OIDs. But it includes a single volume by its range
            // instead of bits, unless an alias selects some of its sequences
            // (`CSeqDBOIDList::x_ApplyUserGiList`).
            return Ok(match self.is_one_range {
                true => UserSelection::All,
                false => UserSelection::Only(Vec::new()),
            });
        };
        Ok(UserSelection::Only(range::ranges_of_oids(oids)))
    }

    fn without(
        &self,
        set: &IdSet,
        keys: &[Vec<u8>],
        accepts_unknown_taxids: bool,
    ) -> Result<UserSelection, DbError> {
        let all = u32::MAX;
        if !set.taxids.is_empty() {
            let excluded = resolve::excluded_by_taxids(self.lookup()?, set)?;
            if excluded.is_empty() && !accepts_unknown_taxids {
                return Err(self.lookup()?.no_such_taxids(TaxidSign::Negative));
            }
            return Ok(UserSelection::Without(range::ranges_of_oids(excluded), all));
        }
        if self.is_version_5() && set.gis.is_empty() {
            self.lookup()?.require_id_index()?;
            let excluded = resolve::excluded_by_keys(self.lookup()?, keys)?;
            return Ok(UserSelection::Without(range::ranges_of_oids(excluded), all));
        }
        let remainder = match set.gis.is_empty() {
            false => resolve::scan_gi_indexes(self.lookup()?, set)?,
            true => resolve::scan_string_indexes(self.lookup()?, set)?,
        };
        let (excluded, end) = remainder.excluded_oids();
        Ok(UserSelection::Without(range::ranges_of_oids(excluded), end))
    }

    /// Returns the OIDs of volume `at` that a branch of the alias tree includes.
    pub(super) fn oids_of_branch(
        &mut self,
        branch: &AliasBranch,
        at: usize,
        span: &Range<u32>,
    ) -> Result<Vec<Range<u32>>, DbError> {
        let mut oids = Vec::new();
        if branch.has_volume {
            oids.push(span.clone());
        } else {
            for below in &branch.branches {
                oids.extend(self.oids_of_branch(below, at, span)?);
            }
        }
        let mut oids = range::sorted_union(oids);
        for mask in &branch.filters {
            oids = match mask {
                AliasFilter::Range(window) => range::clip(&oids, window),
                AliasFilter::MemberBit(bit) => {
                    let known = &mut self.volumes[at].member_bit;
                    if *known != 0 && *known != *bit {
                        return Err(DbError::ConflictingMemberBits);
                    }
                    *known = *bit;
                    oids
                }
                AliasFilter::OidList(file) => {
                    let listed = read_oid_list(file, span).map_err(missing_with_volumes)?;
                    range::intersection(&oids, &listed)
                }
                AliasFilter::Gis(file) => range::intersection(&oids, &self.gis_of_alias(file, at)?),
                AliasFilter::SeqIds(file) if !self.is_version_5() => {
                    range::intersection(&oids, &self.ids_of_alias(file, at)?)
                }
                AliasFilter::SeqIds(_) | AliasFilter::Taxids(_) => oids,
            };
        }
        Ok(oids)
    }

    /// Returns the OIDs of the GIs in an alias's list. If the user includes GIs, only GIs in both
    /// lists count.
    fn gis_of_alias(&mut self, file: &Path, at: usize) -> Result<Vec<Range<u32>>, DbError> {
        let read = |file: &Path| {
            let gis = parse_list(file, list::parse_gis)?.into_iter().map(i64::from).collect();
            Ok(IdSet { gis, ..IdSet::default() })
        };
        let mut list = self.take_list(file, read)?;
        match self.users_gis() {
            Some(users) => {
                for &gi in list.set.gis.intersection(users) {
                    if let Some(oid) = self.lookup()?.listed_oid_of_gi(gi)? {
                        list.gis.insert(gi, oid);
                    }
                }
            }
            None => {
                let missing = list.set.gis.iter().copied().filter(|gi| !list.gis.contains_key(gi));
                // An empty list does not need an index of GIs.
                if !list.set.gis.is_empty() {
                    let found = self.lookup()?.oids_of_gis_in(at, missing)?;
                    list.gis.extend(found);
                }
            }
        }
        let oids = range::ranges_of_oids(list.gis.values().copied().collect());
        self.put_list(file, at, list);
        Ok(oids)
    }

    /// Returns the OIDs of the identifiers in an alias's list, in version 4.
    fn ids_of_alias(&mut self, file: &Path, at: usize) -> Result<Vec<Range<u32>>, DbError> {
        let mut list = self.take_list(file, |file| {
            // BLAST+ reads a binary list as text here.
            let words = parse_list(file, |contents| Ok(list::split_words(contents)))?;
            let keys = resolve::keys_of_version_4(&words, Some(file))?;
            Ok(IdSet { keys, ..IdSet::default() })
        })?;
        // BLAST+ does not look up identifiers if the user lists GIs.
        if self.users_gis().is_none() {
            let missing = list.set.keys.iter().filter(|key| !list.keys.contains_key(*key));
            let found = self.lookup()?.oids_of_keys_in(at, missing)?;
            list.keys.extend(found);
        }
        let oids = range::ranges_of_oids(list.keys.values().copied().collect());
        self.put_list(file, at, list);
        Ok(oids)
    }

    /// Returns the GIs that the user's list includes; `None` if it has none.
    fn users_gis(&self) -> Option<&HashSet<i64>> {
        let user = self.user.as_ref().filter(|user| !user.is_negative && !user.set.gis.is_empty());
        user.map(|user| &user.set.gis)
    }

    /// Returns those of `oids` that the lists of identifiers and taxids in the uppermost aliases
    /// include, in version 5. OIDs of volumes without such lists are all kept.
    pub(super) fn apply_top_lists(
        &mut self,
        members: &[Member<'_>],
        branches: &[AliasBranch],
        oids: Vec<Range<u32>>,
    ) -> Result<Vec<Range<u32>>, DbError> {
        let mut files: Vec<(&AliasFilter, Vec<usize>)> = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            for mask in &branch.filters {
                if !matches!(mask, AliasFilter::SeqIds(_) | AliasFilter::Taxids(_)) {
                    continue;
                }
                match files.iter_mut().find(|(known, _)| *known == mask) {
                    Some((_, volumes)) => volumes.push(at),
                    None => files.push((mask, vec![at])),
                }
            }
        }
        if files.is_empty() {
            return Ok(oids);
        }
        let span = |at: &usize| members[*at].1.clone();
        let restricted =
            range::sorted_union(files.iter().flat_map(|(_, v)| v.iter().map(span)).collect());
        let mut found = Vec::new();
        for (mask, volumes) in files {
            let listed = range::ranges_of_oids(self.listed_oids(mask, &volumes)?);
            let spans = range::sorted_union(volumes.iter().map(span).collect());
            found.extend(range::intersection(&listed, &spans));
        }
        let free = range::difference(&oids, &restricted);
        let listed = range::intersection(&oids, &range::sorted_union(found));
        Ok(range::sorted_union([free, listed].concat()))
    }

    /// Returns the OIDs of a version-5 list of an alias, without the entries that the user's list
    /// of the same kind excludes.
    fn listed_oids(&mut self, mask: &AliasFilter, volumes: &[usize]) -> Result<Vec<u32>, DbError> {
        match mask {
            AliasFilter::SeqIds(file) => {
                let ids = parse_list(file, |contents| Ok(SeqIdList::parse(contents)?.ids))?;
                let keys = ids.iter().cloned().collect();
                self.attach(IdSet { keys, ..IdSet::default() }, volumes);
                let allowed = self.allowed_keys(ids);
                let allowed = allowed.map_err(|refusal| {
                    IdentifierError::InvalidInComparedLists { path: file.into(), refusal }
                })?;
                resolve::oids_of_keys(self.lookup()?, &allowed)
            }
            AliasFilter::Taxids(file) => {
                let taxids = parse_list(file, list::parse_taxids)?;
                let taxids: BTreeSet<i32> = taxids.into_iter().collect();
                self.attach(IdSet { taxids: taxids.clone(), ..IdSet::default() }, volumes);
                let allowed: BTreeSet<i32> =
                    taxids.into_iter().filter(|taxid| self.allows_taxid(*taxid)).collect();
                match allowed.is_empty() {
                    true => Ok(Vec::new()),
                    false => resolve::oids_of_taxids(self.lookup()?, allowed),
                }
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Adds `set` to the lists that decide which definition lines of `volumes` are shown.
    fn attach(&mut self, set: IdSet, volumes: &[usize]) {
        let set = Arc::new(set);
        for &at in volumes {
            self.volumes[at].lists.push(set.clone());
        }
    }

    /// Returns the identifiers of an alias's list that the user's list allows. Without identifiers
    /// of the user, all are allowed.
    fn allowed_keys(&self, ids: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, IdException> {
        let Some(user) = self.user.as_ref().filter(|user| !user.keys.is_empty()) else {
            return Ok(ids);
        };
        let users = self.users_names(user)?;
        let mut ids = names(ids);
        crossing::sort(&mut ids)?;
        let allowed = match user.is_negative {
            false => crossing::intersection(ids, users)?,
            true => crossing::difference(ids, users)?,
        };
        Ok(allowed.into_iter().map(ListedId::into_text).collect())
    }

    /// Returns the identifiers of the user's list as BLAST+ sorts them (`s_ProcessSeqIdFilters`,
    /// seqdboidlist.cpp): as bytes if the list excludes them, else by comparison of identifiers.
    fn users_names(&self, user: &UserList) -> Result<&[ListedId], IdException> {
        if let Some(sorted) = self.names.get() {
            return Ok(sorted);
        }
        let mut keys = user.keys.clone();
        if user.is_negative {
            keys.sort_unstable();
        }
        let mut sorted = names(keys);
        if !user.is_negative {
            crossing::sort(&mut sorted)?;
        }
        Ok(self.names.get_or_init(|| sorted))
    }

    fn allows_taxid(&self, taxid: i32) -> bool {
        match self.user.as_ref().filter(|user| !user.set.taxids.is_empty()) {
            Some(user) => user.set.taxids.contains(&taxid) != user.is_negative,
            None => true,
        }
    }

    /// Removes the list of a file from the cache, or reads the file. [`put_list`](Self::put_list)
    /// puts the list back.
    fn take_list(
        &mut self,
        file: &Path,
        read: impl Fn(&Path) -> Result<IdSet, DbError>,
    ) -> Result<AliasList, DbError> {
        if let Some(list) = self.read.remove(file) {
            return Ok(list);
        }
        let set = Arc::new(read(file).map_err(missing_with_volumes)?);
        Ok(AliasList { set, gis: HashMap::new(), keys: HashMap::new() })
    }

    /// Puts a list back into the cache. Adds it to the lists that decide which definition lines of
    /// volume `at` are shown.
    fn put_list(&mut self, file: &Path, at: usize, list: AliasList) {
        self.volumes[at].lists.push(list.set.clone());
        self.read.insert(file.into(), list);
    }
}

/// Converts the error for a missing list to the one for lists that BLAST+ reads when it opens the
/// volumes. The two have different messages.
fn missing_with_volumes(error: DbError) -> DbError {
    match error {
        DbError::MissingList { path, .. } => DbError::MissingVolumeList { path },
        error => error,
    }
}

fn names(ids: Vec<Vec<u8>>) -> Vec<ListedId> {
    ids.into_iter().map(ListedId::new).collect()
}

/// Reads and parses the list in a file.
fn parse_list<T>(file: &Path, parse: impl Fn(&[u8]) -> Result<T, ListError>) -> Result<T, DbError> {
    let contents = list::read_list_file(file)?;
    parse(&contents).map_err(|problem| DbError::InvalidList { path: file.into(), problem })
}
