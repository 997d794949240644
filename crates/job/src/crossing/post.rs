//! The messages between the ranks of two sites.

use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::Instant;

use fleetblast_metadata::records::RecordKind;
use serde::{Deserialize, Serialize};

use crate::error::{Error, exit};

/// A sender or receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// The first rank of the search.
    Search,
    /// The manager, which distributes blocks and writes the report.
    Manager,
    /// A maker of reports of blocks: one on each I/O rank.
    Maker(u32),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Search to manager: the body of the next record of the metadata.
    Record(RecordKind, Vec<u8>),
    /// Search to manager: the search ended with an error, which it reports itself.
    Broken,
    /// Search to manager: there is no report, since nothing is searched.
    Nothing,
    /// Manager to search: a body of this many bytes came to this many threads, which make the
    /// report.
    Came(u64, u32),
    /// Manager to search: the report of bodies with this many bytes is written.
    Written(u64),
    /// Manager to search: the report is whole, and has its name.
    Done,
    /// Manager to makers: the header of the metadata.
    Begin(Vec<u8>),
    /// Maker to manager: the database is the right one.
    Ready,
    /// Manager to maker.
    Make(Job),
    /// Maker to manager: the result of its job.
    Made(Piece),
    /// Manager to makers: there is nothing more to do.
    Leave,
    /// Maker to manager, and manager to search: exit code and message of the error that ended it.
    Failed(u8, String),
}

/// A record whose report a maker makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The number of the block; at the end, the number of blocks.
    pub number: u64,
    /// At the end, the number of queries in all blocks.
    pub queries: u64,
    /// A block or the end.
    pub kind: RecordKind,
    /// Its body.
    pub body: Vec<u8>,
}

/// A piece of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The number of the job.
    pub number: u64,
    /// Numbers of the reported queries.
    pub queries: Range<u64>,
    /// The bytes of the report.
    pub bytes: Vec<u8>,
    /// Lines for standard error.
    pub said: Vec<Vec<u8>>,
}

/// A message with its addresses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// The receiver.
    pub to: Address,
    /// The sender.
    pub from: Address,
    /// The message.
    pub message: Message,
    /// When it was sent; in another process, when it arrived.
    #[serde(skip, default = "Instant::now")]
    pub at: Instant,
}

impl Parcel {
    /// Makes a parcel that is sent now.
    pub fn new(to: Address, from: Address, message: Message) -> Self {
        Parcel { to, from, message, at: Instant::now() }
    }
}

/// Sends parcels.
pub type Outbox = Box<dyn Fn(Parcel) + Send>;

/// Sends and receives the messages of one address.
pub struct Post {
    own: Address,
    /// Its rank and host, for messages to people.
    place: Option<String>,
    inbox: Receiver<Parcel>,
    outbox: Outbox,
}

impl Post {
    /// Makes the post of an address.
    pub fn new(own: Address, inbox: Receiver<Parcel>, outbox: Outbox) -> Self {
        Post { own, place: None, inbox, outbox }
    }

    /// Adds a place, which the messages of its errors name.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "threads have none"))]
    pub fn with_place(mut self, place: String) -> Self {
        self.place = Some(place);
        self
    }

    /// Sends a message. It is lost if the receiver has ended.
    pub fn send(&self, to: Address, message: Message) {
        (self.outbox)(Parcel::new(to, self.own, message));
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// The other site has ended.
    pub fn wait(&self) -> Result<Parcel, Error> {
        self.inbox.recv().map_err(|_| gone())
    }

    /// Returns the next message if one has arrived.
    ///
    /// # Errors
    /// The other site has ended.
    pub fn poll(&self) -> Result<Option<Parcel>, Error> {
        match self.inbox.try_recv() {
            Ok(parcel) => Ok(Some(parcel)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(gone()),
        }
    }

    /// Sends the error that ended the owner of this post.
    pub fn fail(&self, error: &Error) {
        let to = match self.own {
            Address::Maker(_) => Address::Manager,
            Address::Manager => Address::Search,
            Address::Search => return self.send(Address::Manager, Message::Broken),
        };
        let message = match &self.place {
            Some(place) if !error.message.is_empty() => format!("{} ({place})", error.message),
            _ => error.message.clone(),
        };
        self.send(to, Message::Failed(error.exit_code, message));
    }
}

impl Drop for Post {
    /// Nobody must wait for a thread that panicked.
    fn drop(&mut self) {
        if thread::panicking() {
            self.fail(&Error::new(exit::UNKNOWN, ""));
        }
    }
}

/// The error of a channel whose other end is gone.
fn gone() -> Error {
    Error::new(exit::UNKNOWN, "the other site has ended")
}
