//! The tree of aliases that leads from database names to volumes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::alias::AliasFile;
use crate::path::{self, BasePath};
use crate::{DbError, SearchPath, SequenceKind};

/// Maximal number of alias files in one tree.
const MOST_ALIASES: usize = 4096;
/// Maximal depth of aliases within aliases.
const DEEPEST: usize = 64;

/// An alias with its members, or the list of names in `-db` at the top of the tree.
#[derive(Debug, Default)]
pub(crate) struct AliasNode {
    /// Entries of the alias file; empty for the list in `-db`.
    pub(crate) alias: AliasFile,
    /// Path of the alias file, for messages; empty for the list in `-db`.
    pub(crate) file: PathBuf,
    /// Members that are aliases, in DBLIST order.
    pub(crate) nodes: Vec<AliasNode>,
    /// Members that are volumes, in DBLIST order, without duplicates.
    pub(crate) volumes: Vec<BasePath>,
    /// Whether an OIDLIST makes this database count its sequences, as later releases of BLAST+ do,
    /// instead of stating the totals of the whole database.
    pub(crate) counts_oid_lists: bool,
}

impl AliasNode {
    /// Resolves a list of names, as in `-db`, to a tree.
    ///
    /// # Errors
    /// Those of names and alias files. No volume is opened.
    pub(crate) fn resolve(
        list: &[u8],
        kind: SequenceKind,
        search: &SearchPath,
    ) -> Result<Self, DbError> {
        if list.is_empty() {
            return Err(DbError::NameRequired);
        }
        let names = path::split_names(list, false);
        if names.is_empty() {
            return Err(DbError::NoNames);
        }
        let found = names.iter().map(|name| {
            let base = search.find_database(name, kind).ok_or_else(|| DbError::NotFound {
                kind: kind.name(),
                name: path::display_text(name),
                searched: search.display_text(),
            })?;
            Ok(path::normalize_directory(&base))
        });
        // BLAST+ looks up all names before it reads any alias.
        let found = found.collect::<Result<Vec<_>, DbError>>()?;
        let mut resolver = Resolver { search, kind, open: Vec::new(), count: 0 };
        let mut top = Self::default();
        for base in found {
            if search.has_alias(&base, kind) {
                top.nodes.push(resolver.node(base)?);
            } else {
                top.add_volume(&base);
            }
        }
        Ok(top)
    }

    /// Returns the volumes of the whole tree in OID order, without duplicates.
    pub(crate) fn all_volumes(&self) -> Vec<BasePath> {
        let mut found = BTreeSet::new();
        self.collect_volumes(&mut found);
        found.into_iter().map(|(_, base)| base.clone()).collect()
    }

    fn collect_volumes<'a>(&'a self, found: &mut BTreeSet<(&'a [u8], &'a BasePath)>) {
        found.extend(self.volumes.iter().map(volume_order));
        for node in &self.nodes {
            node.collect_volumes(found);
        }
    }

    /// Returns the paths that [`CombinedInfo`](crate::CombinedInfo) lists. Call it for the top of
    /// the tree.
    pub(crate) fn listed_volumes(&self) -> Vec<BasePath> {
        use std::os::unix::ffi::OsStrExt;
        let mut listed: BTreeSet<_> = self.volumes.iter().cloned().collect();
        for alias in &self.nodes {
            listed.extend(alias.volumes.iter().cloned());
            let files = alias.nodes.iter().map(|node| node.file.as_os_str().as_bytes().to_vec());
            listed.extend(files);
        }
        let mut listed: Vec<_> = listed.into_iter().collect();
        listed.sort_by(|a, b| volume_order(a).cmp(&volume_order(b)));
        listed
    }

    /// Returns the paths of all alias files of the tree, without duplicates.
    pub(crate) fn alias_files(&self) -> Vec<PathBuf> {
        let mut files = BTreeSet::new();
        self.collect_alias_files(&mut files);
        files.into_iter().collect()
    }

    fn collect_alias_files(&self, files: &mut BTreeSet<PathBuf>) {
        for node in &self.nodes {
            files.insert(node.file.clone());
            node.collect_alias_files(files);
        }
    }

    fn add_volume(&mut self, base: &[u8]) {
        let base = path::normalize_directory(base);
        if !self.volumes.contains(&base) {
            self.volumes.push(base);
        }
    }
}

