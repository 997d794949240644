//! Text files that options name.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard;
use fleetblast_seq::input::{is_file_change, read_whole_file};

use crate::hint;

/// Reads the file that the option `option` names; `-` is standard input.
pub(crate) fn read_text_file(option: &str, path: &OsStr) -> Result<Vec<u8>, Error> {
    hint::before_reading(option, path, "the lines");
    let shown = path.to_string_lossy();
    let inaccessible = || Error::inaccessible(option, &shown);
    if path == "-" {
        let mut text = Vec::new();
        let read = standard::input().and_then(|input| input.lock().read_to_end(&mut text));
        return read.map(|_| text).map_err(|_| inaccessible());
    }
    read_whole_file(Path::new(path)).map_err(|error| match is_file_change(&error) {
        true => Error::new(exit::INPUT, format!("{shown}: {error}")),
        false => inaccessible(),
    })
}
