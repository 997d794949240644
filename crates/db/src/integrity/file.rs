//! A file of a database besides its volumes, for the integrity check.

use std::path::PathBuf;

use super::sum::EntrySum;
use crate::DbError;
use crate::bytes::FileBytes;
use crate::lookup::FileDamage;

/// A file of a database besides its volumes: an index of identifiers, taxids, GIs or masks.
pub(super) struct AuxiliaryFile {
    pub(super) path: PathBuf,
    pub(super) bytes: FileBytes,
}

impl AuxiliaryFile {
    /// Opens the file `path`; `None` if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<Option<Self>, DbError> {
        match FileBytes::map(&path) {
            Ok(bytes) => Ok(Some(Self { path, bytes })),
            Err(DbError::MissingFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the file `path`, which must exist.
    pub(super) fn open_required(path: PathBuf) -> Result<Self, DbError> {
        Self::open(path.clone())?.ok_or(DbError::MissingFile { path })
    }

    /// Creates the error for damaged bytes in the file.
    pub(super) fn damage_error(&self, damage: FileDamage) -> DbError {
        DbError::DamagedLookupFile {
            path: self.path.clone(),
            offset: damage.offset as u64,
            problem: damage.problem,
        }
    }

    /// Creates the error for contents that contradict another file.
    pub(super) fn inconsistency_error(&self, problem: impl Into<String>) -> DbError {
        let (path, place) = (self.path.clone(), String::new());
        DbError::Inconsistent { path, place, problem: problem.into() }
    }

    /// Checks that the file consists of exactly the bytes `expected`.
    pub(super) fn verify_contents(&self, expected: &[u8]) -> Result<(), DbError> {
        let same = self.bytes.iter().zip(expected).take_while(|(a, b)| a == b).count();
        if same == expected.len() && same == self.bytes.len() {
            return Ok(());
        }
        Err(self.damage_error(FileDamage { offset: same, problem: "not the index of the data" }))
    }

    /// Returns the name of the file in the report of the check.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Checks that the file has the same entries as the headers, by comparing sums of hashes.
    /// `what` names the entries in messages.
    pub(super) fn verify_sum(
        &self,
        what: &str,
        found: &EntrySum,
        wanted: &EntrySum,
    ) -> Result<(), DbError> {
        if found == wanted {
            return Ok(());
        }
        let (found, wanted) = (found.entry_count(), wanted.entry_count());
        Err(self.inconsistency_error(if found == wanted {
            format!("not the {what} of the headers, but as many ({found})")
        } else {
            format!("{found} {what}, but the headers have {wanted}")
        }))
    }
}
