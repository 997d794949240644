//! Reads the mask files of one volume.
//!
//! The index (`.?aa`), big-endian, begins with version 1, type 1, offset size 4, number of
//! sequences N, bytes of data (64 bits), and the offsets of the description and of the offset table
//! (32 bits each). The title of the column and a date follow, each after its length. The
//! description has the number of algorithms, and for each its identifier and its description as
//! texts. The offset table has N + 1 offsets into the data. Lengths and the number of algorithms
//! are integers of variable length.
//!
//! The data (`.?ac`) of a sequence are the number of algorithms, and for each its identifier, the
//! number of ranges (big-endian), and starts and ends (little-endian). `.?ab` has the same data,
//! but all big-endian.

use std::ops::Range;

use crate::lookup::FileDamage;

/// Title of a column of masks.
const TITLE: &[u8] = b"BlastDb/MaskData";

/// A masking algorithm in one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnAlgorithm {
    /// Number of the algorithm in this volume.
    pub id: i32,
    /// `program:options` or `id:options:name:description`. The byte 1 stands for a colon within a
    /// field.
    pub description: Vec<u8>,
}

/// The mask files of a volume.
#[derive(Clone, Debug)]
pub struct MaskColumn<'a> {
    index: &'a [u8],
    data: &'a [u8],
    offsets_at: usize,
    sequences: u32,
    algorithms: Vec<ColumnAlgorithm>,
}

impl<'a> MaskColumn<'a> {
    /// Opens a column from the contents of the `.?aa` and the `.?ac` file.
    ///
    /// # Errors
    /// [`FileDamage`] in the index.
    pub fn open(index: &'a [u8], data: &'a [u8]) -> Result<Self, FileDamage> {
        let damage = |at, problem| FileDamage { offset: at, problem };
        let short = || damage(0, "too short for the index of a mask column");
        let word = |i: usize| word(index, 4 * i, u32::from_be_bytes).ok_or_else(short);
        if (word(0)?, word(1)?, word(2)?) != (1, 1, 4) {
            return Err(damage(0, "not a mask column of version 1"));
        }
        let (sequences, metadata_at, offsets_at) = (word(3)?, word(6)?, word(7)? as usize);
        let offsets = (u64::from(sequences) + 1) * 4;
        if (index.len() as u64) < offsets_at as u64 + offsets {
            return Err(damage(28, "the offsets are cut short"));
        }
        let mut fields = Fields { bytes: &index[..offsets_at], at: 32 };
        if fields.read_text()? != TITLE {
            return Err(damage(32, "not a mask column"));
        }
        fields.at = metadata_at as usize;
        let mut algorithms = Vec::new();
        for _ in 0..fields.read_number()? {
            let at = fields.at;
            let id = std::str::from_utf8(fields.read_text()?).ok().and_then(|id| id.parse().ok());
            let id = id.ok_or_else(|| damage(at, "an algorithm without a number"))?;
            algorithms.push(ColumnAlgorithm { id, description: fields.read_text()?.to_vec() });
        }
        Ok(Self { index, data, offsets_at, sequences, algorithms })
    }

    /// Returns the masking algorithms, in the order of the file.
    pub fn algorithms(&self) -> &[ColumnAlgorithm] {
        &self.algorithms
    }

    /// Returns the number of sequences.
    pub fn sequence_count(&self) -> u32 {
        self.sequences
    }

    /// Returns the ranges that an algorithm masks in sequence `i` of the volume. The ranges are
    /// half-open, count from 0 and are in the order of the file.
    ///
    /// # Errors
    /// [`FileDamage`]: in the index file if its offset is 0, else in the data file.
    pub fn ranges(
        &self,
        i: u32,
        algorithm: i32,
    ) -> Result<impl ExactSizeIterator<Item = Range<u32>> + use<'a>, FileDamage> {
        let none = self.data.get(..0).unwrap_or_default();
        let found = self.find(i, algorithm)?.unwrap_or(none);
        let number = |pair: &[u8], at| word(pair, at, u32::from_le_bytes).unwrap_or(0);
        Ok(found.chunks_exact(8).map(move |pair| number(pair, 0)..number(pair, 4)))
    }

    /// Finds the masks of an algorithm in sequence `i`: pairs of start and end.
    fn find(&self, i: u32, algorithm: i32) -> Result<Option<&'a [u8]>, FileDamage> {
        if i >= self.sequences {
            return Err(FileDamage { offset: 0, problem: "fewer sequences than in the volume" });
        }
        let offset = |i: u32| {
            let at = self.offsets_at + 4 * i as usize;
            word(self.index, at, u32::from_be_bytes).map(|offset| offset as usize)
        };
        let span = offset(i).zip(offset(i + 1));
        let blob = span.and_then(|(start, end)| Some((start, self.data.get(start..end)?)));
        let Some((start, blob)) = blob else {
            return Err(FileDamage { offset: 0, problem: "masks outside their file" });
        };
        if blob.is_empty() {
            return Ok(None);
        }
        let short = |at| FileDamage { offset: start + at, problem: "masks cut short" };
        let read = |at| word(blob, at, u32::from_be_bytes).ok_or_else(|| short(at));
        let mut at = 4;
        for _ in 0..read(0)? {
            let (id, count) = (read(at)?, read(at + 4)? as usize);
            let bytes = count.checked_mul(8).ok_or_else(|| short(at))?;
            let end = (at + 8).checked_add(bytes).ok_or_else(|| short(at))?;
            let pairs = blob.get(at + 8..end).ok_or_else(|| short(at))?;
            if id.cast_signed() == algorithm {
                return Ok(Some(pairs));
            }
            at = end;
        }
        Ok(None)
    }
}

fn word(bytes: &[u8], at: usize, order: fn([u8; 4]) -> u32) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(order(std::array::from_fn(|i| word[i])))
}

/// Reader of texts and of integers of variable length.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Reads an integer of variable length, highest bits first. Each byte but the last has a one
    /// bit and seven bits of the number. The last byte has a zero bit, a sign bit and six bits of
    /// the number.
    fn read_number(&mut self) -> Result<usize, FileDamage> {
        let start = self.at;
        let damage = FileDamage { offset: start, problem: "a number without end or out of range" };
        let mut number = 0usize;
        loop {
            let byte = *self.bytes.get(self.at).ok_or(damage)?;
            self.at += 1;
            let (bits, value) = match byte {
                0x80.. => (7, byte & 0x7f),
                0x40..0x80 => return Err(damage),
                value => (6, value),
            };
            if number >> (32 - bits) != 0 {
                return Err(damage);
            }
            number = number << bits | usize::from(value);
            if bits == 6 {
                return Ok(number);
            }
        }
    }

    fn read_text(&mut self) -> Result<&'a [u8], FileDamage> {
        let at = self.at;
        let length = self.read_number()?;
        let end = self.at.checked_add(length);
        let text = end.and_then(|end| self.bytes.get(self.at..end));
        let text = text.ok_or(FileDamage { offset: at, problem: "a text beyond its place" })?;
        self.at += length;
        Ok(text)
    }
}
