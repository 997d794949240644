//! Metadata of a database in JSON: `blastdbcmd -metadata`, and the files `.pjs` and `.njs` of
//! `makeblastdb` (`CSeqDB::GetDBMetaData`, seqdb.cpp).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use fleetblast_db::{Database, Lookup, SequenceKind};
use fleetblast_job::error::Error;
use fleetblast_report::json;
use fleetblast_stats::release::Release;

/// Version of the metadata format.
const VERSION: &str = "1.2";

/// Last two letters of the extensions of a volume's files.
const VOLUME_FILES: [&str; 18] = [
    "al", "in", "hr", "sq", "ni", "nd", "si", "sd", "pi", "pd", "aa", "ab", "ac", "og", "hi", "hd",
    "ti", "td",
];
/// Last two letters of the extensions of metadata files and OID masks. Some releases do not count
/// these files.
pub(crate) const METADATA_FILES: [&str; 2] = ["js", "xm"];
/// Last two letters of the extensions of the files that a search reads most: index and sequences.
const CACHED_FILES: [&str; 2] = ["in", "sq"];
/// Last two letters of the extensions of the files beside an LMDB file.
const LMDB_FILES: [&str; 4] = ["os", "ot", "tf", "to"];

/// A database, as its metadata describe it.
pub(crate) struct DescribedDatabase<'a> {
    /// The database, with its totals.
    pub(crate) database: &'a Database,
    /// Look-up files of the database.
    pub(crate) lookup: &'a Lookup,
    /// Names of the database, as given with `-db`.
    pub(crate) names: &'a [u8],
    /// Text to put before the name of each file.
    pub(crate) prefix: &'a [u8],
    /// The release whose format of metadata to write.
    pub(crate) release: &'a Release,
}

/// The files of a database.
#[derive(Default)]
struct Files {
    names: Vec<Vec<u8>>,
    bytes: u64,
    cached_bytes: u64,
}

impl Files {
    /// Adds a file, if it exists.
    fn add(&mut self, path: &Path, is_cached: bool) {
        let Ok(found) = fs::metadata(path) else { return };
        self.names.push(path.file_name().unwrap_or_default().as_bytes().to_vec());
        self.bytes += found.len();
        self.cached_bytes += if is_cached { found.len() } else { 0 };
    }
}

impl DescribedDatabase<'_> {
    /// Formats the metadata.
    ///
    /// # Errors
    /// A damaged database.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Error> {
        let (database, whole) = (self.database, self.database.combined_info());
        let kind = match database.kind() {
            SequenceKind::Protein => "Protein",
            _ => "Nucleotide",
        };
        let date = database.iso_date().ok_or_else(|| {
            let date = database.date();
            Error::database(format_args!("'{date}' is no date; make the database again"))
        })?;
        let files = self.files();
        let mut out = b"{\n".to_vec();
        append_text(&mut out, "version", VERSION.as_bytes());
        append_text(&mut out, "dbname", &self.short_names());
        append_text(&mut out, "dbtype", kind.as_bytes());
        append_number(&mut out, "db-version", database.version().into());
        append_text(&mut out, "description", &whole.title);
        append_number(&mut out, "number-of-letters", whole.residue_count);
        append_number(&mut out, "number-of-sequences", whole.sequence_count);
        append_text(&mut out, "last-updated", date.as_bytes());
        append_number(&mut out, "number-of-volumes", database.volume_paths().count() as u64);
        if database.version() == 5 {
            let taxids = self.lookup.included_taxids()?;
            if !matches!(taxids[..], [] | [0]) {
                append_number(&mut out, "number-of-taxids", taxids.len() as u64);
            }
        }
        append_number(&mut out, "bytes-total", files.bytes);
        append_number(&mut out, "bytes-to-cache", files.cached_bytes);
        out.extend_from_slice(b"  \"files\": [");
        for (at, name) in files.names.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"\n    " } else { b",\n    " });
            json::append_string(name, &mut out);
        }
        out.extend_from_slice(b"\n  ]\n}\n");
        Ok(out)
    }

    /// Returns the names of the database without directories.
    fn short_names(&self) -> Vec<u8> {
        let names = self.names.split(|&byte| byte == b' ').filter(|name| !name.is_empty());
        let short = |name: &[u8]| -> Vec<u8> {
            let start = name.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
            name[start..].to_vec()
        };
        names.map(short).collect::<Vec<_>>().join(&b' ')
    }

    /// Finds the files: aliases, those of volumes, and those that volumes share.
    fn files(&self) -> Files {
        let mut files = Files::default();
        let database = self.database;
        for alias in &database.combined_info().aliases {
            files.add(alias, false);
        }
        let later: &[&str] = if self.release.counts_metadata_files { &METADATA_FILES } else { &[] };
        let extension = |letters: &str| database.kind().extension(letters);
        for volume in database.volume_paths() {
            for letters in VOLUME_FILES.into_iter().chain(later.iter().copied()) {
                let path = with_extension(volume, &extension(letters));
                files.add(&path, CACHED_FILES.contains(&letters));
            }
        }
        for lmdb in self.lookup.lmdb_paths() {
            files.add(lmdb, false);
            for letters in LMDB_FILES {
                files.add(&lmdb.with_extension(extension(letters)), false);
            }
        }
        for name in &mut files.names {
            name.splice(0..0, self.prefix.iter().copied());
        }
        files.names.sort_unstable();
        files
    }
}

/// Returns the text before the names of files, which `-metadata_output_prefix` gives. A slash
/// ends it.
pub(crate) fn file_prefix(given: Option<&OsStr>) -> Vec<u8> {
    let mut prefix = given.map_or(Vec::new(), |given| given.as_bytes().to_vec());
    if prefix.last().is_some_and(|&last| last != b'/') {
        prefix.push(b'/');
    }
    prefix
}

/// Appends a dot and an extension to a path, which may have dots.
pub(crate) fn with_extension(base: &Path, extension: &str) -> PathBuf {
    let mut path = base.as_os_str().as_bytes().to_vec();
    path.push(b'.');
    path.extend_from_slice(extension.as_bytes());
    OsString::from_vec(path).into()
}

fn append_text(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(format!("  \"{name}\": ").as_bytes());
    json::append_string(value, out);
    out.extend_from_slice(b",\n");
}

fn append_number(out: &mut Vec<u8>, name: &str, value: u64) {
    out.extend_from_slice(format!("  \"{name}\": {value},\n").as_bytes());
}
