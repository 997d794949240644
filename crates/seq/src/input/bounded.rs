//! Limits the length of compressed sequences. A small file can decompress to an endless sequence,
//! which would fill the memory.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;

/// Maximal number of bytes of text for each compressed byte of a sequence and its definition line.
/// Letters of sequences compress to a fourth. So this limit allows a sequence that is almost
/// entirely runs of N.
const MOST_RATIO: u64 = 256;
/// Number of bytes of text that every sequence may have, because chromosomes begin with runs of 20
/// million N.
const LEAST: u64 = 64 << 20;

/// Reader that counts the bytes it reads.
pub(super) struct CountingReader<R> {
    inner: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    /// Creates a reader of `inner`. Returns it with its counter.
    pub(super) fn new(inner: R) -> (Self, Arc<AtomicU64>) {
        let bytes_read = Arc::<AtomicU64>::default();
        (Self { inner, bytes_read: Arc::clone(&bytes_read) }, bytes_read)
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Reader of decompressed text. It fails when a sequence exceeds its limit.
pub(super) struct LimitedReader<R> {
    inner: R,
    /// Name of the input in errors.
    name: String,
    /// Counter of the compressed bytes.
    bytes_read: Arc<AtomicU64>,
    /// Value of `bytes_read` at the start of the current sequence.
    before: u64,
    /// Number of bytes of the current sequence, including its definition line.
    length: u64,
    /// Whether the last byte that was read ended a line.
    at_line: bool,
}

impl<R> LimitedReader<R> {
    pub(super) fn new(inner: R, bytes_read: Arc<AtomicU64>, name: String) -> Self {
        Self { inner, name, bytes_read, before: 0, length: 0, at_line: true }
    }

    fn note(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = bytes.last() else { return Ok(()) };
        let bytes_read = self.bytes_read.load(Ordering::Relaxed);
        let next = memmem::rfind(bytes, b"\n>").map(|at| at + 1);
        let next = next.or_else(|| (self.at_line && bytes[0] == b'>').then_some(0));
        self.length += bytes.len() as u64;
        if let Some(at) = next {
            (self.length, self.before) = ((bytes.len() - at) as u64, bytes_read);
        }
        self.at_line = *last == b'\n';
        let compressed = bytes_read.saturating_sub(self.before);
        if self.length <= LEAST.saturating_add(compressed.saturating_mul(MOST_RATIO)) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{}: a sequence of more than {} MB is compressed to less than 1/{MOST_RATIO} of that, as in files that are made \
                 to fill memory; decompress the file first if it is sound",
                self.name,
                self.length / 1_000_000
            ),
        ))
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.note(&buffer[..count])?;
        Ok(count)
    }
}
