//! How much output a worker holds.

use crate::config::{Config, RESERVED_BUFFERS};

/// The account of a worker's memory for output. What is counted never exceeds [`Config::result_memory`].
#[derive(Clone, Debug)]
pub struct Memory {
    limit: u64,
    buffer: u64,
    /// Formatted pieces.
    pieces: u64,
    /// Granted to the answer under way, for pieces.
    granted: u64,
    /// Windows being collected or written.
    windows: u64,
    /// Parts being put together or sent.
    parts: u64,
    /// The portion of the collective write under way.
    collective: u64,
    peak: u64,
}

impl Memory {
    /// Nothing held.
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

    /// Bytes held or granted.
    pub fn used(&self) -> u64 {
        self.pieces + self.granted + self.windows + self.parts + self.collective
    }

    /// Bytes held.
    pub fn held(&self) -> u64 {
        self.used() - self.granted
    }

    /// The most that was ever held or granted, in bytes, without grants that were not used.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    fn note(&mut self) {
        debug_assert!(self.used() <= self.limit, "result memory exceeded: {self:?}");
        self.peak = self.peak.max(self.held());
    }

    /// Grants all that is left, but for what is set aside, to the answer that begins.
    pub fn grant(&mut self) -> u64 {
        let aside = RESERVED_BUFFERS * self.buffer;
        self.granted = self.limit.saturating_sub(aside + self.pieces);
        self.note();
        self.granted
    }

    /// The answer has ended and left this many bytes of pieces.
    pub fn settle(&mut self, kept: u64) {
        self.pieces += kept.min(self.granted);
        self.granted = 0;
        self.note();
    }

    /// Pieces of this many bytes are gone.
    pub fn free(&mut self, pieces: u64) {
        self.pieces = self.pieces.saturating_sub(pieces);
    }

    /// Makes room for a window, if there may be another.
    pub fn open_window(&mut self, length: u64) -> bool {
        let fits = self.windows + length <= 2 * self.buffer;
        if fits {
            self.windows += length;
            self.note();
        }
        fits
    }

    /// A window is written.
    pub fn close_window(&mut self, length: u64) {
        self.windows -= length;
    }

    /// Makes room for a part to send, if there may be another.
    pub fn open_part(&mut self, length: u64) -> bool {
        let fits = self.parts + length <= self.buffer;
        if fits {
            self.parts += length;
            self.note();
        }
        fits
    }

    /// A part has left.
    pub fn close_part(&mut self, length: u64) {
        self.parts -= length;
    }

    /// A collective write of this many bytes begins here, or ends with 0.
    pub fn collective(&mut self, length: u64) {
        self.collective = length;
        self.note();
    }
}
