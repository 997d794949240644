//! Digests of the input files, besides queries and database, on which a search or its report
//! depends.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use fleetblast_seq::input::{FileVersion, UnchangedFile};
use fleetblast_spool::{QueryDigest, QueryHasher};

use crate::digest::checksum;
use crate::error::{Error, exit};
use crate::plan::{InitialPssm, Plan};
use crate::subjects::SubjectDatabase;

/// Bytes read at a time.
const READ: usize = 1 << 20;

/// Returns descriptions of the inputs that the plan holds in memory, by the option that names them.
/// Large inputs are described by a digest.
pub fn describe_loaded_inputs(plan: &Plan) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    if let Some(InitialPssm { pssm, lacks_ungapped, description }) = &plan.initial_pssm {
        let matrix = checksum(&(&**pssm, lacks_ungapped, description));
        let value = format!("a matrix with the checksum {matrix}");
        inputs.insert("contents of -in_pssm or -in_msa".to_owned(), value);
    }
    if let Some(pattern) = plan.params.pattern() {
        inputs.insert("pattern of -phi_pattern".to_owned(), pattern.text().to_owned());
    }
    if let Some(masker) = plan.params.window_masker() {
        let value = format!("{}, {:016x}", masker.name, masker.counts.fingerprint());
        inputs.insert("counts of -window_masker_db or -window_masker_taxid".to_owned(), value);
    }
    inputs
}

/// Returns digests of the files with the names of taxa for the report, by file name.
///
/// # Errors
/// Files that cannot be read.
pub fn digest_taxonomy_files(
    subjects: &SubjectDatabase,
) -> Result<BTreeMap<String, String>, Error> {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, format!("names of taxa, {}", digest(path)?)))
    };
    subjects.taxonomy.files().iter().flatten().map(named).collect()
}

/// Computes the digest of a file.
///
/// # Errors
/// A file that cannot be read.
pub fn digest(path: &Path) -> Result<QueryDigest, Error> {
    digest_of(path, None)
}

/// Computes the digest of a file; `version` is the expected version, if any.
///
/// # Errors
/// A file that cannot be read, or is of another version.
pub fn digest_of(path: &Path, version: Option<FileVersion>) -> Result<QueryDigest, Error> {
    let failed = |error: std::io::Error| {
        Error::new(exit::INPUT, format!("cannot read {}: {error}", path.display()))
    };
    let mut file = UnchangedFile::open(path).map_err(failed)?;
    if let (Some(expected), Some(found)) = (version, file.version()) {
        expected.compare(&found).map_err(failed)?;
    }
    let (mut hasher, mut buffer) = (QueryHasher::default(), vec![0; READ]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
