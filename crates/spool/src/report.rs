//! Reads a report that is stored as records.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Name};
use crate::error::{Context, Error};
use crate::index::ResultIndex;
use crate::job::{self, Job};
use crate::key::{ResultKey, ResultKind};
use crate::layout::Run;
use crate::reader::Reader;
use crate::scan::InvalidBytes;
use crate::summary::Summary;

/// A report that is stored as records. Opening it writes and locks nothing, since the report may
/// still be growing.
pub struct SpooledReport {
    run: Run,
    /// The size of the report; `None` if it is not complete.
    pub summary: Option<Summary>,
    index: ResultIndex,
    names: Vec<Name>,
    /// Damage in files without an index, with the path of each file.
    pub faults: Vec<(PathBuf, InvalidBytes)>,
    reader: Reader,
}

impl SpooledReport {
    /// Opens the report in a directory.
    ///
    /// # Errors
    /// [`Error::NoJob`] if there is no report; [`Error::JobFile`], [`Error::Conflict`],
    /// [`Error::Foreign`] and [`Error::Io`] for files that cannot be read or used.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let path = root.join(job::NAME);
        let owner = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NoJob(root.to_path_buf()));
            }
            result => result.during("read", &path)?.uid(),
        };
        let job = Job::read(root, owner)?.ok_or_else(|| Error::NoJob(root.to_path_buf()))?;
        let (number, codec) = (job.runs, job.codec);
        let run = Run { root: root.to_path_buf(), number, job: job.mark, codec };
        // The summary is read before the records, because a complete report does not grow any more.
        let summary = Summary::read(root)?;
        let mut report = Self {
            reader: Reader::new(&run),
            run,
            summary,
            index: ResultIndex::default(),
            names: Vec::new(),
            faults: Vec::new(),
        };
        for file in report.run.files()? {
            match Catalog::read(&report.run, file, owner) {
                Some(catalog) => {
                    report.add(catalog.places)?;
                    report.names.extend(catalog.names);
                }
                None => {
                    let scan = report.run.scan(file)?;
                    let path = report.run.path(file);
                    report
                        .faults
                        .extend(scan.invalid_bytes.into_iter().map(|fault| (path.clone(), fault)));
                    for place in
                        scan.places.iter().filter(|place| place.key.kind == ResultKind::NAMES)
                    {
                        let contents = report.reader.read(place)?;
                        let names = names(&contents).map(|(name, _)| name);
                        report.names.extend(names.map(|name| Name::new(name, place.key.block)));
                    }
                    report.add(scan.places)?;
                }
            }
        }
        report.names.sort_unstable();
        report.names.dedup();
        Ok(report)
    }

    fn add(&mut self, places: Vec<crate::record::StoredShare>) -> Result<(), Error> {
        places.into_iter().try_for_each(|place| self.index.add(&self.run, place))
    }

    /// Passes the bytes of a result to `take`, one share after the other. Returns false if the
    /// result is not complete.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Io`] of the records, and those of `take`.
    pub fn result<E: From<Error>>(
        &mut self,
        key: ResultKey,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(places) = self.index.shares_of_result(key) else { return Ok(false) };
        let mut done = 0;
        for place in places {
            let bytes = self.reader.read(&place)?;
            let known = (done - place.share.start) as usize;
            take(&bytes[known..])?;
            done = place.end();
        }
        Ok(true)
    }

    /// Passes a range of a result to `take`. Reads only the records that contain the range. Returns
    /// false if the result is not complete.
    ///
    /// # Errors
    /// Those of [`result`](Self::result).
    pub fn read_range<E: From<Error>>(
        &mut self,
        key: ResultKey,
        range: std::ops::Range<u64>,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(places) = self.index.shares_of_result(key) else { return Ok(false) };
        let mut done = range.start;
        for place in places {
            if place.end() <= done || place.share.start >= range.end {
                continue;
            }
            let bytes = self.reader.read(&place)?;
            let end = place.end().min(range.end);
            let start = place.share.start;
            take(&bytes[(done - start) as usize..(end - start) as usize])?;
            done = end;
        }
        Ok(done >= range.end)
    }

    /// Returns whether all records of a result exist. Does not verify their contents.
    pub fn has_result(&self, key: ResultKey) -> bool {
        self.index.shares_of_result(key).is_some()
    }

    /// Returns the blocks whose results are complete, ascending.
    pub fn blocks(&self) -> BTreeSet<u64> {
        let complete = self.index.complete().filter(|(key, _)| key.kind == ResultKind::RESULT);
        complete.map(|(key, _)| key.block).collect()
    }

    /// Finds the results of queries with this name, in the order of the report. Returns for each
    /// the key of its block, and its range in the block's output.
    ///
    /// # Errors
    /// Those of [`result`](Self::result).
    pub fn find(&mut self, name: &[u8]) -> Result<Vec<(ResultKey, std::ops::Range<u64>)>, Error> {
        let hash = Name::new(name, 0).hash;
        let from = self.names.partition_point(|known| known.hash < hash);
        let of_name = self.names[from..].iter().take_while(|known| known.hash == hash);
        let blocks: BTreeSet<u64> = of_name.map(|known| known.block).collect();
        let mut found = Vec::new();
        for block in blocks {
            let mut finder = NameFinder::new(name);
            self.result::<Error>(ResultKey { block, kind: ResultKind::NAMES }, |bytes| {
                finder.add(bytes);
                Ok(())
            })?;
            let key = ResultKey { block, kind: ResultKind::RESULT };
            found.extend(finder.finish().into_iter().map(|range| (key, range)));
        }
        Ok(found)
    }
}

