//! The databases of a directory (`FindBlastDBs`, seqdb.cpp).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_db::SequenceKind;

/// Largest depth of nested directories that are searched.
const DEEPEST: usize = 256;

/// A database in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListedDatabase {
    /// Path without extension, in the double quotes with which BLAST+ keeps and sorts it.
    quoted: Vec<u8>,
    nucleotide: bool,
}

impl ListedDatabase {
    /// Returns the path without extension, in double quotes.
    pub(crate) fn quoted_path(&self) -> &[u8] {
        &self.quoted
    }

    /// Returns the path without extension.
    pub(crate) fn path(&self) -> Vec<u8> {
        self.quoted.iter().copied().filter(|&b| b != b'"').collect()
    }

    /// Returns the type of the sequences.
    pub(crate) fn kind(&self) -> SequenceKind {
        if self.nucleotide { SequenceKind::Nucleotide } else { SequenceKind::Protein }
    }

    /// Reads the alias file of this database; `None` if the database is a volume.
    pub(crate) fn alias(&self) -> Option<Vec<u8>> {
        let mut path = self.path();
        path.push(b'.');
        path.extend_from_slice(self.kind().extension("al").as_bytes());
        fs::read(Path::new(OsStr::from_bytes(&path))).ok()
    }
}

/// Returns the databases of a directory, sorted as BLAST+ sorts them; with a kind, only those of
/// this kind.
pub(crate) fn find_databases(
    directory: &[u8],
    kind: Option<SequenceKind>,
    recursive: bool,
) -> Vec<ListedDatabase> {
    let mut found = Vec::new();
    collect(directory, kind, recursive, 0, &mut found);
    found.sort();
    found
}

/// Appends the databases of a directory to `found`. Skips unreadable directories, like BLAST+.
fn collect(
    directory: &[u8],
    kind: Option<SequenceKind>,
    recursive: bool,
    depth: usize,
    found: &mut Vec<ListedDatabase>,
) {
    let place = if directory.is_empty() { b"." } else { directory };
    let Ok(entries) = fs::read_dir(OsStr::from_bytes(place)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let mut path = directory.to_vec();
        if !matches!(path.last(), None | Some(b'/')) {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        let file = Path::new(OsStr::from_bytes(&path));
        if file.is_dir() {
            // Symbolic links to directories are not followed: they could form a cycle.
            if recursive && depth < DEEPEST && !file.is_symlink() {
                collect(&path, kind, recursive, depth + 1, found);
            }
            continue;
        }
        let kinds = [SequenceKind::Protein, SequenceKind::Nucleotide];
        let wanted = kinds.into_iter().filter(|one| kind.is_none_or(|kind| kind == *one));
        let is_one = |kind: &SequenceKind| {
            let ends = |rest| path.ends_with(format!(".{}", kind.extension(rest)).as_bytes());
            ends("in") || ends("al")
        };
        if let Some(kind) = wanted.into_iter().find(is_one) {
            let quoted = [b"\"", &path[..path.len() - ".pin".len()], b"\""].concat();
            found.push(ListedDatabase { quoted, nucleotide: kind == SequenceKind::Nucleotide });
        }
    }
}
