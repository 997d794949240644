//! Where the bytes of a file are: the one place to change for another way of loading.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::DbError;

/// The bytes of one file of a volume, mapped or held.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// Mapped, read-only.
    Mapped(memmap2::Mmap),
    /// In memory.
    Held(Vec<u8>),
}

impl Bytes {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// [`DbError::MissingFile`] if there is no such file, [`DbError::Io`] if it cannot be read.
    pub(crate) fn map(path: &Path) -> Result<Self, DbError> {
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => DbError::MissingFile { path: path.into() },
            _ => DbError::Io { path: path.into(), source },
        };
        let file = File::open(path).map_err(failed)?;
        // An empty file cannot be mapped on every system.
        if file.metadata().map_err(failed)?.len() == 0 {
            return Ok(Self::Held(Vec::new()));
        }
        // SAFETY: the mapping is private to this value, read-only and never handed out as anything
        // but `&[u8]`. The remaining obligation, that nobody changes the file meanwhile, cannot be
        // met by any program; every reader of these bytes therefore treats them as untrusted and
        // checks each offset and code it uses, and none relies on two reads agreeing for memory
        // safety.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        Ok(Self::Mapped(map))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Held(bytes) => bytes,
        }
    }
}
