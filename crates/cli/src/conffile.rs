//! `-conffile`: a file with NCBI's configuration, instead of `PROGRAM.ini`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_job::error::{Error, exit};
use fleetblast_stats::release::Release;

/// Exit code of BLAST+ if a required file is missing.
const MISSING: u8 = 255;

/// Makes the file `name` the configuration of the program. A name without a directory is searched
/// for in the directories of NCBI's configuration files. If there is no such file, the program has
/// no configuration of its own.
///
/// # Errors
/// Exit code 255 if the file does not exist and the release requires it. Exit code 2 if the name
/// has a directory and the file does not exist (`CNcbiApplicationAPI::AppMain` and `LoadConfig`,
/// ncbiapp.cpp).
pub(crate) fn set(release: &Release, name: &OsStr) -> Result<(), Error> {
    let path = Path::new(name);
    let text = name.to_string_lossy();
    if release.requires_conffile && !path.is_file() {
        let message = format!("Critical: (106.23) Registry file \"{text}\" not found, aborting.");
        return Err(Error::new(MISSING, message));
    }
    if name.is_empty() {
        return Ok(());
    }
    if name.as_bytes().contains(&b'/') && !path.is_file() {
        let what =
            format!("(CAppException::eNoRegistry) Registry file \"{text}\" cannot be opened");
        let message =
            format!("Error: {what}\nError: (106.15) Application's initialization failed {what}");
        return Err(Error::new(exit::DATABASE, message));
    }
    fleetblast_db::set_configuration_file(path);
    Ok(())
}
