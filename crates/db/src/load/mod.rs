//! Loaders: bringing the bytes of partitions into memory.
//!
//! A searcher takes one partition after the other from a [`Supply`], which asks a [`Loader`], and
//! never opens a file. The methods differ in where the bytes end up:
//!
//! * `map` ([`Map`]) maps the page cache. There is one copy on a machine, however many processes
//!   search. For databases that fit in memory.
//! * `read` ([`Read`]) fills pages of the process, of 2 MB where the system has them. There is one
//!   copy in each process. For file systems that map badly, and where huge pages help.
//! * `direct` ([`Read`]) does the same, but bypasses the page cache. There is no copy if partitions
//!   are streamed through a few buffers. For databases larger than memory.
//! * `broadcast` ([`Held`]) fills memory that the processes of a machine share, of 2 MB pages where
//!   the system has them. There is one copy on a machine, filled by all of its processes. For
//!   network file systems and several machines.
//!
//! # One copy on a machine
//! [`Map`], the default for a database that fits, has one copy in the page cache, whatever the
//! number of processes. Nothing must be created, found again, locked or cleaned up. Streaming has a
//! few buffers in each process. Only `read` and `direct`, on request and if the database fits, have
//! a copy in each process. (A named segment in shared memory would give `read` one copy, too. But
//! shared memory gets huge pages only if the administrator has changed the mount or the kernel's
//! setting, and without them it has no advantage over the page cache.)
//!
//! # One reading for many machines
//! Each machine that maps files of a network file system reads them itself: a database on a hundred
//! machines is read a hundred times. With `broadcast` each byte is read once: each partition is
//! read by one process, with a [`FileSource`], which sends its bytes to the other machines that
//! hold it. The processes organise that; this module only makes a loader from the memory that they
//! filled. That memory must hold all partitions at once.
//!
//! # Why mapping is not enough
//! Reading a file through a mapping is limited by the read-ahead of the file system, not by the
//! disk: each page fault waits for its pages. So [`Map`] reads the pages that are not in the page
//! cache *before* it hands out the mapping, without copying a byte: it asks for 2 MB pages
//! (`MADV_HUGEPAGE`) and populates the mapping (`MADV_POPULATE_READ`) from a few threads.
//! From Linux 5.18 on such a fault reads 2 MB whatever the read-ahead, and twice that ahead; where
//! the file system has large folios (XFS, ext4 from 6.16) they are mapped as huge pages. (Measured
//! on one virtual disk, 1 GB, read-ahead of 0 and 128 kB: 0.35 s with 0.02 s of the kernel's time;
//! `dd` took 0.5 s at 128 kB and 18 s at 0.) On older kernels missing pages are requested in
//! advance, 1 MB at a time, since the kernel cuts a longer request to the limit of its device
//! (0.5 s, all of it the kernel's time for small pages).

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
pub use self::choice::{Choice, HELD_SHARE, Method, Purpose, Wish, choose};
pub use self::files::read_ahead;
pub use self::held::{FileSource, Held};
pub use self::map::Map;
pub(crate) use self::pages::HUGE_PAGE;
pub use self::pages::{HugePages, Pages};
pub use self::read::Read;
pub use self::supply::{Queue, Supply, Unit, Work};
use crate::{DbError, LoadedPartition, Partition};

/// Statistics of loading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes read from files.
    pub bytes: u64,
    /// Bytes received from other processes that read them.
    pub received: u64,
    /// Wall time.
    pub time: Duration,
}

/// Counts what is read.
#[derive(Default)]
struct Meter(Mutex<Statistics>);

impl Meter {
    /// Counts `bytes` that `read` reads.
    fn count<T>(&self, bytes: usize, read: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = read();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.bytes += bytes as u64;
        all.time += start.elapsed();
        result
    }

    fn get(&self) -> Statistics {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings partitions of one database into memory.
pub trait Loader: Send + Sync {
    /// Loads a partition. Blocks during reading, and while the loader's memory is full of
    /// partitions in use.
    ///
    /// # Errors
    /// Files that cannot be read or are too short.
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError>;

    /// Bytes loaded so far, and the time for it. Bytes of a mapping that were in the page cache are
    /// not counted.
    fn statistics(&self) -> Statistics;

    /// The smallest pages of loaded bytes; `None` for the page cache.
    fn pages(&self) -> Option<HugePages>;
}
