//! Maps files into memory, and detects pages that are lost while the files are mapped.
//!
//! The system sends SIGBUS to a thread that reads a mapped page which was cut off from the file or
//! cannot be read. The [handler](signal) replaces the page by zeros and records its offset, and the
//! thread continues. That is safe, because the program never trusts the bytes of a file. Before
//! results are published that depend on mapped bytes, [`check_mapped_files`] finds such pages and
//! fails. So a truncated file ends a program like an overwritten one: with an ordinary error.
//!
//! A check of all files needs a system call for each. Frequent checks are restricted to files that
//! were read: those of some volumes, and [other files](check_auxiliary_files).

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

/// Number of times to check again whether a replacement of files is complete, and the pause before
/// each check.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A completely mapped file. It is in the register as long as it lives.
pub(crate) struct MappedFile {
    map: Mmap,
    entry: &'static MappedFileEntry,
}

impl MappedFile {
    /// Registers the memory mapping of a whole file, which `stamp` describes, and owns it.
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
    /// Marks the file as unmapped before its addresses can be reused.
    fn drop(&mut self) {
        self.entry.mark_unmapped();
    }
}

/// Returns whether no page of a mapped file has been lost so far. The call costs one load from
/// memory.
#[inline]
pub fn has_no_lost_page() -> bool {
    !register::has_lost_page()
}

/// Checks that no page of a mapped file has been lost so far. Then no bytes that were read from
/// mapped files are zeros that replace a lost page.
///
/// # Errors
/// [`DbError::FileChanged`] or [`DbError::FileUnreadable`], with the file and the offset of the
/// page.
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
/// were opened. A file may have been replaced, but only if all files of its volume were. Call it
/// after the last read and before results are published.
///
/// # Errors
/// Those of [`check_lost_pages`]; [`DbError::FileReplacedWhileOpened`] for a volume of mixed files.
pub fn check_mapped_files() -> Result<(), DbError> {
    check_lost_pages()?;
    let mut has_replaced = false;
    for entry in register::entries() {
        has_replaced |= !entry.stamp().verify_unchanged()?;
    }
    if has_replaced { check_half_replaced() } else { Ok(()) }
}

/// Verifies that in each volume either all files or no files were replaced since they were opened.
/// If only some were, the others may have been replaced before they were opened. Then the volume
/// consists of files of two databases.
fn check_half_replaced() -> Result<(), DbError> {
    let mut replaced = find_half_replaced();
    // If another process is replacing the files, it will soon be done.
    for _ in 0..LOOKS {
        if replaced.is_none() {
            return Ok(());
        }
        thread::sleep(PAUSE);
        replaced = find_half_replaced();
    }
    replaced.map_or(Ok(()), |path| Err(DbError::FileReplacedWhileOpened { path: path.to_owned() }))
}

/// Finds a replaced file in a volume that also has files that were not replaced.
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

/// Checks the mapped files other than those of volumes as [`check_mapped_files`] does: names of
/// taxa, masks and lookup files.
///
/// # Errors
/// Those of [`check_lost_pages`].
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
        // The last page is mapped as a whole.
        assert_eq!(path_at(address + 12_287), Some(&*path));
        drop(bytes);
        assert_eq!(path_at(address), None);
    }
}
