//! Restricts a search to a part of a database, by a list of the user, and by lists, ranges and bits
//! of aliases.
//!
//! A search covers a sequence if both the aliases and the user's list include it. Reports show
//! those of its definition lines that the lists themselves contain. All rules are those of BLAST+
//! (`CSeqDBOIDList`, `CSeqDBGiListSet`, `CSeqDBVol`), including these surprising ones:
//! * A key of several sequences includes only one of them.
//! * In version 5, an alias's list of identifiers or taxids counts only if no alias with
//!   restrictions is above this alias. A volume below two aliases with lists is not restricted.
//! * An excluding list of GIs also excludes all sequences after the last one with a GI.
//!
//! The result is a list of sorted ranges of 8 bytes each, however many OIDs the lists have.

mod bits;
mod crossing;
mod evaluation;
pub mod list;
mod masks;
mod oid_list;
mod resolve;
mod warning;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::evaluation::{ListEvaluation, UserSelection};
pub use self::list::{ListError, SeqIdList};
use self::masks::AliasFilter;
pub(crate) use self::masks::needs_count;
pub use self::oid_list::parse_oid_bits;
pub use self::warning::ListWarning;
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
    /// Whether an excluding list may contain only taxids that the database lacks; otherwise such a
    /// list is an error. Not encoded, because each process that opens the database sets it.
    #[serde(skip)]
    pub accepts_unknown_taxids: bool,
    /// Whether reports show all definition lines if no word of the list is an identifier. Not
    /// encoded, because each process that opens the database sets it.
    #[serde(skip)]
    pub shows_all_without_identifiers: bool,
}

impl Restriction {
    /// Creates a restriction by a list. An excluding list of taxids must have a taxid of the
    /// database.
    pub fn new(entries: ListEntries, is_negative: bool) -> Self {
        Self {
            entries,
            is_negative,
            accepts_unknown_taxids: false,
            shows_all_without_identifiers: false,
        }
    }

    /// Returns true if the list is empty. Then it does not restrict the search.
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
    /// The report omits the hits, but they take places in the hit list.
    Unreported,
    /// The sequence is not aligned and takes no place in the hit list.
    Excluded,
}

/// The included sequences, and whether they must be counted.
#[derive(Debug)]
pub(crate) struct Inclusion {
    /// The included OIDs.
    pub(crate) oids: Vec<Range<u32>>,
    /// FIRST_OID and LAST_OID as a range from 0, if they are the only restriction of the only
    /// alias. BLAST+ then applies them also to sequences outside the alias.
    pub(crate) window: Option<Range<u32>>,
    /// Filter that decides which definition lines are shown; `None` if all are shown.
    pub(crate) filter: Option<Arc<DeflineFilter>>,
    /// Whether sequences and residues must be counted, because the totals that the aliases state do
    /// not apply.
    pub(crate) needs_count: bool,
}

/// A volume of an alias tree, and its OIDs.
pub(crate) type Member<'a> = (&'a BasePath, Range<u32>);

/// Returns whether an alias or the user's list restricts the database.
pub(crate) fn has_restriction(
    tree: &AliasNode,
    user: Option<&Restriction>,
) -> Result<bool, DbError> {
    Ok(user.is_some_and(|user| !user.is_empty()) || masks::has_filters(tree)?)
}

/// Determines the sequences of `whole` that the aliases of `tree` and the user's list include.
/// `whole` must consist of the volumes `members` and include all sequences.
pub(crate) fn find_included(
    tree: &AliasNode,
    members: &[Member<'_>],
    whole: &Database,
    user: Option<&Restriction>,
    warnings: &mut Vec<ListWarning>,
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

/// Returns the limits of an alias that is alone in `-db` and has a range as its only restriction.
fn single_range(tree: &AliasNode, count: u32) -> Result<Option<Range<u32>>, DbError> {
    let [only] = tree.nodes.as_slice() else { return Ok(None) };
    let masks = masks::alias_filters(only)?;
    let [AliasFilter::Range(window)] = masks.as_slice() else { return Ok(None) };
    // Here, an end of 0 means no limit. But it excludes all sequences of the alias itself.
    let end = if window.end == 0 { count } else { window.end.min(count) };
    Ok(Some(window.start.min(end)..end))
}
