//! Sequences of bits. The lowest bit of each byte comes first.

/// Writes a sequence of bits.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Number of bits of the last byte that are used; 0 if all of them are.
    used: u32,
}

impl BitWriter {
    /// Appends the lowest `count` bits of a value; `count` is at most 32.
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

    /// Appends a number in Rice's code: the number without its `low` lowest bits in unary, then
    /// these `low` bits.
    pub fn add_rice(&mut self, value: u32, low: u32) {
        for _ in 0..value >> low {
            self.add(1, 1);
        }
        self.add(0, 1);
        self.add(value, low);
    }

    /// Returns the bytes with all bits. The last byte is filled with zeros.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads a sequence of bits.
#[derive(Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read so far.
    position: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, position: 0 }
    }

    /// Reads the next `count` bits, at most 32. Returns `None` if fewer are left.
    pub fn read(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.position / 8)?;
            value |= u32::from(byte >> (self.position % 8) & 1) << bit;
            self.position += 1;
        }
        Some(value)
    }

    /// Reads a number in Rice's code with `low` lower bits. Returns `None` if it has more than 32
    /// bits, or if its code is incomplete.
    pub fn read_rice(&mut self, low: u32) -> Option<u32> {
        let mut high: u32 = 0;
        while self.read(1)? == 1 {
            high = high.checked_add(1)?;
        }
        let high = u64::from(high) << low;
        u32::try_from(high | u64::from(self.read(low)?)).ok()
    }

    /// Whether nothing is left but the zeros that fill the last byte.
    pub fn has_only_padding(mut self) -> bool {
        let left = self.bytes.len() * 8 - self.position;
        left < 8 && self.read(left as u32) == Some(0)
    }
}

/// Returns the parameter `low` with which Rice's code is shortest for numbers with this mean.
pub(crate) fn rice_low_bits(mean: u32) -> u32 {
    // The best `low` is about the logarithm to base 2 of ln 2 × mean.
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
        assert_eq!(bits.read(3), Some(5));
        assert_eq!(bits.read(32), Some(u32::MAX));
        assert_eq!(bits.read_rice(4), Some(77));
        assert_eq!(bits.read_rice(0), Some(0));
        assert!(bits.has_only_padding());
    }

    #[test]
    fn too_few_bits_are_none() {
        assert_eq!(BitReader::new(&[255]).read(9), None);
        assert_eq!(BitReader::new(&[255; 9]).read_rice(3), None);
        assert_eq!(BitReader::new(&[0b0111_1111, 0]).read_rice(31), None);
    }

    #[test]
    fn the_rice_code_is_nearly_the_shortest() {
        for mean in [1, 10, 100, 360, 1000, 100_000] {
            let cost = |low: u32| 1.0 + f64::from(low) + f64::from(mean) / f64::from(1u32 << low);
            let best = (0..20).map(cost).fold(f64::INFINITY, f64::min);
            assert!(cost(rice_low_bits(mean)) < best * 1.05 + 0.2, "{mean}");
        }
    }
}
