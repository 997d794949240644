//! Searching only a part of a database: lists of the user, and lists, ranges and bits of aliases.
//!
//! A sequence is searched if the aliases and the user's list include it; of its definition lines
//! those are shown that are on the lists themselves. All rules are those of BLAST+
//! (`CSeqDBOIDList`, `CSeqDBGiListSet`, `CSeqDBVol`), including those that surprise:
//! * A key of several sequences includes only one of them.
//! * In version 5, the lists of identifiers and taxids of an alias count only if no other alias
//!   with restrictions stands above it, and a volume below two such aliases has none.
//! * Sequences that an excluding list of GIs cannot see, after the last one that it sees, are left
//!   out.
//!
//! The included OIDs end up as sorted ranges: 8 bytes for each run, however many OIDs the lists
//! had.

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

use self::evaluation::{Evaluation, Selection};
pub use self::list::{ListError, SeqIdList};
use self::masks::Mask;
pub(crate) use self::masks::needs_count;
pub use self::oid_list::oids_of_bits;
use crate::defline_filter::DeflineFilter;
use crate::path::BasePath;
use crate::tree::Node;
use crate::{Database, DbError, range};

/// What a list names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ids {
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
    /// What it names.
    pub ids: Ids,
    /// Everything but these.
    pub negative: bool,
}

impl Restriction {
    /// True if nothing is named; such a list does not restrict.
    pub fn is_empty(&self) -> bool {
        match &self.ids {
            Ids::Sequences(list) => list.ids.is_empty(),
            Ids::Gis(gis) => gis.is_empty(),
            Ids::Taxids(taxids) => taxids.is_empty(),
        }
    }
}

/// What becomes of hits to a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The report shows them.
    Shown,
    /// They take a place among the hits, but the report leaves them out.
    Unreported,
    /// They are not aligned.
    Excluded,
}

/// The included sequences, and how their number is known.
#[derive(Debug)]
pub(crate) struct Inclusion {
    /// The included OIDs.
    pub(crate) oids: Vec<Range<u32>>,
    /// Limits of the only range; they also apply to sequences beside its alias.
    pub(crate) window: Option<Range<u32>>,
    /// Which definition lines are shown; `None` for all.
    pub(crate) filter: Option<Arc<DeflineFilter>>,
    /// Sequences and residues must be counted: the totals of the aliases are of other sequences.
    pub(crate) counted: bool,
}

/// A volume and its OIDs, as a tree of aliases names it.
pub(crate) type Member<'a> = (&'a BasePath, Range<u32>);

/// Whether [`included`] has anything to do.
pub(crate) fn restricts(tree: &Node, user: Option<&Restriction>) -> Result<bool, DbError> {
    Ok(user.is_some_and(|user| !user.is_empty()) || masks::any(tree)?)
}

/// What the aliases of `tree` and the user's list include of `whole`, a database of the volumes
/// `members`, all included.
pub(crate) fn included(
    tree: &Node,
    members: &[Member<'_>],
    whole: &Database,
    user: Option<&Restriction>,
    warnings: &mut Vec<String>,
) -> Result<Inclusion, DbError> {
    let user = user.filter(|user| !user.is_empty());
    let mut evaluation = Evaluation::new(whole, members.len());
    let by_user = match user {
        Some(user) => evaluation.by_user(user, warnings)?,
        None => Selection::All,
    };
    let branches = members.iter().map(|(base, _)| {
        let branch = masks::specialized(tree, base)?;
        Ok(branch.unwrap_or_default())
    });
    let branches = branches.collect::<Result<Vec<_>, DbError>>()?;
    let mut oids = Vec::new();
    for (at, ((_, span), branch)) in members.iter().zip(&branches).enumerate() {
        oids.extend(evaluation.branch(branch, at, span)?);
    }
    let mut oids = range::union(oids);
    if evaluation.is_version_5() {
        oids = evaluation.top_lists(members, &branches, oids)?;
    }
    oids = by_user.apply(oids);
    let filter = evaluation.into_filter();
    Ok(Inclusion {
        oids,
        window: window(tree, whole.oid_count())?,
        counted: user.is_some() || masks::needs_count(tree),
        filter: (!filter.is_empty()).then(|| Arc::new(filter)),
    })
}

/// The limits of a sole range: of an alias that is the only one named and has no other restriction.
fn window(tree: &Node, count: u32) -> Result<Option<Range<u32>>, DbError> {
    let [only] = tree.nodes.as_slice() else { return Ok(None) };
    let masks = masks::masks(only)?;
    let [Mask::Range(window)] = masks.as_slice() else { return Ok(None) };
    // An end of 0 is none here, but not for the alias's own members.
    let end = if window.end == 0 { count } else { window.end.min(count) };
    Ok(Some(window.start.min(end)..end))
}
