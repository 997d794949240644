//! Columns: numbers of one kind one after the other, which compress better than if they were mixed.

use crate::error::NoRoom;
use crate::values::{Plain, Unpacked, compress};

/// A column that is written.
#[derive(Debug, Default)]
pub(crate) struct Column(pub Vec<u8>);

impl Column {
    /// Adds a number: seven bits a byte, the lowest first, the eighth bit set in all but the last.
    pub fn add(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds a number that may be negative: 0, -1, 1, -2 … are 0, 1, 2, 3 …
    pub fn add_signed(&mut self, value: i64) {
        self.add((value << 1 ^ value >> 63) as u64);
    }

    /// Adds the bits of a floating-point number.
    pub fn add_real(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }
}

/// Puts columns together: before each the bytes that it takes here, twice that and one more where it is compressed.
///
/// # Errors
/// No memory.
pub(crate) fn join<const N: usize>(columns: [Column; N]) -> Result<Vec<u8>, NoRoom> {
    let mut all = Column::default();
    for Column(plain) in columns {
        let packed = compress(&plain, Plain::Column)?;
        let is_packed = !plain.is_empty() && packed.len() < plain.len();
        let bytes = if is_packed { packed } else { plain };
        all.add((bytes.len() as u64) << 1 | u64::from(is_packed));
        all.0.extend(bytes);
    }
    Ok(all.0)
}

/// A column that is read.
#[derive(Debug)]
pub(crate) struct Reading {
    bytes: Vec<u8>,
    at: usize,
}

impl Reading {
    /// The next number.
    pub fn take(&mut self) -> Option<u64> {
        let (value, taken) = number(self.bytes.get(self.at..)?)?;
        self.at += taken;
        Some(value)
    }

    /// The next number, if it has no more than 32 bits.
    pub fn take_u32(&mut self) -> Option<u32> {
        self.take()?.try_into().ok()
    }

    /// The next number that may be negative.
    pub fn take_signed(&mut self) -> Option<i64> {
        let value = self.take()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next floating-point number.
    pub fn take_real(&mut self) -> Option<f64> {
        let bytes = self.bytes.get(self.at..)?.first_chunk::<8>()?;
        self.at += 8;
        Some(f64::from_le_bytes(*bytes))
    }

    /// All bytes, from the first on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether everything was taken.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// The most columns that are stored together.
pub(crate) const MOST_COLUMNS: usize = 15;

/// Returns the stored columns, each with a flag for compression; `None` for other bytes.
pub(crate) fn packed_columns(mut bytes: &[u8]) -> Option<Vec<(&[u8], bool)>> {
    let mut columns = Vec::new();
    while !bytes.is_empty() {
        if columns.len() == MOST_COLUMNS {
            return None;
        }
        let (stated, taken) = number(bytes)?;
        let length = usize::try_from(stated >> 1).ok()?;
        let (column, rest) = bytes.get(taken..)?.split_at_checked(length)?;
        columns.push((column, stated & 1 == 1));
        bytes = rest;
    }
    Some(columns)
}

/// Takes columns apart.
pub(crate) fn part<const N: usize>(bytes: &[u8]) -> Option<[Reading; N]> {
    let columns: [(&[u8], bool); N] = packed_columns(bytes)?.try_into().ok()?;
    let columns = columns.into_iter().map(|(column, is_packed)| {
        let bytes = match is_packed {
            true => Unpacked::new(column, Plain::Column)?.rest()?,
            false => column.to_vec(),
        };
        Some(Reading { bytes, at: 0 })
    });
    columns.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Returns how many numbers a stored column has, and their sum. Keeps none of them.
pub(crate) fn sum((column, is_packed): (&[u8], bool)) -> Option<(u64, u64)> {
    let (mut count, mut sum) = (0, 0_u64);
    let mut add = |value| {
        count += 1;
        sum = sum.saturating_add(value);
    };
    if is_packed {
        let mut unpacked = Unpacked::new(column, Plain::Column)?;
        while !unpacked.ends() {
            add(unpacked.value()?);
        }
    } else {
        let mut rest = column;
        while !rest.is_empty() {
            let (value, taken) = number(rest)?;
            add(value);
            rest = &rest[taken..];
        }
    }
    Some((count, sum))
}

/// A number, and how many bytes it takes.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    for (at, &byte) in bytes.iter().take(10).enumerate() {
        let part = u64::from(byte & 0x7f);
        let shift = 7 * at as u32;
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Some((value, at + 1));
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
        let [mut one, mut two, mut long, none] = part(&bytes).unwrap();
        numbers.iter().for_each(|&value| assert_eq!(one.take(), Some(value)));
        signed.iter().for_each(|&value| assert_eq!(two.take_signed(), Some(value)));
        assert_eq!(two.take_real(), Some(0.1));
        (0..1000).for_each(|_| assert_eq!(long.take_u32(), Some(3)));
        assert!([one, two, long, none].iter().all(Reading::is_done));
    }

    #[test]
    fn bytes_that_are_no_columns_are_none() {
        let bytes = join([Column(vec![1, 2, 3])]).unwrap();
        assert!(part::<2>(&bytes).is_none());
        assert!(part::<1>(&bytes[..3]).is_none());
        assert!(part::<1>(&[0xff; 20]).is_none());
        let more = [&bytes[..], &[0]].concat();
        assert!(part::<1>(&more).is_none());
    }
}
