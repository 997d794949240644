//! Collects the restrictions of aliases on one volume (`CSeqDB_FilterTree`,
//! seqdbfilter.cpp).

use std::ops::Range;
use std::path::PathBuf;

use crate::DbError;
use crate::MOST_SEQUENCES;
use crate::path::{self, BasePath};
use crate::tree::AliasNode;

/// One restriction of an alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// OIDs from FIRST_OID to LAST_OID, as a range from 0.
    Range(Range<u32>),
    /// File of bits by OID.
    OidList(PathBuf),
    /// File of GIs.
    Gis(PathBuf),
    /// File of identifiers.
    SeqIds(PathBuf),
    /// Membership bit of definition lines, from 1.
    MemberBit(u32),
    /// File of taxids.
    Taxids(PathBuf),
}

/// The part of a tree of aliases that concerns one volume.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) masks: Vec<Mask>,
    pub(super) nodes: Vec<Branch>,
    /// Whether the volume itself is a member.
    pub(super) has_volume: bool,
}

/// Returns the restrictions of an alias, in the order in which BLAST+ applies them.
pub(super) fn masks(node: &AliasNode) -> Result<Vec<Mask>, DbError> {
    let mut masks = Vec::new();
    masks.extend(node.oid_range()?.map(Mask::Range));
    masks.extend(list(node, "OIDLIST", None)?.map(Mask::OidList));
    masks.extend(list(node, "GILIST", Some("GI"))?.map(Mask::Gis));
    masks.extend(list(node, "SEQIDLIST", Some("SEQID"))?.map(Mask::SeqIds));
    let bit = node.alias.parse_number("MEMB_BIT", MOST_SEQUENCES, &node.file)?;
    masks.extend(bit.map(|bit| Mask::MemberBit(bit.min(64) as u32)));
    masks.extend(list(node, "TAXIDLIST", Some("Tax ids"))?.map(Mask::Taxids));
    Ok(masks)
}

/// Path of the file that a key names, relative to the alias file unless absolute.
fn list(
    node: &AliasNode,
    key: &'static str,
    single: Option<&'static str>,
) -> Result<Option<PathBuf>, DbError> {
    let Some(entry) = node.alias.get(key) else { return Ok(None) };
    if let Some(what) = single.filter(|_| entry.value.contains(&b' ')) {
        return Err(DbError::MultipleAliasLists {
            path: node.file.clone(),
            line: entry.line,
            what,
            names: path::text(&entry.value),
        });
    }
    let directory = node.file.parent().unwrap_or(std::path::Path::new(""));
    Ok(Some(directory.join(path::os(&entry.value))))
}

/// Whether any alias of the tree restricts its members.
pub(super) fn any(node: &AliasNode) -> Result<bool, DbError> {
    if !masks(node)?.is_empty() {
        return Ok(true);
    }
    for node in &node.nodes {
        if any(node)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether BLAST+ counts sequences and residues: if an alias has a list but does not state both
/// numbers (`CSeqDB_IdListValuesTest`, seqdbalias.cpp).
pub(crate) fn needs_count(node: &AliasNode) -> bool {
    let has = |key: &&str| node.alias.get(key).is_some();
    if ["NSEQ", "LENGTH"].iter().all(has) {
        return false;
    }
    ["GILIST", "SEQIDLIST", "TAXIDLIST"].iter().any(has) || node.nodes.iter().any(needs_count)
}

/// Returns the part of the alias tree that contains the volume `base`; `None` if the tree does not
/// contain it. Aliases without restrictions are replaced by their members.
pub(super) fn specialized(node: &AliasNode, base: &BasePath) -> Result<Option<Branch>, DbError> {
    let mut branch = Branch { masks: masks(node)?, ..Branch::default() };
    for node in &node.nodes {
        match specialized(node, base)? {
            Some(below) if below.masks.is_empty() => {
                branch.nodes.extend(below.nodes);
                branch.has_volume |= below.has_volume;
            }
            Some(below) => branch.nodes.push(below),
            None => {}
        }
    }
    branch.has_volume |= node.volumes.contains(base);
    while branch.masks.is_empty() && !branch.has_volume && branch.nodes.len() == 1 {
        branch = branch.nodes.remove(0);
    }
    Ok((branch.has_volume || !branch.nodes.is_empty()).then_some(branch))
}
