//! Fingerprints of values, to compare them between processes and runs.

use fleetblast_db::fingerprint::encode_for_fingerprint;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// Returns the fingerprint of one value in 32 hexadecimal digits.
pub fn checksum(value: &impl Serialize) -> String {
    let mut digest = Digest::default();
    digest.add(value);
    format!("{:032x}", digest.finish())
}

/// Hasher for the fingerprint of several values.
#[derive(Default)]
pub struct Digest(Xxh3);

impl Digest {
    /// Adds a value. It is encoded without names of types and fields, so that other versions can
    /// compare fingerprints. It must contain no hash maps, because their order is undefined.
    pub fn add(&mut self, value: &impl Serialize) {
        self.0.update(&encode_for_fingerprint(value));
    }

    /// Returns the fingerprint of all added values.
    pub fn finish(&self) -> u128 {
        self.0.digest128()
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
        digest.add(&Named { number: 300, list: vec![7, 8] });
        assert_eq!(digest.finish(), xxh3_128(&[0xac, 0x02, 2, 7, 8]));
    }
}
