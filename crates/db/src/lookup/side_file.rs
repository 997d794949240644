//! A lookup file, mapped when it is first needed.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::FileDamage;
use crate::DbError;
use crate::bytes::FileBytes;

/// A lookup file, mapped when it is first needed.
#[derive(Debug)]
pub(super) struct LookupFile {
    pub(super) path: PathBuf,
    bytes: OnceLock<FileBytes>,
}

impl LookupFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, bytes: OnceLock::new() }
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Returns the contents. Maps the file at the first call.
    pub(super) fn contents(&self) -> Result<&[u8], DbError> {
        if self.bytes.get().is_none() {
            // If another thread was faster, its mapping stays.
            let _ = self.bytes.set(FileBytes::map(&self.path)?);
        }
        Ok(self.bytes.get().map_or(&[], |bytes| bytes))
    }

    /// Creates the error for damaged bytes in the file.
    pub(super) fn damage_error(&self, damage: FileDamage) -> DbError {
        DbError::DamagedLookupFile {
            path: self.path.clone(),
            offset: damage.offset as u64,
            problem: damage.problem,
        }
    }
}
