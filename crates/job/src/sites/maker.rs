//! Makes the reports of blocks, on an I/O rank.

use std::sync::{Mutex, PoisonError};

use fleetblast_db::check_mapped_files;
use fleetblast_metadata::header::{End, Header};
use fleetblast_metadata::order::RecordOrder;
use fleetblast_metadata::records::{Record, RecordKind};
use fleetblast_metadata::{Block, EncodingChoice, MetadataError};

use super::IoSitePlan;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::io_channel::mailbox::{Address, BlockReport, Mailbox, Message, ReportRequest};
use crate::metadata::{IoSite, ReportMaker, WantedQueries, open_site};
use crate::output::ReportSink;
use crate::threads::pool;

/// Handles the requests of the manager until the manager ends them. Also sends an error to the
/// manager.
///
/// # Errors
/// A database that is unreadable or not the searched one; a report that cannot be made.
pub fn serve_manager(mut mailbox: Mailbox, site: &IoSitePlan) -> Result<(), Error> {
    let served =
        pool(site.threads).and_then(|pool| pool.install(|| make_reports(&mut mailbox, site)));
    served.inspect_err(|error| mailbox.fail(error))
}

fn make_reports(mailbox: &mut Mailbox, site: &IoSitePlan) -> Result<(), Error> {
    let body = match mailbox.wait()?.message {
        Message::Header(body) => body,
        Message::End => return Ok(()),
        _ => return Err(unexpected_error()),
    };
    let record = Record { kind: RecordKind::Header, offset: 0, body };
    let header = Header::decode(&record).map_err(|error| unreadable(&error))?;
    let lines = Warnings { program: header.program.clone(), lines: Mutex::default() };
    match (site.plan)(&header)? {
        None => RequestHandler::new(None, header.encodings, &lines).run(mailbox),
        Some(plan) => open_site(&plan, &header, "at the other site", &lines, |site| {
            RequestHandler::new(Some(site), header.encodings, &lines).run(mailbox)
        }),
    }
}

/// Handles requests: makes the report of one record after another.
struct RequestHandler<'a> {
    maker: ReportMaker<'a, Bytes>,
    lines: &'a Warnings,
}

impl<'a> RequestHandler<'a> {
    fn new(site: Option<IoSite<'a>>, encodings: EncodingChoice, lines: &'a Warnings) -> Self {
        let (output, wanted) = (Bytes(Vec::new()), WantedQueries::new(Vec::new()));
        RequestHandler {
            maker: ReportMaker { site, encodings, output, wanted, begun: false },
            lines,
        }
    }

    fn run(mut self, mailbox: &mut Mailbox) -> Result<(), Error> {
        mailbox.send(Address::Manager, Message::Ready);
        loop {
            match mailbox.wait()?.message {
                Message::MakeReport(request) => {
                    let report = self.make_report(request)?;
                    mailbox.send(Address::Manager, Message::ReportMade(report));
                }
                Message::End => return Ok(()),
                _ => return Err(unexpected_error()),
            }
        }
    }

    fn make_report(
        &mut self,
        ReportRequest { number, queries, kind, body }: ReportRequest,
    ) -> Result<BlockReport, Error> {
        let record = Record { kind, offset: 0, body };
        let mut reported = 0..0;
        if kind == RecordKind::End {
            let end = End::decode(&record).map_err(|error| unreadable(&error))?;
            RecordOrder::after(number, queries)
                .verify(&record)
                .map_err(|error| unreadable(&error))?;
            if number > 0 {
                self.maker.continue_report();
                self.maker.count_others(end.reported_count);
            }
            self.maker.finish(Some(&end), self.lines)?;
        } else {
            if number > 0 {
                // The maker of the first block made the start of the report.
                self.maker.continue_report();
            }
            let block = Block::decode(&record).map_err(|error| unreadable(&error))?;
            if let Some(first) = block.queries.first() {
                reported = first.number..first.number.saturating_add(block.queries.len() as u64);
            }
            let differs = |what| Error::new(exit::INPUT, format!("At the I/O site: {what}"));
            self.maker.report_block(block, &differs, self.lines)?;
        }
        check_mapped_files()?;
        let bytes = std::mem::take(&mut self.maker.output.0);
        Ok(BlockReport { number, queries: reported, bytes, lines: self.lines.drain() })
    }
}

/// Collects a part of the report in memory.
struct Bytes(Vec<u8>);

impl ReportSink for Bytes {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Collects the warnings from a request. The manager prints them in the order of the queries.
struct Warnings {
    /// Name of the program that searched, as the user typed it.
    program: String,
    lines: Mutex<Vec<Vec<u8>>>,
}

impl Warnings {
    fn drain(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Audience for Warnings {
    fn program(&self) -> &str {
        &self.program
    }

    fn print_line(&self, line: &[u8]) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_vec());
    }

    /// Drops warnings about the database: the search site prints them.
    fn print_common_line(&self, _: &str) {}
}

/// Creates the error for metadata of another build of the program.
fn unreadable(error: &MetadataError) -> Error {
    Error::engine(format_args!("what came from the other site {error}"))
}

/// Creates the error for an unexpected message, a fault of the program.
fn unexpected_error() -> Error {
    Error::engine("a maker of reports received an unexpected message")
}
