//! Restricts a search to a part of a database: by a list of the user, and by lists, ranges and bits
//! of aliases.
//!
//! A search covers a sequence if both the aliases and the user's list include it. Reports show
//! those of its definition lines that are in the lists themselves. All rules are those of BLAST+
//! (`CSeqDBOIDList`, `CSeqDBGiListSet`, `CSeqDBVol`), including these surprising ones:
//! * A key of several sequences includes only one of them.
//! * In version 5, a list of identifiers or taxids counts only if no alias with restrictions is
//!   above its own. A volume below two such aliases is not restricted.
//! * An excluding list of GIs also excludes all sequences after the last one with a GI.
//!
//! The result is a list of sorted ranges, 8 bytes each, however many OIDs the lists had.

mod bits;
mod crossing;
mod evaluation;
pub mod list;
mod masks;
mod oid_list;
mod resolve;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::evaluation::{ListEvaluation, UserSelection};
pub use self::list::{ListError, SeqIdList};
use self::masks::AliasFilter;
pub(crate) use self::masks::needs_count;
pub use self::oid_list::parse_oid_bits;
use crate::defline_filter::DeflineFilter;
use crate::path::BasePath;
use crate::tree::AliasNode;
use crate::{Database, DbError, range};

/// The entries of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListEntries {
    /// Identifiers.
    Sequences(SeqIdList),
    /// GIs.
    Gis(Vec<u32>),
    /// Taxids.
    Taxids(Vec<i32>),
}

/// A list by which the user restricts a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// Entries of the list.
    pub entries: ListEntries,
    /// Whether the list excludes its entries.
    pub is_negative: bool,
}

impl Restriction {
    /// True if the list is empty; then it does not restrict the search.
    pub fn is_empty(&self) -> bool {
        match &self.entries {
            ListEntries::Sequences(list) => list.ids.is_empty(),
            ListEntries::Gis(gis) => gis.is_empty(),
            ListEntries::Taxids(taxids) => taxids.is_empty(),
        }
    }
}

/// The treatment of hits to a sequence in a restricted database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitVisibility {
    /// The report shows the hits.
    Shown,
    /// The hits take places in the hit list, but the report omits them.
    Unreported,
    /// The sequence is not aligned and takes no place in the hit list.
    Excluded,
}

/// Included sequences, and whether they must be counted.
#[derive(Debug)]
pub(crate) struct Inclusion {
    /// The included OIDs.
    pub(crate) oids: Vec<Range<u32>>,
    /// Limits of a single range of an alias. They also apply to sequences outside of the alias.
    pub(crate) window: Option<Range<u32>>,
    /// Filter of shown definition lines; `None` if all are shown.
    pub(crate) filter: Option<Arc<DeflineFilter>>,
    /// Whether sequences and residues must be counted, because the totals of the aliases do not
    /// apply.
    pub(crate) needs_count: bool,
}

/// A volume that a tree of aliases contains, and its OIDs.
pub(crate) type Member<'a> = (&'a BasePath, Range<u32>);

/// Whether an alias or the user restricts the database.
pub(crate) fn has_restriction(
    tree: &AliasNode,
    user: Option<&Restriction>,
) -> Result<bool, DbError> {
    Ok(user.is_some_and(|user| !user.is_empty()) || masks::has_filters(tree)?)
}

/// Determines the sequences of `whole` that the aliases of `tree` and the user's list include.
/// `whole` consists of the volumes `members` and includes all sequences.
pub(crate) fn find_included(
    tree: &AliasNode,
    members: &[Member<'_>],
    whole: &Database,
    user: Option<&Restriction>,
    warnings: &mut Vec<String>,
) -> Result<Inclusion, DbError> {
    let user = user.filter(|user| !user.is_empty());
    let branches = members.iter().map(|(base, _)| {
        let branch = masks::branch_of_volume(tree, base)?;
        Ok(branch.unwrap_or_default())
    });
    let branches = branches.collect::<Result<Vec<_>, DbError>>()?;
    let mut evaluation = ListEvaluation::new(whole, &branches);
    let by_user = match user {
        Some(user) => evaluation.evaluate_user_list(user, warnings)?,
        None => UserSelection::All,
    };
    let mut oids = Vec::new();
    for (at, ((_, span), branch)) in members.iter().zip(&branches).enumerate() {
        oids.extend(evaluation.oids_of_branch(branch, at, span)?);
    }
    let mut oids = range::sorted_union(oids);
    if evaluation.is_version_5() {
        oids = evaluation.apply_top_lists(members, &branches, oids)?;
    }
    oids = by_user.apply(oids);
    let filter = evaluation.into_filter();
    Ok(Inclusion {
        oids,
        window: single_range(tree, whole.oid_count())?,
        needs_count: user.is_some() || masks::needs_count(tree),
        filter: (!filter.is_empty()).then(|| Arc::new(filter)),
    })
}

/// Returns the limits of a single range, of an alias that is alone in `-db` and has no other
/// restriction.
fn single_range(tree: &AliasNode, count: u32) -> Result<Option<Range<u32>>, DbError> {
    let [only] = tree.nodes.as_slice() else { return Ok(None) };
    let masks = masks::alias_filters(only)?;
    let [AliasFilter::Range(window)] = masks.as_slice() else { return Ok(None) };
    // An end of 0 means no limit here, although it excludes all of the alias's own members.
    let end = if window.end == 0 { count } else { window.end.min(count) };
    Ok(Some(window.start.min(end)..end))
}
