//! Fingerprints of values: whether two processes have the same, or one had it before.

use std::fmt::{self, Debug, Write};

use xxhash_rust::xxh3::Xxh3;

/// Takes values one after the other.
#[derive(Default)]
pub struct Digest(Xxh3);

impl Digest {
    /// Adds all that `Debug` shows of a value, whose order must be its own: no hash maps.
    pub fn add(&mut self, value: &impl Debug) {
        // The hasher takes everything.
        let _ = write!(self, "{value:?};");
    }

    /// The fingerprint of all that was added.
    pub fn finish(&self) -> u128 {
        self.0.digest128()
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
