//! Maps files into memory, and detects pages that are lost while they are read.
//!
//! The kernel sends SIGBUS to a thread that reads a mapped page which was cut off from the file or
//! cannot be read. The [handler](signal) replaces the page by zeros and records its position, and
//! the thread continues. That is safe, because the program never trusts the bytes of a file. Before
//! results are published that depend on mapped bytes, [`check_mapped_files`] refuses them. So a
//! truncated file ends a program like an overwritten one: with an ordinary error.
//!
//! A check of all files needs a system call for each. Frequent checks are restricted to files that
//! were read: those of some volumes, and [look-up files](check_auxiliary_files).

mod register;
mod signal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use memmap2::Mmap;

use self::register::MappedFileEntry;
pub(crate) use self::register::MappedFileRole;
use crate::DbError;
use crate::stamp::FileStamp;

/// Number of checks whether a replacement of files is complete, and the pause before each.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A file that is mapped completely.
pub(crate) struct MappedFile {
    map: Mmap,
    entry: &'static MappedFileEntry,
}

impl MappedFile {
    /// Takes ownership of the memory mapping of a whole file, which `stamp` describes.
    pub(crate) fn new(map: Mmap, stamp: FileStamp, part: MappedFileRole) -> Self {
        signal::install_handler();
        let entry = MappedFileEntry::register(&map, stamp, part);
        Self { map, entry }
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for MappedFile {
    /// Removes the file from the register before its addresses can be reused.
    fn drop(&mut self) {
        self.entry.mark_unmapped();
    }
}

/// Whether no page of a mapped file has been lost so far. The call costs one load from memory.
#[inline]
pub fn has_no_lost_page() -> bool {
    !register::has_lost_page()
}

/// Checks that no page of a mapped file has been lost so far: bytes read from mapped files are then
/// not the zeros that replace lost pages.
///
/// # Errors
/// [`DbError::FileChanged`] or [`DbError::FileUnreadable`], with file and byte.
pub fn check_lost_pages() -> Result<(), DbError> {
    if has_no_lost_page() {
        return Ok(());
    }
    match register::entries().find_map(|entry| Some((entry, entry.lost_offset()?))) {
        Some((entry, offset)) => Err(entry.stamp().lost_page_error(offset as u64)),
        None => Ok(()),
    }
}

/// Checks that no page was lost, and that all files that were ever mapped are unchanged since they
/// were opened. A file may also have been replaced, if all files of its volume were. Call it after
/// the last read and before results are published.
///
/// # Errors
/// As [`check_lost_pages`]; [`DbError::FileReplacedWhileOpened`].
pub fn check_mapped_files() -> Result<(), DbError> {
    check_lost_pages()?;
    let mut has_replaced = false;
    for entry in register::entries() {
        has_replaced |= !entry.stamp().verify_unchanged()?;
    }
    if has_replaced { check_half_replaced() } else { Ok(()) }
}

/// Verifies that no volume has both files that were replaced since they were opened and files that
/// were not. The latter may have been replaced before they were opened; then the volume consists of
/// files of two databases.
fn check_half_replaced() -> Result<(), DbError> {
    let mut replaced = find_half_replaced();
    // A replacement in progress is complete soon.
    for _ in 0..LOOKS {
        if replaced.is_none() {
            return Ok(());
        }
        thread::sleep(PAUSE);
        replaced = find_half_replaced();
    }
    replaced.map_or(Ok(()), |path| Err(DbError::FileReplacedWhileOpened { path: path.to_owned() }))
}

/// Finds a replaced file in a volume that also has files which were not replaced.
fn find_half_replaced() -> Option<&'static Path> {
    let mut volumes: BTreeMap<PathBuf, (bool, Option<&'static Path>)> = BTreeMap::new();
    for entry in register::entries().filter(|entry| entry.role() == MappedFileRole::Volume) {
        let path = entry.stamp().path();
        let (has_named, replaced) = volumes.entry(path.with_extension("")).or_default();
        match entry.stamp().matches_path() {
            true => *has_named = true,
            false => *replaced = Some(path),
        }
    }
    volumes.into_values().find_map(|(has_named, replaced)| replaced.filter(|_| has_named))
}

/// Checks files other than those of volumes as [`check_mapped_files`] does: names of taxa, masks,
/// look-up files.
///
/// # Errors
/// As [`check_lost_pages`].
pub(crate) fn check_auxiliary_files() -> Result<(), DbError> {
    check_lost_pages()?;
    let mut beside = register::entries().filter(|entry| entry.role() == MappedFileRole::NonVolume);
    beside.try_for_each(|entry| entry.stamp().verify_unchanged().map(drop))
}

#[cfg(test)]
mod tests {
    use crate::bytes::FileBytes;

    use super::*;

    fn path_at(address: usize) -> Option<&'static Path> {
        register::entries()
            .find(|entry| entry.contains_address(address))
            .map(|entry| entry.stamp().path())
    }

    #[test]
    fn a_file_is_known_while_it_is_mapped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        let bytes = FileBytes::map(&path).unwrap();
        let address = bytes.as_ptr() as usize;
        assert_eq!(path_at(address), Some(&*path));
        assert_eq!(path_at(address + 9_999), Some(&*path));
        // The last page is a whole one.
        assert_eq!(path_at(address + 12_287), Some(&*path));
        drop(bytes);
        assert_eq!(path_at(address), None);
    }
}
