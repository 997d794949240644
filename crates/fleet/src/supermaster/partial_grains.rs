//! Collects the bytes of grains that several blocks share. The supermaster writes them (see
//! [`crate::seams`]).

use crate::payload::Payload;
use crate::seams::whole_grains;

/// Bytes of partial grains that have arrived and are not written, and the number of missing bytes.
#[derive(Debug)]
pub struct PartialGrains<P> {
    /// Size of a grain in bytes; `None` if workers write all their bytes themselves.
    grain: Option<u64>,
    /// Bytes that have arrived and are not being written, with their offsets.
    waiting: Vec<(u64, P)>,
    waiting_bytes: u64,
    /// Number of bytes that are being written.
    writing: u64,
    /// Number of bytes not written yet, for all blocks whose offsets are known.
    missing: u64,
}

impl<P: Payload> PartialGrains<P> {
    /// Creates an empty collection.
    pub fn new(grain: Option<u64>) -> PartialGrains<P> {
        PartialGrains { grain, waiting: Vec::new(), waiting_bytes: 0, writing: 0, missing: 0 }
    }

    /// Expects the partial grains of a block whose output has `size` bytes and begins at `base`.
    pub fn expect_block(&mut self, base: u64, size: u64) {
        let Some(grain) = self.grain else { return };
        let inner = whole_grains(&(base..base + size), grain);
        self.missing += size - (inner.end - inner.start);
    }

    /// Adds bytes that have arrived. Returns false if they exceed the expected bytes, which is a
    /// fault of the program.
    #[must_use]
    pub fn receive(&mut self, offset: u64, bytes: P) -> bool {
        self.waiting_bytes += bytes.bytes();
        self.waiting.push((offset, bytes));
        self.waiting_bytes + self.writing <= self.missing
    }

    /// Returns the number of bytes that have arrived and are not written yet.
    pub fn bytes(&self) -> u64 {
        self.waiting_bytes + self.writing
    }

    /// Returns all bytes that wait to be written, or `None` if there are none. They count as being
    /// written.
    pub fn next(&mut self) -> Option<Vec<(u64, P)>> {
        if self.waiting.is_empty() {
            return None;
        }
        self.writing = std::mem::take(&mut self.waiting_bytes);
        Some(std::mem::take(&mut self.waiting))
    }

    /// Notes that the bytes that [`PartialGrains::next`] returned last are written.
    pub fn record_written_grains(&mut self) {
        self.missing -= std::mem::take(&mut self.writing);
    }

    /// Whether all expected bytes are written.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }
}
