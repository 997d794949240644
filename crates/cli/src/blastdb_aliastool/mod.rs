//! `blastdb_aliastool`: makes aliases of databases, and binary lists of GIs and identifiers.
//!
//! Messages, exit codes and files are those of BLAST+ (`blastdb_aliastool.cpp`, `writedb.cpp`,
//! `seqidlist_writer.cpp`), with two differences. A file appears under its name when it is
//! complete, so a run that fails leaves an older file unchanged. A file that cannot be written is
//! an error.

mod alias;
mod gi_list;
mod options;
mod seqid_list;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_job::plan::Destination;

use self::options::Operation;
use crate::options::parse::GivenOptions;

/// Runs `blastdb_aliastool`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    match &Operation::new(given)? {
        Operation::Gis(list) => gi_list::convert_file(list),
        Operation::SeqIds(list) => seqid_list::convert_file(list),
        Operation::SeqIdInfo(path, release) => seqid_list::print_info(path, release),
        Operation::Alias(alias) => alias::create(alias),
    }
}

/// Returns the file `path` as a destination. Unlike the outputs of other programs, `-` is the name
/// of a file.
fn destination(path: &OsStr) -> Destination {
    Destination::File(PathBuf::from(path))
}

/// Writes a file, which appears under its name when it is complete.
fn write_file(target: &Destination, contents: &[u8]) -> Result<(), Error> {
    let mut output = Output::open(target)?;
    output.write(contents)?;
    output.commit()
}

/// Appends `extension` to a path.
fn with_extension(path: &OsStr, extension: &str) -> OsString {
    let mut path = path.to_owned();
    path.push(extension);
    path
}
