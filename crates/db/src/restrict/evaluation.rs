//! What lists include: those of the user, and those of aliases.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::filter::{DeflineFilter, IdSet, UserList, VolumeFilter};
use super::list::{self, ListError, SeqIdList};
use super::masks::{Branch, Mask};
use super::oid_list::oid_list;
use super::{Ids, Member, Restriction, resolve};
use crate::lookup::{Lookup, key};
use crate::{Database, DbError, range};

/// What the user's list does to the OIDs.
pub(super) enum Selection {
    All,
    Only(Vec<Range<u32>>),
    /// Not these, and nothing from an OID on.
    Without(Vec<Range<u32>>, u32),
}

impl Selection {
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

/// Lists as they are met: the user's, then those of the aliases, by volume.
pub(super) struct Evaluation<'a> {
    whole: &'a Database,
    /// Opened for the first list; ranges need none.
    lookup: OnceCell<Lookup>,
    user: Option<UserList>,
    /// Lists and bits attached to each volume.
    volumes: Vec<VolumeFilter>,
    /// Lists of aliases, each read once.
    read: HashMap<PathBuf, Arc<IdSet>>,
}

impl<'a> Evaluation<'a> {
    /// Nothing of a database of so many volumes is restricted yet.
    pub(super) fn new(whole: &'a Database, volumes: usize) -> Self {
        Self {
            whole,
            lookup: OnceCell::new(),
            user: None,
            volumes: vec![VolumeFilter::default(); volumes],
            read: HashMap::new(),
        }
    }

    /// Which definition lines are shown by the lists that were met.
    pub(super) fn into_filter(self) -> DeflineFilter {
        DeflineFilter { user: self.user, volumes: self.volumes }
    }

    fn lookup(&self) -> Result<&Lookup, DbError> {
        if self.lookup.get().is_none() {
            // Nobody else can have set it.
            let _ = self.lookup.set(self.whole.lookup()?);
        }
        self.lookup.get().ok_or(DbError::NoAccessions)
    }

    pub(super) fn is_version_5(&self) -> bool {
        self.whole.version() == 5
    }

    /// Takes the user's list.
    pub(super) fn by_user(
        &mut self,
        user: &Restriction,
        warnings: &mut Vec<String>,
    ) -> Result<Selection, DbError> {
        let mut set = IdSet::default();
        let mut keys = Vec::new();
        match &user.ids {
            Ids::Sequences(list) => {
                let residues = self.whole.volume_residues();
                keys = resolve::user_keys(list, self.lookup()?, residues, warnings)?;
                set.keys = keys.iter().cloned().collect();
            }
            Ids::Gis(gis) => set.gis = gis.iter().map(|&gi| i64::from(gi)).collect(),
            Ids::Taxids(taxids) => set.taxids = taxids.iter().copied().collect(),
        }
        if !set.taxids.is_empty() && !self.is_version_5() {
            return Err(DbError::TaxidsVersion);
        }
        let selection = match user.negative {
            false => self.only(&set, &keys)?,
            true => self.without(&set, &keys)?,
        };
        self.user = Some(UserList { set, negative: user.negative });
        Ok(selection)
    }

    fn only(&self, set: &IdSet, keys: &[Vec<u8>]) -> Result<Selection, DbError> {
        let oids = if !set.taxids.is_empty() {
            resolve::oids_of_taxids(self.lookup()?, set.taxids.iter().copied())?
        } else if !set.gis.is_empty() {
            resolve::oids_of_gis(self.lookup()?, set.gis.iter().copied())?
        } else if !keys.is_empty() {
            self.lookup()?.require_ids()?;
            resolve::oids_of_keys(self.lookup()?, keys)?
        } else {
            // BLAST+ clears all bits, but one volume alone is more than its bits.
            let all = self.volumes.len() == 1;
            return Ok(if all { Selection::All } else { Selection::Only(Vec::new()) });
        };
        Ok(Selection::Only(range::of_oids(oids)))
    }

    fn without(&self, set: &IdSet, keys: &[Vec<u8>]) -> Result<Selection, DbError> {
        let all = u32::MAX;
        if !set.taxids.is_empty() {
            let excluded = resolve::excluded_by_taxids(self.lookup()?, set)?;
            return Ok(Selection::Without(range::of_oids(excluded), all));
        }
        if self.is_version_5() && set.gis.is_empty() {
            self.lookup()?.require_ids()?;
            let excluded = resolve::excluded_by_keys(self.lookup()?, keys)?;
            return Ok(Selection::Without(range::of_oids(excluded), all));
        }
        let remainder = match set.gis.is_empty() {
            false => resolve::without_gis(self.lookup()?, set)?,
            true => resolve::without_keys(self.lookup()?, set)?,
        };
        let (excluded, end) = remainder.excluded();
        Ok(Selection::Without(range::of_oids(excluded), end))
    }

    /// What a branch includes of volume `at`.
    pub(super) fn branch(
        &mut self,
        branch: &Branch,
        at: usize,
        span: &Range<u32>,
    ) -> Result<Vec<Range<u32>>, DbError> {
        let mut oids = Vec::new();
        if branch.has_volume {
            oids.push(span.clone());
        } else {
            for below in &branch.nodes {
                oids.extend(self.branch(below, at, span)?);
            }
        }
        let mut oids = range::union(oids);
        for mask in &branch.masks {
            oids = match mask {
                Mask::Range(window) => range::clip(&oids, window),
                Mask::MemberBit(bit) => {
                    self.volumes[at].member_bit = *bit;
                    oids
                }
                Mask::OidList(file) => range::intersection(&oids, &oid_list(file, span)?),
                Mask::Gis(file) => range::intersection(&oids, &self.gis_of_alias(file, at)?),
                Mask::SeqIds(file) if !self.is_version_5() => {
                    range::intersection(&oids, &self.ids_of_alias(file, at)?)
                }
                Mask::SeqIds(_) | Mask::Taxids(_) => oids,
            };
        }
        Ok(oids)
    }

