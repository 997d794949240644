//! Writes the metadata of a new database beside it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_db::{Database, SearchPath, SequenceKind};
use fleetblast_job::error::Error;
use fleetblast_makedb::DatabaseKind;

use super::options::Options;
use crate::database_metadata::{DescribedDatabase, with_extension};

/// Writes the metadata of the database with the path `base` to its file `.pjs` or `.njs`.
pub(super) fn write(base: &Path, options: &Options) -> Result<(), Error> {
    let kind = match options.kind {
        DatabaseKind::Protein => SequenceKind::Protein,
        DatabaseKind::Nucleotide => SequenceKind::Nucleotide,
    };
    let file = with_extension(base, &kind.extension("js"));
    let failed = |error| Error::output(format_args!("cannot write {}: {error}", file.display()));
    // The metadata of an older database are not listed as a file of the new one.
    if file.exists() {
        fs::remove_file(&file).map_err(failed)?;
    }
    // Quotes keep blanks in the directory.
    let name = format!("\"{}\"", base.display());
    let database = Database::open_to_describe(&name, kind, &SearchPath::from_environment()?)?;
    let described = DescribedDatabase {
        database: &database,
        lookup: &database.lookup()?,
        names: base.file_name().unwrap_or_default().as_bytes(),
        prefix: &options.metadata_prefix,
        release: options.release,
    };
    fs::write(&file, described.to_json()?).map_err(failed)
}
