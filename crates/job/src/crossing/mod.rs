//! The channel between the search and the I/O ranks.

#[cfg(feature = "mpi")]
mod bridge;
#[cfg(feature = "mpi")]
mod heartbeats;
pub mod post;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fleetblast_link::pace::{Meter, Pace};
use fleetblast_metadata::records::RecordKind;

#[cfg(feature = "mpi")]
pub use self::bridge::Bridge;
use self::post::{Address, Message, Parcel, Post};
use crate::error::Error;

/// Most bytes of records whose report is not written yet. With more, the search waits.
const MOST_UNREPORTED: u64 = 64 << 20;

/// The channel of metadata to the I/O ranks of the same job. It has two ends. Each can be taken
/// once.
pub struct Crossing {
    ends: Mutex<(Option<Near>, Option<Far>)>,
}

/// The end of the search.
pub struct Near {
    post: Post,
    /// Bytes of records that were sent.
    sent: u64,
    /// Bytes of these that arrived.
    came: u64,
    /// Bytes of these whose report is written.
    written: u64,
    /// When the last record was sent.
    last: Instant,
    /// Measures the channel.
    meter: Meter,
    ended: bool,
}

/// The other end.
pub struct Far {
    /// The parcels that the search sends.
    pub sent: Receiver<Parcel>,
    /// The inbox of the search.
    pub to: Sender<Parcel>,
}

impl Crossing {
    /// Makes a channel.
    pub fn new() -> Self {
        let (out, sent) = channel();
        let (to, inbox) = channel();
        // If nobody receives any more, the other end has ended.
        let outbox = Box::new(move |parcel| drop(out.send(parcel)));
        let post = Post::new(Address::Search, inbox, outbox);
        let near = Near::new(post);
        Crossing { ends: Mutex::new((Some(near), Some(Far { sent, to }))) }
    }

    /// Takes the end of the search.
    ///
    /// # Errors
    /// It was taken before.
    pub fn near(&self) -> Result<Near, Error> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.0.take().ok_or_else(taken)
    }

    /// Takes the other end.
    ///
    /// # Errors
    /// It was taken before.
    pub fn far(&self) -> Result<Far, Error> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.1.take().ok_or_else(taken)
    }
}

impl Near {
    /// Sends records from this post.
    pub fn new(post: Post) -> Self {
        let (sent, came, written, ended) = (0, 0, 0, false);
        Near { post, sent, came, written, last: Instant::now(), meter: Meter::default(), ended }
    }

    /// Sends a record. Waits while too many bytes are not reported yet.
    ///
    /// # Errors
    /// The error that ended the other site.
    pub fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        self.check()?;
        while self.sent - self.written >= MOST_UNREPORTED {
            let parcel = self.post.wait()?;
            self.receive(parcel)?;
        }
        self.sent += body.len() as u64;
        self.last = Instant::now();
        self.meter.sent(self.last, self.sent);
        self.post.send(Address::Manager, Message::Record(kind, body.to_vec()));
        Ok(())
    }

    /// Receives the messages of the other site.
    ///
    /// # Errors
    /// The error that ended it.
    pub fn check(&mut self) -> Result<(), Error> {
        while let Some(parcel) = self.post.poll()? {
            self.receive(parcel)?;
        }
        Ok(())
    }

    /// The measured pace of the channel; `None` before the first record arrived.
    pub fn pace(&self) -> Option<Pace> {
        (self.came > 0).then(|| self.meter.pace())
    }

    /// Informs the other site that nothing is searched, so that there is no report.
    ///
    /// # Errors
    /// The error that ended the other site.
    #[cfg(feature = "mpi")]
    pub fn stay_empty(mut self) -> Result<(), Error> {
        self.check()?;
        self.post.send(Address::Manager, Message::Nothing);
        self.ended = true;
        Ok(())
    }

    /// Waits for the report, after all records were sent.
    ///
    /// # Errors
    /// The error that ended the other site.
    pub fn finish(mut self) -> Result<(), Error> {
        while !self.ended {
            let parcel = self.post.wait()?;
            self.receive(parcel)?;
        }
        Ok(())
    }

    fn receive(&mut self, Parcel { message, at, .. }: Parcel) -> Result<(), Error> {
        match message {
            Message::Written(bytes) => self.written = (self.written + bytes).min(self.sent),
            Message::Came(bytes, workers) => {
                self.came = (self.came + bytes).min(self.sent);
                self.meter.came(at, self.came);
                if self.came == self.sent {
                    let took = at.saturating_duration_since(self.last);
                    self.meter.connected(took, workers, self.sent);
                }
            }
            Message::Done => self.ended = true,
            Message::Failed(code, message) => {
                self.ended = true;
                return Err(Error::new(code, message));
            }
            _ => return Err(Error::engine("an I/O rank sent a message not meant for the search")),
        }
        Ok(())
    }
}

impl Drop for Near {
    /// A search that ends early ends the other site, too.
    fn drop(&mut self) {
        if !self.ended {
            self.post.send(Address::Manager, Message::Broken);
        }
    }
}

/// A fault of the program.
fn taken() -> Error {
    Error::engine("the channel to the I/O ranks is taken twice")
}
