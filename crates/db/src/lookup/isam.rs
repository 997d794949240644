//! ISAM indexes: a data file with sorted keys and OIDs, and an index file with samples of the keys.
//! This reader searches the data in place and does not need the samples.
//!
//! The index file (`.?si`, `.?ni`) begins with nine big-endian words: version 1; type (2 texts, 0
//! numbers, 5 numbers of eight bytes); bytes of the data file; number of keys; and others. The data
//! file of texts (`.?sd`) has lines `key 02 oid` with a line feed, sorted bytewise, keys in lower
//! case. The data file of numbers (`.?nd`) has pairs of a big-endian key and an OID.

use std::cmp::Ordering;

use super::FileDamage;
use crate::key::trim_trailing_blanks;

/// Number of words of the index header.
const HEADER_WORDS: usize = 9;
const TEXTS: u32 = 2;
const NUMBERS: u32 = 0;
const LONG_NUMBERS: u32 = 5;
/// The byte between key and OID in a line of texts.
const SEPARATOR: u8 = 2;

/// Error message for a key that breaks the order.
const UNSORTED: &str = "keys out of order";
/// Error message for a line that is cut off.
const NO_OID: &str = "a key without an OID";

/// Checked fields of the header of an index file.
struct Header {
    kind: u32,
    terms: u32,
    samples: u32,
    page: u32,
}

impl Header {
    fn read(index: &[u8], data: &[u8]) -> Result<Self, FileDamage> {
        let damage = |at, problem| Err(FileDamage { offset: at, problem });
        if index.len() < 4 * (HEADER_WORDS + 1) {
            return damage(0, "too short for an ISAM index");
        }
        let word = |i: usize| u32::from_be_bytes(std::array::from_fn(|j| index[4 * i + j]));
        if word(0) != 1 {
            return damage(0, "not version 1 of ISAM");
        }
        if word(2) as usize != data.len() {
            return damage(8, "the data file has another length");
        }
        Ok(Self { kind: word(1), terms: word(3), samples: word(4), page: word(5) })
    }
}

/// Index of numbers (GIs) with their OIDs.
#[derive(Clone, Copy, Debug)]
pub struct NumericIndex<'a> {
    data: &'a [u8],
    /// Size of a key in bytes: 4 or 8.
    key: usize,
}

impl<'a> NumericIndex<'a> {
    /// Opens an index from the contents of the index file and the data file.
    ///
    /// # Errors
    /// [`FileDamage`] in the index file.
    pub fn open(index: &'a [u8], data: &'a [u8]) -> Result<Self, FileDamage> {
        let header = Header::read(index, data)?;
        let key = match header.kind {
            NUMBERS => 4,
            LONG_NUMBERS => 8,
            _ => return Err(FileDamage { offset: 4, problem: "not a numeric ISAM index" }),
        };
        if (header.terms as usize).checked_mul(key + 4) != Some(data.len()) {
            return Err(FileDamage {
                offset: 12,
                problem: "the data file has another number of keys",
            });
        }
        Ok(Self { data, key })
    }

    /// Returns the size of a key in bytes: 4 or 8.
    pub fn key_size(&self) -> usize {
        self.key
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.data.len() / (self.key + 4)
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Returns key and OID with the index `i`. The keys of an undamaged file ascend.
    ///
    /// # Panics
    /// If there is no such key.
    pub fn get(&self, i: usize) -> (i64, u32) {
        let pair = &self.data[i * (self.key + 4)..(i + 1) * (self.key + 4)];
        let (key, oid) = pair.split_at(self.key);
        let key = key.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        (key.cast_signed(), u32::from_be_bytes(std::array::from_fn(|i| oid[i])))
    }

    /// Checks that the keys ascend.
    ///
    /// # Errors
    /// [`FileDamage`] at the first key that is out of order.
    pub fn check_order(&self) -> Result<(), FileDamage> {
        match (1..self.len()).find(|&i| self.get(i - 1).0 > self.get(i).0) {
            Some(i) => Err(FileDamage { offset: i * (self.key + 4), problem: UNSORTED }),
            None => Ok(()),
        }
    }

    /// Returns the keys before and after a missing key, with their OIDs. The keys must ascend.
    pub fn neighbours(&self, key: i64) -> impl Iterator<Item = (i64, u32)> {
        let after = self.after(key);
        (after.saturating_sub(1)..self.len().min(after + 1)).map(|i| self.get(i))
    }

    /// Returns the index of the first key that is greater than `key`.
    fn after(&self, key: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).0 <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the OID of a key, if the key is present.
    pub fn oid_of_key(&self, key: i64) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let (found, oid) = self.get(middle);
            match key.cmp(&found) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return Some(oid),
            }
        }
        None
    }
}

/// Index of texts (identifiers or hashes) with their OIDs.
#[derive(Clone, Copy, Debug)]
pub struct StringIndex<'a> {
    data: &'a [u8],
    page: usize,
    terms: u32,
    /// Number of keys that the index file repeats as samples, one for each page.
    samples: u32,
}

/// A key and its OID.
type Entry<'a> = (&'a [u8], u32);