/// Maximal number of bytes before the name in a line of names: two numbers of 64 bits, each with a
/// tab.
const MOST_NUMBERS: usize = 2 * (20 + 1);

/// Searches for a name in lines of [names] that arrive in pieces. Of an incomplete line, it keeps
/// no more bytes than a line with this name can have.
struct NameFinder<'a> {
    name: &'a [u8],
    /// The start of a line whose end has not arrived.
    part: Vec<u8>,
    found: Vec<std::ops::Range<u64>>,
}

impl<'a> NameFinder<'a> {
    fn new(name: &'a [u8]) -> Self {
        Self { name, part: Vec::new(), found: Vec::new() }
    }

    /// Searches the next bytes.
    fn add(&mut self, bytes: &[u8]) {
        let Some(first) = memchr::memchr(b'\n', bytes) else {
            return self.keep_partial_line(bytes);
        };
        let last = memchr::memrchr(b'\n', bytes).unwrap_or(first);
        self.keep_partial_line(&bytes[..first]);
        let line = std::mem::take(&mut self.part);
        self.search_lines(&line);
        self.search_lines(&bytes[first..last]);
        self.keep_partial_line(&bytes[last + 1..]);
    }

    /// Returns the range of the result of each query with the name, in the block's output.
    fn finish(mut self) -> Vec<std::ops::Range<u64>> {
        let line = std::mem::take(&mut self.part);
        self.search_lines(&line);
        self.found
    }

    fn keep_partial_line(&mut self, bytes: &[u8]) {
        // A longer line cannot be a line of this name, so its rest is not kept.
        let most = self.name.len() + MOST_NUMBERS + 1;
        let room = most.saturating_sub(self.part.len());
        self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn search_lines(&mut self, lines: &[u8]) {
        let own = names(lines).filter(|(other, _)| *other == self.name);
        self.found.extend(own.map(|(_, range)| range));
    }
}

/// Parses the names of a block. Each line has start and end of the query's result in the block's
/// output, and the name.
pub fn names(contents: &[u8]) -> impl Iterator<Item = (&[u8], std::ops::Range<u64>)> {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    contents.split(|&byte| byte == b'\n').filter_map(move |line| {
        let mut fields = line.splitn(3, |&byte| byte == b'\t');
        let (start, end) = (number(fields.next()?)?, number(fields.next()?)?);
        fields.next().filter(|_| start <= end).map(|name| (name, start..end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_come() {
        let long = "x".repeat(500);
        let lines = format!(
            "0\t5\tone\n5\t9\ttwo\n9\t12\t{long}\n12\t12\ttwo\n18446744073709551614\t18446744073709551615\tone"
        );
        for (name, wanted) in [
            ("one", vec![0..5, u64::MAX - 1..u64::MAX]),
            ("two", vec![5..9, 12..12]),
            (&long, Vec::from_iter(Some(9..12))),
            ("on", vec![]),
        ] {
            for step in 1..lines.len() {
                let mut finder = NameFinder::new(name.as_bytes());
                for bytes in lines.as_bytes().chunks(step) {
                    finder.add(bytes);
                    assert!(finder.part.len() <= name.len() + MOST_NUMBERS + 1);
                }
                assert_eq!(finder.finish(), wanted, "{name} in steps of {step}");
            }
        }
    }
}
