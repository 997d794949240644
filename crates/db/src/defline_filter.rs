//! Chooses the definition lines of a restricted database that reports show (`x_GetFilteredHeader`,
//! seqdbvol.cpp).

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use fleetblast_seq::id::{ObjectId, SeqId};

use crate::Defline;
use crate::encoding::encode_for_fingerprint;
use crate::key;

/// Entries of a list that includes or excludes sequences: identifiers, GIs and taxids.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    /// Lookup keys of the identifiers.
    pub(crate) keys: HashSet<Vec<u8>>,
    /// GIs.
    pub(crate) gis: HashSet<i64>,
    /// Taxids.
    pub(crate) taxids: BTreeSet<i32>,
}

impl IdSet {
    /// Returns all entries in a fixed order.
    fn sorted_entries(&self) -> (BTreeSet<&Vec<u8>>, BTreeSet<i64>, &BTreeSet<i32>) {
        (self.keys.iter().collect(), self.gis.iter().copied().collect(), &self.taxids)
    }

    /// Returns whether the list contains this identifier in any of its spellings.
    fn has(&self, id: &SeqId) -> bool {
        match id {
            SeqId::Gi(gi) => self.gis.contains(gi),
            id if is_trace(id) || self.keys.is_empty() => false,
            id => key::id_spellings(id).iter().any(|spelling| self.keys.contains(spelling)),
        }
    }

    /// Returns whether the list has entries of this identifier's type: GIs or lookup keys.
    fn is_about(&self, id: &SeqId) -> bool {
        match id {
            SeqId::Gi(_) => !self.gis.is_empty(),
            id => !is_trace(id) && !self.keys.is_empty(),
        }
    }

    /// Returns whether the list contains any of the line's taxids.
    fn has_taxid_of(&self, line: &Defline) -> bool {
        taxids(line).iter().any(|taxid| self.taxids.contains(taxid))
    }

    /// Returns whether any of the line's taxids is missing in the list.
    fn lacks_taxid_of(&self, line: &Defline) -> bool {
        taxids(line).iter().any(|taxid| !self.taxids.contains(taxid))
    }
}

fn taxids(line: &Defline) -> BTreeSet<i32> {
    let all = std::iter::once(&line.taxid).chain(&line.links);
    all.filter_map(|&taxid| i32::try_from(taxid).ok()).collect()
}

/// Returns whether the identifier is a trace number. Lists of traces are not supported.
fn is_trace(id: &SeqId) -> bool {
    matches!(id, SeqId::General { db, tag: ObjectId::Number(_) | ObjectId::Text(_) } if db == b"ti")
}

/// The list by which the user restricts the search.
#[derive(Clone, Debug)]
pub(crate) struct UserList {
    pub(crate) set: IdSet,
    /// Lookup keys of the identifiers, in the order of the list.
    pub(crate) keys: Vec<Vec<u8>>,
    /// Whether the list excludes its entries.
    pub(crate) is_negative: bool,
    /// Whether BLAST+ excludes a sequence if the list excludes all its definition lines. It does so
    /// for a list of GIs, and for one that excludes identifiers.
    pub(crate) excludes_hidden: bool,
    /// Whether the list has no identifiers and hides no definition line.
    pub(crate) shows_all: bool,
}

/// Restrictions that aliases put on the definition lines of one volume.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeFilter {
    /// Lists of the aliases. If there are any, a report shows only lines that are in one of them.
    pub(crate) lists: Vec<Arc<IdSet>>,
    /// Number, from 1, of the membership bit that shown lines must have; 0 for no condition.
    pub(crate) member_bit: u32,
}

/// Conditions for the definition lines that reports show.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeflineFilter {
    pub(crate) user: Option<UserList>,
    /// Conditions of the aliases for each volume.
    pub(crate) volumes: Vec<VolumeFilter>,
}

impl DeflineFilter {
    /// Encodes the filter for fingerprints. Equal filters have equal bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let user = self.user.as_ref().map(|user| (user.is_negative, user.set.sorted_entries()));
        let volumes = self.volumes.iter().map(|volume| {
            let lists = volume.lists.iter().map(|list| list.sorted_entries());
            (volume.member_bit, lists.collect::<Vec<_>>())
        });
        encode_for_fingerprint(&(user, volumes.collect::<Vec<_>>()))
    }

    /// Returns whether the search skips sequences if the filter excludes all their definition
    /// lines.
    ///
    /// BLAST+ skips them only if the user's list is of GIs or excludes identifiers
    /// (`CSeqDBImpl::x_InitIdSet`, seqdbimpl.cpp). Otherwise they take places in the hit list, and
    /// the report omits them.
    pub(crate) fn excludes_hidden(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.excludes_hidden)
    }

    /// Returns whether the filter has no conditions.
    pub(crate) fn is_empty(&self) -> bool {
        let idle = |volume: &VolumeFilter| volume.lists.is_empty() && volume.member_bit == 0;
        self.user.is_none() && self.volumes.iter().all(idle)
    }

    /// Returns whether a report shows a definition line of a sequence in the volume with this
    /// number.
    pub(crate) fn is_shown(&self, volume: usize, line: &Defline) -> bool {
        let none = VolumeFilter::default();
        let volume = self.volumes.get(volume).unwrap_or(&none);
        if volume.member_bit != 0 && !is_member(line, volume.member_bit) {
            return false;
        }
        if self.user.is_none() && volume.lists.is_empty() {
            return true;
        }
        let mut kept = self.has_ids(&volume.lists, line);
        match &self.user {
            Some(user) if !user.is_negative && !user.set.taxids.is_empty() => {
                kept = kept && user.set.has_taxid_of(line);
            }
            _ => {}
        }
        kept = kept || volume.lists.iter().any(|list| list.has_taxid_of(line));
        match &self.user {
            Some(user) if user.is_negative && !user.set.taxids.is_empty() => {
                kept && user.set.lacks_taxid_of(line)
            }
            _ => kept,
        }
    }

    /// Returns whether the user's list keeps an identifier of the line, and a list of the volume
    /// keeps the same or another one. Without a list, every identifier is kept.
    fn has_ids(&self, lists: &[Arc<IdSet>], line: &Defline) -> bool {
        let by_user = |id: &SeqId| match &self.user {
            Some(user) if user.shows_all || !user.set.taxids.is_empty() => true,
            Some(user) if user.is_negative => user.set.is_about(id) && !user.set.has(id),
            Some(user) => user.set.has(id),
            None => true,
        };
        let by_volume = |id: &SeqId| lists.is_empty() || lists.iter().any(|list| list.has(id));
        line.ids.iter().any(by_user) && line.ids.iter().any(by_volume)
    }
}

fn is_member(line: &Defline, bit: u32) -> bool {
    let mask = 1i64.checked_shl(bit - 1).unwrap_or(0);
    line.memberships.first().is_some_and(|bits| bits & mask != 0)
}