impl<'a> StringIndex<'a> {
    /// Opens an index from the contents of the index file and the data file.
    ///
    /// # Errors
    /// [`FileDamage`] in the index file.
    pub fn open(index: &'a [u8], data: &'a [u8]) -> Result<Self, FileDamage> {
        let header = Header::read(index, data)?;
        match header.kind {
            TEXTS => {
                let Header { terms, samples, .. } = header;
                Ok(Self { data, page: header.page.max(1) as usize, terms, samples })
            }
            _ => Err(FileDamage { offset: 4, problem: "not a string ISAM index" }),
        }
    }

    /// Returns the OIDs of a key in the order of the file. Ignores the case of the key.
    ///
    /// # Errors
    /// [`FileDamage`] in the data file.
    pub fn oids_of_key(&self, key: &[u8]) -> Result<Vec<u32>, FileDamage> {
        let key = key.to_ascii_lowercase();
        let bare = trim_trailing_blanks(&key);
        let mut oids = Vec::new();
        let mut at = self.position(bare);
        while at < self.data.len() {
            let line = self.line(at);
            if line_key(line) != bare {
                break;
            }
            if stored_key(line).len() >= key.len() {
                oids.push(oid(line).ok_or(FileDamage { offset: at, problem: NO_OID })?);
            }
            at += line.len() + 1;
        }
        Ok(oids)
    }

    /// Returns the offset of the first line whose key is not less than `key`, which is in lower
    /// case.
    fn position(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.data.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = self.data[low..middle].iter().rposition(|&b| is_end(b));
            let start = start.map_or(low, |end| low + end + 1);
            let line = self.line(start);
            if line_key(line) < key {
                low = (start + line.len() + 1).min(high);
            } else {
                high = start;
            }
        }
        low
    }

    /// Checks that the index file states the right numbers of keys and pages, and that the keys
    /// ascend. Otherwise lookups would read the wrong lines.
    ///
    /// # Errors
    /// [`FileDamage`] at the first key out of order, or at byte 0 for a wrong number.
    pub fn check_order(&self) -> Result<(), FileDamage> {
        let (mut count, mut at, mut last) = (0u32, 0, &b""[..]);
        while at < self.data.len() {
            let line = self.line(at);
            let key = line_key(line);
            if key < last {
                return Err(FileDamage { offset: at, problem: UNSORTED });
            }
            (count, last) = (count + u32::from(!line.is_empty()), key);
            at += line.len() + 1;
        }
        if count != self.terms {
            return Err(FileDamage {
                offset: 0,
                problem: "another number of keys than the index states",
            });
        }
        let pages = (self.terms as usize).div_ceil(self.page);
        if pages != self.samples as usize {
            return Err(FileDamage {
                offset: 0,
                problem: "another number of pages than the index states",
            });
        }
        Ok(())
    }

    /// Returns the keys before and after a missing key, with their OIDs. The keys must ascend.
    ///
    /// # Errors
    /// [`FileDamage`] in the lines of these keys.
    pub fn neighbours(&self, key: &[u8]) -> Result<[Option<Entry<'a>>; 2], FileDamage> {
        let after = self.position(&key.to_ascii_lowercase());
        let entry = |at: usize| {
            let line = self.line(at);
            let oid = oid(line).ok_or(FileDamage { offset: at, problem: NO_OID })?;
            Ok(Some((line_key(line), oid)))
        };
        let before = match self.data[..after].split_last() {
            Some((_, lines)) => {
                entry(lines.iter().rposition(|&b| is_end(b)).map_or(0, |at| at + 1))?
            }
            None => None,
        };
        Ok([before, if after < self.data.len() { entry(after)? } else { None }])
    }

    /// Returns the number of keys for each sample in the index file, at least 1.
    pub fn keys_per_sample(&self) -> usize {
        self.page
    }

    /// Returns every key with its OID, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = Result<(&'a [u8], u32), FileDamage>> {
        let mut at = 0;
        self.data.split(|&b| is_end(b)).filter_map(move |line| {
            let start = at;
            at += line.len() + 1;
            if line.is_empty() {
                return None;
            }
            Some(match oid(line) {
                Some(oid) => Ok((line_key(line), oid)),
                None => Err(FileDamage { offset: start, problem: NO_OID }),
            })
        })
    }

    /// Returns the line that starts at byte `at`, without its end character.
    fn line(&self, at: usize) -> &'a [u8] {
        let rest = &self.data[at..];
        rest.iter().position(|&b| is_end(b)).map_or(rest, |end| &rest[..end])
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, 0 | b'\n' | b'\r')
}

/// Returns the key of a line without blanks at its end, since lookups ignore these.
fn line_key(line: &[u8]) -> &[u8] {
    trim_trailing_blanks(stored_key(line))
}

/// Returns the key of a line as stored.
fn stored_key(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&b| b == SEPARATOR).unwrap_or(line.len());
    &line[..end]
}

fn oid(line: &[u8]) -> Option<u32> {
    let start = line.iter().rposition(|&b| b == SEPARATOR)? + 1;
    std::str::from_utf8(&line[start..]).ok()?.parse().ok()
}
