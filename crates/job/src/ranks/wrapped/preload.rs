//! Reads the database into the page cache of each host before the program starts. The program maps
//! the files. Without this, each process would read them page by page.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use fleetblast_db::load::machine;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::error::Error;
use crate::threads::pool;

/// Bytes read at a time.
const BUFFER: usize = 4 << 20;
/// Number of files that are read at the same time.
const READERS: usize = 4;

/// Reads the files of the database, unless the available memory is known to be too small.
///
/// # Errors
/// Files cannot be read.
pub fn preload(files: &[PathBuf], audience: &dyn Audience) -> Result<(), Error> {
    let sizes = files.iter().map(|file| file.metadata().map_or(0, |meta| meta.len()));
    let all: u64 = sizes.sum();
    if machine::available_memory().is_some_and(|memory| all > memory) {
        audience.print_message(&format!(
            "the database, {all} bytes, does not fit into memory, and is not read in advance"
        ));
        return Ok(());
    }
    pool(READERS)?.install(|| files.par_iter().try_for_each(|file| read(file)))
}

fn read(path: &Path) -> Result<(), Error> {
    let failed = |error| Error::database(format_args!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
