//! `fleetblast keygen`: makes the key by which another site recognizes this one.

use std::path::PathBuf;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard::print;
use fleetblast_link::Key;

use crate::options::keygen::key;
use crate::options::parse::GivenOptions;

/// Makes a key, unless there is one, and prints its fingerprint.
///
/// # Errors
/// A file that cannot be written, or is not a key.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let path = PathBuf::from(key(given));
    let fingerprint = match path.symlink_metadata() {
        Ok(_) => Key::read(&path).map(|key| key.fingerprint()),
        Err(_) => Key::create(&path),
    };
    let fingerprint = fingerprint.map_err(|error| Error::new(exit::INPUT, error.to_string()))?;
    print(&format!("{fingerprint}\n"))
}
