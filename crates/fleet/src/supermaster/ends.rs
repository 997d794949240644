//! Ends of blocks' outputs, which the supermaster writes (see [`crate::seams`]).

use crate::payload::Payload;
use crate::seams::within;

/// What has come of them, and what has not.
#[derive(Debug)]
pub struct Ends<P> {
    /// `None` if workers write all that they have.
    grain: Option<u64>,
    /// What has come, with its places.
    waiting: Vec<(u64, P)>,
    waiting_bytes: u64,
    /// Bytes being written.
    writing: u64,
    /// Bytes that are not written, of blocks whose places are known.
    missing: u64,
}

impl<P: Payload> Ends<P> {
    /// None.
    pub fn new(grain: Option<u64>) -> Ends<P> {
        Ends { grain, waiting: Vec::new(), waiting_bytes: 0, writing: 0, missing: 0 }
    }

    /// The output of a block will stand at `base`.
    pub fn expect(&mut self, base: u64, size: u64) {
        let Some(grain) = self.grain else { return };
        let inner = within(&(base..base + size), grain);
        self.missing += size - (inner.end - inner.start);
    }

    /// Some bytes have come. False for more than are missing: a fault of the program.
    #[must_use]
    pub fn take(&mut self, offset: u64, bytes: P) -> bool {
        self.waiting_bytes += bytes.bytes();
        self.waiting.push((offset, bytes));
        self.waiting_bytes + self.writing <= self.missing
    }

    /// Bytes that have come and are not written.
    pub fn bytes(&self) -> u64 {
        self.waiting_bytes + self.writing
    }

    /// What to write next, if anything is there; all of it, at once.
    pub fn next(&mut self) -> Option<Vec<(u64, P)>> {
        if self.waiting.is_empty() {
            return None;
        }
        self.writing = std::mem::take(&mut self.waiting_bytes);
        Some(std::mem::take(&mut self.waiting))
    }

    /// It is written.
    pub fn written(&mut self) {
        self.missing -= std::mem::take(&mut self.writing);
    }

    /// Whether all that will come of blocks whose places are known is written.
    pub fn are_written(&self) -> bool {
        self.missing == 0
    }
}
