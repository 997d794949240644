//! The channel between the search and the I/O ranks of the same job.

#[cfg(feature = "mpi")]
mod connection;
#[cfg(feature = "mpi")]
mod heartbeats;
pub mod mailbox;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fleetblast_link::speed::{LinkSpeed, Meter};
use fleetblast_metadata::records::RecordKind;

#[cfg(feature = "mpi")]
pub use self::connection::SiteConnection;
use self::mailbox::{Address, Mailbox, Message, Parcel};
use crate::error::Error;

/// Limit of the record bytes without a written report. From this number on, the search waits.
const MAX_UNWRITTEN_BYTES: u64 = 64 << 20;

/// The channel of metadata from the search to the I/O ranks of the same job. Each of its two
/// endpoints can be taken once.
pub struct IoChannel {
    endpoints: Mutex<(Option<SearchEndpoint>, Option<IoEndpoint>)>,
}

/// The endpoint that sends the records of the search.
pub struct SearchEndpoint {
    mailbox: Mailbox,
    /// Bytes of record bodies that were sent. `received` and `written` are the bytes that have
    /// arrived, and those whose report is written.
    sent: u64,
    received: u64,
    written: u64,
    /// When the last record was sent.
    last: Instant,
    /// Measures the speed of the channel.
    meter: Meter,
    ended: bool,
}

/// The endpoint at the I/O site.
pub struct IoEndpoint {
    /// Parcels from the search.
    pub from_search: Receiver<Parcel>,
    /// Parcels to the search.
    pub to_search: Sender<Parcel>,
}

impl IoChannel {
    /// Creates a channel with both endpoints.
    pub fn new() -> Self {
        let (out, from_search) = channel();
        let (to_search, inbox) = channel();
        // If the receiver is gone, the I/O site has ended and needs no parcels.
        let outbox = Box::new(move |parcel| drop(out.send(parcel)));
        let search = SearchEndpoint::new(Mailbox::new(Address::Search, inbox, outbox));
        IoChannel {
            endpoints: Mutex::new((Some(search), Some(IoEndpoint { from_search, to_search }))),
        }
    }

    /// Takes the endpoint of the search.
    ///
    /// # Errors
    /// The endpoint was taken before.
    pub fn search_endpoint(&self) -> Result<SearchEndpoint, Error> {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.0.take().ok_or_else(already_taken)
    }

    /// Takes the endpoint of the I/O site.
    ///
    /// # Errors
    /// The endpoint was taken before.
    pub fn io_endpoint(&self) -> Result<IoEndpoint, Error> {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.1.take().ok_or_else(already_taken)
    }
}

impl SearchEndpoint {
    /// Creates an endpoint that sends records from this mailbox.
    pub fn new(mailbox: Mailbox) -> Self {
        let (sent, received, written, ended) = (0, 0, 0, false);
        let (last, meter) = (Instant::now(), Meter::default());
        SearchEndpoint { mailbox, sent, received, written, last, meter, ended }
    }

    /// Sends a record to the manager. Waits while too many bytes of earlier records have no written
    /// report.
    ///
    /// # Errors
    /// The error that ended the other site.
    pub fn send_record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        self.check()?;
        while self.sent - self.written >= MAX_UNWRITTEN_BYTES {
            let parcel = self.mailbox.wait()?;
            self.handle(parcel)?;
        }
        self.sent += body.len() as u64;
        self.last = Instant::now();
        self.meter.record_sent(self.last, self.sent);
        self.mailbox.send(Address::Manager, Message::Record(kind, body.to_vec()));
        Ok(())
    }

    /// Handles the messages that have arrived from the I/O site.
    ///
    /// # Errors
    /// The error that ended the I/O site.
    pub fn check(&mut self) -> Result<(), Error> {
        while let Some(parcel) = self.mailbox.poll()? {
            self.handle(parcel)?;
        }
        Ok(())
    }

    /// Returns the measured speed of the channel; `None` before the first answer of the manager.
    pub fn speed(&self) -> Option<LinkSpeed> {
        (self.received > 0).then(|| self.meter.speed())
    }

    /// Ends the channel without records: nothing is searched, and there is no report.
    ///
    /// # Errors
    /// The error that ended the other site.
    #[cfg(feature = "mpi")]
    pub fn send_nothing(mut self) -> Result<(), Error> {
        self.check()?;
        self.mailbox.send(Address::Manager, Message::NoSearch);
        self.ended = true;
        Ok(())
    }

    /// Waits until the report is complete, after all records were sent.
    ///
    /// # Errors
    /// The error that ended the other site.
    pub fn finish(mut self) -> Result<(), Error> {
        while !self.ended {
            let parcel = self.mailbox.wait()?;
            self.handle(parcel)?;
        }
        Ok(())
    }

    fn handle(&mut self, Parcel { message, at, .. }: Parcel) -> Result<(), Error> {
        match message {
            Message::Written(bytes) => self.written = (self.written + bytes).min(self.sent),
            Message::Received(bytes, workers) => {
                self.received = (self.received + bytes).min(self.sent);
                self.meter.record_arrival(at, self.received);
                if self.received == self.sent {
                    let took = at.saturating_duration_since(self.last);
                    self.meter.record_connection(took, workers, self.sent);
                }
            }
            Message::Done => self.ended = true,
            Message::Failed(code, message) => {
                self.ended = true;
                return Err(Error::from_remote(code, message));
            }
            _ => return Err(Error::engine("an I/O rank sent an unexpected message")),
        }
        Ok(())
    }
}

impl Drop for SearchEndpoint {
    /// Ends the other site if the search ends early.
    fn drop(&mut self) {
        if !self.ended {
            self.mailbox.send(Address::Manager, Message::SearchFailed);
        }
    }
}

/// Creates the error for an endpoint that is taken twice, a fault of the program.
fn already_taken() -> Error {
    Error::engine("an endpoint of the channel to the I/O ranks is taken twice")
}
