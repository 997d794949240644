//! What brings records to the other site: a file, a link, or the ranks of one job.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_db::check_mapped_files;
use fleetblast_link::dial::{Event, Target, Watch};
use fleetblast_link::message::Held;
use fleetblast_link::pace::Pace;
use fleetblast_link::send::{Arrival, Opening, Sender};
use fleetblast_link::{Key, LinkError};
use fleetblast_metadata::follow::{MOST_BODY, Reached};
use fleetblast_metadata::records::{Chain, RecordKind};

use crate::audience::Audience;
use crate::cost::Seen;
use crate::crossing::{Crossing, Near};
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::output::Output;
use crate::plan::{Carriage, Link, Metadata};

/// What to do where the other site holds metadata of another search: it may still make a report of
/// them, and then keeps nothing.
pub const ANOTHER_RECEIVER: &str =
    "start another 'fleetblast receive' there, with a -out and -metadata of its own";

/// Where records go.
pub struct Carrier {
    way: Way,
    chain: Chain,
    /// Bytes so far.
    offset: u64,
}

enum Way {
    File(Output),
    Link(Sending),
    Ranks(Near),
}

/// Records on their way by a link.
struct Sending {
    sender: Sender,
    ledger: Ledger,
    audience: Arc<dyn Audience>,
}

/// What the other site held when the link was made, of this very search.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed(pub Reached);

/// Where each record ends, and the checksum of its head, by which is known that the other site holds the same.
type Ledger = Arc<Mutex<BTreeMap<u64, u64>>>;

impl Carrier {
    /// Begins with the header, or goes on with what the other site holds since an earlier run of the same search. That is to halt as soon as
    /// a link is given up.
    ///
    /// # Errors
    /// A file that cannot be written; no connection; another site that holds something else.
    pub fn begin(
        metadata: &Metadata,
        header: &[u8],
        (crossing, audience, halt): (Option<&Crossing>, &Arc<dyn Audience>, &Halt),
    ) -> Result<(Self, Option<Resumed>), Error> {
        let mut chain = Chain::default();
        let first = chain.record(RecordKind::Header, header).map_err(Error::output)?;
        let start = [Chain::start(), first].concat();
        let link = match &metadata.out {
            Carriage::File(out) => {
                let output = Output::open(out)?;
                let mut carrier = Carrier { way: Way::File(output), chain, offset: 0 };
                carrier.send(&start)?;
                return Ok((carrier, None));
            }
            Carriage::Link(link) => link,
            Carriage::Ranks(_) => {
                let missing = || Error::engine("there is no way to the I/O ranks");
                let mut near = crossing.ok_or_else(missing)?.near()?;
                near.record(RecordKind::Header, header)?;
                return Ok((Carrier { way: Way::Ranks(near), chain, offset: 0 }, None));
            }
        };
        let own_header = Reached::header(header);
        let opening = connect(link, own_header, audience, halt)?;
        let held = opening.held().clone();
        let ledger = Ledger::default();
        let resumed = match held.whole {
            0 => None,
            _ => match Reached::decode(&held.state) {
                Some(reached) if reached.header == own_header => Some(reached),
                _ => {
                    let why = format!(
                        "the other site holds metadata of another search, or of other options, \
                         database or version: {ANOTHER_RECEIVER}"
                    );
                    opening.refuse(&why);
                    return Err(failure(&LinkError::Ended(why)));
                }
            },
        };
        note(&ledger, held.whole, resumed.as_ref().map_or(0, |reached| reached.last));
        let own = Arc::clone(&ledger);
        let agrees = move |held: &Held| {
            let last = match held.whole {
                0 => Some(0),
                _ => Reached::decode(&held.state).map(|reached| reached.last),
            };
            let ledger = own.lock().unwrap_or_else(PoisonError::into_inner);
            last.is_some() && ledger.get(&held.whole).copied() == last
        };
        let sender = opening.start(Box::new(agrees)).map_err(|error| failure(&error))?;
        let sending = Sending { sender, ledger, audience: Arc::clone(audience) };
        let offset = held.whole;
        let mut carrier = Carrier { way: Way::Link(sending), chain, offset };
        match resumed {
            Some(reached) => {
                carrier.chain = Chain::after(reached.last);
                Ok((carrier, Some(Resumed(reached))))
            }
            None => {
                carrier.send(&start)?;
                Ok((carrier, None))
            }
        }
    }

