//! The bytes of a file, either mapped or in memory that the caller filled.

use std::fmt;
use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use crate::DbError;
use crate::mapped::{MappedFile, MappedFileRole};
use crate::stamp::FileStamp;

/// Bytes of database files: a `Vec<u8>`, a mapping, or memory that several processes share. Every
/// access is bounds-checked. The bytes must not change while they are in use.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A range of a file's bytes in memory. Positions count from the start of the file. So code and
/// messages are the same whether memory holds all of the file or a part.
#[derive(Clone)]
pub(crate) struct FileBytes {
    memory: SharedBytes,
    /// Range of `memory` that holds the bytes.
    held: Range<usize>,
    /// Position in the file of the first byte in `held`.
    origin: usize,
}

impl FileBytes {
    /// Wraps the contents of a whole file.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        let held = 0..bytes.len();
        Self { memory: Arc::new(bytes), held, origin: 0 }
    }

    /// Takes `length` bytes of `memory` from byte `start` on, or fewer if the memory ends earlier.
    /// The first byte is at position `origin` of the file.
    pub(crate) fn from_memory(
        memory: SharedBytes,
        start: usize,
        length: usize,
        origin: usize,
    ) -> Self {
        let size = (*memory).as_ref().len();
        let start = start.min(size);
        let held = start..start.saturating_add(length).min(size);
        Self { memory, held, origin }
    }

    /// Maps the file at `path`.
    ///
    /// # Errors
    /// [`DbError::MissingFile`] if there is no such file, [`DbError::Io`] if it cannot be read.
    pub(crate) fn map(path: &Path) -> Result<Self, DbError> {
        Self::map_part(path, MappedFileRole::NonVolume).map(|(bytes, _)| bytes)
    }

    /// Maps a file of a volume. Also returns the file's stamp, which detects later changes of the
    /// file.
    ///
    /// # Errors
    /// Those of [`FileBytes::map`].
    pub(crate) fn map_volume_file(path: &Path) -> Result<(Self, FileStamp), DbError> {
        Self::map_part(path, MappedFileRole::Volume)
    }

    fn map_part(path: &Path, part: MappedFileRole) -> Result<(Self, FileStamp), DbError> {
        let failed = |source: std::io::Error| DbError::open_error(path, source);
        let file = File::open(path).map_err(failed)?;
        // Some systems cannot map an empty file.
        let opened = file.metadata().map_err(failed)?;
        let is_empty = opened.len() == 0;
        let stamp = FileStamp::new(path.to_owned(), opened);
        if is_empty {
            return Ok((Self::from_vec(Vec::new()), stamp));
        }
        // SAFETY: the mapping is private to this value, read-only and never handed out as anything
        // but `&[u8]`. The remaining obligation, that nobody changes the file meanwhile, cannot be
        // met by any program; every reader of these bytes therefore treats them as untrusted and
        // checks each offset and code it uses, and none relies on two reads agreeing for memory
        // safety.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let held = 0..map.len();
        let memory = Arc::new(MappedFile::new(map, stamp.clone(), part));
        Ok((Self { memory, held, origin: 0 }, stamp))
    }

    /// Returns the bytes at the positions `range` of the file; `None` unless all of them are in
    /// memory.
    #[inline]
    pub(crate) fn file_range(&self, range: Range<usize>) -> Option<&[u8]> {
        let start = range.start.checked_sub(self.origin)?;
        let end = range.end.checked_sub(self.origin)?;
        self.get(start..end)
    }

    /// Returns those bytes at the positions `range` of the file that are in memory, without
    /// copying.
    pub(crate) fn restrict_to(&self, range: Range<usize>) -> Self {
        let start = range.start.clamp(self.origin, self.end_position());
        let length = range.end.clamp(start, self.end_position()) - start;
        let from = self.held.start + (start - self.origin);
        Self { memory: self.memory.clone(), held: from..from + length, origin: start }
    }

    /// Returns the position in the file after the last byte in memory.
    pub(crate) fn end_position(&self) -> usize {
        self.origin + self.held.len()
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // If the memory has become shorter than `held`, the value counts as empty.
        (*self.memory).as_ref().get(self.held.clone()).unwrap_or(&[])
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({}..{})", self.origin, self.end_position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_file() {
        let file = FileBytes::from_vec((0..100).collect());
        let window = file.restrict_to(10..20);
        assert_eq!(window.file_range(12..14), Some(&[12, 13][..]));
        assert_eq!(
            (window.file_range(9..12), window.file_range(18..21), window.end_position()),
            (None, None, 20)
        );
        assert_eq!(window.restrict_to(0..12).file_range(10..12), Some(&[10, 11][..]));
        assert_eq!(window.restrict_to(15..500).file_range(15..20), Some(&[15, 16, 17, 18, 19][..]));
        assert!(window.restrict_to(40..60).is_empty());
        let (later, earlier) = (12, 11);
        assert!(window.file_range(later..earlier).is_none());
        let own = FileBytes::from_memory(Arc::new(vec![7u8, 8, 9]), 1, 9, 50);
        assert_eq!((own.file_range(50..52), own.end_position()), (Some(&[8, 9][..]), 52));
    }
}
