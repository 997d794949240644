//! The databases of a directory (`-list`).

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use fleetblast_db::{Database, SequenceKind};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::Output;
use fleetblast_stats::release::Release;

use super::options::{List, Options};
use super::{fields, info};
use crate::listed_databases::{ListedDatabase, find_databases};
use crate::options::compat;

/// Writes a line for each database in the directory of `-list`.
pub(super) fn write(list: &List, options: &Options, out: &mut Output) -> Result<(), Error> {
    let mut found = find_databases(list.directory.as_bytes(), options.kind, list.recursive);
    if list.remove_redundant {
        remove_members(&mut found);
    }
    let layout = Layout::new(&list.format)?;
    for database in &found {
        out.write(&layout.line(database, options.release)?)?;
    }
    Ok(())
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
        members.iter().any(|member| found.quoted_path().windows(member.len()).any(|w| w == member))
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
                b'p' if (found.kind() == SequenceKind::Nucleotide) => {
                    line.extend_from_slice(b"Nucleotide")
                }
                b'p' => line.extend_from_slice(b"Protein"),
                b't' | b'n' | b'l' | b'd' | b'U' | b'v' => {
                    let database = match opened.take() {
                        Some(database) => database,
                        None => open(found, release)?,
                    };
                    line.extend(of_database(*field, &database, release));
                    opened = Some(database);
                }
                &field => return Err(options_error(&fields::unknown_field_message(field))),
            }
        }
        line.extend_from_slice(&self.end);
        line.push(b'\n');
        Ok(line)
    }
}

fn open(found: &ListedDatabase, release: &Release) -> Result<Database, Error> {
    let search = compat::search_path(release)?;
    let name = String::from_utf8_lossy(found.quoted_path());
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
