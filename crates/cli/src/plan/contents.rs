//! Reads files that a search starts with, such as PSSMs.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use fleetblast_job::error::Error;
use fleetblast_job::standard;
use fleetblast_seq::input::read_whole_file;

use crate::hint;
use crate::options::typed::to_text;

/// Reads the whole file that an option names.
///
/// # Errors
/// A file that cannot be read.
pub fn bytes(option: &str, file: &OsStr) -> Result<Vec<u8>, Error> {
    hint::before_reading(option, file, "the file that the search starts with");
    let read = if file == "-" {
        standard::input().and_then(|mut input| {
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).map(|_| bytes)
        })
    } else if fs::metadata(file).is_ok_and(|meta| meta.is_dir()) {
        // BLAST+ treats a directory as an empty file.
        Ok(Vec::new())
    } else {
        read_whole_file(Path::new(file))
    };
    read.map_err(|error| match error.raw_os_error() {
        Some(_) => Error::inaccessible(option, &to_text(file)),
        None => Error::query(format_args!("{}: {error}", to_text(file))),
    })
}

/// Returns whether a file is standard input while several processes may run, which would all read
/// it.
pub fn is_read_twice(file: &OsStr) -> bool {
    file == "-" && fleetblast_mpi::launched().is_some()
}
