//! Sends metadata to another site while ranks write them.
//!
//! Records come to the file of the output in any order. A thread of the rank that made it looks
//! after the next one that is to be sent: it is whole if its checksums are right.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::records::{HEAD_BYTES, RecordHead, RecordKind, START_BYTES};

use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::metadata::{MetadataSink, ResumeVerifier, Resumed};

/// Between two looks at the file, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A stream under way.
pub struct Sending {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<MetadataSink, Error>>>,
    /// The job may be resumed: without an end, the other site is to wait.
    goes_on: bool,
}

/// Hears what ends a stream, and sees the link.
#[derive(Clone)]
pub struct Watcher(Arc<Shared>);

impl Watcher {
    /// Whether it goes on.
    ///
    /// # Errors
    /// What ended it before its time.
    pub fn check(&self) -> Result<(), Error> {
        self.0.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// The link, as it is seen.
    pub fn seen(&self) -> Option<LinkStatistics> {
        self.0.lock().seen
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// All is written, or nothing more will be.
    ended: Option<End>,
    /// What ended the stream before that.
    failure: Option<Error>,
    /// The link, as it is seen.
    seen: Option<LinkStatistics>,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Whole,
    Broken,
}

impl Sending {
    /// Sends the records of a file, but for what `resumed` says that the other site has.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        path: &Path,
        (carrier, resumed): (MetadataSink, Option<Resumed>),
        kinds: EncodingChoice,
        goes_on: bool,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let passing =
            resumed.map(|Resumed(there)| ResumeVerifier::new(there, kinds)).transpose()?;
        let follower = Follower { path: path.to_owned(), at: START_BYTES as u64, passing };
        let run = move || {
            let sent = follower.all(carrier, &own);
            own.lock().failure = sent.as_ref().err().cloned();
            sent
        };
        let thread = thread::Builder::new().name("records".to_owned()).spawn(run);
        Ok(Sending { shared, thread: Some(thread.map_err(Error::starved)?), goes_on })
    }

    /// Hears what ends it, wherever it is.
    pub fn watcher(&self) -> Watcher {
        Watcher(Arc::clone(&self.shared))
    }

    /// The link, as it is seen.
    ///
    /// # Errors
    /// What ended it before its time.
    pub fn check(&self) -> Result<Option<LinkStatistics>, Error> {
        let state = self.shared.lock();
        state.failure.clone().map_or(Ok(state.seen), Err)
    }

    /// Sends the rest, now that all is written, and waits for the report at the other site.
    ///
    /// # Errors
    /// There is none.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end(End::Whole).map_or(Ok(()), |carrier| carrier?.commit())
    }

    fn end(&mut self, how: End) -> Option<Result<MetadataSink, Error>> {
        self.shared.lock().ended = Some(how);
        self.shared.changed.notify_all();
        let thread = self.thread.take()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if self.thread.is_some()
            && let Some(Ok(carrier)) = self.end(End::Broken)
            && self.goes_on
        {
            carrier.abandon();
        }
    }
}

impl Shared {
    /// Nothing panics while it holds the lock, and the state is valid in any case.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, unless it is known how it ends; tells how.
    fn wait(&self, pause: Duration) -> Option<End> {
        let state = self.lock();
        if state.ended.is_some() {
            return state.ended;
        }
        let waited = self.changed.wait_timeout(state, pause);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// Where it is in the file.
struct Follower {
    path: PathBuf,
    at: u64,
    /// What the other site has, as long as that is not passed.
    passing: Option<ResumeVerifier>,
}

impl Follower {
    fn all(mut self, mut carrier: MetadataSink, shared: &Shared) -> Result<MetadataSink, Error> {
        let ([mut pause, longest], mut end) = (PAUSES, None);
        loop {
            shared.lock().seen = carrier.link_statistics();
            // Opened anew: what others wrote is seen, on network file systems, by who opens the
            // file after that.
            let record = File::open(&self.path).and_then(|file| self.next(&file));
            let record = record
                .map_err(|error| Error::output(format_args!("{}: {error}", self.path.display())))?;
            if let Some((head, body)) = record {
                pause = PAUSES[0];
                self.pass(&head, body, &mut carrier)?;
                if head.kind == RecordKind::End {
                    return Ok(carrier);
                }
                continue;
            }
            match end {
                Some(End::Broken) => return Ok(carrier),
                Some(End::Whole) => return Err(Error::engine(NOT_WHOLE)),
                None => {
                    carrier.check()?;
                    end = shared.wait(pause);
                }
            }
            pause = (pause * 2).min(longest);
        }
    }

    /// The next record, if it is there.
    fn next(&self, file: &File) -> io::Result<Option<(RecordHead, Vec<u8>)>> {
        let end = file.metadata()?.len();
        if end < self.at + HEAD_BYTES as u64 {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, self.at)?;
        let Some(head) = RecordHead::parse_first(&head) else { return Ok(None) };
        if end < self.at + head.record_bytes() {
            return Ok(None);
        }
        let mut body = vec![0; head.length as usize];
        file.read_exact_at(&mut body, self.at + HEAD_BYTES as u64)?;
        Ok(head.matches(&body).then_some((head, body)))
    }

    /// Sends a record, unless it is there.
    fn pass(
        &mut self,
        head: &RecordHead,
        body: Vec<u8>,
        carrier: &mut MetadataSink,
    ) -> Result<(), Error> {
        self.at += head.record_bytes();
        if let Some(passing) = &mut self.passing {
            if passing.is_last(head.kind, &body)? {
                carrier.verify();
                self.passing = None;
            }
            return Ok(());
        }
        // The header went with the begin.
        if head.kind != RecordKind::Header {
            carrier.send_record(head.kind, &body)?;
        }
        Ok(())
    }
}

/// A fault of the program.
const NOT_WHOLE: &str = "what ranks wrote of metadata is not whole";
