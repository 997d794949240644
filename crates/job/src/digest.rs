//! Fingerprints of values: whether two processes have the same, or one had it before.

use std::fmt::{self, Debug, Write};

use serde::Serialize;
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

    /// Adds a value in the encoding of postcard, which contains no names of types or fields: other
    /// versions compare such fingerprints.
    pub fn add_encoded(&mut self, value: &impl Serialize) {
        // Lists, numbers and texts can always be encoded.
        self.0.update(&postcard::to_allocvec(value).unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn encoded_values_are_hashed_without_names() {
        #[derive(Serialize)]
        struct Named {
            number: u32,
            list: Vec<u8>,
        }
        let mut digest = Digest::default();
        digest.add_encoded(&Named { number: 300, list: vec![7, 8] });
        assert_eq!(digest.finish(), xxh3_128(&[0xac, 0x02, 2, 7, 8]));
    }
}
