//! Receives metadata over a link, and makes their report at the same time.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_link::receive::Listener;
use fleetblast_link::sink::{ReceiveEvent, ReceiveObserver};
use fleetblast_link::{Key, LinkError};

use super::growth::GrowingFile;
use super::sink::{format_byte_count, link_error};
use super::source::OpenedMetadata;
use super::spool::Spool;
use crate::audience::Audience;
use crate::error::Error;
use crate::interrupt::restore_default_signals;
use crate::plan::Link;

/// Number of refused connections that are all reported. Later ones are reported at intervals.
const MAX_REPORTED: u32 = 20;
/// Shortest time between two reports, after [`MAX_REPORTED`] refused connections.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Options of a receiver.
pub struct ReceiveRequest {
    /// The address at which to listen, and the known peers.
    pub link: Link,
    /// The file in which metadata are kept until the report is complete.
    pub spool: PathBuf,
    /// Whether the metadata are kept after the report is complete.
    pub keep: bool,
    /// Number of threads that make the report. The sender gets this number.
    pub threads: usize,
    /// Most bytes of memory that a record may use.
    pub memory: u64,
}

/// Receives the metadata of a search, while `make` makes their report.
///
/// # Errors
/// An error of `make`; a link or a sender that fails. The metadata are kept, and the next run
/// resumes them.
pub fn receive(
    request: &ReceiveRequest,
    audience: &Arc<dyn Audience>,
    make: impl FnOnce(OpenedMetadata) -> Result<(), Error>,
) -> Result<(), Error> {
    let ReceiveRequest { link, spool: path, keep, threads, memory } = request;
    let key = Key::read(&link.key).map_err(|error| link_error(&error))?;
    let listener = Listener::bind(&link.address, &key, &link.peers, link.silence_limit());
    let listener = listener.map_err(|error| link_error(&error))?;
    let (mut spool, damage) = Spool::open(path, *memory)?;
    spool.workers = u32::try_from(*threads).unwrap_or(u32::MAX);
    if let Some(damage) = damage {
        audience.warn(&damage);
    }
    let address = listener.address().map_err(|error| link_error(&error))?;
    audience
        .print_message(&format!("Listening at {address}; the key here is {}", key.fingerprint()));
    if spool.is_complete_from_earlier_run() {
        audience.print_message(&format!(
            "{} holds all metadata of a search: its report is made when the search comes, or soon \
             without it",
            path.display()
        ));
    }
    let observer = observer(audience);
    let (growth, verdict) = (spool.growth().clone(), Arc::clone(spool.verdict()));
    let reader = GrowingFile::new(spool.reader()?, growth.clone());
    let serve = move || {
        let served = listener.serve(&mut spool, link.give_up, &observer);
        // The reader of the file must not wait for more bytes.
        growth.give_up();
        served
    };
    let (made, served) = thread::scope(|scope| {
        let link = thread::Builder::new().name("link".to_owned()).spawn_scoped(scope, serve);
        let link = match link {
            Ok(link) => link,
            Err(error) => return (Err(Error::refused("cannot start a thread", &error)), Ok(())),
        };
        let made = OpenedMetadata::read(path.clone(), Box::new(reader), *memory).and_then(make);
        let outcome = made.as_ref().map(|_| ()).map_err(|error| match error.is_silent() {
            // The reader of the report has closed its pipe.
            true => "nobody reads the report any more".to_owned(),
            false => error.message.clone(),
        });
        if made.is_ok() {
            // The report is complete. The rest only informs the sender, so a signal may end this
            // process. Best effort.
            let _ = restore_default_signals();
        }
        *verdict.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        let served = link.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (made, served)
    });
    if fs::metadata(path).is_ok_and(|meta| meta.len() == 0) {
        // Best effort: there is nothing to resume.
        let _ = fs::remove_file(path);
    }
    match (made, served) {
        (Ok(()), served) => {
            if let Err(error) = served {
                audience.warn(&format!("The report is made, but: {error}"));
            }
            if !keep {
                // Best effort: the report is complete.
                let _ = fs::remove_file(path);
            }
            Ok(())
        }
        // The sender got this error as a message.
        (Err(error), Err(LinkError::Ended(sent))) if sent == error.message => Err(error),
        // The reader of the report has closed its pipe, which is no fault of the link.
        (Err(error), Err(LinkError::Ended(_))) if error.is_silent() => Err(error),
        // `make` had nothing to read because the link failed.
        (Err(_), Err(error)) => Err(link_error(&error)),
        (Err(error), Ok(())) => Err(error),
    }
}

/// Limits the number of messages about refused connections. Otherwise strangers could fill a disk
/// with messages.
#[derive(Debug, Default)]
struct Rejections {
    /// Number of refused connections that were reported.
    reported: u32,
    /// Time of the last report of a refused connection.
    last: Option<Instant>,
    /// Number of connections refused without a report since the last report.
    silent: u64,
}

impl Rejections {
    /// Counts a refused connection, and returns the message about it if one is due.
    fn add(&mut self, now: Instant, what: String) -> Option<String> {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) > REPORT_INTERVAL);
        if self.reported >= MAX_REPORTED && !is_due {
            self.silent += 1;
            return None;
        }
        (self.reported, self.last) = (self.reported.saturating_add(1), Some(now));
        let note = match std::mem::take(&mut self.silent) {
            _ if self.reported == MAX_REPORTED => {
                "; of more only one a minute is reported".to_owned()
            }
            0 => String::new(),
            silent => format!("; {silent} more were refused since the last message"),
        };
        Some(what + &note)
    }
}

/// Creates the observer that reports the events of the link.
fn observer(audience: &Arc<dyn Audience>) -> ReceiveObserver {
    let (audience, rejections) = (Arc::clone(audience), Mutex::new(Rejections::default()));
    Arc::new(move |event| match event {
        ReceiveEvent::Connected(address) => {
            audience.print_message(&format!("Connected with {address}"))
        }
        ReceiveEvent::Broken(why) => {
            audience.warn(&format!("The connection broke ({why}); waiting for another one"));
        }
        ReceiveEvent::OtherStream(why) => audience.warn(&format!("A sender was refused: {why}")),
        ReceiveEvent::Rejected(address, why) => {
            // The state is valid even if a thread panicked.
            let mut rejections = rejections.lock().unwrap_or_else(PoisonError::into_inner);
            let what = format!("{address} is not let in: {why}");
            if let Some(message) = rejections.add(Instant::now(), what) {
                audience.warn(&message);
            }
        }
        ReceiveEvent::SenderMissing => audience.warn(
            "No sender connected; all metadata arrived in an earlier run, and the report is made \
             of these",
        ),
        ReceiveEvent::Progress(bytes) => {
            audience.show_note(format!(", {} of metadata came", format_byte_count(bytes)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_of_rejections_are_reported_sparingly() {
        let (mut rejections, begin) = (Rejections::default(), Instant::now());
        let mut messages = Vec::new();
        for tenth in 0..3000 {
            messages
                .extend(rejections.add(begin + Duration::from_millis(100) * tenth, "x".to_owned()));
        }
        assert_eq!(messages.len(), 24, "{messages:?}");
        assert!(messages[..19].iter().all(|it| it == "x"));
        assert!(messages[20].starts_with("x; 600 more were refused"), "{messages:?}");
    }
}
