//! Shares blocks out among the I/O ranks, and writes the report.

use std::collections::{BTreeMap, VecDeque};

use fleetblast_metadata::records::RecordKind;

use crate::audience::Audience;
use crate::crossing::post::{Address, Job, Message, Parcel, Piece, Post};
use crate::error::{Error, exit};
use crate::output::Output;
use crate::plan::Destination;

/// Blocks a maker that are made ahead of the one that is to be written next, at most: what is reported of them waits in memory.
const AHEAD: u64 = 2;

/// The manager.
struct Manager<'a> {
    post: &'a Post,
    makers: u32,
    /// Of each maker.
    threads: u32,
    /// Makers that have opened their database, and of these who have nothing to do.
    ready: u32,
    idle: Vec<Address>,
    /// Blocks that came, and those that nobody has begun.
    came: u64,
    waiting: VecDeque<Job>,
    /// Bytes of the bodies of jobs that are not written, from the next one on.
    sizes: VecDeque<u64>,
    /// What is made of blocks, but not of all before.
    made: BTreeMap<u64, Piece>,
    /// The next one to write.
    next: u64,
    /// Number of queries whose report is written.
    queries: u64,
    /// How many blocks there are, once that is known.
    end: Option<u64>,
    /// There is nothing to report.
    is_empty: bool,
    output: Output,
    audience: &'a dyn Audience,
}

/// Has so many makers of so many threads each make the report, and gives it its name when it is whole.
///
/// # Errors
/// Whatever ended the search, silently, or a maker; a report that cannot be written.
pub fn manage(
    post: &Post,
    (makers, threads): (u32, u32),
    out: &Destination,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let _leaving = Leaving { post, makers };
    let run = || {
        let output = Output::open(out)?;
        Manager {
            post,
            makers,
            threads,
            ready: 0,
            idle: Vec::new(),
            came: 0,
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
        .all()
    };
    let ended = run();
    match &ended {
        Ok(()) => post.send(Address::Search, Message::Done),
        Err(error) => post.fail(error),
    }
    ended
}

/// Sends makers home when dropped.
struct Leaving<'a> {
    post: &'a Post,
    makers: u32,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        for maker in 0..self.makers {
            self.post.send(Address::Maker(maker), Message::Leave);
        }
    }
}

impl Manager<'_> {
    fn all(mut self) -> Result<(), Error> {
        while !self.is_empty && self.end.is_none_or(|end| self.next <= end) {
            let Parcel { from, message, .. } = self.post.wait()?;
            if let Message::Record(_, body) = &message {
                let came = Message::Came(body.len() as u64, self.makers * self.threads);
                self.post.send(Address::Search, came);
            }
            self.hear(from, message)?;
            self.write()?;
            self.share_out();
        }
        if self.is_empty { Ok(()) } else { self.output.commit() }
    }

    fn hear(&mut self, from: Address, message: Message) -> Result<(), Error> {
        match message {
            Message::Record(RecordKind::Header, body) => {
                for maker in 0..self.makers {
                    self.post.send(Address::Maker(maker), Message::Begin(body.clone()));
                }
                self.post.send(Address::Search, Message::Written(body.len() as u64));
            }
            Message::Record(kind, body) => {
                self.sizes.push_back(body.len() as u64);
                self.waiting.push_back(Job { number: self.came, queries: 0, kind, body });
                match kind {
                    RecordKind::End => self.end = Some(self.came),
                    _ => self.came += 1,
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
            Message::Broken => return Err(Error::new(exit::UNKNOWN, "")),
            Message::Failed(code, message) => return Err(Error::new(code, message)),
            _ => return Err(Error::engine("somebody says what is not for the I/O manager")),
        }
        Ok(())
    }

    /// Writes what is made as far as nothing before is missing.
    fn write(&mut self) -> Result<(), Error> {
        while let Some(Piece { queries, bytes, said, .. }) = self.made.remove(&self.next) {
            if !queries.is_empty() && queries.start != self.queries + 1 {
                return Err(Error::engine(
                    "blocks of queries came to the I/O ranks out of their order",
                ));
            }
            self.queries += queries.end.saturating_sub(queries.start);
            self.output.write(&bytes)?;
            said.iter().for_each(|line| self.audience.say(line));
            self.next += 1;
            let size = self.sizes.pop_front().unwrap_or_default();
            self.post.send(Address::Search, Message::Written(size));
        }
        Ok(())
    }

    /// Gives those who have nothing to do what waits.
    fn share_out(&mut self) {
        while let (Some(job), false) = (self.waiting.front(), self.idle.is_empty()) {
            let may_begin = match job.kind {
                // All databases are known to be right, then, and all blocks are reported.
                RecordKind::End => self.ready == self.makers && self.next == job.number,
                _ => job.number < self.next + AHEAD * u64::from(self.makers),
            };
            if !may_begin {
                return;
            }
            if let (Some(job), Some(maker)) = (self.waiting.pop_front(), self.idle.pop()) {
                // The end is shared out last, when all queries are counted.
                let job = Job { queries: self.queries, ..job };
                self.post.send(maker, Message::Make(job));
            }
        }
    }
}
