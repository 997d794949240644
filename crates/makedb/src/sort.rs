//! Sorts more records than fit into memory: sorted runs on disk, merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{ErrorContext, MakedbError};
use crate::sink::{OutputFile, temporary_file};

/// Number of bytes of the records that are sorted in memory at a time.
const RUN_BYTES: usize = 48 << 20;
/// Number of bytes to read from a run at a time.
const READ_BYTES: usize = 64 << 10;

/// A record in memory.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The first eight bytes of the key.
    prefix: u64,
    start: usize,
    length: usize,
    value: u64,
}

/// Sorter for records of a key and a number: by the key's bytes, then by the number. It needs less
/// than 100 MB of memory to collect records, and 64 KiB for each 48 MiB of records to merge them.
#[derive(Debug)]
pub(crate) struct ExternalSorter {
    directory: PathBuf,
    limit: usize,
    bytes: Vec<u8>,
    items: Vec<Item>,
    runs: Vec<File>,
}

impl ExternalSorter {
    /// Creates an empty sorter, with its files in `directory`.
    pub(crate) fn new(directory: &Path) -> Self {
        Self::with_limit(directory, RUN_BYTES)
    }

    fn with_limit(directory: &Path, limit: usize) -> Self {
        let directory = directory.to_path_buf();
        Self { directory, limit, bytes: Vec::new(), items: Vec::new(), runs: Vec::new() }
    }

    /// Returns whether there are no records.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.runs.is_empty()
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, key: &[u8], value: u64) -> Result<(), MakedbError> {
        let used = self.bytes.len() + self.items.len() * size_of::<Item>();
        if used + key.len() > self.limit && !self.items.is_empty() {
            self.write_run()?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.items.push(Item { prefix: prefix(key), start, length: key.len(), value });
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |item: &Item| &bytes[item.start..item.start + item.length];
        self.items.sort_unstable_by(|a, b| {
            let order = a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b)));
            order.then(a.value.cmp(&b.value))
        });
    }

    fn write_run(&mut self) -> Result<(), MakedbError> {
        self.sort();
        let mut run = OutputFile::new(temporary_file(&self.directory)?, self.directory.clone());
        for item in &self.items {
            run.write_bytes(&(item.length as u32).to_le_bytes())?;
            run.write_bytes(&item.value.to_le_bytes())?;
            run.write_bytes(&self.bytes[item.start..item.start + item.length])?;
        }
        self.runs.push(run.rewind()?);
        self.items.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Calls `each` with the records in order.
    pub(crate) fn for_each_sorted(
        mut self,
        mut each: impl FnMut(&[u8], u64) -> Result<(), MakedbError>,
    ) -> Result<(), MakedbError> {
        if self.runs.is_empty() {
            self.sort();
            for item in &self.items {
                each(&self.bytes[item.start..item.start + item.length], item.value)?;
            }
            return Ok(());
        }
        self.write_run()?;
        self.bytes = Vec::new();
        self.items = Vec::new();
        let mut heap = BinaryHeap::new();
        for run in std::mem::take(&mut self.runs) {
            let mut head = Head::new(run);
            if head.advance().with_context("read from", &self.directory)? {
                heap.push(head);
            }
        }
        while let Some(mut head) = heap.pop() {
            each(&head.key, head.value)?;
            if head.advance().with_context("read from", &self.directory)? {
                heap.push(head);
            }
        }
        Ok(())
    }
}

/// Returns the first eight bytes of a key, as a number with the same order.
fn prefix(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = key.len().min(8);
    bytes[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(bytes)
}

/// Reader of a sorted run, with the next record of the run.
struct Head {
    run: BufReader<File>,
    key: Vec<u8>,
    value: u64,
}

impl Head {
    fn new(run: File) -> Self {
        Self { run: BufReader::with_capacity(READ_BYTES, run), key: Vec::new(), value: 0 }
    }

    /// Reads the next record; returns false at the end of the run.
    fn advance(&mut self) -> io::Result<bool> {
        let mut start = [0; 12];
        if let Err(error) = self.run.read_exact(&mut start) {
            let end = error.kind() == io::ErrorKind::UnexpectedEof;
            return if end { Ok(false) } else { Err(error) };
        }
        let [a, b, c, d, value @ ..] = start;
        self.value = u64::from_le_bytes(value);
        self.key.resize(u32::from_le_bytes([a, b, c, d]) as usize, 0);
        self.run.read_exact(&mut self.key)?;
        Ok(true)
    }
}

/// Compares in reverse order: the heap returns the greatest element, which must be the smallest
/// record.
impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.key, other.value).cmp(&(&self.key, self.value))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_runs_are_as_sorted_as_one() {
        let directory = tempfile::tempdir().unwrap();
        let sorted = |limit: usize| {
            let mut sorter = ExternalSorter::with_limit(directory.path(), limit);
            let mut random = fastrand::Rng::with_seed(1);
            for n in 0..5000u64 {
                let key = random.u32(..700).to_string().repeat(1 + n as usize % 4);
                sorter.push(key.as_bytes(), 5000 - n).unwrap();
            }
            let runs = sorter.runs.len();
            let mut all = Vec::new();
            sorter
                .for_each_sorted(|key, value| {
                    all.push((key.to_vec(), value));
                    Ok(())
                })
                .unwrap();
            (runs, all)
        };
        let (none, whole) = sorted(RUN_BYTES);
        let (many, merged) = sorted(9000);
        assert!(none == 0 && many > 10, "{none} {many}");
        assert!(whole.is_sorted() && whole.len() == 5000);
        assert_eq!(whole, merged);
    }
}
