//! Sorted files of identifiers, with an index of the first entry of each page (ISAM).

use std::path::Path;

use crate::error::MakedbError;
use crate::sink::{OutputFile, StagedFiles};
use crate::sort::ExternalSorter;

/// Version of the ISAM format.
const FORMAT: u32 = 1;
/// Number of keys for each page of a string index.
const STRING_PAGE: u32 = 64;
/// Number of keys for each page of a numeric index.
const NUMBER_PAGE: u32 = 256;
/// Maximum length of a line of strings in bytes, as the header states it.
const MAX_LINE: u32 = 4096;
/// Number of bytes of an index before its tables.
const HEADER: u32 = 36;

fn header(
    index: &mut OutputFile,
    kind: u32,
    size: u64,
    terms: u32,
    page: u32,
    line: u32,
) -> Result<(), MakedbError> {
    let samples = terms.div_ceil(page);
    for word in [FORMAT, kind, size as u32, terms, samples, page, line, 0, 0] {
        index.write_bytes(&word.to_be_bytes())?;
    }
    Ok(())
}

/// Writer of a string index. Its lines consist of key, 0x02, number and line feed, and are sorted
/// by their bytes.
#[derive(Debug)]
pub(crate) struct StringIndexWriter {
    lines: ExternalSorter,
    count: u32,
    size: u64,
}

impl StringIndexWriter {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { lines: ExternalSorter::new(directory), count: 0, size: 0 }
    }

    /// Returns the total size of all lines in bytes.
    pub(crate) fn byte_count(&self) -> u64 {
        self.size
    }

    pub(crate) fn add(&mut self, line: &[u8]) -> Result<(), MakedbError> {
        self.count += 1;
        self.size += line.len() as u64;
        self.lines.push(line, 0)
    }

    /// Writes index and data, unless there are no lines.
    pub(crate) fn write(
        self,
        sink: &mut StagedFiles,
        volume: u32,
        letters: [&'static str; 2],
    ) -> Result<(), MakedbError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let [index, data] = letters;
        let mut index = sink.create_file(Some(volume), index)?;
        let mut data = sink.create_file(Some(volume), data)?;
        header(&mut index, 2, self.size, self.count, STRING_PAGE, MAX_LINE)?;
        let (mut starts, mut samples) = (Vec::new(), Vec::new());
        let mut written = 0;
        self.lines.for_each_sorted(|line, _| {
            if written % STRING_PAGE == 0 {
                index.write_bytes(&(data.length() as u32).to_be_bytes())?;
                starts.push(samples.len() as u32);
                samples.extend(&line[..line.len() - 1]);
                samples.push(0);
            }
            written += 1;
            data.write_bytes(line)
        })?;
        index.write_bytes(&(data.length() as u32).to_be_bytes())?;
        starts.push(samples.len() as u32);
        let first = HEADER + (self.count.div_ceil(STRING_PAGE) + 1) * 8;
        for start in starts {
            index.write_bytes(&(first + start).to_be_bytes())?;
        }
        index.write_bytes(&samples)?;
        index.close()?;
        data.close()
    }
}

/// Writer of a numeric index: sorted pairs of an identifier (a GI or a PIG) and the number
/// of its sequence.
#[derive(Debug)]
pub(crate) struct NumericIndexWriter {
    pairs: ExternalSorter,
    count: u32,
}

impl NumericIndexWriter {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { pairs: ExternalSorter::new(directory), count: 0 }
    }

    /// Returns the total size of all pairs in bytes.
    pub(crate) fn byte_count(&self) -> u64 {
        8 * u64::from(self.count)
    }

    pub(crate) fn add(&mut self, id: i64, number: u32) -> Result<(), MakedbError> {
        self.count += 1;
        self.pairs.push(&(id ^ i64::MIN).to_be_bytes(), u64::from(number))
    }

    /// Writes index and data, unless there are no pairs.
    pub(crate) fn write(
        self,
        sink: &mut StagedFiles,
        volume: u32,
        letters: [&'static str; 2],
    ) -> Result<(), MakedbError> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let [index, data] = letters;
        let mut index = sink.create_file(Some(volume), index)?;
        let mut data = sink.create_file(Some(volume), data)?;
        header(&mut index, 0, self.byte_count(), self.count, NUMBER_PAGE, 0)?;
        let mut last = None;
        let mut written = 0;
        self.pairs.for_each_sorted(|id, number| {
            let mut pair = [0; 8];
            // BLAST+ sorts by 64 bits with a sign, and writes 32 of them.
            pair[..4].copy_from_slice(&id[4..]);
            pair[4..].copy_from_slice(&(number as u32).to_be_bytes());
            if last.replace(pair) == Some(pair) {
                return Ok(());
            }
            if written % NUMBER_PAGE == 0 {
                index.write_bytes(&pair)?;
            }
            written += 1;
            data.write_bytes(&pair)
        })?;
        index.write_bytes(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])?;
        index.close()?;
        data.close()
    }
}
