//! Joins a report that is kept as records: the whole report in the order of the queries, or the
//! report of one query.

use std::path::Path;

use fleetblast_spool::{self as spool, InvalidBytes, ResultKey, ResultKind, SpooledReport};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::output::Output;
use crate::plan::Destination;

/// Maximum number of faults that get a message each.
const MAX_MESSAGES: usize = 10;

/// Selection of the part of a report that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportSelection {
    /// The whole report; an incomplete one is an error.
    Whole,
    /// All complete blocks of a report that may be incomplete.
    Partial,
    /// The parts for the queries with this name.
    Query(Vec<u8>),
}

/// Writes the report in a directory to `out`.
///
/// # Errors
/// A directory without a report or without the selected part; damaged records, with file and
/// offset; an output that cannot be written.
pub fn write_report(
    directory: &Path,
    selection: &ReportSelection,
    out: &Destination,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let mut report = SpooledReport::open(directory).map_err(|error| failure(&error))?;
    let faults =
        report.faults.iter().filter(|(_, fault)| !matches!(fault, InvalidBytes::Tail { .. }));
    for (path, fault) in faults.take(MAX_MESSAGES) {
        audience.print_message(&format!("{}: {fault}", path.display()));
    }
    let mut writer =
        ReportWriter { report: &mut report, directory, output: Output::open(out)?, bytes: 0 };
    match selection {
        ReportSelection::Whole => writer.write_whole()?,
        ReportSelection::Partial => writer.write_partial(audience)?,
        ReportSelection::Query(name) => writer.write_query(name, audience)?,
    }
    writer.output.commit()
}

/// Writer of a report to an output.
struct ReportWriter<'a> {
    report: &'a mut SpooledReport,
    directory: &'a Path,
    output: Output,
    bytes: u64,
}

/// An error of reading records or of writing the output.
struct ReportError(Error);

const INCOMPLETE: &str = "the report is not whole: its job has not ended, or it failed";

impl From<spool::Error> for ReportError {
    fn from(error: spool::Error) -> Self {
        ReportError(failure(&error))
    }
}

impl ReportWriter<'_> {
    fn write_whole(&mut self) -> Result<(), Error> {
        let Some(summary) = self.report.summary else {
            let (there, directory) = (self.report.blocks().len(), self.directory.display());
            return Err(Error::new(
                exit::INPUT,
                format!(
                    "{directory}: {INCOMPLETE}; {there} blocks of queries are there, which -partial shows"
                ),
            ));
        };
        let blocks = (0..summary.blocks).map(|block| ResultKey { block, kind: ResultKind::RESULT });
        let end = |kind| std::iter::once(ResultKey { block: 0, kind });
        for key in end(ResultKind::PROLOGUE).chain(blocks).chain(end(ResultKind::EPILOGUE)) {
            if summary.bytes > 0 && !self.write_result(key)? {
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

    /// Writes all complete blocks.
    fn write_partial(&mut self, audience: &dyn Audience) -> Result<(), Error> {
        let there = self.report.blocks();
        let blocks = there.iter().map(|&block| ResultKey { block, kind: ResultKind::RESULT });
        let end = |kind| std::iter::once(ResultKey { block: 0, kind });
        for key in end(ResultKind::PROLOGUE).chain(blocks).chain(end(ResultKind::EPILOGUE)) {
            // Reads each block twice: a damaged block must not be written in part, and a block may
            // exceed the memory.
            match self.report.result::<spool::Error>(key, |_| Ok(())) {
                Ok(_) => _ = self.write_result(key)?,
                Err(error @ spool::Error::Damaged { .. }) => {
                    audience.print_message(&error.to_string())
                }
                Err(error) => return Err(failure(&error)),
            }
        }
        let all = self.report.summary.map(|summary| summary.blocks);
        let last = all.unwrap_or_else(|| there.last().map_or(0, |last| last + 1));
        let gaps: Vec<u64> = (0..last).filter(|block| !there.contains(block)).collect();
        for block in gaps.iter().take(MAX_MESSAGES) {
            audience.print_message(
                &self.missing(ResultKey { block: *block, kind: ResultKind::RESULT }).message,
            );
        }
        if gaps.len() > MAX_MESSAGES {
            audience
                .print_message(&format!("{} more blocks are missing", gaps.len() - MAX_MESSAGES));
        }
        if all.is_none() {
            let directory = self.directory.display();
            audience.print_message(&format!("{directory}: {INCOMPLETE}"));
        }
        Ok(())
    }

    fn write_query(&mut self, name: &[u8], audience: &dyn Audience) -> Result<(), Error> {
        if let Some(summary) = self.report.summary {
            let names = |block| ResultKey { block, kind: ResultKind::NAMES };
            if let Some(block) =
                (0..summary.blocks).find(|&block| !self.report.has_result(names(block)))
            {
                return Err(self.missing(names(block)));
            }
        }
        let found = self.report.find(name).map_err(|error| failure(&error))?;
        let named = String::from_utf8_lossy(name);
        let what = match self.report.summary {
            Some(_) => "there".to_owned(),
            None => format!("there yet, or was lost: {INCOMPLETE}"),
        };
        let directory = self.directory.display();
        if found.is_empty() {
            let text = format!("{directory}: no query '{named}' is {what}");
            return Err(Error::new(exit::INPUT, text));
        }
        for (key, range) in found {
            let output = &mut self.output;
            let shown =
                self.report.read_range(key, range, |part| output.write(part).map_err(ReportError));
            if !shown.map_err(|ReportError(error)| error)? {
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

    /// Writes a result to the output; returns false if it is incomplete.
    fn write_result(&mut self, key: ResultKey) -> Result<bool, Error> {
        let (output, bytes) = (&mut self.output, &mut self.bytes);
        let shown = self.report.result(key, |part| {
            *bytes += part.len() as u64;
            output.write(part).map_err(ReportError)
        });
        shown.map_err(|ReportError(error)| error)
    }

    fn missing(&self, key: ResultKey) -> Error {
        let what = match key.kind {
            ResultKind::PROLOGUE => "the begin of the report".to_owned(),
            ResultKind::EPILOGUE => "the end of the report".to_owned(),
            ResultKind::NAMES => format!("the names of the queries of block {}", key.block),
            _ => format!("block {} of the queries", key.block),
        };
        Error::output(format_args!(
            "{}: {what} is missing, or damaged in a file without an index",
            self.directory.display()
        ))
    }
}

/// Converts an error of reading records.
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
