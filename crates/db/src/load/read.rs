//! Loads partitions by reading them into memory of this process.

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::OFlags;

use super::advice::populate_pages;
use super::files::{OpenedFiles, READ_BYTES, VolumeReader, run_parallel};
use super::pages::{BufferPool, HUGE_PAGE_BYTES};
use super::{LoadStatistics, Loader, Meter, PageBuffer, PageKind};
use crate::partition::{FilledMemory, VolumeFile, VolumePiece};
use crate::{Database, DbError, LoadedPartition, Partition, PartitionContents, SharedBytes};

/// Alignment in bytes of offset, length and memory of a direct read. (Every device accepts this;
/// many accept less.)
const ALIGNMENT: usize = 4096;

/// Loads partitions by large reads, several at a time, into the largest available pages.
///
/// Direct reads (`O_DIRECT`) bypass the page cache: the cache gets no second copy and keeps other
/// files. If a file system does not support them, ordinary reads replace them.
pub struct ReadLoader {
    files: OpenedFiles<Source>,
    direct: bool,
    /// Whether page faults in the database's mapping read 2 MB.
    large_reads: bool,
    /// Reused buffers; `None` if each partition gets its own memory.
    pool: Option<Arc<BufferPool>>,
    /// Smallest kind of pages of all buffers so far.
    pages: Mutex<Option<PageKind>>,
    meter: Meter,
}

/// An opened file, for ordinary and possibly direct reads.
struct Source {
    reader: VolumeReader,
    /// The file opened again for direct reads, if the file system supports them.
    direct: Option<VolumeReader>,
}

/// One read from a file into a part of the buffer.
struct Job<'a> {
    source: Arc<Source>,
    /// Byte offset in the file, a multiple of [`ALIGNMENT`].
    from: u64,
    /// Number of bytes required.
    needed: usize,
    /// Space for the required bytes and the rest of the last disk block.
    buffer: &'a mut [u8],
    /// The required bytes in the database's mapping, if page faults are the fastest way to bring
    /// them into the page cache.
    mapped: Option<&'a [u8]>,
}

impl ReadLoader {
    /// Creates a loader for partitions of `database` with these contents. With `direct` it bypasses
    /// the page cache.
    pub fn new(database: Database, contents: PartitionContents, direct: bool) -> Self {
        let large_reads = !direct && database.prefer_large_pages(contents);
        let files = OpenedFiles::new(database);
        let (pages, meter) = (Mutex::new(None), Meter::default());
        Self { files, direct, large_reads, pool: None, pages, meter }
    }

    /// Limits the loader to `buffers` buffers of at least `size` bytes. [`Loader::load`] waits
    /// until one is free.
    pub fn with_buffers(mut self, buffers: usize, size: usize) -> Self {
        self.pool = Some(Arc::new(BufferPool::new(buffers, size)));
        // Mapped pages count as memory of this process, which the buffers are to limit.
        self.large_reads = false;
        self
    }

    /// Records the kind of pages of a buffer of `size` bytes. Ignores small buffers, which cannot
    /// be on huge pages.
    fn note(&self, size: usize, kind: PageKind) {
        if size < HUGE_PAGE_BYTES {
            return;
        }
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        *pages = Some(pages.map_or(kind, |least| least.max(kind)));
    }

    fn source(&self, piece: &VolumePiece, file: VolumeFile) -> Result<Arc<Source>, DbError> {
        self.files.get_or_open(piece, file, |open| {
            let reader = open(OFlags::empty())?;
            // Opening fails if the file system does not support direct reads.
            let direct = if self.direct { open(OFlags::DIRECT).ok() } else { None };
            Ok(Source { reader, direct })
        })
    }

