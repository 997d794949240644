//! The sink of metadata records: a file, a link, or the I/O ranks of the same job.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_db::check_mapped_files;
use fleetblast_link::dial::{SendEvent, SendObserver, Target};
use fleetblast_link::message::HeldPart;
use fleetblast_link::send::{ConnectedSender, SendOutcome, Sender};
use fleetblast_link::speed::LinkSpeed;
use fleetblast_link::{Key, LinkError};
use fleetblast_metadata::follow::{MOST_BODY, ResumePoint};
use fleetblast_metadata::records::{RecordChain, RecordKind};

use crate::audience::Audience;
use crate::cost::LinkStatistics;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::io_channel::{IoChannel, SearchEndpoint};
use crate::output::Output;
use crate::plan::{Link, Metadata, MetadataDestination};

/// Advice if the I/O site holds metadata of another search. That site may be about to make the
/// report of them, so it must not drop them.
pub const ANOTHER_RECEIVER: &str =
    "start another 'fleetblast receive' there, with a -out and -metadata of its own";

/// Sends or writes the records of metadata.
pub struct MetadataSink {
    kind: SinkKind,
    chain: RecordChain,
    /// Number of bytes sent or written.
    offset: u64,
}

enum SinkKind {
    File(Output),
    Link(LinkSink),
    Ranks(SearchEndpoint),
}

/// A sink that sends records over a link.
struct LinkSink {
    sender: Sender,
    ledger: Ledger,
    audience: Arc<dyn Audience>,
}

/// State of the metadata of this search that the I/O site held when the link was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldMetadata(pub ResumePoint);

/// Maps the end of each record, in bytes, to the checksum of the record's head. With these, a
/// sender verifies that the I/O site holds the same records.
type Ledger = Arc<Mutex<BTreeMap<u64, u64>>>;

impl MetadataSink {
    /// Opens a sink and writes the header, or resumes metadata that the I/O site holds from an
    /// earlier run of the same search. Sets `halt` if the link is given up.
    ///
    /// # Errors
    /// A file that cannot be written; no connection; an I/O site that holds metadata of another
    /// search.
    pub fn open(
        metadata: &Metadata,
        header: &[u8],
        (channel, audience, halt): (Option<&IoChannel>, &Arc<dyn Audience>, &Halt),
    ) -> Result<(Self, Option<HeldMetadata>), Error> {
        let mut chain = RecordChain::default();
        let first = chain.record(RecordKind::Header, header).map_err(Error::output)?;
        let start = [RecordChain::start(), first].concat();
        let link = match &metadata.out {
            MetadataDestination::File(out) => {
                let output = Output::open(out)?;
                let kind = SinkKind::File(output);
                let mut sink = MetadataSink { kind, chain, offset: 0 };
                sink.send(&start)?;
                return Ok((sink, None));
            }
            MetadataDestination::Link(link) => link,
            MetadataDestination::Ranks(_) => {
                let missing = || Error::engine("there is no channel to the I/O ranks");
                let mut endpoint = channel.ok_or_else(missing)?.search_endpoint()?;
                endpoint.send_record(RecordKind::Header, header)?;
                let kind = SinkKind::Ranks(endpoint);
                return Ok((MetadataSink { kind, chain, offset: 0 }, None));
            }
        };
        let own_header = ResumePoint::header_fingerprint(header);
        let opening = connect(link, own_header, audience, halt)?;
        let held = opening.held_part().clone();
        let ledger = Ledger::default();
        let resumed = match held.whole_bytes {
            0 => None,
            _ => match ResumePoint::decode(&held.state) {
                Some(point) if point.header == own_header => Some(point),
                _ => {
                    let why = format!(
                        "the other site holds metadata of another search, or of another command line, \
                         database or version: {ANOTHER_RECEIVER}"
                    );
                    opening.refuse(&why);
                    return Err(link_error(&LinkError::Ended(why)));
                }
            },
        };
        record_offset(&ledger, held.whole_bytes, resumed.as_ref().map_or(0, |point| point.last));
        let own = Arc::clone(&ledger);
        let agrees = move |held: &HeldPart| {
            let last = match held.whole_bytes {
                0 => Some(0),
                _ => ResumePoint::decode(&held.state).map(|point| point.last),
            };
            let ledger = own.lock().unwrap_or_else(PoisonError::into_inner);
            last.is_some() && ledger.get(&held.whole_bytes).copied() == last
        };
        let sender = opening.start(Box::new(agrees)).map_err(|error| link_error(&error))?;
        let link = LinkSink { sender, ledger, audience: Arc::clone(audience) };
        let offset = held.whole_bytes;
        let mut sink = MetadataSink { kind: SinkKind::Link(link), chain, offset };
        match resumed {
            Some(point) => {
                sink.chain = RecordChain::after(point.last);
                Ok((sink, Some(HeldMetadata(point))))
            }
            None => {
                sink.send(&start)?;
                Ok((sink, None))
            }
        }
    }

