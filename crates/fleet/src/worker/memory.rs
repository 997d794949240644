//! Tracks the memory that a worker's output takes.

use crate::config::{Config, RESERVED_WRITE_BUFFERS};

/// The memory of a worker for output, in bytes. The sum never exceeds [`Config::result_memory`].
#[derive(Clone, Debug)]
pub struct Memory {
    limit: u64,
    buffer: u64,
    /// Formatted pieces.
    pieces: u64,
    /// Granted for pieces of the answer that is being computed.
    granted: u64,
    /// Windows being collected or written.
    windows: u64,
    /// Parts being collected or sent.
    parts: u64,
    /// The portion of the running collective write.
    collective: u64,
    peak: u64,
}

impl Memory {
    /// Starts with nothing held.
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

    /// Returns the bytes held or granted.
    pub fn used(&self) -> u64 {
        self.pieces + self.granted + self.windows + self.parts + self.collective
    }

    /// Returns the bytes held.
    pub fn held(&self) -> u64 {
        self.used() - self.granted
    }

    /// Returns the largest number of bytes ever held.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    fn note(&mut self) {
        debug_assert!(self.used() <= self.limit, "result memory exceeded: {self:?}");
        self.peak = self.peak.max(self.held());
    }

    /// Grants all remaining memory, except the reserved buffers, to the answer that begins. Returns
    /// the granted bytes.
    pub fn grant(&mut self) -> u64 {
        let aside = RESERVED_WRITE_BUFFERS * self.buffer;
        self.granted = self.limit.saturating_sub(aside + self.pieces);
        self.note();
        self.granted
    }

    /// Ends the answer, which keeps this many bytes of pieces in memory.
    pub fn settle(&mut self, kept: u64) {
        self.pieces += kept.min(self.granted);
        self.granted = 0;
        self.note();
    }

    /// Releases the memory of pieces.
    pub fn free(&mut self, pieces: u64) {
        self.pieces = self.pieces.saturating_sub(pieces);
    }

    /// Reserves memory for a window; returns false if there is no room.
    pub fn open_window(&mut self, length: u64) -> bool {
        let fits = self.windows + length <= 2 * self.buffer;
        if fits {
            self.windows += length;
            self.note();
        }
        fits
    }

    /// Releases a window that is written.
    pub fn close_window(&mut self, length: u64) {
        self.windows -= length;
    }

    /// Reserves memory for a part to send; returns false if there is no room.
    pub fn open_part(&mut self, length: u64) -> bool {
        let fits = self.parts + length <= self.buffer;
        if fits {
            self.parts += length;
            self.note();
        }
        fits
    }

    /// Releases a part that has left.
    pub fn close_part(&mut self, length: u64) {
        self.parts -= length;
    }

    /// Sets the bytes of the running collective write; 0 ends it.
    pub fn set_collective(&mut self, length: u64) {
        self.collective = length;
        self.note();
    }
}
