//! Supervises a rank during the search. Sends heartbeats to the checkpoint, and receives the
//! signals that drain the job.

use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, Scope};
use std::time::Duration;

use fleetblast_spool::Checkpoint;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Handle;
use signal_hook::low_level::emulate_default_handler;

use super::checkpoint::checkpoint_error;
use super::metadata_stream::StreamObserver;
use super::transport::RankEvent;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::output::UnfinishedReport;

/// Time between two heartbeats to the checkpoint.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// Time between two checks of the metadata stream.
const STREAM_CHECK: Duration = Duration::from_millis(500);
/// Time for the threads of a rank to end after a drain, before the process ends without them.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Time for work in progress to end after the job has failed. Then the process ends.
const FAILURE_TIME: Duration = Duration::from_secs(3);

/// The items that a rank supervises. There are none without a checkpoint, signals or another site.
#[derive(Default)]
pub struct Supervisor<'a> {
    /// The checkpoint, on the rank that opened it.
    pub checkpoint: Option<&'a Checkpoint>,
    /// The signals that drain the job.
    pub signals: Option<DrainSignals>,
    /// The metadata stream. Its error would be noticed late if it were not checked regularly.
    pub stream: Option<StreamObserver>,
}

/// A running supervisor, which stops when this is dropped.
pub struct RunningSupervisor {
    handle: Option<Handle>,
    _heartbeat: Option<Sender<()>>,
    _stream: Option<Sender<()>>,
}

impl Drop for RunningSupervisor {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.close();
        }
    }
}

/// Starts the supervisor. It sends errors and requests to drain the job to `events`. A second
/// SIGINT ends the process at once.
pub fn start<'s, 'a: 's>(
    scope: &'s Scope<'s, '_>,
    supervisor: Supervisor<'a>,
    events: &Sender<RankEvent>,
) -> RunningSupervisor {
    let Supervisor { checkpoint, signals, stream } = supervisor;
    let heartbeat = checkpoint.map(|checkpoint| {
        let beat = move || checkpoint.renew_lock().map_err(|error| checkpoint_error(&error));
        repeat(HEARTBEAT, scope, events, beat)
    });
    let stream = stream.map(|stream| repeat(STREAM_CHECK, scope, events, move || stream.check()));
    let handle = signals.map(|signals| {
        let mut signals = signals.receive();
        let (handle, events) = (signals.handle(), events.clone());
        scope.spawn(move || {
            let mut interrupted = false;
            for signal in signals.forever() {
                if signal == SIGINT && interrupted {
                    let _ = emulate_default_handler(signal);
                }
                interrupted |= signal == SIGINT;
                let _ = events.send(RankEvent::Drain);
            }
        });
        handle
    });
    RunningSupervisor { handle, _heartbeat: heartbeat, _stream: stream }
}

/// Repeats an action at intervals of `time`, until the returned sender is dropped. Sends its errors
/// as events.
fn repeat<'s>(
    time: Duration,
    scope: &'s Scope<'s, '_>,
    events: &Sender<RankEvent>,
    action: impl Fn() -> Result<(), Error> + Send + 's,
) -> Sender<()> {
    let (stop, stopped) = channel::<()>();
    let events = events.clone();
    scope.spawn(move || {
        while stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = action() {
                let _ = events.send(RankEvent::Broken(error));
            }
        }
    });
    stop
}

/// Ends the process after `FAILURE_TIME`, because the job has failed. Usually the process ends
/// before, unless a thread hangs, for example in a file system. Does nothing for a silent error:
/// another rank of this process reports the cause.
pub fn exit_after_failure(error: Error, report: UnfinishedReport, audience: Arc<dyn Audience>) {
    if error.is_silent() {
        return;
    }
    thread::spawn(move || {
        thread::sleep(FAILURE_TIME);
        audience.print_message(&error.message);
        report.discard();
        process::exit(i32::from(error.exit_code));
    });
}

/// Ends the process after `DRAIN_TIME`, even during a long search. Finished blocks are stored, and
/// batch systems kill processes that do not end. The rank that opened the checkpoint, in the
/// directory `kept_in`, informs the user.
pub fn exit_after_drain(kept_in: Option<&Path>, audience: &dyn Audience) {
    if let Some(directory) = kept_in {
        audience.print_message(&format!(
            "ended early by a signal; finished blocks are kept in {}: start the same command again, with -resume",
            directory.display()
        ));
    }
    thread::spawn(|| {
        thread::sleep(DRAIN_TIME);
        process::exit(i32::from(exit::DRAINED));
    });
}
