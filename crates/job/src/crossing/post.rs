//! What ranks of two sites say to each other.

use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::Instant;

use fleetblast_metadata::records::RecordKind;
use serde::{Deserialize, Serialize};

use crate::error::{Error, exit};

/// Who speaks, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// The first rank of the search.
    Search,
    /// Who shares out blocks and writes the report.
    Manager,
    /// Who makes reports of blocks: one on each I/O rank.
    Maker(u32),
}

/// What they say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Search to manager: the body of the next record of the metadata.
    Record(RecordKind, Vec<u8>),
    /// Search to manager: it ended with an error, which is told there.
    Broken,
    /// Search to manager: there will be nothing, since nothing is searched.
    Nothing,
    /// Manager to search: a body of so many bytes came, to where so many threads make the report.
    Came(u64, u32),
    /// Manager to search: of so many bytes of bodies the report is written.
    Written(u64),
    /// Manager to search: the report is whole, and has its name.
    Done,
    /// Manager to makers: what metadata begin with.
    Begin(Vec<u8>),
    /// Maker to manager: the database is the right one.
    Ready,
    /// Manager to maker.
    Make(Job),
    /// Maker to manager: what came of its job.
    Made(Piece),
    /// Manager to makers: there is nothing more to do.
    Leave,
    /// Maker to manager, and manager to search: exit code and message of what ended them.
    Failed(u8, String),
}

/// A record of which a maker makes what is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The number of the block, or for the end how many there are.
    pub number: u64,
    /// For the end, the number of queries in all blocks.
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
    /// Of the report.
    pub bytes: Vec<u8>,
    /// Lines that are told with it.
    pub said: Vec<Vec<u8>>,
}

/// A message on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// For whom.
    pub to: Address,
    /// From whom.
    pub from: Address,
    /// What.
    pub message: Message,
    /// When it was sent; at another process, when it came there.
    #[serde(skip, default = "Instant::now")]
    pub at: Instant,
}

impl Parcel {
    /// A message that is sent now.
    pub fn new(to: Address, from: Address, message: Message) -> Self {
        Parcel { to, from, message, at: Instant::now() }
    }
}

/// Brings parcels on their way.
pub type Outbox = Box<dyn Fn(Parcel) + Send>;

/// Where somebody sends and receives.
pub struct Post {
    own: Address,
    /// Where that is, for people.
    place: Option<String>,
    inbox: Receiver<Parcel>,
    outbox: Outbox,
}

impl Post {
    /// Of whoever is there.
    pub fn new(own: Address, inbox: Receiver<Parcel>, outbox: Outbox) -> Self {
        Post { own, place: None, inbox, outbox }
    }

    /// The same with a place that is told with what ends it.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "threads have none"))]
    pub fn at(mut self, place: String) -> Self {
        self.place = Some(place);
        self
    }

    /// Sends a message. Who has ended hears nothing.
    pub fn send(&self, to: Address, message: Message) {
        (self.outbox)(Parcel::new(to, self.own, message));
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// Nobody is there any more.
    pub fn wait(&self) -> Result<Parcel, Error> {
        self.inbox.recv().map_err(|_| gone())
    }

    /// The next message, if one is there.
    ///
    /// # Errors
    /// Nobody is there any more.
    pub fn poll(&self) -> Result<Option<Parcel>, Error> {
        match self.inbox.try_recv() {
            Ok(parcel) => Ok(Some(parcel)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(gone()),
        }
    }

    /// Tells what ended this.
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
    /// Nobody is to wait for who panicked.
    fn drop(&mut self) {
        if thread::panicking() {
            self.fail(&Error::new(exit::UNKNOWN, ""));
        }
    }
}

/// Where somebody ended without a word.
fn gone() -> Error {
    Error::new(exit::UNKNOWN, "the other site has ended")
}
