//! The memory itself.
//!
//! A file that exists in memory only (`memfd_create`), which the first rank of a host makes, and the others open by
//! way of `/proc`. The ways that lost: an MPI window never asks for huge pages (MPICH gave none at all); a file in
//! `/dev/shm` has a name that stays behind if ranks are killed before they remove it, and its file system is half of
//! the memory by default, 64 MB in many containers.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use memmap2::{Advice, Mmap, MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};

/// Size of a huge page, and what segments are rounded up to.
const HUGE_PAGE: usize = 2 << 20;

/// Memory of all ranks of a host.
pub(super) enum Segment {
    /// While it is filled; the file is there for the others to open.
    Filling(MmapMut, File),
    /// Nobody writes any more.
    Filled(Mmap),
}

/// What failed in making a segment.
pub(super) struct Trouble {
    pub(super) step: &'static str,
    pub(super) source: io::Error,
}

fn step<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> Trouble {
    move |source| Trouble { step, source: source.into() }
}

impl Segment {
    /// A new segment for `length` bytes.
    pub(super) fn first(length: usize) -> Result<Self, Trouble> {
        let size = rounded(length);
        let file = match reserved_pages(size) {
            Ok(file) => file,
            // No pages are reserved, or too few: the usual case.
            Err(_) => ordinary_pages(size).map_err(step("making a file in memory"))?,
        };
        Self::map(file, size)
    }

    /// By which name other processes of this host can open the segment.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Filling(_, file) => {
                format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
            }
            Self::Filled(_) => String::new(),
        }
    }

    /// Another rank's segment.
    pub(super) fn join(name: &str, length: usize) -> Result<Self, Trouble> {
        let file = OpenOptions::new().read(true).write(true).open(name);
        Self::map(file.map_err(step("opening that of the host's first rank"))?, rounded(length))
    }

    fn map(file: File, size: usize) -> Result<Self, Trouble> {
        // SAFETY: the file has no name, `size` bytes from the start, and is never shortened. Other ranks write to it
        // while this one does, but never to the same bytes (see `agree_on_shares`), and nobody reads bytes of others
        // before all have finished.
        let map = unsafe { MmapOptions::new().len(size).map_mut(&file) };
        let map = map.map_err(step("mapping memory"))?;
        // Where huge pages are switched off this fails, and there are small ones.
        let _ = map.advise(Advice::HugePage);
        Ok(Self::Filling(map, file))
    }

    /// Has the system provide the memory of a range now. A page that is missing later would be a signal, not an error.
    pub(super) fn populate(&self, range: Range<usize>) -> Result<(), Trouble> {
        let Self::Filling(map, file) = self else { return Ok(()) };
        if range.is_empty() {
            return Ok(());
        }
        let done = map.advise_range(Advice::PopulateWrite, range.start, range.len());
        let done = match done {
            // Linux before 5.14. These pages are small.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let (offset, length) = (range.start as u64, range.len() as u64);
                fallocate(file, FallocateFlags::empty(), offset, length).map_err(io::Error::from)
            }
            done => done,
        };
        done.map_err(step("getting the memory"))
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Filling(map, _) => map,
            Self::Filled(_) => &mut [],
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Filling(map, _) => map,
            Self::Filled(map) => map,
        }
    }

    /// The segment, which this rank cannot write any more.
    pub(super) fn read_only(self) -> Result<Self, Trouble> {
        match self {
            Self::Filling(map, _) => {
                Ok(Self::Filled(map.make_read_only().map_err(step("protecting memory"))?))
            }
            other => Ok(other),
        }
    }
}

fn rounded(length: usize) -> usize {
    length.max(1).next_multiple_of(HUGE_PAGE)
}

/// A file in memory, on huge pages that the administrator reserved (`vm.nr_hugepages`).
fn reserved_pages(size: usize) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let file = memory_file(flags, size)?;
    fallocate(&file, FallocateFlags::empty(), 0, size as u64)?;
    Ok(file)
}

/// A file in memory, on the kernel's usual pages.
fn ordinary_pages(size: usize) -> io::Result<File> {
    memory_file(MemfdFlags::CLOEXEC, size)
}

fn memory_file(flags: MemfdFlags, size: usize) -> io::Result<File> {
    let file = memfd_create("fleetblast", flags)?;
    ftruncate(&file, size as u64)?;
    Ok(File::from(file))
}
