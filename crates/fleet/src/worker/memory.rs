//! Counts the memory that a worker's output takes.

use crate::config::{Config, RESERVED_WRITE_BUFFERS};

/// Memory of a worker for output, in bytes by purpose. The sum never exceeds
/// [`Config::result_memory`].
#[derive(Clone, Debug)]
pub struct Memory {
    limit: u64,
    buffer: u64,
    /// Bytes of formatted pieces.
    pieces: u64,
    /// Bytes granted for the pieces of the answer that is being computed.
    granted: u64,
    /// Bytes of windows that are being collected or written.
    windows: u64,
    /// Bytes of parts that are being collected or sent for other workers.
    parts: u64,
    /// Bytes of the portion of the running collective write.
    collective: u64,
    peak: u64,
}

impl Memory {
    /// Creates the count, with nothing held.
    pub fn new(config: &Config) -> Memory {
        Memory {
            limit: config.result_memory,
            buffer: config.write_buffer,
            pieces: 0,
            granted: 0,
            windows: 0,
            parts: 0,
            collective: 0,
            peak: 0,
        }
    }

    /// Returns the number of bytes held or granted.
    pub fn used_bytes(&self) -> u64 {
        self.pieces + self.granted + self.windows + self.parts + self.collective
    }

    /// Returns the number of bytes held.
    pub fn held_bytes(&self) -> u64 {
        self.used_bytes() - self.granted
    }

    /// Returns the largest number of bytes held at any time so far.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    fn note(&mut self) {
        debug_assert!(self.used_bytes() <= self.limit, "result memory exceeded: {self:?}");
        self.peak = self.peak.max(self.held_bytes());
    }

    /// Grants all remaining memory, except the reserved buffers, to the answer that begins. Returns
    /// the number of granted bytes.
    pub fn grant(&mut self) -> u64 {
        let aside = RESERVED_WRITE_BUFFERS * self.buffer;
        self.granted = self.limit.saturating_sub(aside + self.pieces);
        self.note();
        self.granted
    }

    /// Ends the answer that is being computed, which keeps `kept` bytes of formatted pieces in
    /// memory.
    pub fn settle(&mut self, kept: u64) {
        self.pieces += kept.min(self.granted);
        self.granted = 0;
        self.note();
    }

    /// Releases `pieces` bytes of formatted pieces.
    pub fn free(&mut self, pieces: u64) {
        self.pieces = self.pieces.saturating_sub(pieces);
    }

    /// Reserves memory for a window. Returns false if there is no room.
    pub fn open_window(&mut self, length: u64) -> bool {
        let fits = self.windows + length <= 2 * self.buffer;
        if fits {
            self.windows += length;
            self.note();
        }
        fits
    }

    /// Releases the memory of a window that has been written or handed over.
    pub fn close_window(&mut self, length: u64) {
        self.windows -= length;
    }

    /// Reserves memory for a part to send. Returns false if there is no room.
    pub fn open_part(&mut self, length: u64) -> bool {
        let fits = self.parts + length <= self.buffer;
        if fits {
            self.parts += length;
            self.note();
        }
        fits
    }

    /// Releases the memory of a part that has left.
    pub fn close_part(&mut self, length: u64) {
        self.parts -= length;
    }

    /// Sets the number of bytes of the running collective write; 0 ends the write.
    pub fn set_collective(&mut self, length: u64) {
        self.collective = length;
        self.note();
    }
}
