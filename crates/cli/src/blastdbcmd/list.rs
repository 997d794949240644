//! The databases of a directory (`-list`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_db::{Database, SearchPath, SequenceKind};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::Output;
use fleetblast_stats::release::Release;

use super::options::{List, Options};
use super::{fields, info};

/// Largest depth of nested directories that are searched.
const DEEPEST: usize = 256;

/// A database in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListedDatabase {
    /// Path without extension, in the double quotes with which BLAST+ keeps and sorts it.
    quoted: Vec<u8>,
    nucleotide: bool,
}

impl ListedDatabase {
    fn path(&self) -> Vec<u8> {
        self.quoted.iter().copied().filter(|&b| b != b'"').collect()
    }

    fn kind(&self) -> SequenceKind {
        if self.nucleotide { SequenceKind::Nucleotide } else { SequenceKind::Protein }
    }

    /// Reads the alias file of this database; `None` if the database is a volume.
    fn alias(&self) -> Option<Vec<u8>> {
        let mut path = self.path();
        path.push(b'.');
        path.extend_from_slice(self.kind().extension("al").as_bytes());
        fs::read(Path::new(OsStr::from_bytes(&path))).ok()
    }
}

/// Writes a line for each database in the directory of `-list`.
pub(super) fn write(list: &List, options: &Options, out: &mut Output) -> Result<(), Error> {
    let kind = options.kind;
    let mut found = Vec::new();
    collect(list.directory.as_bytes(), kind, list.recursive, 0, &mut found);
    if list.remove_redundant {
        remove_members(&mut found);
    }
    found.sort();
    let layout = Layout::new(&list.format)?;
    for database in &found {
        out.write(&layout.line(database, options.release)?)?;
    }
    Ok(())
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

/// Removes databases whose path contains the name of a member of an alias
/// (`s_RemoveAliasComponents`, seqdb.cpp).
fn remove_members(found: &mut Vec<ListedDatabase>) {
    let mut members = BTreeSet::new();
    for alias in found.iter().filter_map(ListedDatabase::alias) {
        let lists = alias.split(|&b| b == b'\n').filter(|line| line.starts_with(b"DBLIST"));
        for list in lists {
            let words = list.split(|&b| b == b' ').filter(|word| !word.is_empty());
            members.extend(words.skip(1).map(<[u8]>::to_vec));
        }
    }
    let is_member = |found: &ListedDatabase| {
        members.iter().any(|member| found.quoted.windows(member.len()).any(|w| w == member))
    };
    found.retain(|found| !is_member(found));
}

/// A format of `-list`: fields with the text before each, and the text after the last.
struct Layout {
    fields: Vec<(Vec<u8>, u8)>,
    end: Vec<u8>,
}

impl Layout {
    /// Parses the format (`CBlastDbFormatter`, blastdb_formatter.cpp).
    fn new(format: &[u8]) -> Result<Self, Error> {
        let (mut fields, mut text, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(&byte) = format.get(at) {
            at += 1;
            if byte != b'%' {
                text.push(byte);
                continue;
            }
            // In BLAST+ the NUL of a C string follows the last byte.
            let next = format.get(at).copied().unwrap_or(0);
            at += 1;
            if next == b'%' {
                // Two percent signs stand for one, and the byte after them is plain text.
                text.push(b'%');
                text.extend(format.get(at));
                at += 1;
            } else {
                fields.push((std::mem::take(&mut text), next));
            }
        }
        if fields.is_empty() {
            return Err(options_error("Invalid format specification"));
        }
        Ok(Self { fields, end: text })
    }

    fn line(&self, found: &ListedDatabase, release: &Release) -> Result<Vec<u8>, Error> {
        let mut opened = None;
        let mut line = Vec::new();
        for (before, field) in &self.fields {
            line.extend_from_slice(before);
            match field {
                b'f' => line.extend(found.path()),
                b'p' if found.nucleotide => line.extend_from_slice(b"Nucleotide"),
                b'p' => line.extend_from_slice(b"Protein"),
                b't' | b'n' | b'l' | b'd' | b'U' | b'v' => {
                    let database = match opened.take() {
                        Some(database) => database,
                        None => open(found)?,
                    };
                    line.extend(of_database(*field, &database, release));
                    opened = Some(database);
                }
                &field => return Err(options_error(&fields::unknown(field))),
            }
        }
        line.extend_from_slice(&self.end);
        line.push(b'\n');
        Ok(line)
    }
}

fn open(found: &ListedDatabase) -> Result<Database, Error> {
    let search = SearchPath::from_environment()?;
    let name = String::from_utf8_lossy(&found.quoted);
    Database::open_to_describe(&name, found.kind(), &search).map_err(Error::from)
}

fn of_database(field: u8, database: &Database, release: &Release) -> Vec<u8> {
    let whole = database.combined_info();
    match field {
        b't' => whole.title.clone(),
        b'n' => whole.sequence_count.to_string().into_bytes(),
        b'l' => whole.residue_count.to_string().into_bytes(),
        b'd' => database.date().as_bytes().to_vec(),
        b'U' => info::disk_usage(database, release).to_string().into_bytes(),
        _ => database.version().to_string().into_bytes(),
    }
}

fn options_error(what: &str) -> Error {
    Error::new(exit::INPUT, format!("BLAST options error: {what}"))
}