    /// The OIDs of an alias's GIs; of the user's GIs if there are such, too.
    fn gis_of_alias(&mut self, file: &Path, at: usize) -> Result<Vec<Range<u32>>, DbError> {
        let missing = |error| match error {
            DbError::MissingList { path } => DbError::MissingGiList { path },
            error => error,
        };
        let set = self.list(file, |contents| {
            let gis = list::gis(contents)?.into_iter().map(i64::from).collect();
            Ok(IdSet { gis, ..IdSet::default() })
        });
        let set = set.map_err(missing)?;
        let users = self.user.as_ref().filter(|user| !user.negative && !user.set.gis.is_empty());
        let wanted = |gi: &i64| users.is_none_or(|user| user.set.gis.contains(gi));
        let gis = set.gis.iter().copied().filter(wanted);
        let oids = self.lookup()?.oids_of_gis_in(at, gis)?;
        self.volumes[at].lists.push(set);
        Ok(range::of_oids(oids))
    }

    /// The OIDs of an alias's identifiers in version 4.
    fn ids_of_alias(&mut self, file: &Path, at: usize) -> Result<Vec<Range<u32>>, DbError> {
        let set = self.list(file, |contents| {
            let ids = SeqIdList::parse(contents)?.ids;
            let keys = ids.iter().map(|id| key::listed_version_4(id)).collect();
            Ok(IdSet { keys, ..IdSet::default() })
        })?;
        // BLAST+ does not look them up if it has GIs of the user.
        let users = self.user.as_ref().filter(|user| !user.negative && !user.set.gis.is_empty());
        let oids = match users {
            Some(_) => Vec::new(),
            None => self.lookup()?.oids_of_keys_in(at, &set.keys)?,
        };
        self.volumes[at].lists.push(set);
        Ok(range::of_oids(oids))
    }

    /// In version 5, what the lists of identifiers and taxids of the uppermost aliases leave of `oids`.
    pub(super) fn top_lists(
        &mut self,
        members: &[Member<'_>],
        branches: &[Branch],
        oids: Vec<Range<u32>>,
    ) -> Result<Vec<Range<u32>>, DbError> {
        let mut files: Vec<(&Mask, Vec<usize>)> = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            for mask in &branch.masks {
                if !matches!(mask, Mask::SeqIds(_) | Mask::Taxids(_)) {
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
        let restricted = range::union(files.iter().flat_map(|(_, v)| v.iter().map(span)).collect());
        let mut found = Vec::new();
        for (mask, volumes) in files {
            let listed = range::of_oids(self.listed(mask, &volumes)?);
            let spans = range::union(volumes.iter().map(span).collect());
            found.extend(range::intersection(&listed, &spans));
        }
        let free = range::difference(&oids, &restricted);
        let listed = range::intersection(&oids, &range::union(found));
        Ok(range::union([free, listed].concat()))
    }

    /// The OIDs of a version-5 list, as far as the user's list of the same kind does not contradict.
    fn listed(&mut self, mask: &Mask, volumes: &[usize]) -> Result<Vec<u32>, DbError> {
        let is_ids = matches!(mask, Mask::SeqIds(_));
        let (Mask::SeqIds(file) | Mask::Taxids(file)) = mask else { return Ok(Vec::new()) };
        let set = self.list(file, |contents| {
            Ok(match is_ids {
                true => IdSet {
                    keys: SeqIdList::parse(contents)?.ids.into_iter().collect(),
                    ..IdSet::default()
                },
                false => IdSet {
                    taxids: list::taxids(contents)?.into_iter().collect(),
                    ..IdSet::default()
                },
            })
        })?;
        for &at in volumes {
            self.volumes[at].lists.push(set.clone());
        }
        if is_ids {
            let keys: Vec<_> =
                set.keys.iter().filter(|key| self.allows_key(key)).cloned().collect();
            return resolve::oids_of_keys(self.lookup()?, &keys);
        }
        let taxids: BTreeSet<i32> =
            set.taxids.iter().copied().filter(|taxid| self.allows_taxid(*taxid)).collect();
        match taxids.is_empty() {
            true => Ok(Vec::new()),
            false => resolve::oids_of_taxids(self.lookup()?, taxids),
        }
    }

    /// Whether the user's identifiers, if there are such, allow an alias's.
    fn allows_key(&self, key: &[u8]) -> bool {
        let Some(user) = self.user.as_ref().filter(|user| !user.set.keys.is_empty()) else {
            return true;
        };
        let same = || {
            let parsed = key::parse(key).map(|id| key::listed(&id));
            parsed.is_some_and(|parsed| user.set.keys.contains(&parsed))
        };
        (user.set.keys.contains(key) || same()) != user.negative
    }

    fn allows_taxid(&self, taxid: i32) -> bool {
        match self.user.as_ref().filter(|user| !user.set.taxids.is_empty()) {
            Some(user) => user.set.taxids.contains(&taxid) != user.negative,
            None => true,
        }
    }

    /// The list in a file, read when it is met first.
    fn list(
        &mut self,
        file: &Path,
        parse: impl Fn(&[u8]) -> Result<IdSet, ListError>,
    ) -> Result<Arc<IdSet>, DbError> {
        if let Some(set) = self.read.get(file) {
            return Ok(set.clone());
        }
        let contents = list::read(file)?;
        let damaged = |problem| DbError::List { path: file.into(), problem };
        let set = Arc::new(parse(&contents).map_err(damaged)?);
        self.read.insert(file.into(), set.clone());
        Ok(set)
    }
}
