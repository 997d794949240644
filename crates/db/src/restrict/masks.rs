//! Collects the restrictions of aliases on one volume (`CSeqDB_FilterTree`,
//! seqdbfilter.cpp).

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::DbError;
use crate::MOST_SEQUENCES;
use crate::path::{self, BasePath};
use crate::tree::AliasNode;

/// One restriction of an alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AliasFilter {
    /// The OIDs from FIRST_OID to LAST_OID, as a range from 0.
    Range(Range<u32>),
    /// The OIDs whose bits are set in this file.
    OidList(PathBuf),
    /// The GIs in this file.
    Gis(PathBuf),
    /// The identifiers in this file.
    SeqIds(PathBuf),
    /// The definition lines with this membership bit (`MEMB_BIT`); bit 1 is the lowest.
    MemberBit(u32),
    /// The taxids in this file.
    Taxids(PathBuf),
}

/// The part of an alias tree that leads to one volume.
#[derive(Debug, Default)]
pub(super) struct AliasBranch {
    pub(super) filters: Vec<AliasFilter>,
    pub(super) branches: Vec<AliasBranch>,
    /// Whether the volume itself is a member of the alias.
    pub(super) has_volume: bool,
}

impl AliasBranch {
    /// Returns whether a restriction selects sequences. A membership bit selects only definition
    /// lines.
    pub(super) fn selects(&self) -> bool {
        let selects = |filter: &AliasFilter| !matches!(filter, AliasFilter::MemberBit(_));
        self.filters.iter().any(selects) || self.branches.iter().any(AliasBranch::selects)
    }
}

/// Returns the restrictions of one alias, in the order in which BLAST+ applies them.
pub(super) fn alias_filters(node: &AliasNode) -> Result<Vec<AliasFilter>, DbError> {
    let mut masks = Vec::new();
    masks.extend(node.oid_range()?.map(AliasFilter::Range));
    let oids = list(node, "OIDLIST", None)?;
    masks.extend(oids.map(|file| AliasFilter::OidList(find_oid_list(node, file))));
    masks.extend(list(node, "GILIST", Some("GI"))?.map(AliasFilter::Gis));
    masks.extend(list(node, "SEQIDLIST", Some("SEQID"))?.map(AliasFilter::SeqIds));
    let bit = node.alias.parse_number("MEMB_BIT", MOST_SEQUENCES, &node.file)?;
    masks.extend(bit.map(|bit| AliasFilter::MemberBit(bit.min(64) as u32)));
    masks.extend(list(node, "TAXIDLIST", Some("Tax ids"))?.map(AliasFilter::Taxids));
    Ok(masks)
}

/// Returns the path of the list that a key names, relative to the directory of the alias file. If
/// the value has several names, `single` is the kind of list in the error message; with `None`,
/// several names are no error.
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
            names: path::display_text(&entry.value),
        });
    }
    let directory = node.file.parent().unwrap_or(std::path::Path::new(""));
    Ok(Some(directory.join(path::os_str(&entry.value))))
}

/// Returns the path of the OIDLIST `file`. Later releases read it in the directory of the alias's
/// first volume if it is not in the directory of the alias.
fn find_oid_list(node: &AliasNode, file: PathBuf) -> PathBuf {
    match (node.volumes.first(), file.file_name()) {
        (Some(volume), Some(name)) if node.counts_oid_lists && !file.exists() => {
            PathBuf::from(path::os_str(&path::join(path::directory(volume), name.as_bytes())))
        }
        _ => file,
    }
}

/// Returns whether any alias of the tree restricts its members.
pub(super) fn has_filters(node: &AliasNode) -> Result<bool, DbError> {
    if !alias_filters(node)?.is_empty() {
        return Ok(true);
    }
    for node in &node.nodes {
        if has_filters(node)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether BLAST+ counts sequences and residues. It counts them if an alias has a list but
/// does not state both numbers (`CSeqDB_IdListValuesTest`, seqdbalias.cpp).
pub(crate) fn needs_count(node: &AliasNode) -> bool {
    let has = |key: &&str| node.alias.get(key).is_some();
    if ["NSEQ", "LENGTH"].iter().all(has) {
        return false;
    }
    ["GILIST", "SEQIDLIST", "TAXIDLIST"].iter().any(has)
        || (node.counts_oid_lists && has(&"OIDLIST"))
        || node.nodes.iter().any(needs_count)
}

/// Returns the part of the alias tree that contains the volume `base`; `None` if the tree does not
/// contain it. Aliases without restrictions are replaced by their members.
pub(super) fn branch_of_volume(
    node: &AliasNode,
    base: &BasePath,
) -> Result<Option<AliasBranch>, DbError> {
    let mut branch = AliasBranch { filters: alias_filters(node)?, ..AliasBranch::default() };
    for node in &node.nodes {
        match branch_of_volume(node, base)? {
            Some(below) if below.filters.is_empty() => {
                branch.branches.extend(below.branches);
                branch.has_volume |= below.has_volume;
            }
            Some(below) => branch.branches.push(below),
            None => {}
        }
    }
    branch.has_volume |= node.volumes.contains(base);
    while branch.filters.is_empty() && !branch.has_volume && branch.branches.len() == 1 {
        branch = branch.branches.remove(0);
    }
    Ok((branch.has_volume || !branch.branches.is_empty()).then_some(branch))
}

#[cfg(test)]
mod tests {
    use super::{AliasFilter, alias_filters};
    use crate::alias::AliasFile;
    use crate::tree::AliasNode;

    #[test]
    fn oid_lists_are_beside_the_alias_or_in_later_releases_beside_its_volume() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        let find = |counts_oid_lists| {
            let node = AliasNode {
                alias: AliasFile::parse(b"DBLIST volumes/a\nOIDLIST oids\n"),
                file: path("alias.pal"),
                volumes: vec![path("volumes/a").to_str().expect("UTF-8").as_bytes().to_vec()],
                counts_oid_lists,
                ..AliasNode::default()
            };
            alias_filters(&node).expect("an alias")
        };
        let list = |name| [AliasFilter::OidList(path(name))];
        assert_eq!(find(false), list("oids"));
        assert_eq!(find(true), list("volumes/oids"));
        std::fs::write(path("oids"), "").expect("a file");
        assert_eq!(find(true), list("oids"));
    }
}
