//! Finds the records of a file, even if parts of the file are missing or damaged.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::codec::ENVELOPE_BYTES;
use crate::durable::{open_own, owner_in};
use crate::error::{Context, Error};
use crate::job;
use crate::layout::{FileId, Run};
use crate::record::{HEADER_BYTES, Header, MAGIC, StoredShare};

/// Number of bytes to read at a time. A scan needs no more memory, besides its result.
const WINDOW: usize = 256 * 1024;

/// The result of scanning a spool file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The file that was scanned.
    pub file: FileId,
    /// The shares in valid records, in the order of the file.
    pub places: Vec<StoredShare>,
    /// Number of bytes of the valid records.
    pub bytes: u64,
    /// The parts of the file that are not valid records, in the order of the file.
    pub invalid_bytes: Vec<InvalidBytes>,
}

/// Bytes of a spool file that are not a valid record. Their results are lost and must be searched
/// again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvalidBytes {
    /// An incomplete end of the file, which was being written when its process or machine stopped.
    /// This is no damage.
    Tail {
        /// Offset of the first byte of the incomplete end.
        offset: u64,
        /// Number of bytes of the incomplete end.
        bytes: u64,
    },
    /// Damaged bytes with a record after them.
    Gap {
        /// Offset of the first damaged byte.
        offset: u64,
        /// Number of damaged bytes.
        bytes: u64,
    },
    /// A record whose body has a wrong checksum.
    Body {
        /// Offset of the record.
        offset: u64,
        /// Length of the record in bytes.
        bytes: u64,
        /// The lowest and the highest number of the blocks with data in the record.
        blocks: (u64, u64),
    },
}

impl fmt::Display for InvalidBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail { offset, bytes } => {
                write!(
                    f,
                    "the last {bytes} bytes, from offset {offset}, were not written to the end; ignored"
                )
            }
            Self::Gap { offset, bytes } => {
                write!(f, "{bytes} bytes at offset {offset} are damaged; skipped")
            }
            Self::Body { offset, blocks: (first, last), .. } if first == last => {
                write!(f, "the result of block {first} at offset {offset} is damaged; skipped")
            }
            Self::Body { offset, blocks: (first, last), .. } => write!(
                f,
                "results of blocks from {first} to {last} at offset {offset} are damaged; skipped"
            ),
        }
    }
}

impl Run {
    /// Scans one of the spool files that [`files`](Self::files) lists.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Foreign`] if it does not belong to the
    /// owner of the job. Damaged contents are no error.
    pub fn scan(&self, file: FileId) -> Result<Scan, Error> {
        let path = self.path(file);
        let job = fs::symlink_metadata(self.root.join(job::NAME)).map(|job| job.uid());
        let owner = job.or_else(|_| owner_in(&self.root))?;
        let source = open_own(File::options().read(true), &path, owner)?;
        scan(source, self.job, file).during("read", &path)
    }
}

/// Scans the bytes of a spool file of the job with the mark `job`.
///
/// If no record begins at an offset, the scan continues at the next bytes that look like the start
/// of a record. A header contains its file and offset. So a copy of a record, such as one in the
/// body of another record, is not accepted.
///
/// # Errors
/// Those of `source`.
pub fn scan(source: impl Read, job: u64, file: FileId) -> io::Result<Scan> {
    let mut input = Input::new(source);
    let mut scan = Scan { file, places: Vec::new(), bytes: 0, invalid_bytes: Vec::new() };
    let mut gap = None;
    loop {
        let offset = input.offset;
        let bytes = input.at_least(HEADER_BYTES)?;
        let Some(start) = bytes.first_chunk() else { break };
        let header = Header::decode(start, job, file, offset);
        let useless = next_candidate(bytes);
        let head = HEADER_BYTES + header.map_or(0, |header| header.table_bytes());
        let table = input.at_least(head)?.get(HEADER_BYTES..head);
        let record =
            header.zip(table).and_then(|(header, table)| Some((header, header.places(table)?)));
        let Some((header, places)) = record else {
            input.skip(useless);
            gap.get_or_insert(offset);
            continue;
        };
        if let Some(begin) = gap.take() {
            scan.invalid_bytes.push(InvalidBytes::Gap { offset: begin, bytes: offset - begin });
        }
        input.skip(head);
        let bytes = header.stored.saturating_add(head as u64);
        match input.checksum(header.stored)? {
            Some(sum) if sum == header.body => {
                scan.places.extend(places);
                scan.bytes += bytes;
            }
            Some(_) => {
                let blocks = places.iter().map(|place| place.key.block);
                let blocks = blocks.clone().min().zip(blocks.max()).unwrap_or_default();
                scan.invalid_bytes.push(InvalidBytes::Body { offset, bytes, blocks });
            }
            None => gap = Some(offset),
        }
    }
    let left = input.at_least(HEADER_BYTES)?.len() as u64;
    let end = input.offset + left;
    let tail = gap.unwrap_or(input.offset);
    if tail < end {
        scan.invalid_bytes.push(InvalidBytes::Tail { offset: tail, bytes: end - tail });
    }
    Ok(scan)
}

/// Returns the number of `bytes` that can be skipped if no record begins at the first one.
fn next_candidate(bytes: &[u8]) -> usize {
    match memmem::find(&bytes[1 + ENVELOPE_BYTES..], &MAGIC) {
        Some(at) => 1 + at,
        None => bytes.len() - (ENVELOPE_BYTES + MAGIC.len() - 1),
    }
}

/// Reader of a source from start to end, through a window.
struct Input<R> {
    source: R,
    window: Box<[u8]>,
    /// Range of the unused bytes in the window.
    range: std::ops::Range<usize>,
    /// Offset in the file of the unused bytes.
    offset: u64,
    ended: bool,
}

impl<R: Read> Input<R> {
    fn new(source: R) -> Self {
        Self { source, window: vec![0; WINDOW].into(), range: 0..0, offset: 0, ended: false }
    }

    /// Returns the unused bytes in the window. There are at least `count`, unless the file has
    /// fewer.
    fn at_least(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.range.len() < count && !self.ended {
            self.window.copy_within(self.range.clone(), 0);
            self.range = 0..self.range.len();
        }
        while self.range.len() < count && !self.ended {
            match self.source.read(&mut self.window[self.range.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.range.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.window[self.range.clone()])
    }

    /// Skips `count` bytes of the window.
    fn skip(&mut self, count: usize) {
        self.range.start += count;
        self.offset += count as u64;
    }

    /// Reads the next `count` bytes and returns their checksum; `None` if the file ends before.
    fn checksum(&mut self, count: u64) -> io::Result<Option<u64>> {
        let mut sum = Xxh3::new();
        let mut left = count;
        while left > 0 {
            let bytes = self.at_least(1)?;
            let used = left.min(bytes.len() as u64) as usize;
            if used == 0 {
                return Ok(None);
            }
            sum.update(&bytes[..used]);
            self.skip(used);
            left -= used as u64;
        }
        Ok(Some(sum.digest()))
    }
}

#[cfg(test)]
mod tests;
