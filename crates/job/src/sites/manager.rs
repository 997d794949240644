//! The manager of the I/O site: distributes blocks among the I/O ranks, and writes the report.

use std::collections::{BTreeMap, VecDeque};

use fleetblast_metadata::records::RecordKind;

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::io_channel::mailbox::{Address, BlockReport, Mailbox, Message, Parcel, ReportRequest};
use crate::output::Output;
use crate::plan::Destination;

/// Most blocks for each maker that are ahead of the written report. Their reports wait in memory.
const BLOCKS_AHEAD: u64 = 2;

/// The state of the manager.
struct Manager<'a> {
    mailbox: &'a Mailbox,
    makers: u32,
    /// Number of threads of each maker.
    threads: u32,
    /// Number of makers that have verified their database.
    ready: u32,
    /// Makers that have no request.
    idle: Vec<Address>,
    /// Number of blocks received.
    received: u64,
    /// Requests that wait for a maker.
    waiting: VecDeque<ReportRequest>,
    /// Body sizes in bytes of the records whose report is not written yet, in the order of records.
    sizes: VecDeque<u64>,
    /// Reports that wait for the reports of earlier records, by number of the record.
    reports: BTreeMap<u64, BlockReport>,
    /// Number of the next record whose report must be written.
    next_number: u64,
    /// Number of queries whose report is written.
    queries: u64,
    /// Number of all blocks; `None` until the end record has arrived.
    end: Option<u64>,
    /// Whether the search site searches nothing, so that there is no report.
    is_empty: bool,
    output: Output,
    audience: &'a dyn Audience,
}

/// Distributes the records among `makers` makers, which have `threads` threads each. Publishes the
/// report when it is complete.
///
/// # Errors
/// A silent error if the search failed; an error of a maker; a report that cannot be written.
pub fn run_manager(
    mailbox: &Mailbox,
    (makers, threads): (u32, u32),
    out: &Destination,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let _guard = MakersGuard { mailbox, makers };
    let run = || {
        let output = Output::open(out)?;
        Manager {
            mailbox,
            makers,
            threads,
            ready: 0,
            idle: Vec::new(),
            received: 0,
            waiting: VecDeque::new(),
            sizes: VecDeque::new(),
            reports: BTreeMap::new(),
            next_number: 0,
            queries: 0,
            end: None,
            is_empty: false,
            output,
            audience,
        }
        .run()
    };
    let ended = run();
    match &ended {
        Ok(()) => mailbox.send(Address::Search, Message::Done),
        Err(error) => mailbox.fail(error),
    }
    ended
}

/// Guard that informs the makers, when dropped, that no more requests follow.
struct MakersGuard<'a> {
    mailbox: &'a Mailbox,
    makers: u32,
}

impl Drop for MakersGuard<'_> {
    fn drop(&mut self) {
        for maker in 0..self.makers {
            self.mailbox.send(Address::Maker(maker), Message::End);
        }
    }
}

impl Manager<'_> {
    fn run(mut self) -> Result<(), Error> {
        while !self.is_empty && self.end.is_none_or(|end| self.next_number <= end) {
            let Parcel { from, message, .. } = self.mailbox.wait()?;
            if let Message::Record(_, body) = &message {
                let received = Message::Received(body.len() as u64, self.makers * self.threads);
                self.mailbox.send(Address::Search, received);
            }
            self.handle(from, message)?;
            self.write()?;
            self.distribute();
        }
        if self.is_empty { Ok(()) } else { self.output.commit() }
    }

    fn handle(&mut self, from: Address, message: Message) -> Result<(), Error> {
        match message {
            Message::Record(RecordKind::Header, body) => {
                for maker in 0..self.makers {
                    self.mailbox.send(Address::Maker(maker), Message::Header(body.clone()));
                }
                self.mailbox.send(Address::Search, Message::Written(body.len() as u64));
            }
            Message::Record(kind, body) => {
                self.sizes.push_back(body.len() as u64);
                self.waiting.push_back(ReportRequest {
                    number: self.received,
                    queries: 0,
                    kind,
                    body,
                });
                match kind {
                    RecordKind::End => self.end = Some(self.received),
                    _ => self.received += 1,
                }
            }
            Message::Ready => {
                self.ready += 1;
                self.idle.push(from);
            }
            Message::ReportMade(report) => {
                self.idle.push(from);
                self.reports.insert(report.number, report);
            }
            Message::NoSearch => self.is_empty = true,
            Message::SearchFailed => return Err(Error::silent(exit::UNKNOWN)),
            Message::Failed(code, message) => return Err(Error::from_remote(code, message)),
            _ => return Err(Error::engine("the I/O manager received an unexpected message")),
        }
        Ok(())
    }

    /// Writes the reports that come next in the order of records.
    fn write(&mut self) -> Result<(), Error> {
        while let Some(BlockReport { queries, bytes, lines, .. }) =
            self.reports.remove(&self.next_number)
        {
            if !queries.is_empty() && queries.start != self.queries + 1 {
                return Err(Error::engine(
                    "blocks of queries came to the I/O ranks out of their order",
                ));
            }
            self.queries += queries.end.saturating_sub(queries.start);
            self.output.write(&bytes)?;
            lines.iter().for_each(|line| self.audience.print_line(line));
            self.next_number += 1;
            let size = self.sizes.pop_front().unwrap_or_default();
            self.mailbox.send(Address::Search, Message::Written(size));
        }
        Ok(())
    }

    /// Sends waiting requests to idle makers.
    fn distribute(&mut self) {
        while let (Some(request), false) = (self.waiting.front(), self.idle.is_empty()) {
            let may_begin = match request.kind {
                // The end of the report is made after all makers have verified their database and
                // all blocks are written.
                RecordKind::End => self.ready == self.makers && self.next_number == request.number,
                _ => request.number < self.next_number + BLOCKS_AHEAD * u64::from(self.makers),
            };
            if !may_begin {
                return;
            }
            if let (Some(request), Some(maker)) = (self.waiting.pop_front(), self.idle.pop()) {
                // The number matters only for the end record, when all queries are counted.
                let request = ReportRequest { queries: self.queries, ..request };
                self.mailbox.send(maker, Message::MakeReport(request));
            }
        }
    }
}
