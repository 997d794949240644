//! A file of a database besides its volumes, read by the check.

use std::path::PathBuf;

use super::sum::Sum;
use crate::DbError;
use crate::bytes::Bytes;
use crate::lookup::Damage;

/// A file of a database besides its volumes: an index of identifiers, taxids, GIs or masks.
pub(super) struct Side {
    pub(super) path: PathBuf,
    pub(super) bytes: Bytes,
}

impl Side {
    /// Opens the file `path`; `None` if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<Option<Self>, DbError> {
        match Bytes::map(&path) {
            Ok(bytes) => Ok(Some(Self { path, bytes })),
            Err(DbError::MissingFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the file `path`, which must exist.
    pub(super) fn required(path: PathBuf) -> Result<Self, DbError> {
        Self::open(path.clone())?.ok_or(DbError::MissingFile { path })
    }

    /// Makes the error for a damaged place of the file.
    pub(super) fn damaged(&self, damage: Damage) -> DbError {
        DbError::LookupFile {
            path: self.path.clone(),
            offset: damage.at as u64,
            problem: damage.problem,
        }
    }

    /// Makes the error for contents that contradict another file.
    pub(super) fn unsound(&self, problem: impl Into<String>) -> DbError {
        let (path, place) = (self.path.clone(), String::new());
        DbError::Unsound { path, place, problem: problem.into() }
    }

    /// Checks that the file consists of exactly the bytes `expected`.
    pub(super) fn must_be(&self, expected: &[u8]) -> Result<(), DbError> {
        let same = self.bytes.iter().zip(expected).take_while(|(a, b)| a == b).count();
        if same == expected.len() && same == self.bytes.len() {
            return Ok(());
        }
        Err(self.damaged(Damage { at: same, problem: "not the index of the data" }))
    }

    /// Name of the file in the report of the check.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Checks that the entries of the file equal those of the headers, by their sums.
    pub(super) fn compare(&self, what: &str, found: &Sum, wanted: &Sum) -> Result<(), DbError> {
        if found == wanted {
            return Ok(());
        }
        let (found, wanted) = (found.entries(), wanted.entries());
        Err(self.unsound(if found == wanted {
            format!("not the {what} of the headers, but as many ({found})")
        } else {
            format!("{found} {what}, but the headers have {wanted}")
        }))
    }
}
