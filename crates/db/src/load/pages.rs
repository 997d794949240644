//! Memory for large ranges of a database, in huge pages if the system has them.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use memmap2::{Advice, MmapMut, MmapOptions};

use crate::DbError;

/// Size of a huge page in bytes. Sizes of large buffers are multiples of it.
pub(crate) const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Base 2 logarithm of [`HUGE_PAGE_BYTES`].
const HUGE_PAGE_BITS: u8 = 21;

/// The kind of memory pages, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageKind {
    /// Huge pages that the administrator reserved (`vm.nr_hugepages`).
    Reserved,
    /// Huge pages on request (`MADV_HUGEPAGE`), if the system has any.
    Transparent,
    /// Pages of the usual size.
    Small,
}

impl PageKind {
    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reserved => "reserved 2 MB pages",
            Self::Transparent => "transparent 2 MB pages",
            Self::Small => "4 kB pages",
        }
    }
}

/// Buffer for a large range of a database.
pub struct PageBuffer {
    map: MmapMut,
    kind: PageKind,
}

impl PageBuffer {
    /// Allocates `length` bytes, filled with zeros, on the largest available pages: reserved, else
    /// transparent, else small. A buffer below half a huge page gets small pages.
    ///
    /// # Errors
    /// [`DbError::OutOfMemory`] if the system has no memory left.
    pub fn new(length: usize) -> Result<Self, DbError> {
        let none = |size| move |source| DbError::OutOfMemory { size: size as u64, source };
        if length < HUGE_PAGE_BYTES / 2 {
            let size = length.max(1);
            let map = MmapMut::map_anon(size).map_err(none(size))?;
            return Ok(Self { map, kind: PageKind::Small });
        }
        let size = length.next_multiple_of(HUGE_PAGE_BYTES);
        // The system refuses at once if too few pages are reserved.
        if let Ok(map) = MmapOptions::new().len(size).huge(Some(HUGE_PAGE_BITS)).map_anon() {
            return Ok(Self { map, kind: PageKind::Reserved });
        }
        let map = MmapMut::map_anon(size).map_err(none(size))?;
        let kind = match map.advise(Advice::HugePage) {
            Ok(()) => PageKind::Transparent,
            Err(_) => PageKind::Small,
        };
        Ok(Self { map, kind })
    }

    /// Returns the kind of pages of the buffer.
    pub fn page_kind(&self) -> PageKind {
        self.kind
    }

    /// Returns the memory, which the caller fills.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

impl AsRef<[u8]> for PageBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

/// Pool of a few buffers that are reused, because the system must clear the pages of each new
/// buffer.
pub(crate) struct BufferPool {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    free: Vec<PageBuffer>,
    /// Number of buffers that are free or not yet allocated.
    left: usize,
    /// Minimal size of a buffer in bytes.
    size: usize,
}

/// A buffer borrowed from a pool. Dropping it returns it to the pool.
pub(crate) struct PooledBuffer {
    pages: Option<PageBuffer>,
    pool: Weak<BufferPool>,
}

impl BufferPool {
    /// Creates a pool of `buffers` buffers of at least `size` bytes. Each buffer is allocated at
    /// its first use.
    pub(crate) fn new(buffers: usize, size: usize) -> Self {
        let state = State { free: Vec::new(), left: buffers.max(1), size };
        Self { state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Borrows a buffer for at least `length` bytes; waits while all buffers are in use.
    pub(crate) fn borrow(self: &Arc<Self>, length: usize) -> Result<PooledBuffer, DbError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.left == 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let pages = match state.free.pop() {
            Some(pages) if pages.map.len() >= length => pages,
            // A buffer that is too small is freed before a larger one is allocated.
            small => {
                drop(small);
                PageBuffer::new(length.max(state.size))?
            }
        };
        state.left -= 1;
        let pool = Arc::downgrade(self);
        Ok(PooledBuffer { pages: Some(pages), pool })
    }
}

impl PooledBuffer {
    /// Returns the kind of pages of the buffer.
    pub(crate) fn page_kind(&self) -> PageKind {
        self.pages.as_ref().map_or(PageKind::Small, PageBuffer::page_kind)
    }

    /// Returns the memory, which the caller fills.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.pages.as_mut().map_or(&mut [], |pages| pages.bytes_mut())
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        self.pages.as_ref().map_or(&[], |pages| pages.as_ref())
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else { return };
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free.extend(self.pages.take());
        state.left += 1;
        drop(state);
        pool.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_buffer_is_large_enough_and_writable() {
        let mut pages = PageBuffer::new(HUGE_PAGE_BYTES + 1).unwrap();
        assert_eq!(pages.as_ref().len(), 2 * HUGE_PAGE_BYTES);
        pages.bytes_mut()[HUGE_PAGE_BYTES] = 7;
        assert_eq!(pages.as_ref()[HUGE_PAGE_BYTES], 7);
        assert!(pages.as_ref().iter().filter(|&&byte| byte != 0).count() == 1);
    }

    #[test]
    fn a_pool_waits_for_what_it_lent() {
        let pool = Arc::new(BufferPool::new(2, 1));
        let first = pool.borrow(10).unwrap();
        let second = pool.borrow(10).unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let pool = &pool;
            scope.spawn(move || {
                sender.send(pool.borrow(3 * HUGE_PAGE_BYTES).unwrap().as_ref().len())
            });
            assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
            drop(first);
            assert_eq!(receiver.recv().unwrap(), 3 * HUGE_PAGE_BYTES);
        });
        drop(second);
    }
}
