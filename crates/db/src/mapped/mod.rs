//! Files mapped into memory, and the pages of them that are lost while they are read.
//!
//! The kernel sends SIGBUS to a thread that touches a mapped page which the file no longer has, or
//! which cannot be read. The [handler](signal) puts zeros there, records the place, and the thread
//! goes on: bytes of a file may be anything at any time, so nothing relies on them. Before results
//! are published that depend on mapped bytes, [`check_mapped_files`] refuses them. So a truncated
//! file ends a program like an overwritten one: with an ordinary error.
//!
//! A check of all files asks the file system once per file. Frequent checks are restricted to the
//! files that were read: those of some volumes, and [those beside volumes](check_side_files).

mod register;
mod signal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use memmap2::Mmap;

use self::register::Entry;
pub(crate) use self::register::Part;
use crate::DbError;
use crate::stamp::Stamp;

/// How often files are looked at again that are being replaced, and the pause before each look.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A file, mapped as a whole.
pub(crate) struct MappedFile {
    map: Mmap,
    entry: &'static Entry,
}

impl MappedFile {
    /// Takes ownership of the memory mapping of a whole file, which `stamp` describes.
    pub(crate) fn new(map: Mmap, stamp: Stamp, part: Part) -> Self {
        signal::catch();
        let entry = Entry::register(&map, stamp, part);
        Self { map, entry }
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for MappedFile {
    /// Leaves the register before the addresses may become those of something else.
    fn drop(&mut self) {
        self.entry.leave();
    }
}

/// Whether no page of a mapped file was lost so far. Costs one load.
#[inline]
pub fn has_all_pages() -> bool {
    !register::has_lost()
}

/// Checks that no page of a mapped file was lost so far: that bytes read from mapped files are not
/// the zeros that stand for lost pages.
///
/// # Errors
/// [`DbError::Changed`] or [`DbError::Unreadable`], with file and byte.
pub fn check_lost_pages() -> Result<(), DbError> {
    if has_all_pages() {
        return Ok(());
    }
    match register::entries().find_map(|entry| Some((entry, entry.lost()?))) {
        Some((entry, offset)) => Err(entry.stamp().lost(offset as u64)),
        None => Ok(()),
    }
}

/// Does the same, and verifies that all files that were ever mapped are unchanged since they were
/// opened, or were replaced, and the files of a volume together. To be called after the last byte
/// is read and before results are published.
///
/// # Errors
/// As [`check_lost_pages`]; [`DbError::ReplacedWhileOpened`].
pub fn check_mapped_files() -> Result<(), DbError> {
    check_lost_pages()?;
    let mut has_replaced = false;
    for entry in register::entries() {
        has_replaced |= !entry.stamp().check()?;
    }
    if has_replaced { check_half_replaced() } else { Ok(()) }
}

/// Verifies that no volume has files that were replaced since they were opened beside files that
/// were not: the latter may have been replaced before they were opened, so that the volume is made
/// of two databases.
fn check_half_replaced() -> Result<(), DbError> {
    let mut replaced = find_half_replaced();
    // A replacement that is going on is complete soon.
    for _ in 0..LOOKS {
        if replaced.is_none() {
            return Ok(());
        }
        thread::sleep(PAUSE);
        replaced = find_half_replaced();
    }
    replaced.map_or(Ok(()), |path| Err(DbError::ReplacedWhileOpened { path: path.to_owned() }))
}

/// Returns a replaced file of a volume that also has files which were not replaced.
fn find_half_replaced() -> Option<&'static Path> {
    let mut volumes: BTreeMap<PathBuf, (bool, Option<&'static Path>)> = BTreeMap::new();
    for entry in register::entries().filter(|entry| entry.part() == Part::Volume) {
        let path = entry.stamp().path();
        let (has_named, replaced) = volumes.entry(path.with_extension("")).or_default();
        match entry.stamp().is_named() {
            true => *has_named = true,
            false => *replaced = Some(path),
        }
    }
    volumes.into_values().find_map(|(has_named, replaced)| replaced.filter(|_| has_named))
}

/// Does the same as [`check_mapped_files`] for the files beside volumes only: names of taxa, masks,
/// look-up files.
///
/// # Errors
/// As [`check_lost_pages`].
pub(crate) fn check_side_files() -> Result<(), DbError> {
    check_lost_pages()?;
    let mut beside = register::entries().filter(|entry| entry.part() == Part::Beside);
    beside.try_for_each(|entry| entry.stamp().check().map(drop))
}

#[cfg(test)]
mod tests {
    use crate::bytes::Bytes;

    use super::*;

    fn path_at(address: usize) -> Option<&'static Path> {
        register::entries().find(|entry| entry.holds(address)).map(|entry| entry.stamp().path())
    }

    #[test]
    fn a_file_is_known_while_it_is_mapped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.psq");
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        let bytes = Bytes::map(&path).unwrap();
        let address = bytes.as_ptr() as usize;
        assert_eq!(path_at(address), Some(&*path));
        assert_eq!(path_at(address + 9_999), Some(&*path));
        // The last page is a whole one.
        assert_eq!(path_at(address + 12_287), Some(&*path));
        drop(bytes);
        assert_eq!(path_at(address), None);
    }
}