/// Returns the sort key of a volume in BLAST+. It is the name without an extension of index or
/// alias files, then the path (`SeqDB_CompareVolume`, seqdbcommon.cpp).
fn volume_order(base: &BasePath) -> (&[u8], &BasePath) {
    const EXTENSIONS: [&[u8]; 4] = [b".nal", b".nin", b".pal", b".pin"];
    let name = path::file_name(base);
    let stem = EXTENSIONS.iter().find_map(|extension| name.strip_suffix(*extension));
    (stem.filter(|stem| !stem.is_empty()).unwrap_or(name), base)
}

/// Reader of alias files and of the aliases that they name.
struct Resolver<'a> {
    search: &'a SearchPath,
    kind: SequenceKind,
    /// Normalised paths of the aliases that are being read, outermost first.
    open: Vec<BasePath>,
    /// Number of aliases read so far.
    count: usize,
}

impl Resolver<'_> {
    /// Reads the alias `base` and all aliases below it.
    fn node(&mut self, base: BasePath) -> Result<AliasNode, DbError> {
        let file = path::with_extension(&base, &self.kind.extension("al"));
        let normal = path::normalize_directory(&base);
        if self.open.contains(&normal) {
            return Err(DbError::AliasCycle { path: file });
        }
        self.count += 1;
        for (value, limit) in [(self.count, MOST_ALIASES), (self.open.len(), DEEPEST)] {
            if value > limit {
                return Err(DbError::AliasTooLarge { path: file, limit });
            }
        }
        let text = self.search.read_alias(&base, self.kind);
        let text = text.map_err(|source| DbError::Io { path: file.clone(), source })?;
        let alias = AliasFile::parse(&text);
        let members = alias.member_names();
        if members.is_empty() {
            return Err(DbError::EmptyAlias { alias: path::display_text(&base) });
        }
        alias.check_supported(&file)?;
        let counts_oid_lists = self.search.counts_oid_lists();
        let mut node = AliasNode { alias, file, counts_oid_lists, ..AliasNode::default() };
        self.open.push(normal);
        for member in &members {
            self.add_member(&mut node, &base, member)?;
        }
        self.open.pop();
        Ok(node)
    }

    /// Adds to `node` the member that the DBLIST of the alias `base` calls `name`.
    ///
    /// The first candidate that exists is added (`CSeqDBAliasNode::x_ExpandAliases`,
    /// seqdbalias.cpp):
    /// * the volume beside the alias, if `name` is the alias's own name;
    /// * an alias in the alias's directory;
    /// * a volume *with that file name in the working directory*, even if `name` has a directory;
    /// * a volume in the alias's directory;
    /// * an alias or volume on the search path.
    fn add_member(
        &mut self,
        node: &mut AliasNode,
        base: &[u8],
        name: &[u8],
    ) -> Result<(), DbError> {
        if name == path::file_name(base) {
            node.add_volume(base);
            return Ok(());
        }
        let index = self.kind.extension("in");
        let beside = path::join(path::directory(base), name);
        if self.search.has_alias(&beside, self.kind) {
            node.nodes.push(self.node(beside)?);
            return Ok(());
        }
        let local = path::join(self.search.directory(), path::file_name(name));
        if path::has_file(&local, &index) {
            node.add_volume(&local);
        } else if path::has_file(&beside, &index) {
            node.add_volume(&beside);
        } else {
            match self.search.find_database(name, self.kind) {
                Some(found) if self.search.has_alias(&found, self.kind) => {
                    node.nodes.push(self.node(found)?);
                }
                Some(found) => node.add_volume(&found),
                None => {
                    return Err(DbError::MissingMember {
                        member: path::display_text(name),
                        alias: path::display_text(base),
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected order is that of `blastdbcmd -db "vm ALIAS" -info`, where `vm` has several
    /// volumes.
    #[test]
    fn alias_files_come_before_the_volumes_that_are_called_after_them() {
        let sorted = ["d/vb", "c/vm.nal", "a/vm.00", "b/vm.00", "a/vn", "b/vm"].map(Vec::from);
        let mut mixed = sorted.clone();
        mixed.reverse();
        mixed.sort_by(|a, b| volume_order(a).cmp(&volume_order(b)));
        let names = mixed.map(|base| path::display_text(&base));
        assert_eq!(names, ["d/vb", "b/vm", "c/vm.nal", "a/vm.00", "b/vm.00", "a/vn"]);
    }
}
