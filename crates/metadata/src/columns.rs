//! Columns: numbers of the same kind, stored one after the other. They compress better than mixed
//! numbers.

use crate::error::OutOfMemory;
use crate::values::{ContentKind, Decompressor, compress};

/// The bytes of a column that is being written.
#[derive(Debug, Default)]
pub(crate) struct Column(pub Vec<u8>);

impl Column {
    /// Appends a number: seven bits in each byte, the lowest bits first. The eighth bit is set in
    /// all bytes but the last.
    pub fn add(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Appends a number that may be negative: 0, -1, 1, -2 … are written as 0, 1, 2, 3 …
    pub fn add_signed(&mut self, value: i64) {
        self.add((value << 1 ^ value >> 63) as u64);
    }

    /// Appends the eight bytes of a floating-point number.
    pub fn add_real(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }
}

/// Joins columns and compresses those that become smaller. Before each column it writes a number:
/// twice the number of bytes in the column, plus one if the column is compressed.
///
/// # Errors
/// There is not enough memory to compress a column.
pub(crate) fn join<const N: usize>(columns: [Column; N]) -> Result<Vec<u8>, OutOfMemory> {
    let mut all = Column::default();
    for Column(plain) in columns {
        let packed = compress(&plain, ContentKind::Column)?;
        let is_packed = !plain.is_empty() && packed.len() < plain.len();
        let bytes = if is_packed { packed } else { plain };
        all.add((bytes.len() as u64) << 1 | u64::from(is_packed));
        all.0.extend(bytes);
    }
    Ok(all.0)
}

/// Reads the numbers of a decompressed column.
#[derive(Debug)]
pub(crate) struct ColumnReader {
    bytes: Vec<u8>,
    position: usize,
}

impl ColumnReader {
    /// Reads the next number; `None` if no valid number is left.
    pub fn read(&mut self) -> Option<u64> {
        let (value, length) = decode_number(self.bytes.get(self.position..)?)?;
        self.position += length;
        Some(value)
    }

    /// Reads the next number; `None` if it has more than 32 bits, or if no valid number is left.
    pub fn read_u32(&mut self) -> Option<u32> {
        self.read()?.try_into().ok()
    }

    /// Reads the next number that may be negative, as [`Column::add_signed`] wrote it.
    pub fn read_signed(&mut self) -> Option<i64> {
        let value = self.read()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the next floating-point number; `None` if too few bytes are left.
    pub fn read_real(&mut self) -> Option<f64> {
        let bytes = self.bytes.get(self.position..)?.first_chunk::<8>()?;
        self.position += 8;
        Some(f64::from_le_bytes(*bytes))
    }

    /// Returns all bytes of the column, also those read already.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether all numbers of the column have been read.
    pub fn is_done(&self) -> bool {
        self.position == self.bytes.len()
    }
}

/// Most columns that may be joined.
pub(crate) const MOST_COLUMNS: usize = 16;

/// Splits joined columns without decompressing them. Returns the bytes of each column, and whether
/// they are compressed; `None` for invalid bytes.
pub(crate) fn packed_columns(mut bytes: &[u8]) -> Option<Vec<(&[u8], bool)>> {
    let mut columns = Vec::new();
    while !bytes.is_empty() {
        if columns.len() == MOST_COLUMNS {
            return None;
        }
        let (stated, start) = decode_number(bytes)?;
        let length = usize::try_from(stated >> 1).ok()?;
        let (column, rest) = bytes.get(start..)?.split_at_checked(length)?;
        columns.push((column, stated & 1 == 1));
        bytes = rest;
    }
    Some(columns)
}

/// Splits `N` joined columns and decompresses them. Returns `None` for invalid bytes, or for
/// another number of columns.
pub(crate) fn split<const N: usize>(bytes: &[u8]) -> Option<[ColumnReader; N]> {
    let columns: [(&[u8], bool); N] = packed_columns(bytes)?.try_into().ok()?;
    let columns = columns.into_iter().map(|(column, is_packed)| {
        let bytes = match is_packed {
            true => Decompressor::new(column, ContentKind::Column)?.rest()?,
            false => column.to_vec(),
        };
        Some(ColumnReader { bytes, position: 0 })
    });
    columns.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Returns the count and the sum of the numbers in a column, without keeping the numbers.
pub(crate) fn sum((column, is_packed): (&[u8], bool)) -> Option<(u64, u64)> {
    let (mut count, mut sum) = (0, 0_u64);
    let mut add = |value| {
        count += 1;
        sum = sum.saturating_add(value);
    };
    if is_packed {
        let mut unpacked = Decompressor::new(column, ContentKind::Column)?;
        while !unpacked.is_at_end() {
            add(unpacked.value()?);
        }
    } else {
        let mut rest = column;
        while !rest.is_empty() {
            let (value, length) = decode_number(rest)?;
            add(value);
            rest = &rest[length..];
        }
    }
    Some((count, sum))
}

/// Decodes the first number. Returns it and the number of its bytes, or `None` for invalid bytes.
fn decode_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        let part = u64::from(byte & 0x7f);
        let shift = 7 * index as u32;
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back() {
        let (mut one, mut two) = (Column::default(), Column::default());
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|&value| one.add(value));
        let signed = [0, -1, 1, i64::MIN, i64::MAX];
        signed.iter().for_each(|&value| two.add_signed(value));
        two.add_real(0.1);
        let mut long = Column::default();
        (0..1000).for_each(|_| long.add(3));
        let bytes = join([one, two, long, Column::default()]).unwrap();
        assert!(bytes.len() < 100);
        let [mut one, mut two, mut long, none] = split(&bytes).unwrap();
        numbers.iter().for_each(|&value| assert_eq!(one.read(), Some(value)));
        signed.iter().for_each(|&value| assert_eq!(two.read_signed(), Some(value)));
        assert_eq!(two.read_real(), Some(0.1));
        (0..1000).for_each(|_| assert_eq!(long.read_u32(), Some(3)));
        assert!([one, two, long, none].iter().all(ColumnReader::is_done));
    }

    #[test]
    fn bytes_that_are_no_columns_are_none() {
        let bytes = join([Column(vec![1, 2, 3])]).unwrap();
        assert!(split::<2>(&bytes).is_none());
        assert!(split::<1>(&bytes[..3]).is_none());
        assert!(split::<1>(&[0xff; 20]).is_none());
        let more = [&bytes[..], &[0]].concat();
        assert!(split::<1>(&more).is_none());
    }
}
