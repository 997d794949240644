//! Brings the bytes of partitions into memory.
//!
//! A search gets one partition after the other from a [`PartitionSupply`], which uses a [`Loader`].
//! The search itself never opens a file. The methods of loading store the bytes in different
//! places:
//!
//! * `map` ([`MapLoader`]) maps the page cache. There is one copy on a host, however many processes
//!   search. It is for databases that fit in memory.
//! * `read` ([`ReadLoader`]) fills memory of the process, in 2 MB pages where the system has them.
//!   There is one copy in each process. It is for file systems that map badly, and where huge pages
//!   help.
//! * `direct` ([`ReadLoader`]) does the same, but bypasses the page cache. There is no copy if
//!   partitions are streamed through a few buffers. It is for databases larger than memory.
//! * `broadcast` ([`MemoryLoader`]) fills memory that the processes of a host share, in 2 MB pages
//!   where the system has them. There is one copy on a host, and all of its processes fill it. It
//!   is for network file systems and several hosts.
//!
//! # Copies on a host
//! [`MapLoader`] is the default for a database that fits into memory. It has one copy in the page
//! cache, whatever the number of processes. Nothing must be created, found again, locked or cleaned
//! up. Streaming has a few buffers in each process. Only `read` and `direct` have a copy in each
//! process. They are used on request, and only if the database fits. (A named segment in shared
//! memory would give `read` one copy, too. But shared memory gets huge pages only if the
//! administrator has changed the mount or the setting of the operating system. Without huge pages
//! it has no advantage over the page cache.)
//!
//! # Reading once for many hosts
//! Each host that maps files of a network file system reads them itself: a hundred hosts read a
//! database a hundred times. With `broadcast` each byte is read once. One process reads each
//! partition with a [`FileSource`] and sends its bytes to the other hosts that need it. The
//! processes organise that transfer. This module only makes a loader from the memory that they
//! filled. The memory must hold all partitions at once.
//!
//! # Mapping and read-ahead
//! The read-ahead of the file system limits reads through a mapping, not the disk: each page fault
//! waits for its pages. So [`MapLoader`] reads the pages that are not in the page cache *before* it
//! returns the mapping, without copying a byte. It requests 2 MB pages (`MADV_HUGEPAGE`) and
//! populates the mapping (`MADV_POPULATE_READ`) from a few threads. From Linux 5.18 on such a page
//! fault reads 2 MB whatever the read-ahead, and twice that in advance. A file system with large
//! folios (XFS, ext4 from 6.16) maps them as huge pages. (Measured on one virtual disk, 1 GB,
//! read-ahead of 0 and 128 kB: 0.35 s with 0.02 s of system time; `dd` took 0.5 s at 128 kB and 18
//! s at 0.) On older systems missing pages are announced, 1 MB at a time, since Linux cuts a longer
//! request to the limit of the device. (This took 0.5 s, all of it system time for small pages.)

mod advice;
mod choice;
mod files;
mod held;
pub mod machine;
mod map;
pub mod measure;
mod pages;
mod read;
mod supply;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use self::advice::resident_bytes;
pub use self::choice::{
    LoadMethod, LoadPurpose, LoaderChoice, LoaderRequest, MAX_MEMORY_FRACTION, choose_loader,
};
pub use self::files::read_ahead_bytes;
pub use self::held::{FileSource, MemoryLoader};
pub use self::map::MapLoader;
pub(crate) use self::pages::HUGE_PAGE_BYTES;
pub use self::pages::{PageBuffer, PageKind};
pub use self::read::ReadLoader;
pub use self::supply::{LoadUnit, LoadedRange, PartitionSupply, RangeQueue};
use crate::{DbError, LoadedPartition, Partition};

/// Bytes loaded, and the time that loading took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadStatistics {
    /// Bytes read from files.
    pub read_bytes: u64,
    /// Bytes received from other processes, which read them.
    pub received_bytes: u64,
    /// Wall time of reading and receiving together.
    pub wall_time: Duration,
}

/// Counter of the bytes read, and of the time of reading.
#[derive(Default)]
struct Meter(Mutex<LoadStatistics>);

impl Meter {
    /// Calls `read`, which reads `bytes` bytes, and adds these bytes and the time to the counter.
    fn count<T>(&self, bytes: usize, read: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = read();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.read_bytes += bytes as u64;
        all.wall_time += start.elapsed();
        result
    }

    fn get(&self) -> LoadStatistics {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings partitions of one database into memory.
pub trait Loader: Send + Sync {
    /// Loads a partition. Waits for the reads, and while partitions in use occupy all of the
    /// loader's memory.
    ///
    /// # Errors
    /// Errors of files that cannot be read or are too short.
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError>;

    /// Returns the bytes loaded so far, and the time that this took. Bytes of a mapping that were
    /// already in the page cache do not count.
    fn statistics(&self) -> LoadStatistics;

    /// Returns the smallest kind of pages that hold loaded bytes; `None` for the page cache.
    fn page_kind(&self) -> Option<PageKind>;
}
