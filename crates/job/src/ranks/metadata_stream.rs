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

use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::metadata::{HeldMetadata, MetadataSink, ResumeVerifier};

/// Shortest and longest time between two checks of the file for new records.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A stream of metadata in progress.
pub struct MetadataStream {
    shared: Arc<StreamShared>,
    thread: Option<JoinHandle<Result<MetadataSink, Error>>>,
    /// Whether the job may be resumed. If so, the I/O site waits after the stream has ended early.
    is_resumable: bool,
}

/// Observer of a stream. Returns its error, and the state of its link.
#[derive(Clone)]
pub struct StreamObserver(Arc<StreamShared>);

impl StreamObserver {
    /// Checks that the stream has not failed.
    ///
    /// # Errors
    /// Returns the error that ended the stream early.
    pub fn check(&self) -> Result<(), Error> {
        self.0.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Returns the measured state of the link.
    pub fn link(&self) -> Option<LinkStatistics> {
        self.0.lock().link
    }
}

#[derive(Default)]
struct StreamShared {
    state: Mutex<StreamState>,
    changed: Condvar,
}

#[derive(Default)]
struct StreamState {
    /// How the stream is to end; `None` while ranks still write.
    ended: Option<StreamEnd>,
    /// The error that ended the stream early.
    failure: Option<Error>,
    /// The measured state of the link.
    link: Option<LinkStatistics>,
}

#[derive(Clone, Copy, PartialEq)]
enum StreamEnd {
    Complete,
    Aborted,
}

impl MetadataStream {
    /// Starts to send the records of a file. Records that the I/O site holds (`resumed`) are
    /// verified and not sent.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        path: &Path,
        (sink, resumed): (MetadataSink, Option<HeldMetadata>),
        kinds: EncodingChoice,
        is_resumable: bool,
    ) -> Result<Self, Error> {
        let shared = Arc::new(StreamShared::default());
        let thread_state = Arc::clone(&shared);
        let verifier = resumed
            .map(|HeldMetadata(received)| ResumeVerifier::new(received, kinds))
            .transpose()?;
        let reader = RecordReader { path: path.to_owned(), offset: START_BYTES as u64, verifier };
        let run = move || {
            let sent = reader.send_all(sink, &thread_state);
            thread_state.lock().failure = sent.as_ref().err().cloned();
            sent
        };
        let thread = thread::Builder::new().name("records".to_owned()).spawn(run);
        Ok(MetadataStream { shared, thread: Some(thread.map_err(Error::starved)?), is_resumable })
    }

    /// Creates an observer of the stream.
    pub fn observer(&self) -> StreamObserver {
        StreamObserver(Arc::clone(&self.shared))
    }

    /// Returns the measured state of the link.
    ///
    /// # Errors
    /// Returns the error that ended the stream early.
    pub fn check(&self) -> Result<Option<LinkStatistics>, Error> {
        let state = self.shared.lock();
        state.failure.clone().map_or(Ok(state.link), Err)
    }

    /// Sends the remaining records, which ranks have all written. Then waits until the I/O site has
    /// made the report.
    ///
    /// # Errors
    /// The error that ended the stream, or that of the I/O site.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end(StreamEnd::Complete).map_or(Ok(()), |sink| sink?.commit())
    }

    fn end(&mut self, how: StreamEnd) -> Option<Result<MetadataSink, Error>> {
        self.shared.lock().ended = Some(how);
        self.shared.changed.notify_all();
        let thread = self.thread.take()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for MetadataStream {
    fn drop(&mut self) {
        if self.thread.is_some()
            && let Some(Ok(sink)) = self.end(StreamEnd::Aborted)
            && self.is_resumable
        {
            sink.abandon();
        }
    }
}

impl StreamShared {
    /// Locks the state. Nothing panics while it holds the lock, and the state is always valid.
    fn lock(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `pause`, or until somebody ends the stream. Returns how it ends, if that is known.
    fn wait(&self, pause: Duration) -> Option<StreamEnd> {
        let state = self.lock();
        if state.ended.is_some() {
            return state.ended;
        }
        let waited = self.changed.wait_timeout(state, pause);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// Reads records in the order of the file.
struct RecordReader {
    path: PathBuf,
    offset: u64,
    /// Compares the records with those that the I/O site holds; `None` after the last of these.
    verifier: Option<ResumeVerifier>,
}

impl RecordReader {
    fn send_all(
        mut self,
        mut sink: MetadataSink,
        shared: &StreamShared,
    ) -> Result<MetadataSink, Error> {
        let ([mut pause, longest], mut end) = (PAUSES, None);
        loop {
            shared.lock().link = sink.link_statistics();
            // Opens the file each time. On network file systems, only a new opening shows the
            // writes of other hosts.
            let record = File::open(&self.path).and_then(|file| self.next_record(&file));
            let record = record
                .map_err(|error| Error::output(format_args!("{}: {error}", self.path.display())))?;
            if let Some((head, body)) = record {
                pause = PAUSES[0];
                self.send_record(&head, body, &mut sink)?;
                if head.kind == RecordKind::End {
                    return Ok(sink);
                }
                continue;
            }
            match end {
                Some(StreamEnd::Aborted) => return Ok(sink),
                Some(StreamEnd::Complete) => return Err(Error::engine(INCOMPLETE)),
                None => {
                    sink.check()?;
                    end = shared.wait(pause);
                }
            }
            pause = (pause * 2).min(longest);
        }
    }

    /// Reads the next record. Returns `None` if it is not complete yet.
    fn next_record(&self, file: &File) -> io::Result<Option<(RecordHead, Vec<u8>)>> {
        let end = file.metadata()?.len();
        if end < self.offset + HEAD_BYTES as u64 {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, self.offset)?;
        let Some(head) = RecordHead::parse_first(&head) else { return Ok(None) };
        if end < self.offset + head.record_bytes() {
            return Ok(None);
        }
        let mut body = vec![0; head.length as usize];
        file.read_exact_at(&mut body, self.offset + HEAD_BYTES as u64)?;
        Ok(head.matches(&body).then_some((head, body)))
    }

    /// Sends a record, unless the I/O site holds it.
    fn send_record(
        &mut self,
        head: &RecordHead,
        body: Vec<u8>,
        sink: &mut MetadataSink,
    ) -> Result<(), Error> {
        self.offset += head.record_bytes();
        if let Some(verifier) = &mut self.verifier {
            if verifier.is_last(head.kind, &body)? {
                sink.confirm_same_search();
                self.verifier = None;
            }
            return Ok(());
        }
        // The header was sent when the stream was opened.
        if head.kind != RecordKind::Header {
            sink.send_record(head.kind, &body)?;
        }
        Ok(())
    }
}

/// Message for missing records, a fault of the program.
const INCOMPLETE: &str = "the metadata that ranks wrote are incomplete";
