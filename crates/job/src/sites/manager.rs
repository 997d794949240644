//! The manager of the I/O site: distributes blocks among the I/O ranks, and writes the report.

use std::collections::{BTreeMap, VecDeque};

use fleetblast_metadata::records::RecordKind;

use crate::audience::Audience;
use crate::crossing::mailbox::{Address, Job, Mailbox, Message, Parcel, Piece};
use crate::error::{Error, exit};
use crate::output::Output;
use crate::plan::Destination;

/// Most blocks per maker ahead of the next one to write: their reports wait in memory.
const AHEAD: u64 = 2;

/// State of the manager.
struct Manager<'a> {
    mailbox: &'a Mailbox,
    makers: u32,
    /// Threads of each maker.
    threads: u32,
    /// Number of makers that have opened their database, and those of them without a job.
    ready: u32,
    idle: Vec<Address>,
    /// Number of blocks that arrived, and the jobs that wait for a maker.
    received: u64,
    waiting: VecDeque<Job>,
    /// Body sizes in bytes of the jobs that are not written, from the next one on.
    sizes: VecDeque<u64>,
    /// Reports of jobs that wait for those of earlier jobs.
    made: BTreeMap<u64, Piece>,
    /// Number of the next job to write.
    next: u64,
    /// Number of queries whose report is written.
    queries: u64,
    /// Number of all blocks, once it is known.
    end: Option<u64>,
    /// Whether there is no report.
    is_empty: bool,
    output: Output,
    audience: &'a dyn Audience,
}

/// Has `makers` makers of `threads` threads each make the report, and gives it its name when it is
/// complete.
///
/// # Errors
/// An error of the search, without a message; an error of a maker; a report that cannot be written.
pub fn manage(
    mailbox: &Mailbox,
    (makers, threads): (u32, u32),
    out: &Destination,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let _dismissal = Dismissal { mailbox, makers };
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
            made: BTreeMap::new(),
            next: 0,
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

/// Ends the makers when dropped.
struct Dismissal<'a> {
    mailbox: &'a Mailbox,
    makers: u32,
}

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        for maker in 0..self.makers {
            self.mailbox.send(Address::Maker(maker), Message::Leave);
        }
    }
}

impl Manager<'_> {
    fn run(mut self) -> Result<(), Error> {
        while !self.is_empty && self.end.is_none_or(|end| self.next <= end) {
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
                    self.mailbox.send(Address::Maker(maker), Message::Begin(body.clone()));
                }
                self.mailbox.send(Address::Search, Message::Written(body.len() as u64));
            }
            Message::Record(kind, body) => {
                self.sizes.push_back(body.len() as u64);
                self.waiting.push_back(Job { number: self.received, queries: 0, kind, body });
                match kind {
                    RecordKind::End => self.end = Some(self.received),
                    _ => self.received += 1,
                }
            }
            Message::Ready => {
                self.ready += 1;
                self.idle.push(from);
            }
            Message::Made(piece) => {
                self.idle.push(from);
                self.made.insert(piece.number, piece);
            }
            Message::Nothing => self.is_empty = true,
            Message::Broken => return Err(Error::silent(exit::UNKNOWN)),
            Message::Failed(code, message) => return Err(Error::new(code, message)),
            _ => return Err(Error::engine("the I/O manager received an unexpected message")),
        }
        Ok(())
    }

    /// Writes the reports that are next in the order.
    fn write(&mut self) -> Result<(), Error> {
        while let Some(Piece { queries, bytes, lines, .. }) = self.made.remove(&self.next) {
            if !queries.is_empty() && queries.start != self.queries + 1 {
                return Err(Error::engine(
                    "blocks of queries came to the I/O ranks out of their order",
                ));
            }
            self.queries += queries.end.saturating_sub(queries.start);
            self.output.write(&bytes)?;
            lines.iter().for_each(|line| self.audience.print_line(line));
            self.next += 1;
            let size = self.sizes.pop_front().unwrap_or_default();
            self.mailbox.send(Address::Search, Message::Written(size));
        }
        Ok(())
    }

    /// Gives waiting jobs to idle makers.
    fn distribute(&mut self) {
        while let (Some(job), false) = (self.waiting.front(), self.idle.is_empty()) {
            let may_begin = match job.kind {
                // By then all databases are verified, and all blocks are reported.
                RecordKind::End => self.ready == self.makers && self.next == job.number,
                _ => job.number < self.next + AHEAD * u64::from(self.makers),
            };
            if !may_begin {
                return;
            }
            if let (Some(job), Some(maker)) = (self.waiting.pop_front(), self.idle.pop()) {
                // The end record is the last job, when all queries are counted.
                let job = Job { queries: self.queries, ..job };
                self.mailbox.send(maker, Message::Make(job));
            }
        }
    }
}
