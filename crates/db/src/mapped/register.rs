//! The register of mapped files, which a signal handler can read at any moment.
//!
//! A handler can only access statics, and must not wait. Hence the register is a static linked list
//! that only grows. An entry stays after its file is unmapped; a process maps some hundreds of
//! files.

use std::iter::successors;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::stamp::FileStamp;

/// Oldest entry of the register.
static FIRST: OnceLock<&'static MappedFileEntry> = OnceLock::new();
/// Whether a page of any file has been lost.
static HAS_LOST: AtomicBool = AtomicBool::new(false);

/// Value of [`MappedFileEntry::lost`] that means: no page was lost.
const NOWHERE: usize = usize::MAX;

/// The role of a file in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappedFileRole {
    /// Index, residues or headers of a volume. The volume checks these files again when it is
    /// opened.
    Volume,
    /// Any file that is not part of a volume, such as names of taxa, masks or lookup files.
    NonVolume,
}

/// A mapped file in the register.
pub(super) struct MappedFileEntry {
    /// Addresses of the pages to which the file is mapped.
    addresses: Range<usize>,
    is_mapped: AtomicBool,
    /// Lowest byte offset in the file that could not be read, or [`NOWHERE`].
    lost: AtomicUsize,
    stamp: FileStamp,
    part: MappedFileRole,
    /// Next younger entry of the register.
    next: OnceLock<&'static MappedFileEntry>,
}

impl MappedFileEntry {
    /// Adds a file that was just mapped to `memory` to the register.
    pub(super) fn register(
        memory: &[u8],
        stamp: FileStamp,
        part: MappedFileRole,
    ) -> &'static MappedFileEntry {
        let start = memory.as_ptr() as usize;
        let end = start + memory.len().next_multiple_of(rustix::param::page_size());
        let entry: &'static MappedFileEntry = Box::leak(Box::new(MappedFileEntry {
            addresses: start..end,
            is_mapped: AtomicBool::new(true),
            lost: AtomicUsize::new(NOWHERE),
            stamp,
            part,
            next: OnceLock::new(),
        }));
        let mut place = &FIRST;
        while place.set(entry).is_err() {
            // Another thread added an entry here first, so the next place is tried.
            let Some(other) = place.get() else { continue };
            place = &other.next;
        }
        entry
    }

    /// Marks the file as unmapped. Call it before the memory is unmapped.
    pub(super) fn mark_unmapped(&self) {
        self.is_mapped.store(false, Ordering::SeqCst);
    }

    /// Returns whether the file is mapped to this address.
    pub(super) fn contains_address(&self, address: usize) -> bool {
        self.addresses.contains(&address) && self.is_mapped.load(Ordering::SeqCst)
    }

    /// Marks the page with `address`, and all later pages of the file, as lost. Returns the
    /// addresses of these pages.
    pub(super) fn mark_lost(&self, address: usize, page_size: usize) -> Range<usize> {
        let from = address - (address - self.addresses.start) % page_size;
        // The offset is recorded first, so that no thread can read the zeros before.
        self.lost.fetch_min(from - self.addresses.start, Ordering::SeqCst);
        HAS_LOST.store(true, Ordering::SeqCst);
        from..self.addresses.end
    }

    /// Returns the lowest byte offset that could not be read, if there is one.
    pub(super) fn lost_offset(&self) -> Option<usize> {
        Some(self.lost.load(Ordering::SeqCst)).filter(|&offset| offset != NOWHERE)
    }

    pub(super) fn stamp(&self) -> &FileStamp {
        &self.stamp
    }

    pub(super) fn role(&self) -> MappedFileRole {
        self.part
    }
}

/// Returns all entries, the oldest first, without a lock.
pub(super) fn entries() -> impl Iterator<Item = &'static MappedFileEntry> {
    successors(FIRST.get().copied(), |entry| entry.next.get().copied())
}

/// Returns whether a page of any file has been lost.
#[inline]
pub(super) fn has_lost_page() -> bool {
    HAS_LOST.load(Ordering::SeqCst)
}
