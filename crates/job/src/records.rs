//! A report that is kept as records, put together again: all of it in the order of the queries, or
//! that of one query.

use std::path::Path;

use fleetblast_spool::{self as spool, Fault, Key, Kind, Report};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::output::Output;
use crate::plan::Destination;

/// What is told one by one, at most.
const MOST_TOLD: usize = 10;

/// Which part of a report is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of it, or nothing.
    Whole,
    /// All blocks that are there, of a report that need not be whole.
    Partial,
    /// What is there of the queries with this name.
    Query(Vec<u8>),
}

/// Writes the report in a directory to `out`.
///
/// # Errors
/// A directory without a report, or without what is wanted of it; records that are damaged, with
/// file and place; an output that cannot be written.
pub fn show(
    directory: &Path,
    wanted: &Wanted,
    out: &Destination,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let mut report = Report::open(directory).map_err(|error| failure(&error))?;
    let faults = report.faults.iter().filter(|(_, fault)| !matches!(fault, Fault::Tail { .. }));
    for (path, fault) in faults.take(MOST_TOLD) {
        audience.print_message(&format!("{}: {fault}", path.display()));
    }
    let mut shown = Shown { report: &mut report, directory, output: Output::open(out)?, bytes: 0 };
    match wanted {
        Wanted::Whole => shown.whole()?,
        Wanted::Partial => shown.partial(audience)?,
        Wanted::Query(name) => shown.query(name, audience)?,
    }
    shown.output.commit()
}

/// A report on its way to the output.
struct Shown<'a> {
    report: &'a mut Report,
    directory: &'a Path,
    output: Output,
    bytes: u64,
}

/// An error of either side.
struct Failed(Error);

const NOT_WHOLE: &str = "the report is not whole: its job has not ended, or it failed";

impl From<spool::Error> for Failed {
    fn from(error: spool::Error) -> Self {
        Failed(failure(&error))
    }
}

impl Shown<'_> {
    fn whole(&mut self) -> Result<(), Error> {
        let Some(summary) = self.report.summary else {
            let (there, directory) = (self.report.blocks().len(), self.directory.display());
            return Err(Error::new(
                exit::INPUT,
                format!(
                    "{directory}: {NOT_WHOLE}; {there} blocks of queries are there, which -partial shows"
                ),
            ));
        };
        let blocks = (0..summary.blocks).map(|block| Key { block, kind: Kind::RESULT });
        let end = |kind| std::iter::once(Key { block: 0, kind });
        for key in end(Kind::PROLOGUE).chain(blocks).chain(end(Kind::EPILOGUE)) {
            if summary.bytes > 0 && !self.show(key)? {
                return Err(self.missing(key));
            }
        }
        match self.bytes == summary.bytes {
            true => Ok(()),
            false => Err(Error::output(format_args!(
                "{}: the records have {} bytes of a report of {}",
                self.directory.display(),
                self.bytes,
                summary.bytes
            ))),
        }
    }

    /// Shows what is whole, block by block.
    fn partial(&mut self, audience: &dyn Audience) -> Result<(), Error> {
        let there = self.report.blocks();
        let blocks = there.iter().map(|&block| Key { block, kind: Kind::RESULT });
        let end = |kind| std::iter::once(Key { block: 0, kind });
        for key in end(Kind::PROLOGUE).chain(blocks).chain(end(Kind::EPILOGUE)) {
            // Read twice: nothing of a damaged block is shown, and a block may be larger than
            // memory.
            match self.report.result::<spool::Error>(key, |_| Ok(())) {
                Ok(_) => _ = self.show(key)?,
                Err(error @ spool::Error::Damaged { .. }) => {
                    audience.print_message(&error.to_string())
                }
                Err(error) => return Err(failure(&error)),
            }
        }
        let all = self.report.summary.map(|summary| summary.blocks);
        let last = all.unwrap_or_else(|| there.last().map_or(0, |last| last + 1));
        let gaps: Vec<u64> = (0..last).filter(|block| !there.contains(block)).collect();
        for block in gaps.iter().take(MOST_TOLD) {
            audience
                .print_message(&self.missing(Key { block: *block, kind: Kind::RESULT }).message);
        }
        if gaps.len() > MOST_TOLD {
            audience.print_message(&format!("{} more blocks are missing", gaps.len() - MOST_TOLD));
        }
        if all.is_none() {
            let directory = self.directory.display();
            audience.print_message(&format!("{directory}: {NOT_WHOLE}"));
        }
        Ok(())
    }

    fn query(&mut self, name: &[u8], audience: &dyn Audience) -> Result<(), Error> {
        if let Some(summary) = self.report.summary {
            let names = |block| Key { block, kind: Kind::NAMES };
            if let Some(block) = (0..summary.blocks).find(|&block| !self.report.has(names(block))) {
                return Err(self.missing(names(block)));
            }
        }
        let found = self.report.find(name).map_err(|error| failure(&error))?;
        let named = String::from_utf8_lossy(name);
        let what = match self.report.summary {
            Some(_) => "there".to_owned(),
            None => format!("there yet, or was lost: {NOT_WHOLE}"),
        };
        let directory = self.directory.display();
        if found.is_empty() {
            let text = format!("{directory}: no query '{named}' is {what}");
            return Err(Error::new(exit::INPUT, text));
        }
        for (key, range) in found {
            let output = &mut self.output;
            let shown = self.report.part(key, range, |part| output.write(part).map_err(Failed));
            if !shown.map_err(|Failed(error)| error)? {
                return Err(self.missing(key));
            }
        }
        if self.report.summary.is_none() {
            audience.print_message(&format!(
                "{directory}: the report is not whole; another query '{named}' may be missing"
            ));
        }
        Ok(())
    }

    /// Writes a result; false if not all of it is there.
    fn show(&mut self, key: Key) -> Result<bool, Error> {
        let (output, bytes) = (&mut self.output, &mut self.bytes);
        let shown = self.report.result(key, |part| {
            *bytes += part.len() as u64;
            output.write(part).map_err(Failed)
        });
        shown.map_err(|Failed(error)| error)
    }

    fn missing(&self, key: Key) -> Error {
        let what = match key.kind {
            Kind::PROLOGUE => "the begin of the report".to_owned(),
            Kind::EPILOGUE => "the end of the report".to_owned(),
            Kind::NAMES => format!("the names of the queries of block {}", key.block),
            _ => format!("block {} of the queries", key.block),
        };
        Error::output(format_args!(
            "{}: {what} is missing, or damaged in a file without an index",
            self.directory.display()
        ))
    }
}

/// Records that cannot be read.
fn failure(error: &spool::Error) -> Error {
    match error {
        spool::Error::NoJob(path) => {
            Error::new(exit::INPUT, format!("{} keeps no report", path.display()))
        }
        spool::Error::Damaged { path, offset, what } => Error::output(format_args!(
            "{} is damaged at offset {offset}: {what}; -partial shows the rest",
            path.display()
        )),
        error => Error::output(error),
    }
}
