//! The files that a list of database names leads to, found without opening a volume.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use crate::tree::AliasNode;
use crate::{DbError, SearchPath, SequenceKind};

/// Volumes and alias files of databases, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFiles {
    /// Paths of the volumes, without extension.
    pub volumes: BTreeSet<Vec<u8>>,
    /// Paths of the alias files.
    pub aliases: BTreeSet<Vec<u8>>,
}

impl DatabaseFiles {
    /// Finds the files of the databases that `names` lists as `-db` does.
    ///
    /// # Errors
    /// Those of names and alias files.
    pub fn find(names: &[u8], kind: SequenceKind, search: &SearchPath) -> Result<Self, DbError> {
        let mut files = Self::default();
        files.add(AliasNode::resolve(names, kind, search)?);
        Ok(files)
    }

    /// Adds the files of another list.
    pub fn extend(&mut self, other: Self) {
        self.volumes.extend(other.volumes);
        self.aliases.extend(other.aliases);
    }

    fn add(&mut self, node: AliasNode) {
        self.volumes.extend(node.volumes);
        let file = node.file.as_os_str().as_bytes();
        if !file.is_empty() {
            self.aliases.insert(file.to_vec());
        }
        node.nodes.into_iter().for_each(|node| self.add(node));
    }
}
