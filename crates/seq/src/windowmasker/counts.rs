//! Reads files of unit counts, in the binary formats of `windowmasker -mk_counts`
//! (`seq_masker_istat_bin.cpp`, `seq_masker_istat_obinary.cpp`).

use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

use thiserror::Error;

/// Maximal number of bases of a unit, which must fit into 32 bits.
const MOST_BASES: u32 = 16;
/// First word of a file that begins with notes.
const WITH_NOTES: u32 = 3;
/// First words of a file with pairs, and of a file with a hash table, without and with a bit array.
const PAIRS: u32 = 0;
const HASHES: [u32; 2] = [1, 2];
/// Number of units for each word of the bit array.
const IN_WORD: u32 = 32;

/// An error in a file of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnitCountsError {
    /// The file has another format.
    #[error("it is no binary file of windowmasker's counts")]
    UnknownFormat,
    /// The file ends too early.
    #[error("it is cut short")]
    Truncated,
    /// The last pair of the file is incomplete.
    #[error("its length is not that of pairs of units and counts")]
    IncompletePairs,
    /// A number in the header is out of range.
    #[error("a number in its head is out of range")]
    HeaderOutOfRange,
    /// An entry of the hash table points beyond its values.
    #[error("an entry of its table points beyond the values")]
    BadTableEntry,
}

/// The number of occurrences of each unit in a genome, with the limits for masking.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitCounts {
    bases: u32,
    /// Lower limit of counts. Half of it replaces a count below it.
    low: u32,
    /// Upper limit of counts. It replaces a count above it.
    high: u32,
    /// Minimal score of a window that extends a masked run.
    pub(super) extend: u32,
    /// Minimal score of a window that starts a masked run.
    pub(super) threshold: u32,
    units: Units,
}

/// Units with their counts. Only the smaller one of a unit and its reverse complement is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Units {
    /// Pairs of unit and count, ascending by unit.
    Pairs(Vec<(u32, u32)>),
    Hashes(Hashes),
}

/// A hash table whose keys are some bits of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Hashes {
    /// Number of bits of the key.
    key: u32,
    /// Number of bits of a unit below those of the key.
    below: u32,
    /// Number of bits of a table entry that state how many units have the entry's key.
    counting: u32,
    table: Vec<u32>,
    /// Counts of the units that share a key with others.
    values: Vec<u16>,
}

impl UnitCounts {
    /// Returns whether the start of a file is that of a format that [`read`](Self::read) supports.
    pub fn is_binary(file: &[u8]) -> bool {
        let kind = Words(file).after_notes().and_then(|mut words| words.next());
        kind.is_ok_and(|kind| kind == PAIRS || HASHES.contains(&kind))
    }

    /// Reads the contents of a file of counts.
    ///
    /// # Errors
    /// [`UnitCountsError`] if the file has another format or is damaged.
    pub fn read(file: &[u8]) -> Result<UnitCounts, UnitCountsError> {
        let mut words = Words(file).after_notes()?;
        match words.next()? {
            PAIRS => UnitCounts::of_pairs(words),
            kind if HASHES.contains(&kind) => UnitCounts::of_hashes(words, kind == HASHES[1]),
            _ => Err(UnitCountsError::UnknownFormat),
        }
    }

    fn of_pairs(mut words: Words<'_>) -> Result<UnitCounts, UnitCountsError> {
        let bases = bases(words.next()?)?;
        let pairs = (words.0.len().checked_sub(16).ok_or(UnitCountsError::Truncated)?) / 8;
        if words.0.len() != 8 * pairs + 16 {
            return Err(UnitCountsError::IncompletePairs);
        }
        let mut units = Vec::with_capacity(pairs);
        for _ in 0..pairs {
            units.push((words.next()?, words.next()?));
        }
        let limits = words.four()?;
        Ok(UnitCounts::new(bases, limits, Units::Pairs(units)))
    }

    fn of_hashes(mut words: Words<'_>, has_bits: bool) -> Result<UnitCounts, UnitCountsError> {
        let bases = bases(words.next()?)?;
        let [values, key, below, counting] = words.four()?;
        let is_key = (1..2 * bases).contains(&key) && key < 32;
        if !is_key || below > 32 - key || !(1..=32 - key).contains(&counting) {
            return Err(UnitCountsError::HeaderOutOfRange);
        }
        let limits = words.four()?;
        if has_bits && words.next()? > 0 {
            // The bit array only makes BLAST+ faster, so it is skipped.
            words.many((1u64 << (2 * bases)) / u64::from(IN_WORD))?;
        }
        let table = words.many(1 << key)?;
        let bytes = words.0.get(..2 * values as usize).ok_or(UnitCountsError::Truncated)?;
        let values: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let hashes = Hashes { key, below, counting, table, values };
        if (0..hashes.table.len()).any(|key| hashes.shared_values(hashes.table[key]).is_none()) {
            return Err(UnitCountsError::BadTableEntry);
        }
        Ok(UnitCounts::new(bases, limits, Units::Hashes(hashes)))
    }

    fn new(bases: u32, limits: [u32; 4], units: Units) -> UnitCounts {
        let [low, extend, threshold, high] = limits;
        UnitCounts { bases, low, high, extend, threshold, units }
    }

    /// Returns a digest that is the same for equal counts, in one build of the program.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the number of bases of a unit.
    pub(super) fn unit(&self) -> usize {
        self.bases as usize
    }