    /// Brings a record on its way.
    ///
    /// # Errors
    /// What cannot be written or sent.
    pub fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        // What has left cannot be called back.
        check_mapped_files()?;
        if let Way::Ranks(near) = &mut self.way {
            return near.record(kind, body);
        }
        if matches!(self.way, Way::Link(_)) && body.len() > MOST_BODY as usize {
            let mebibytes = MOST_BODY >> 20;
            return Err(Error::output(format_args!(
                "a block of queries has more than {mebibytes} MiB of metadata; name a smaller -block_residues"
            )));
        }
        let record = self.chain.record(kind, body).map_err(Error::output)?;
        self.send(&record)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.offset += bytes.len() as u64;
        match &mut self.way {
            Way::File(output) => output.write(bytes),
            // They get the bodies alone.
            Way::Ranks(_) => Ok(()),
            Way::Link(Sending { sender, ledger, .. }) => {
                note(ledger, self.offset, self.chain.last());
                sender.write(bytes).map_err(|error| failure(&error))
            }
        }
    }

    /// Hears of what ended the other site, or the link to it.
    ///
    /// # Errors
    /// That.
    pub fn check(&mut self) -> Result<(), Error> {
        match &mut self.way {
            Way::Ranks(near) => near.check(),
            Way::Link(Sending { sender, .. }) => sender.check().map_err(|error| failure(&error)),
            Way::File(_) => Ok(()),
        }
    }

    /// The link, as it is seen.
    pub fn seen(&self) -> Option<Seen> {
        let Pace { round_trip, rate, workers } = match &self.way {
            Way::Link(Sending { sender, .. }) => sender.pace(),
            Way::Ranks(near) => near.pace()?,
            Way::File(_) => return None,
        };
        let round_trip_seconds = round_trip.as_secs_f64();
        Some(Seen { bytes_per_second: rate, round_trip_seconds, workers })
    }

    /// Notes that the other site holds the begin of these very records. An error before that does
    /// not end the other site, which waits for the search that it has a part of.
    pub fn verify(&self) {
        if let Way::Link(Sending { sender, .. }) = &self.way {
            sender.verify();
        }
    }

    /// It goes on in another run: the other site is to wait for that.
    pub fn leave(self) {
        if let Way::Link(Sending { sender, .. }) = self.way {
            sender.leave();
        }
    }

    /// Everything is there: a file gets its name, of a link the other site has made its report.
    ///
    /// # Errors
    /// It is not.
    pub fn commit(self) -> Result<(), Error> {
        let Sending { sender, audience, .. } = match self.way {
            Way::File(output) => return output.commit(),
            Way::Ranks(near) => return near.finish(),
            Way::Link(sending) => sending,
        };
        audience.note(", waiting for the report at the other site".to_owned());
        match sender.finish().map_err(|error| failure(&error))? {
            Arrival::Done => {}
            Arrival::Unknown => audience.warn(
                "The other site has all metadata, but went away before it told whether the report is made: look there",
            ),
        }
        Ok(())
    }
}

fn note(ledger: &Ledger, offset: u64, last: u64) {
    // Nothing panics while it holds the lock.
    ledger.lock().unwrap_or_else(PoisonError::into_inner).insert(offset, last);
}

fn connect(
    link: &Link,
    header: u64,
    audience: &Arc<dyn Audience>,
    halt: &Halt,
) -> Result<Opening, Error> {
    let key = Key::read(&link.key).map_err(|error| key_failure(&error))?;
    let target = Target {
        address: link.address.clone(),
        key,
        peers: link.peers.clone(),
        header,
        patience: link.patience(),
        give_up: link.give_up.unwrap_or(std::time::Duration::MAX),
    };
    let (audience, halt) = (Arc::clone(audience), halt.clone());
    let watch: Watch = Arc::new(move |event| match event {
        Event::Broken { why, left } => {
            let left = left.map_or_else(String::new, |it| format!(" for {} s", it.as_secs()));
            audience.warn(&format!("No connection ({why}); still trying{left}"));
        }
        Event::Ended => halt.set(),
        Event::Back => audience.warn("There is a connection again"),
        Event::Progress { confirmed, waiting } => audience.note(format!(
            ", {} at the other site, {} on their way",
            amount(confirmed),
            amount(waiting)
        )),
    });
    Opening::connect(target, watch).map_err(|error| failure(&error))
}

/// Bytes for people.
pub fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A link that failed.
pub fn failure(error: &LinkError) -> Error {
    match error {
        LinkError::Key(_) | LinkError::Address(_) => key_failure(error),
        LinkError::NoThread(_) => Error::starved(error),
        _ => Error::new(exit::OUTPUT, format!("The link to the other site failed: {error}")),
    }
}

fn key_failure(error: &LinkError) -> Error {
    Error::new(exit::INPUT, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_a_thread_is_no_fault_of_the_output() {
        let error = failure(&LinkError::NoThread("Resource temporarily unavailable".to_owned()));
        assert_eq!(error.exit_code, exit::MEMORY, "{error}");
        let error = failure(&LinkError::Ended("no room on the disk".to_owned()));
        assert_eq!(error.exit_code, exit::OUTPUT, "{error}");
    }
}
