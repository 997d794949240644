//! Sends metadata to another site while ranks write them.
//!
//! Ranks write records to the output file in any order. A thread of the supermaster's rank waits
//! for the next record in the file's order, and sends it. A record is complete if its checksums are
//! right.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::records::{HEAD_BYTES, RecordHead, RecordKind, START_BYTES};

use crate::cost::Seen;
use crate::error::Error;
use crate::metadata::{MetadataSink, ResumeVerifier, Resumed};

/// Shortest and longest time between two looks at the file.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A stream of metadata in progress.
pub struct Sending {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<MetadataSink, Error>>>,
    /// Whether the job may be resumed. Then the other site waits when the stream breaks off.
    goes_on: bool,
}

/// Observes a stream: its error, and the state of its link.
#[derive(Clone)]
pub struct Watcher(Arc<Shared>);

impl Watcher {
    /// Checks that the stream goes on.
    ///
    /// # Errors
    /// Returns the error that ended the stream early.
    pub fn check(&self) -> Result<(), Error> {
        self.0.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Returns the measured state of the link.
    pub fn seen(&self) -> Option<Seen> {
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
    /// How the stream is to end; `None` while ranks still write.
    ended: Option<End>,
    /// The error that ended the stream early.
    failure: Option<Error>,
    /// The measured state of the link.
    seen: Option<Seen>,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Whole,
    Broken,
}

impl Sending {
    /// Starts to send the records of a file. Records that the other site has, by `resumed`, are
    /// verified but not sent.
    ///
    /// # Errors
    /// The thread cannot be started.
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

    /// Creates an observer of the stream.
    pub fn watcher(&self) -> Watcher {
        Watcher(Arc::clone(&self.shared))
    }

    /// Returns the measured state of the link.
    ///
    /// # Errors
    /// Returns the error that ended the stream early.
    pub fn check(&self) -> Result<Option<Seen>, Error> {
        let state = self.shared.lock();
        state.failure.clone().map_or(Ok(state.seen), Err)
    }

    /// Sends the remaining records, now that all are written, and waits for the report at the other
    /// site.
    ///
    /// # Errors
    /// Returns the error that ended the stream, or that of the other site.
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

    /// Waits for `pause`, or until the end is known. Returns the end, if it is known.
    fn wait(&self, pause: Duration) -> Option<End> {
        let state = self.lock();
        if state.ended.is_some() {
            return state.ended;
        }
        let waited = self.changed.wait_timeout(state, pause);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// Reads records in the order of the file.
struct Follower {
    path: PathBuf,
    at: u64,
    /// Compares the records with those that the other site has, until the last of them.
    passing: Option<ResumeVerifier>,
}

impl Follower {
    fn all(mut self, mut carrier: MetadataSink, shared: &Shared) -> Result<MetadataSink, Error> {
        let ([mut pause, longest], mut end) = (PAUSES, None);
        loop {
            shared.lock().seen = carrier.seen();
            // The file is opened each time: on network file systems, only a new opening shows the
            // writes of other hosts.
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

    /// Reads the next record, if it is complete.
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

    /// Sends a record, unless the other site has it.
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
        // The header was sent when the stream was opened.
        if head.kind != RecordKind::Header {
            carrier.send_record(head.kind, &body)?;
        }
        Ok(())
    }
}

/// A fault of the program.
const NOT_WHOLE: &str = "what ranks wrote of metadata is not whole";
