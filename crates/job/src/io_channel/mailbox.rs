//! The messages between ranks of two sites, and the mailboxes that send and receive them.

use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::Instant;

use fleetblast_metadata::records::RecordKind;
use serde::{Deserialize, Serialize};

use crate::error::{Error, exit};

/// The address of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// The first rank of the search.
    Search,
    /// The manager at the I/O site, which distributes blocks and writes the report.
    Manager,
    /// The maker on an I/O rank, which makes the reports of blocks. The number is that of the rank
    /// among the I/O ranks, from 0.
    Maker(u32),
}

/// A message between the sites, or within the I/O site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Search to manager: kind and body of the next metadata record.
    Record(RecordKind, Vec<u8>),
    /// Search to manager: the search ended with an error, and reports the error itself.
    SearchFailed,
    /// Search to manager: no records follow, since nothing is searched.
    NoSearch,
    /// Manager to search: number of bytes of a record body that arrived, and number of threads that
    /// make the report.
    Received(u64, u32),
    /// Manager to search: number of bytes of a record body whose report is written.
    Written(u64),
    /// Manager to search: the report is complete and published.
    Done,
    /// Manager to makers: body of the header record.
    Header(Vec<u8>),
    /// Maker to manager: the maker's database equals the searched database.
    Ready,
    /// Manager to maker: the next record to report.
    MakeReport(ReportRequest),
    /// Maker to manager: the report of the requested record.
    ReportMade(BlockReport),
    /// Manager to makers: no more requests follow.
    End,
    /// Maker to manager, and manager to search: exit code and message of the error that ended the
    /// sender.
    Failed(u8, String),
}

/// Request to make the report of one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRequest {
    /// Number of the block, from 0. For the end record, the number of all blocks.
    pub number: u64,
    /// Number of queries whose report was written before this request. For the end record, these
    /// are all queries.
    pub queries: u64,
    /// Kind of the record: block or end.
    pub kind: RecordKind,
    /// Body of the record.
    pub body: Vec<u8>,
}

/// Part of the report that a maker made from one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Number of the [`ReportRequest`].
    pub number: u64,
    /// Numbers of the reported queries, from 1.
    pub queries: Range<u64>,
    /// Bytes of the report.
    pub bytes: Vec<u8>,
    /// Warnings to print together with this part of the report, one per line.
    pub lines: Vec<Vec<u8>>,
}

/// A message with the addresses of its receiver and sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// The receiver.
    pub to: Address,
    /// The sender.
    pub from: Address,
    /// The message.
    pub message: Message,
    /// Time of sending. In the receiving process, the time of arrival.
    #[serde(skip, default = "Instant::now")]
    pub at: Instant,
}

impl Parcel {
    /// Addresses a message, with the current time.
    pub fn new(to: Address, from: Address, message: Message) -> Self {
        Parcel { to, from, message, at: Instant::now() }
    }
}

/// Function that delivers parcels to their addresses.
pub type Outbox = Box<dyn Fn(Parcel) + Send>;

/// The mailbox of one address, which sends and receives its messages.
pub struct Mailbox {
    own: Address,
    /// Rank and host of the owner, for error messages.
    place: Option<String>,
    inbox: Receiver<Parcel>,
    outbox: Outbox,
}

impl Mailbox {
    /// Creates the mailbox of an address.
    pub fn new(own: Address, inbox: Receiver<Parcel>, outbox: Outbox) -> Self {
        Mailbox { own, place: None, inbox, outbox }
    }

    /// Sets the rank and host that the errors of this mailbox name.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "threads have none"))]
    pub fn with_place(mut self, place: String) -> Self {
        self.place = Some(place);
        self
    }

    /// Sends a message. It is dropped if the receiver has ended.
    pub fn send(&self, to: Address, message: Message) {
        (self.outbox)(Parcel::new(to, self.own, message));
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn wait(&self) -> Result<Parcel, Error> {
        self.inbox.recv().map_err(|_| Error::partner_ended())
    }

    /// Returns the next message, if one has arrived.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn poll(&self) -> Result<Option<Parcel>, Error> {
        match self.inbox.try_recv() {
            Ok(parcel) => Ok(Some(parcel)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Error::partner_ended()),
        }
    }

    /// Sends the error that ends the owner of this mailbox. A maker informs the manager, and the
    /// manager the search. The search informs the manager without the cause, because it reports the
    /// error itself.
    pub fn fail(&self, error: &Error) {
        let to = match self.own {
            Address::Maker(_) => Address::Manager,
            Address::Manager => Address::Search,
            Address::Search => return self.send(Address::Manager, Message::SearchFailed),
        };
        let error = error.clone();
        let Error { exit_code, message, .. } = match &self.place {
            Some(place) => error.with_place(place),
            None => error,
        };
        self.send(to, Message::Failed(exit_code, message));
    }
}

impl Drop for Mailbox {
    /// If this thread panics, sends an error, so that the receiver does not wait for further
    /// messages.
    fn drop(&mut self) {
        if thread::panicking() {
            self.fail(&Error::silent(exit::UNKNOWN));
        }
    }
}
