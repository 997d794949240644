//! A file beside the volumes.

use std::path::PathBuf;

use super::sum::Sum;
use crate::DbError;
use crate::bytes::Bytes;
use crate::lookup::Damage;

/// A file beside the volumes.
pub(super) struct Side {
    pub(super) path: PathBuf,
    pub(super) bytes: Bytes,
}

impl Side {
    /// The file `path`, `None` if there is none.
    pub(super) fn open(path: PathBuf) -> Result<Option<Self>, DbError> {
        match Bytes::map(&path) {
            Ok(bytes) => Ok(Some(Self { path, bytes })),
            Err(DbError::MissingFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file `path`, which must be there.
    pub(super) fn required(path: PathBuf) -> Result<Self, DbError> {
        Self::open(path.clone())?.ok_or(DbError::MissingFile { path })
    }

    pub(super) fn damaged(&self, damage: Damage) -> DbError {
        DbError::LookupFile {
            path: self.path.clone(),
            offset: damage.at as u64,
            problem: damage.problem,
        }
    }

    pub(super) fn unsound(&self, problem: impl Into<String>) -> DbError {
        let (path, place) = (self.path.clone(), String::new());
        DbError::Unsound { path, place, problem: problem.into() }
    }

    /// Checks that the file has exactly these bytes.
    pub(super) fn must_be(&self, expected: &[u8]) -> Result<(), DbError> {
        let same = self.bytes.iter().zip(expected).take_while(|(a, b)| a == b).count();
        if same == expected.len() && same == self.bytes.len() {
            return Ok(());
        }
        Err(self.damaged(Damage { at: same, problem: "not the index of the data" }))
    }

    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Checks that the sum of the file's entries is that of the headers.
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
