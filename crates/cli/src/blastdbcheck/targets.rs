//! The volumes and alias files to test.

use std::os::unix::ffi::OsStrExt;

use fleetblast_db::{DatabaseFiles, DbError, SearchPath, SequenceKind};
use fleetblast_job::error::Error;

use super::log::Log;
use super::options::{Level, Target};
use crate::listed_databases::find_databases;

/// A volume or an alias file.
#[derive(Debug)]
pub(super) struct CheckTarget {
    /// Path of the alias file, or of the volume without extension.
    pub(super) path: Vec<u8>,
    /// Type of the sequences; `None` to guess.
    pub(super) kind: Option<SequenceKind>,
}

/// The volumes and alias files to test, in the order of the tests.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) volumes: Vec<CheckTarget>,
    pub(super) aliases: Vec<CheckTarget>,
    /// Number of databases whose files were not found.
    pub(super) faults: usize,
}

impl Targets {
    /// Finds the files of all databases. Writes a line for each database without them.
    pub(super) fn find(
        target: &Target,
        kind: Option<SequenceKind>,
        search: &SearchPath,
        log: &mut Log,
    ) -> Result<Self, Error> {
        let mut targets = Self::default();
        match target {
            Target::Databases(names) => {
                let names = names.as_bytes().split(|&byte| byte == b' ');
                let names = names.filter(|name| !name.is_empty());
                let files = targets.collect(names, kind, search, log)?;
                targets.add(vec![(files, kind)]);
            }
            Target::Directory { path, is_recursive } => {
                log.line(Level::Summary, "Finding database volumes.")?;
                let listed = find_databases(path.as_bytes(), kind, *is_recursive);
                let mut all = Vec::new();
                for kind in [SequenceKind::Protein, SequenceKind::Nucleotide] {
                    let names = listed.iter().filter(|database| database.kind() == kind);
                    let names = names.map(|database| database.quoted_path());
                    all.push((targets.collect(names, Some(kind), search, log)?, Some(kind)));
                }
                targets.add(all);
            }
        }
        Ok(targets)
    }

    fn collect<'a>(
        &mut self,
        names: impl Iterator<Item = &'a [u8]>,
        kind: Option<SequenceKind>,
        search: &SearchPath,
        log: &mut Log,
    ) -> Result<DatabaseFiles, Error> {
        let mut files = DatabaseFiles::default();
        for name in names {
            match files_of(name, kind, search) {
                Ok(found) => files.extend(found),
                Err(_) => {
                    self.faults += 1;
                    let before: &[u8] =
                        b"  [ERROR] could not find all volume or alias files referenced in ";
                    log.line(Level::Brief, [before, name, b", [skipped]"].concat())?;
                }
            }
        }
        Ok(files)
    }

    /// Adds volumes with the type of their sequences, and aliases without it. The aliases of both
    /// types are sorted together by path.
    fn add(&mut self, all: Vec<(DatabaseFiles, Option<SequenceKind>)>) {
        let mut aliases = std::collections::BTreeSet::new();
        for (files, kind) in all {
            self.volumes.extend(files.volumes.into_iter().map(|path| CheckTarget { path, kind }));
            aliases.extend(files.aliases);
        }
        self.aliases = aliases.into_iter().map(|path| CheckTarget { path, kind: None }).collect();
    }
}

/// Finds the files of a database. Without a kind, finds those of the protein database of this name,
/// or if there is none, those of the nucleotide database.
fn files_of(
    name: &[u8],
    kind: Option<SequenceKind>,
    search: &SearchPath,
) -> Result<DatabaseFiles, DbError> {
    let find = |kind| DatabaseFiles::find(name, kind, search);
    match kind {
        Some(kind) => find(kind),
        None => find(SequenceKind::Protein).or_else(|_| find(SequenceKind::Nucleotide)),
    }
}
