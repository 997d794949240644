//! Makes the reports of blocks on an I/O rank.

use std::sync::{Mutex, PoisonError};

use fleetblast_db::check_mapped_files;
use fleetblast_metadata::header::{End, Header};
use fleetblast_metadata::order::Order;
use fleetblast_metadata::records::{Record, RecordKind};
use fleetblast_metadata::{Block, Kinds, MetadataError};

use super::Storage;
use crate::audience::Audience;
use crate::crossing::post::{Address, Job, Message, Piece, Post};
use crate::error::{Error, exit};
use crate::metadata::{Maker, Site, Wanted, at_site};
use crate::output::Pages;
use crate::threads::pool;

/// Makes what the manager asks for, until there is nothing more; what is wrong is told to it.
///
/// # Errors
/// A database that cannot be read, or is another one; a report that cannot be made.
pub fn serve(mut post: Post, site: &Storage) -> Result<(), Error> {
    let served = pool(site.threads).and_then(|pool| pool.install(|| all(&mut post, site)));
    served.inspect_err(|error| post.fail(error))
}

fn all(post: &mut Post, site: &Storage) -> Result<(), Error> {
    let body = match post.wait()?.message {
        Message::Begin(body) => body,
        Message::Leave => return Ok(()),
        _ => return Err(odd()),
    };
    let record = Record { kind: RecordKind::Header, offset: 0, body };
    let header = Header::decode(&record).map_err(|error| unreadable(&error))?;
    let lines = Lines { program: header.program.clone(), said: Mutex::default() };
    match (site.plan)(&header)? {
        None => Making::new(None, header.kinds, &lines).all(post),
        Some(plan) => at_site(&plan, &header, "at the other site", &lines, |site| {
            Making::new(Some(site), header.kinds, &lines).all(post)
        }),
    }
}

/// Makes one piece after the other.
struct Making<'a> {
    maker: Maker<'a, Bytes>,
    lines: &'a Lines,
}

impl<'a> Making<'a> {
    fn new(site: Option<Site<'a>>, kinds: Kinds, lines: &'a Lines) -> Self {
        let (output, wanted) = (Bytes(Vec::new()), Wanted::new(Vec::new()));
        Making { maker: Maker { site, kinds, output, wanted, begun: false }, lines }
    }

    fn all(mut self, post: &mut Post) -> Result<(), Error> {
        post.send(Address::Manager, Message::Ready);
        loop {
            match post.wait()?.message {
                Message::Make(job) => {
                    let piece = self.piece(job)?;
                    post.send(Address::Manager, Message::Made(piece));
                }
                Message::Leave => return Ok(()),
                _ => return Err(odd()),
            }
        }
    }

    fn piece(&mut self, Job { number, queries, kind, body }: Job) -> Result<Piece, Error> {
        let record = Record { kind, offset: 0, body };
        let mut reported = 0..0;
        if kind == RecordKind::End {
            let end = End::decode(&record).map_err(|error| unreadable(&error))?;
            Order::after(number, queries).verify(&record).map_err(|error| unreadable(&error))?;
            if number > 0 {
                self.maker.go_on();
                self.maker.catch_up(end.counted);
            }
            self.maker.end(Some(&end), self.lines)?;
        } else {
            if number > 0 {
                // Who made the first block made what comes before it.
                self.maker.go_on();
            }
            let block = Block::decode(&record).map_err(|error| unreadable(&error))?;
            if let Some(first) = block.queries.first() {
                reported = first.number..first.number.saturating_add(block.queries.len() as u64);
            }
            let unlike = |what| Error::new(exit::INPUT, format!("At the I/O site: {what}"));
            self.maker.block(block, &unlike, self.lines)?;
        }
        check_mapped_files()?;
        let bytes = std::mem::take(&mut self.maker.output.0);
        Ok(Piece { number, queries: reported, bytes, said: self.lines.take() })
    }
}

/// A piece of a report in memory.
struct Bytes(Vec<u8>);

impl Pages for Bytes {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Collects what is said with a piece: the manager tells it in the order of the queries.
struct Lines {
    /// What is typed to run the program that searched.
    program: String,
    said: Mutex<Vec<Vec<u8>>>,
}

impl Lines {
    fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Audience for Lines {
    fn program(&self) -> &str {
        &self.program
    }

    fn say(&self, line: &[u8]) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_vec());
    }

    /// The search finds the same to warn of in the database, and tells it.
    fn warn(&self, _: &str) {}
}

/// Metadata of another build of the program.
fn unreadable(error: &MetadataError) -> Error {
    Error::engine(format_args!("what came from the other site {error}"))
}

/// A fault of the program.
fn odd() -> Error {
    Error::engine("somebody says what is not for who makes reports")
}
