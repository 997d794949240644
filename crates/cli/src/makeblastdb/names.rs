//! The names of `-in`, and the databases with these names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use fleetblast_db::{Database, SequenceKind};
use fleetblast_job::error::Error;
use fleetblast_makedb::DatabaseKind;
use fleetblast_stats::release::Release;

use super::options_error;
use crate::options::compat;

/// Splits names at blanks; quotes enclose a name with blanks.
pub(super) fn split_names(text: &[u8]) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut quoted = false;
    let mut name = Vec::new();
    for &byte in text.iter().chain(b" ") {
        match byte {
            b'"' => quoted = !quoted,
            b' ' if !quoted => {
                if !name.is_empty() {
                    names.push(PathBuf::from(OsStr::from_bytes(&name)));
                }
                name.clear();
            }
            _ => name.push(byte),
        }
    }
    if !name.is_empty() {
        names.push(PathBuf::from(OsStr::from_bytes(&name)));
    }
    names
}

/// Returns the title of the only database of `-in`. As in BLAST+, its name may contain no blanks.
pub(super) fn database_title(
    input: &OsStr,
    kind: DatabaseKind,
    release: &Release,
) -> Result<OsString, Error> {
    let names = split_names(input.as_bytes());
    let [name] = &names[..] else {
        return Err(options_error("Please provide a title using -title"));
    };
    let database = open_databases(&name.to_string_lossy(), kind, release)?;
    Ok(OsStr::from_bytes(database.title()).to_owned())
}

/// Opens databases, whose names blanks separate, as one.
pub(super) fn open_databases(
    names: &str,
    kind: DatabaseKind,
    release: &Release,
) -> Result<Database, Error> {
    let kind = match kind {
        DatabaseKind::Protein => SequenceKind::Protein,
        DatabaseKind::Nucleotide => SequenceKind::Nucleotide,
    };
    let search = compat::search_path(release)?;
    Database::open_to_retrieve(names, kind, &search, None)
        .map_err(|error| compat::database_error(release, error))
}

/// Encloses a name with blanks in quotes.
pub(super) fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_between_blanks_or_quotes() {
        let names = |text: &str| -> Vec<String> {
            split_names(text.as_bytes()).iter().map(|name| name.display().to_string()).collect()
        };
        assert_eq!(names("a.fa  b.fa"), ["a.fa", "b.fa"]);
        assert_eq!(names("\"a b.fa\" c"), ["a b.fa", "c"]);
        assert_eq!(names("a,b"), ["a,b"]);
        assert_eq!(names(" "), [""; 0]);
    }
}
