//! Between the search and the I/O ranks.

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
pub use self::bridge::{Bridge, GRACE};
use self::post::{Address, Message, Parcel, Post};
use crate::error::Error;

/// Bytes of records of which the report is not written, at most: who makes more waits.
const ROOM: u64 = 64 << 20;

/// The way of metadata to the I/O ranks of the same job. It has two ends, each of which is
/// taken once.
pub struct Crossing {
    ends: Mutex<(Option<Near>, Option<Far>)>,
}

/// The end of the search.
pub struct Near {
    post: Post,
    /// Bytes of records that were sent, of these came, and were reported.
    sent: u64,
    came: u64,
    written: u64,
    /// When the last of them was sent.
    last: Instant,
    /// What the way there is seen to give.
    meter: Meter,
    ended: bool,
}

/// The other end: what the search sends, and where it hears.
pub struct Far {
    /// Of the search.
    pub sent: Receiver<Parcel>,
    /// To the search.
    pub to: Sender<Parcel>,
}

impl Crossing {
    /// A new way.
    pub fn new() -> Self {
        let (out, sent) = channel();
        let (to, inbox) = channel();
        // Who does not listen any more has ended.
        let outbox = Box::new(move |parcel| drop(out.send(parcel)));
        let post = Post::new(Address::Search, inbox, outbox);
        let near = Near::new(post);
        Crossing { ends: Mutex::new((Some(near), Some(Far { sent, to }))) }
    }

    /// The end of the search.
    ///
    /// # Errors
    /// Somebody has it.
    pub fn near(&self) -> Result<Near, Error> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.0.take().ok_or_else(taken)
    }

    /// The other one.
    ///
    /// # Errors
    /// Somebody has it.
    pub fn far(&self) -> Result<Far, Error> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.1.take().ok_or_else(taken)
    }
}

impl Near {
    /// Of whoever has records to send.
    pub fn new(post: Post) -> Self {
        let (sent, came, written, ended) = (0, 0, 0, false);
        Near { post, sent, came, written, last: Instant::now(), meter: Meter::default(), ended }
    }

    /// Sends a record. Waits while the report of too many is not written.
    ///
    /// # Errors
    /// What ended the other site.
    pub fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        self.check()?;
        while self.sent - self.written >= ROOM {
            let parcel = self.post.wait()?;
            self.hear(parcel)?;
        }
        self.sent += body.len() as u64;
        self.last = Instant::now();
        self.meter.sent(self.last, self.sent);
        self.post.send(Address::Manager, Message::Record(kind, body.to_vec()));
        Ok(())
    }

    /// Hears what the other site said.
    ///
    /// # Errors
    /// What ended it.
    pub fn check(&mut self) -> Result<(), Error> {
        while let Some(parcel) = self.post.poll()? {
            self.hear(parcel)?;
        }
        Ok(())
    }

    /// The way there, as it is seen; nothing before the other site has said anything.
    pub fn pace(&self) -> Option<Pace> {
        (self.came > 0).then(|| self.meter.pace())
    }

    /// Nothing is searched: there will be no report.
    ///
    /// # Errors
    /// What ended the other site.
    #[cfg(feature = "mpi")]
    pub fn stay_empty(mut self) -> Result<(), Error> {
        self.check()?;
        self.post.send(Address::Manager, Message::Nothing);
        self.ended = true;
        Ok(())
    }

    /// All records are sent: waits for the report.
    ///
    /// # Errors
    /// What ended the other site.
    pub fn finish(mut self) -> Result<(), Error> {
        while !self.ended {
            let parcel = self.post.wait()?;
            self.hear(parcel)?;
        }
        Ok(())
    }

    fn hear(&mut self, Parcel { message, at, .. }: Parcel) -> Result<(), Error> {
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
            _ => return Err(Error::engine("an I/O rank says what it should not")),
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
    Error::engine("the way to the I/O ranks is taken twice")
}
