//! The test of a volume's index, its files and the names of taxa (`CMetaDataTest`).

use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_db::{Database, SearchPath, TaxonomyNames};
use fleetblast_job::error::Error;

use super::log::Log;
use super::options::Level;
use super::volume::OpenVolume;
use crate::exceptions::{Exception, Place};
use crate::messages::complain;

/// Name of the test in the output.
const TEST: &str = "MetaData";
/// A taxid that a sound taxonomy database contains, and its scientific name.
const HUMAN: (i64, &[u8]) = (9606, b"Homo sapiens");

const NO_TAXON: Exception = Exception::of_database(
    Place { file: "objtools/blast/seqdb_reader/seqdbimpl.cpp", lines: [1607, 1628, 1620] },
    "eArgErr",
    "CSeqDBImpl::GetTaxInfo",
);

/// The test, with the taxonomy database.
pub(super) struct MetadataCheck {
    names: TaxonomyNames,
    /// Whether a message about an unusable taxonomy database was printed already.
    has_complained: bool,
    checks_legacy_files: bool,
}

impl MetadataCheck {
    pub(super) fn new(search: &SearchPath, checks_legacy_files: bool) -> Self {
        let names = TaxonomyNames::find_on_search_path(search);
        Self { names, has_complained: false, checks_legacy_files }
    }

    /// Tests a volume. Returns the number of faults.
    pub(super) fn check(&mut self, volume: &OpenVolume<'_>, log: &mut Log) -> Result<usize, Error> {
        let (database, place) = (&volume.database, (volume.name.as_bytes(), TEST));
        let Some(human) = self.human_name() else {
            let what = format!("Taxid {} not found", HUMAN.0);
            let text = NO_TAXON.format(log.release(), &what);
            log.result(Level::Brief, place, "  [ERROR] caught exception.")?;
            log.result(Level::Details, place, text)?;
            return Ok(1);
        };
        let mut faults: Vec<Vec<u8>> = Vec::new();
        if database.date().is_empty() {
            faults.push(b"db has empty date string".to_vec());
        }
        for volume in database.volume_paths() {
            self.check_files(volume, &mut faults);
        }
        if has_wrong_counts(database) {
            faults.push(b"sequence count/length mismatch".to_vec());
        }
        if human != HUMAN.1 {
            faults.push([b"tax info looks wrong (", &human[..], b")"].concat());
        }
        for fault in &faults {
            log.result(Level::Brief, place, [b"[ERROR] ", &fault[..]].concat())?;
        }
        Ok(faults.len())
    }

    /// Returns the scientific name of [`HUMAN`] in the taxonomy database. Prints BLAST+'s message
    /// if the taxonomy database cannot be used.
    fn human_name(&mut self) -> Option<Vec<u8>> {
        let fault = self.names.fault().and_then(|fault| fault.blast_message.as_deref());
        if let Some(message) = fault.filter(|_| !self.has_complained) {
            complain(&format!("Error: [blastdbcheck] {message}"));
            self.has_complained = true;
        }
        match self.names.names_of_taxid(HUMAN.0) {
            Ok(names) => Some(names?.scientific_name),
            Err(_) => {
                complain("Error: [blastdbcheck] Error: Offset error at end of taxdb file.");
                None
            }
        }
    }

    /// Tests the files with the name of a volume and an extension of three letters.
    fn check_files(&self, volume: &Path, faults: &mut Vec<Vec<u8>>) {
        let (Some(directory), Some(name)) = (volume.parent(), volume.file_name()) else { return };
        let Ok(entries) = fs::read_dir(directory) else { return };
        let extension = |entry: &DirEntry| {
            let file = entry.file_name();
            let rest = file.as_bytes().strip_prefix(name.as_bytes())?;
            rest.strip_prefix(b".").filter(|extension| extension.len() == 3).map(<[u8]>::to_vec)
        };
        for entry in entries.flatten() {
            let Some(extension) = extension(&entry) else { continue };
            let path = directory.join(entry.file_name());
            let shown = path.as_os_str().as_bytes();
            if self.checks_legacy_files && extension.ends_with(b"tm") {
                faults.push([b"legacy file ", shown, b" exists."].concat());
            }
            if fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() == 0) {
                faults.push([b"file ", shown, b" has zero length."].concat());
            }
        }
    }
}

/// Returns whether numbers of sequences and residues contradict each other.
fn has_wrong_counts(database: &Database) -> bool {
    let (stated, oids) = (database.combined_info(), u64::from(database.oid_count()));
    let has_residues = stated.residue_count > 0;
    stated.sequence_count > oids
        || has_residues != (oids > 0)
        || has_residues && database.volume_residue_count() == 0
}
