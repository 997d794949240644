//! Bits one after the other, the lowest of a byte first.

/// Takes bits.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last byte that are taken, 0 for all.
    used: u32,
}

impl BitWriter {
    /// Adds the lowest `count` bits of a value, at most 32.
    pub fn add(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            if self.used == 0 {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> bit & 1) as u8) << self.used;
            }
            self.used = (self.used + 1) % 8;
        }
    }

    /// Adds a number in Rice's code: its upper bits in unary, `low` lower bits as they are.
    pub fn add_rice(&mut self, value: u32, low: u32) {
        for _ in 0..value >> low {
            self.add(1, 1);
        }
        self.add(0, 1);
        self.add(value, low);
    }

    /// All bits, and zeros to fill the last byte.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Gives bits back.
#[derive(Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits taken.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// The next `count` bits, at most 32; `None` where there are not so many.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }

    /// A number in Rice's code; `None` for one of more than 32 bits.
    pub fn take_rice(&mut self, low: u32) -> Option<u32> {
        let mut high: u32 = 0;
        while self.take(1)? == 1 {
            high = high.checked_add(1)?;
        }
        let high = u64::from(high) << low;
        u32::try_from(high | u64::from(self.take(low)?)).ok()
    }

    /// Whether nothing is left but zeros that fill the last byte.
    pub fn ends(mut self) -> bool {
        let left = self.bytes.len() * 8 - self.at;
        left < 8 && self.take(left as u32) == Some(0)
    }
}

/// The number of lower bits with which Rice's code of numbers of this mean is about the shortest.
pub(crate) fn rice_low(mean: u32) -> u32 {
    // The code is best with about as many as ln 2 times the mean has.
    (u64::from(mean) * 177 / 256).max(1).ilog2().min(31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back() {
        let mut bits = BitWriter::default();
        bits.add(5, 3);
        bits.add(u32::MAX, 32);
        bits.add_rice(77, 4);
        bits.add_rice(0, 0);
        let bytes = bits.finish();
        let mut bits = BitReader::new(&bytes);
        assert_eq!(bits.take(3), Some(5));
        assert_eq!(bits.take(32), Some(u32::MAX));
        assert_eq!(bits.take_rice(4), Some(77));
        assert_eq!(bits.take_rice(0), Some(0));
        assert!(bits.ends());
    }

    #[test]
    fn too_few_bits_are_none() {
        assert_eq!(BitReader::new(&[255]).take(9), None);
        assert_eq!(BitReader::new(&[255; 9]).take_rice(3), None);
        assert_eq!(BitReader::new(&[0b0111_1111, 0]).take_rice(31), None);
    }

    #[test]
    fn rice_is_about_as_short_as_can_be() {
        for mean in [1, 10, 100, 360, 1000, 100_000] {
            let cost = |low: u32| 1.0 + f64::from(low) + f64::from(mean) / f64::from(1u32 << low);
            let best = (0..20).map(cost).fold(f64::INFINITY, f64::min);
            assert!(cost(rice_low(mean)) < best * 1.05 + 0.2, "{mean}");
        }
    }
}
