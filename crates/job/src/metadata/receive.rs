//! The report of metadata that arrive by a link, made while they do.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;

use fleetblast_link::receive::{Event, Listener, Watch};
use fleetblast_link::{Key, LinkError};

use super::carrier::{amount, failure};
use super::growth::Growing;
use super::source::Opened;
use super::spool::Spool;
use crate::audience::Audience;
use crate::error::Error;
use crate::plan::Link;

/// Strangers that are told of.
const MOST_TOLD: u32 = 20;

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
    let Reception { link, spool: path, keep, threads } = reception;
    let key = Key::read(&link.key).map_err(|error| failure(&error))?;
    let listener = Listener::bind(&link.address, &key, &link.peers, link.patience());
    let listener = listener.map_err(|error| failure(&error))?;
    let (mut spool, damage) = Spool::open(path)?;
    spool.workers = u32::try_from(*threads).unwrap_or(u32::MAX);
    if let Some(damage) = damage {
        audience.warn(&damage);
    }
    let address = listener.address().map_err(|error| failure(&error))?;
    audience.complain(&format!("Listening at {address}; the key here is {}", key.fingerprint()));
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
        let made = Opened::read(path.clone(), Box::new(reader)).and_then(make);
        let told = made.as_ref().map(|_| ()).map_err(|error| match &error.message[..] {
            "" => "nobody reads the report any more".to_owned(),
            message => message.to_owned(),
        });
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

/// Tells what happens on the link.
fn watch(audience: &Arc<dyn Audience>) -> Watch {
    let (audience, rejected) = (Arc::clone(audience), AtomicU32::new(0));
    Arc::new(move |event| {
        match event {
        Event::Connected(address) => audience.complain(&format!("Connected with {address}")),
        Event::Broken(why) => {
            audience.warn(&format!("The connection broke ({why}); waiting for another one"));
        }
        Event::Rejected(address, why) => {
            let count = rejected.fetch_add(1, Ordering::Relaxed);
            if count < MOST_TOLD {
                audience.warn(&format!("{address} is not let in: {why}"));
            } else if count == MOST_TOLD {
                audience.warn("More are not let in, and not told of");
            }
        }
        Event::Alone => audience.warn(
            "Nobody came who sends; all metadata came in an earlier run, and the report is made of these",
        ),
        Event::Progress(bytes) => audience.note(format!(", {} of metadata came", amount(bytes))),
    }
    })
}