    /// Returns the count of a unit, with the limits applied.
    pub(super) fn count(&self, unit: u32) -> u32 {
        let unit = unit.min(self.opposite(unit));
        let count = match &self.units {
            Units::Pairs(pairs) => {
                let at = pairs.partition_point(|&(other, _)| other < unit);
                pairs.get(at).filter(|pair| pair.0 == unit).map_or(0, |pair| pair.1)
            }
            Units::Hashes(hashes) => hashes.count(unit),
        };
        if count == 0 || count < self.low {
            self.low.saturating_add(1) / 2
        } else {
            count.min(self.high)
        }
    }

    /// Returns the reverse complement of a unit.
    fn opposite(&self, unit: u32) -> u32 {
        (0..self.bases).fold(0, |opposite, at| opposite << 2 | (!(unit >> (2 * at)) & 3))
    }
}

impl Hashes {
    /// Returns the counts of the units that share an entry of the hash table; empty for at most one
    /// unit, `None` if the counts are beyond the end of the values.
    fn shared_values(&self, entry: u32) -> Option<&[u16]> {
        let count = entry & ((1 << self.counting) - 1);
        let start = (entry >> self.counting) as usize;
        match count {
            0 | 1 => Some(&[]),
            count => self.values.get(start..start.checked_add(count as usize)?),
        }
    }

    fn count(&self, unit: u32) -> u32 {
        let unit = u64::from(unit);
        let key = (unit >> self.below) & ((1 << self.key) - 1);
        let high = (unit >> (self.below + self.key)) << self.below;
        let rest = (high + (unit & ((1 << self.below) - 1))) as u8;
        let entry = self.table[key as usize];
        if entry & ((1 << self.counting) - 1) == 1 {
            let is_it = u32::from(rest) == entry >> 24;
            return if is_it { entry >> self.counting & 0xFFF } else { 0 };
        }
        let shared = self.shared_values(entry).unwrap_or_default();
        let found = shared.iter().find(|&&value| value >> 9 == u16::from(rest));
        found.map_or(0, |value| u32::from(value & 0x1FF))
    }
}

fn bases(word: u32) -> Result<u32, UnitCountsError> {
    // BLAST+ uses only the lowest byte.
    Some(word & 0xFF)
        .filter(|bases| (1..=MOST_BASES).contains(bases))
        .ok_or(UnitCountsError::HeaderOutOfRange)
}

/// The unread words of a file.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<u32, UnitCountsError> {
        let (word, rest) = self.0.split_first_chunk().ok_or(UnitCountsError::Truncated)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*word))
    }

    fn four(&mut self) -> Result<[u32; 4], UnitCountsError> {
        Ok([self.next()?, self.next()?, self.next()?, self.next()?])
    }

    fn many(&mut self, count: u64) -> Result<Vec<u32>, UnitCountsError> {
        if (self.0.len() as u64) < 4 * count {
            return Err(UnitCountsError::Truncated);
        }
        (0..count).map(|_| self.next()).collect()
    }

    /// Skips the notes at the start of the file, if there are any.
    fn after_notes(mut self) -> Result<Words<'a>, UnitCountsError> {
        let whole = self.0;
        if self.next()? != WITH_NOTES {
            return Ok(Words(whole));
        }
        let length = self.next()? as usize;
        self.0.get(length..).map(Words).ok_or(UnitCountsError::Truncated)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Returns a file of pairs.
    pub fn binary(bases: u32, units: &[(u32, u32)], limits: [u32; 4]) -> Vec<u8> {
        let pairs = units.iter().flat_map(|&(unit, count)| [unit, count]);
        bytes([PAIRS, bases].into_iter().chain(pairs).chain(limits))
    }

    /// Returns a file with notes and a hash table, whose key is the two lowest bits.
    pub fn optimised(bases: u32, units: &[(u32, u32)], limits: [u32; 4]) -> Vec<u8> {
        let (mut table, mut values) = (Vec::new(), Vec::new());
        for key in 0..4 {
            let own: Vec<_> = units.iter().filter(|(unit, _)| unit & 3 == key).collect();
            match own[..] {
                [] => table.push(0),
                [&(unit, count)] => table.push((unit >> 2) << 24 | count << 4 | 1),
                _ => {
                    table.push((values.len() as u32) << 4 | own.len() as u32);
                    values.extend(own.iter().map(|(unit, count)| (unit >> 2 << 9 | count) as u16));
                }
            }
        }
        let head = [WITH_NOTES, 4, 0x2323_2323, HASHES[0], bases, values.len() as u32, 2, 0, 4];
        let mut file = bytes(head.into_iter().chain(limits).chain(table));
        file.extend(values.into_iter().flat_map(u16::to_le_bytes));
        file
    }

    #[test]
    fn short_files_and_other_formats_are_errors() {
        let units = [(6, 40), (22, 30), (27, 25)];
        for file in [binary(3, &units, [2, 10, 20, 60]), optimised(3, &units, [2, 10, 20, 60])] {
            assert!(UnitCounts::is_binary(&file));
            assert!(UnitCounts::read(&file).is_ok());
            // If words are missing at the end of a file of pairs, it can be a valid file of fewer
            // pairs.
            for length in (0..file.len()).filter(|length| length % 8 != 0 || *length < 24) {
                assert!(UnitCounts::read(&file[..length]).is_err(), "{length}");
            }
        }
        assert!(!UnitCounts::is_binary(b"##windowmasker"));
        assert_eq!(UnitCounts::read(&bytes([7, 0, 0])), Err(UnitCountsError::UnknownFormat));
        assert_eq!(
            UnitCounts::read(&binary(17, &[], [1; 4])),
            Err(UnitCountsError::HeaderOutOfRange)
        );
        let mut beyond = optimised(3, &units, [2, 10, 20, 60]);
        let at = beyond.len() - 4;
        beyond.truncate(at);
        assert!(UnitCounts::read(&beyond).is_err());
    }
}