    /// Sends or writes a record.
    ///
    /// # Errors
    /// A record that cannot be written or sent.
    pub fn send_record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        // A record cannot be withdrawn after a change of a database file is found.
        check_mapped_files()?;
        if let SinkKind::Ranks(endpoint) = &mut self.kind {
            return endpoint.send_record(kind, body);
        }
        if matches!(self.kind, SinkKind::Link(_)) && body.len() > MOST_BODY as usize {
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
        match &mut self.kind {
            SinkKind::File(output) => output.write(bytes),
            // I/O ranks get only the bodies.
            SinkKind::Ranks(_) => Ok(()),
            SinkKind::Link(LinkSink { sender, ledger, .. }) => {
                record_offset(ledger, self.offset, self.chain.last());
                sender.write(bytes).map_err(|error| link_error(&error))
            }
        }
    }

    /// Verifies that the I/O site and the link to it still work.
    ///
    /// # Errors
    /// The error that ended the I/O site or the link.
    pub fn check(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            SinkKind::Ranks(endpoint) => endpoint.check(),
            SinkKind::Link(LinkSink { sender, .. }) => {
                sender.check().map_err(|error| link_error(&error))
            }
            SinkKind::File(_) => Ok(()),
        }
    }

    /// Returns the measured properties of the link; `None` without a link, or before a measurement.
    pub fn link_statistics(&self) -> Option<LinkStatistics> {
        let LinkSpeed { round_trip, rate, workers } = match &self.kind {
            SinkKind::Link(LinkSink { sender, .. }) => sender.speed(),
            SinkKind::Ranks(endpoint) => endpoint.speed()?,
            SinkKind::File(_) => return None,
        };
        let round_trip_seconds = round_trip.as_secs_f64();
        Some(LinkStatistics { bytes_per_second: rate, round_trip_seconds, workers })
    }

    /// Records that the metadata at the I/O site belong to this search. Until then, an error of
    /// this search does not end the I/O site, which waits for the search whose metadata it holds.
    pub fn confirm_same_search(&self) {
        if let SinkKind::Link(LinkSink { sender, .. }) = &self.kind {
            sender.verify();
        }
    }

    /// Closes the sink before the metadata are complete. The I/O site waits for another run, which
    /// resumes them.
    pub fn abandon(self) {
        if let SinkKind::Link(LinkSink { sender, .. }) = self.kind {
            sender.abandon();
        }
    }

    /// Completes the metadata: gives a file its name, or waits until the I/O site has made the
    /// report.
    ///
    /// # Errors
    /// A file or a report that could not be completed.
    pub fn commit(self) -> Result<(), Error> {
        let LinkSink { sender, audience, .. } = match self.kind {
            SinkKind::File(output) => return output.commit(),
            SinkKind::Ranks(endpoint) => return endpoint.finish(),
            SinkKind::Link(link) => link,
        };
        audience.show_note(", waiting for the report at the other site".to_owned());
        match sender.finish().map_err(|error| link_error(&error))? {
            SendOutcome::Done => {}
            SendOutcome::Unknown => audience.warn(
                "The other site has all metadata, but ended before it reported whether the report is complete: look there",
            ),
        }
        Ok(())
    }
}

fn record_offset(ledger: &Ledger, offset: u64, last: u64) {
    // The map is valid even if a thread panicked.
    ledger.lock().unwrap_or_else(PoisonError::into_inner).insert(offset, last);
}

fn connect(
    link: &Link,
    header: u64,
    audience: &Arc<dyn Audience>,
    halt: &Halt,
) -> Result<ConnectedSender, Error> {
    let key = Key::read(&link.key).map_err(|error| key_error(&error))?;
    let target = Target {
        address: link.address.clone(),
        key,
        peers: link.peers.clone(),
        header,
        patience: link.silence_limit(),
        give_up: link.give_up.unwrap_or(std::time::Duration::MAX),
    };
    let (audience, halt) = (Arc::clone(audience), halt.clone());
    let observer: SendObserver = Arc::new(move |event| match event {
        SendEvent::Broken { why, left } => {
            let left = left.map_or_else(String::new, |it| format!(" for {} s", it.as_secs()));
            audience.warn(&format!("No connection ({why}); still trying{left}"));
        }
        SendEvent::Ended => halt.set(),
        SendEvent::Reconnected => audience.warn("There is a connection again"),
        SendEvent::Progress { confirmed, waiting } => audience.show_note(format!(
            ", {} at the other site, {} on their way",
            format_byte_count(confirmed),
            format_byte_count(waiting)
        )),
    });
    ConnectedSender::connect(target, observer).map_err(|error| link_error(&error))
}

/// Formats a number of bytes for people.
pub fn format_byte_count(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Converts an error of the link.
pub fn link_error(error: &LinkError) -> Error {
    match error {
        LinkError::Key(_) | LinkError::Address(_) => key_error(error),
        LinkError::NoThread(_) => Error::starved(error),
        _ => Error::new(exit::OUTPUT, format!("The link to the other site failed: {error}")),
    }
}

fn key_error(error: &LinkError) -> Error {
    Error::new(exit::INPUT, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_a_thread_is_no_fault_of_the_output() {
        let error = link_error(&LinkError::NoThread("Resource temporarily unavailable".to_owned()));
        assert_eq!(error.exit_code, exit::MEMORY, "{error}");
        let error = link_error(&LinkError::Ended("no room on the disk".to_owned()));
        assert_eq!(error.exit_code, exit::OUTPUT, "{error}");
    }
}