    /// Reads the spans of a partition into `buffer`, one after the other. Returns the offset of
    /// each span in the buffer.
    fn fill(&self, partition: &Partition, mut buffer: &mut [u8]) -> Result<Vec<usize>, DbError> {
        let (mut jobs, mut starts) = (Vec::new(), Vec::new());
        let mut used = 0;
        for piece in &partition.pieces {
            let volume = self.files.database().volume(piece.volume);
            for span in &piece.spans {
                let source = self.source(piece, span.part.volume_file())?;
                let from = span.bytes.start / ALIGNMENT as u64 * ALIGNMENT as u64;
                let lead = (span.bytes.start - from) as usize;
                let needed = lead + (span.bytes.end - span.bytes.start) as usize;
                let (part, rest) = buffer.split_at_mut(needed.next_multiple_of(ALIGNMENT));
                buffer = rest;
                starts.push(used + lead);
                used += part.len();
                for (number, chunk) in part.chunks_mut(READ_BYTES).enumerate() {
                    let before = number * READ_BYTES;
                    let start = from + before as u64;
                    let count = chunk.len().min(needed - before);
                    let mapped = volume.filter(|_| self.large_reads);
                    jobs.push(Job {
                        source: Arc::clone(&source),
                        from: start,
                        needed: count,
                        buffer: chunk,
                        mapped: mapped
                            .and_then(|v| v.loaded_range(span.part, start..start + count as u64)),
                    });
                }
            }
        }
        let read: usize = jobs.iter().map(|job| job.needed).sum();
        self.meter.count(read, || run_parallel(jobs, Job::run))?;
        Ok(starts)
    }
}

impl Job<'_> {
    fn run(self) -> Result<(), DbError> {
        let got = self.source.direct.as_ref().map_or(0, |direct| {
            // If the direct read failed or ended within a disk block, the ordinary read gets the
            // rest or the error.
            read_direct(direct, self.buffer, self.from, self.needed).unwrap_or(0)
        });
        if got >= self.needed {
            return Ok(());
        }
        let rest = &mut self.buffer[got..self.needed];
        let from = self.from + got as u64;
        if !self.mapped.is_some_and(populate_pages) {
            self.source.reader.announce(from, rest.len());
        }
        self.source.reader.read_exact(rest, from)
    }
}

/// Reads whole disk blocks until `needed` bytes are read or the file ends.
fn read_direct(
    file: &VolumeReader,
    buffer: &mut [u8],
    from: u64,
    needed: usize,
) -> std::io::Result<usize> {
    let mut got = 0;
    while got < needed && got.is_multiple_of(ALIGNMENT) {
        match file.file.read_at(&mut buffer[got..], from + got as u64) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got.min(needed))
}

/// Returns the number of bytes of memory that reading a partition needs.
pub(crate) fn memory_needed(partition: &Partition) -> usize {
    let spans = partition.pieces.iter().flat_map(|piece| &piece.spans);
    let room = |bytes: &std::ops::Range<u64>| {
        let from = bytes.start / ALIGNMENT as u64 * ALIGNMENT as u64;
        ((bytes.end - from) as usize).next_multiple_of(ALIGNMENT)
    };
    spans.map(|span| room(&span.bytes)).sum()
}

impl Loader for ReadLoader {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let size = memory_needed(partition);
        let (memory, starts): (SharedBytes, _) = match &self.pool {
            Some(pool) => {
                let mut buffer = pool.borrow(size)?;
                self.note(size, buffer.page_kind());
                let starts = self.fill(partition, buffer.bytes_mut())?;
                (Arc::new(buffer), starts)
            }
            None => {
                let mut pages = PageBuffer::new(size)?;
                self.note(size, pages.page_kind());
                let starts = self.fill(partition, pages.bytes_mut())?;
                (Arc::new(pages), starts)
            }
        };
        let filled =
            starts.into_iter().map(|start| FilledMemory { memory: Arc::clone(&memory), start });
        LoadedPartition::new(self.files.database(), partition, filled).map(Arc::new)
    }

    fn statistics(&self) -> LoadStatistics {
        self.meter.get()
    }

    fn page_kind(&self) -> Option<PageKind> {
        *self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
