//! A segment of memory that the ranks of a host share.
//!
//! It is a file that exists in memory only (`memfd_create`). The first rank of a host creates it,
//! and the others open it through `/proc`. Two alternatives were rejected. An MPI window never asks
//! for huge pages (MPICH gave none at all). A file in `/dev/shm` has a name that stays behind if
//! ranks are killed before they remove it. Its file system has half of the memory by default, and
//! 64 MB in many containers.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::slice;

use memmap2::{Advice, Mmap, MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};

/// Size of a huge page in bytes. Segments are rounded up to a multiple of it.
const HUGE_PAGE: usize = 2 << 20;

/// Memory of a host while its ranks fill it, each a range of its own. No Rust reference to the
/// whole memory may exist meanwhile, since the other ranks write to it.
pub(super) struct FillingMemory {
    map: MmapRaw,
    /// The file of the memory, for the other ranks to open.
    file: File,
    own: Range<usize>,
}

/// Memory of a host after all of its ranks have filled it.
pub(super) struct FilledMemory {
    file: File,
    size: usize,
    own: Range<usize>,
}

/// Error of an operation on a segment.
pub(super) struct SegmentError {
    pub(super) step: &'static str,
    pub(super) source: io::Error,
}

fn step<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> SegmentError {
    move |source| SegmentError { step, source: source.into() }
}

impl FillingMemory {
    /// Creates a segment for `length` bytes. This rank will fill the range `own`.
    ///
    /// # Safety
    /// The requirements are those of [`FillingMemory::join`].
    pub(super) unsafe fn first(length: usize, own: Range<usize>) -> Result<Self, SegmentError> {
        let size = round_up(length);
        let file = match reserved_pages(size) {
            Ok(file) => file,
            // Usually the system has no reserved huge pages, or too few.
            Err(_) => ordinary_pages(size).map_err(step("making a file in memory"))?,
        };
        Self::map(file, size, own)
    }

    /// Returns the name by which other processes of this host can open the segment.
    pub(super) fn name(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Opens the segment that another rank of the host created. This rank will fill the range
    /// `own`.
    ///
    /// # Safety
    /// While this value exists, no other one, here or in another process, has a range that
    /// overlaps with `own`.
    pub(super) unsafe fn join(
        name: &str,
        length: usize,
        own: Range<usize>,
    ) -> Result<Self, SegmentError> {
        let file = OpenOptions::new().read(true).write(true).open(name);
        let file = file.map_err(step("opening that of the host's first rank"))?;
        Self::map(file, round_up(length), own)
    }

    fn map(file: File, size: usize, own: Range<usize>) -> Result<Self, SegmentError> {
        assert!(own.start <= own.end && own.end <= size, "{own:?} of {size} bytes");
        // Memory beyond the end of the file would cause a signal.
        if file.metadata().map_err(step("measuring memory"))?.len() < size as u64 {
            return Err(step("mapping memory")(io::ErrorKind::UnexpectedEof));
        }
        let map = MmapOptions::new().len(size).map_raw(&file).map_err(step("mapping memory"))?;
        // This fails if huge pages are disabled; then the memory is on small pages.
        let _ = map.advise(Advice::HugePage);
        Ok(FillingMemory { map, file, own })
    }

    /// Makes the system allocate the memory of this rank's range now. Lack of memory would later
    /// cause a signal instead of an error.
    pub(super) fn populate(&self) -> Result<(), SegmentError> {
        if self.own.is_empty() {
            return Ok(());
        }
        let (start, length) = (self.own.start, self.own.len());
        let done = match self.map.advise_range(Advice::PopulateWrite, start, length) {
            // Linux before 5.14 does not know this advice. There, the kernel allocates small pages.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let (offset, length) = (start as u64, length as u64);
                fallocate(&self.file, FallocateFlags::empty(), offset, length)
                    .map_err(io::Error::from)
            }
            done => done,
        };
        done.map_err(step("getting the memory"))
    }

    /// Returns the range of this rank.
    pub(super) fn own_mut(&mut self) -> &mut [u8] {
        let (start, length) = (self.own.start, self.own.len());
        // SAFETY: `map` checked that the range lies in the mapping, and the file is never
        // shortened. Whoever made this value promised that nobody else has a range with these
        // bytes. In this process they are reached by this function alone, whose result borrows
        // `self`.
        unsafe { slice::from_raw_parts_mut(self.map.as_mut_ptr().add(start), length) }
    }

    /// Gives up the right to write to this rank's range.
    pub(super) fn complete(self) -> FilledMemory {
        let FillingMemory { map, file, own } = self;
        FilledMemory { file, size: map.len(), own }
    }
}

impl FilledMemory {
    /// Maps the whole memory for reading.
    ///
    /// # Safety
    /// No process may write to the segment any more.
    pub(super) unsafe fn read(self) -> Result<Mmap, SegmentError> {
        let FilledMemory { file, size, own } = self;
        // SAFETY: nobody writes, as the caller promises; the file has no name and is never
        // shortened.
        let map = unsafe { MmapOptions::new().len(size).map(&file) };
        let map = map.map_err(step("mapping memory for reading"))?;
        // Both calls are optional. The second one avoids page faults, from Linux 5.14 on.
        let _ = map.advise(Advice::HugePage);
        let _ = map.advise_range(Advice::PopulateRead, own.start, own.len());
        Ok(map)
    }
}

fn round_up(length: usize) -> usize {
    length.max(1).next_multiple_of(HUGE_PAGE)
}

/// Makes a file in memory, on huge pages that the administrator reserved (`vm.nr_hugepages`).
fn reserved_pages(size: usize) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let file = memory_file(flags, size)?;
    fallocate(&file, FallocateFlags::empty(), 0, size as u64)?;
    Ok(file)
}

/// Makes a file in memory, on the kernel's usual pages.
fn ordinary_pages(size: usize) -> io::Result<File> {
    memory_file(MemfdFlags::CLOEXEC, size)
}

fn memory_file(flags: MemfdFlags, size: usize) -> io::Result<File> {
    let file = memfd_create("fleetblast", flags)?;
    ftruncate(&file, size as u64)?;
    Ok(File::from(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_filled_apart_are_read_together() {
        let length = HUGE_PAGE + 5;
        // SAFETY: the ranges do not overlap.
        let mut first = unsafe { FillingMemory::first(length, 0..HUGE_PAGE) }.ok().unwrap();
        // SAFETY: the same.
        let second = unsafe { FillingMemory::join(&first.name(), length, HUGE_PAGE..length) };
        let mut second = second.ok().unwrap();
        assert!(first.populate().is_ok() && second.populate().is_ok());
        let (one, two) = (first.own_mut(), second.own_mut());
        one.fill(1);
        two.fill(2);
        one[0] = 3;
        let (first, second) = (first.complete(), second.complete());
        // SAFETY: both have given up the right to write.
        let (first, second) = unsafe { (first.read().ok().unwrap(), second.read().ok().unwrap()) };
        assert_eq!((first.len(), &first[..]), (2 * HUGE_PAGE, &second[..]));
        assert_eq!((first[0], first[1], &first[HUGE_PAGE..length]), (3, 1, &[2; 5][..]));
    }
}
