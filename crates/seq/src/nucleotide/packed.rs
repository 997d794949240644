//! Packed bases at two bits each, as databases store them.

/// View of packed bases: A 0, C 1, G 2, T 3; four per byte, the first in the high bits. An
/// ambiguous base is stored as one of its possible bases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packed<'a> {
    bytes: &'a [u8],
    length: u32,
}

impl<'a> Packed<'a> {
    /// Creates a view of the first `length` bases in `bytes`. The low bits of the last byte may be
    /// unused.
    ///
    /// # Panics
    /// If `bytes` has fewer bases.
    pub fn new(bytes: &'a [u8], length: u32) -> Packed<'a> {
        assert!(
            bytes.len() >= (length as usize).div_ceil(4),
            "{length} bases in {} bytes",
            bytes.len()
        );
        Packed { bytes, length }
    }

    /// Makes a view of a sequence as stored in a database. The low bits of the last byte are the
    /// number of bases in that byte.
    pub fn stored(bytes: &'a [u8]) -> Packed<'a> {
        let length =
            bytes.split_last().map_or(0, |(last, full)| 4 * full.len() + usize::from(last & 3));
        Packed { bytes, length: length as u32 }
    }

    /// Returns the number of bases.
    #[inline]
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Returns the packed bytes. Bits and bytes after the last base have no meaning.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the two-bit code of the base at a position.
    ///
    /// # Panics
    /// If there is no byte for this position.
    #[inline]
    pub fn base(&self, at: u32) -> u8 {
        self.bytes[at as usize / 4] >> (6 - 2 * (at & 3)) & 3
    }

    /// Appends the two-bit code of each base to `bases`.
    pub fn unpack(&self, bases: &mut Vec<u8>) {
        let length = self.length as usize;
        bases.reserve(length.next_multiple_of(4));
        let end = bases.len() + length;
        for byte in &self.bytes[..length.div_ceil(4)] {
            bases.extend([byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3]);
        }
        bases.truncate(end);
    }

    /// Makes a view of `length` bases from position `start`, a multiple of four.
    ///
    /// # Panics
    /// If `start` is no multiple of four, or there are fewer bases.
    pub fn part(&self, start: u32, length: u32) -> Packed<'a> {
        assert!(start.is_multiple_of(4) && start + length <= self.length);
        Packed { bytes: &self.bytes[start as usize / 4..], length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_read_from_the_high_bits_down() {
        let bases = Packed::stored(&[0b0001_1011, 0b1110_0010]);
        assert_eq!(bases.length(), 6);
        assert_eq!((0..6).map(|at| bases.base(at)).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 2]);
        let mut unpacked = vec![9];
        bases.unpack(&mut unpacked);
        assert_eq!(unpacked, [9, 0, 1, 2, 3, 3, 2]);
        let part = bases.part(4, 2);
        assert_eq!((part.length(), part.base(0)), (2, 3));
    }
}
