//! The report of metadata that arrive by a link, made while they do.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_link::receive::Listener;
use fleetblast_link::sink::{Event, Watch};
use fleetblast_link::{Key, LinkError};

use super::carrier::{amount, failure};
use super::growth::Growing;
use super::source::Opened;
use super::spool::Spool;
use crate::audience::Audience;
use crate::error::Error;
use crate::interrupt::stop_watching;
use crate::plan::Link;

/// Connections that are not let in, of which each is told; of more, one in this time.
const MOST_TOLD: u32 = 20;
const TELL_EVERY: Duration = Duration::from_secs(60);

/// What to receive.
pub struct Reception {
    /// Where to listen, and for whom.
    pub link: Link,
    /// The file in which metadata are kept until the report is whole.
    pub spool: PathBuf,
    /// They are kept after that, too.
    pub keep: bool,
    /// Threads that make the report, which the sender is told.
    pub threads: usize,
    /// Bytes of memory that a record may take.
    pub memory: u64,
}

/// Receives the metadata of a search, of which `make` makes the report.
///
/// # Errors
/// Whatever ends `make`; a link or a sender that fails. What came stays, and the next run goes on with it.
pub fn receive(
    reception: &Reception,
    audience: &Arc<dyn Audience>,
    make: impl FnOnce(Opened) -> Result<(), Error>,
) -> Result<(), Error> {
    let Reception { link, spool: path, keep, threads, memory } = reception;
    let key = Key::read(&link.key).map_err(|error| failure(&error))?;
    let listener = Listener::bind(&link.address, &key, &link.peers, link.patience());
    let listener = listener.map_err(|error| failure(&error))?;
    let (mut spool, damage) = Spool::open(path, *memory)?;
    spool.workers = u32::try_from(*threads).unwrap_or(u32::MAX);
    if let Some(damage) = damage {
        audience.warn(&damage);
    }
    let address = listener.address().map_err(|error| failure(&error))?;
    audience.complain(&format!("Listening at {address}; the key here is {}", key.fingerprint()));
    if spool.is_old() {
        audience.complain(&format!(
            "{} holds all metadata of a search: its report is made when the search comes, or soon \
             without it",
            path.display()
        ));
    }
    let watch = watch(audience);
    let (growth, verdict) = (spool.growth().clone(), Arc::clone(spool.verdict()));
    let reader = Growing::new(spool.reader()?, growth.clone());
    let serve = move || {
        let served = listener.serve(&mut spool, link.give_up, &watch);
        // Who reads does not wait for more.
        growth.give_up();
        served
    };
    let (made, served) = thread::scope(|scope| {
        let link = thread::Builder::new().name("link".to_owned()).spawn_scoped(scope, serve);
        let link = match link {
            Ok(link) => link,
            Err(error) => return (Err(Error::refused("cannot start a thread", &error)), Ok(())),
        };
        let made = Opened::read(path.clone(), Box::new(reader), *memory).and_then(make);
        let told = made.as_ref().map(|_| ()).map_err(|error| match &error.message[..] {
            "" => "nobody reads the report any more".to_owned(),
            message => message.to_owned(),
        });
        if made.is_ok() {
            // The report is there: what follows only lets the sender know. Best effort.
            let _ = stop_watching();
        }
        *verdict.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        let served = link.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (made, served)
    });
    if fs::metadata(path).is_ok_and(|meta| meta.len() == 0) {
        // Best effort: nothing came that could be gone on with.
        let _ = fs::remove_file(path);
    }
    match (made, served) {
        (Ok(()), served) => {
            if let Err(error) = served {
                audience.warn(&format!("The report is made, but: {error}"));
            }
            if !keep {
                // Best effort: the report is there.
                let _ = fs::remove_file(path);
            }
            Ok(())
        }
        // The sender was told of it.
        (Err(error), Err(LinkError::Ended(told))) if told == error.message => Err(error),
        // It had nothing to read because of this.
        (Err(_), Err(error)) => Err(failure(&error)),
        (Err(error), Ok(())) => Err(error),
    }
}

/// Connections that are not let in. Anybody can make many, whose messages would fill a disk.
#[derive(Debug, Default)]
struct Rejections {
    /// They were told.
    told: u32,
    /// The last was told then.
    last: Option<Instant>,
    /// They were not told since then.
    silent: u64,
}

impl Rejections {
    /// What to tell of one, if anything.
    fn add(&mut self, now: Instant, what: String) -> Option<String> {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) > TELL_EVERY);
        if self.told >= MOST_TOLD && !is_due {
            self.silent += 1;
            return None;
        }
        (self.told, self.last) = (self.told.saturating_add(1), Some(now));
        let note = match std::mem::take(&mut self.silent) {
            _ if self.told == MOST_TOLD => "; of more only one a minute is told".to_owned(),
            0 => String::new(),
            silent => format!("; nor were {silent} others since the last message"),
        };
        Some(what + &note)
    }
}

/// Tells what happens on the link.
fn watch(audience: &Arc<dyn Audience>) -> Watch {
    let (audience, rejections) = (Arc::clone(audience), Mutex::new(Rejections::default()));
    Arc::new(move |event| {
        match event {
        Event::Connected(address) => audience.complain(&format!("Connected with {address}")),
        Event::Broken(why) => {
            audience.warn(&format!("The connection broke ({why}); waiting for another one"));
        }
        Event::Unwanted(why) => audience.warn(&format!("A sender was refused: {why}")),
        Event::Rejected(address, why) => {
            // It is valid in any case.
            let mut rejections = rejections.lock().unwrap_or_else(PoisonError::into_inner);
            let what = format!("{address} is not let in: {why}");
            if let Some(told) = rejections.add(Instant::now(), what) {
                audience.warn(&told);
            }
        }
        Event::Alone => audience.warn(
            "Nobody came who sends; all metadata came in an earlier run, and the report is made of these",
        ),
        Event::Progress(bytes) => audience.note(format!(", {} of metadata came", amount(bytes))),
    }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_of_rejections_are_told_now_and_then() {
        let (mut rejections, begin) = (Rejections::default(), Instant::now());
        let mut told = Vec::new();
        for tenth in 0..3000 {
            told.extend(rejections.add(begin + Duration::from_millis(100) * tenth, "x".to_owned()));
        }
        assert_eq!(told.len(), 24, "{told:?}");
        assert!(told[..19].iter().all(|it| it == "x"));
        assert!(told[20].starts_with("x; nor were 600 others"), "{told:?}");
    }
}
