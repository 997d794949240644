//! Beside the search: signs of life in the checkpoint, and signals that tell a job to end soon.

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

use super::checkpoint::failure;
use super::sending::Watcher;
use super::transport::Happening;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::output::Unpublished;

/// Time between signs of life.
pub const PULSE: Duration = Duration::from_secs(10);
/// Time between looks at what is sent.
const LOOK: Duration = Duration::from_millis(500);
/// Time for the threads of a rank to end after a drain, before the process does so without them.
const FAREWELL: Duration = Duration::from_secs(5);

/// Time for works under way to end when the job cannot go on.
const LAST_WORKS: Duration = Duration::from_secs(3);

/// What a rank looks after while it works. Without a checkpoint or another site, nothing.
#[derive(Default)]
pub struct Vigil<'a> {
    /// The checkpoint, on the rank that opened it.
    pub checkpoint: Option<&'a Checkpoint>,
    /// The signals to heed.
    pub signals: Option<DrainSignals>,
    /// Metadata on their way to another site, which nobody else may have a word with for long.
    pub sending: Option<Watcher>,
}

/// Ends the watch when dropped.
pub struct Watching {
    handle: Option<Handle>,
    _pulse: Option<Sender<()>>,
    _sending: Option<Sender<()>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.close();
        }
    }
}

/// Starts to watch; what happens is told to `done`. A second SIGINT ends the process at once.
pub fn watch<'s, 'a: 's>(
    scope: &'s Scope<'s, '_>,
    vigil: Vigil<'a>,
    done: &Sender<Happening>,
) -> Watching {
    let Vigil { checkpoint, signals, sending } = vigil;
    let pulse = checkpoint.map(|checkpoint| {
        let beat = move || checkpoint.beat().map_err(|error| failure(&error));
        every(PULSE, scope, done, beat)
    });
    let sending = sending.map(|sending| every(LOOK, scope, done, move || sending.check()));
    let handle = signals.map(|signals| {
        let mut signals = signals.receive();
        let (handle, done) = (signals.handle(), done.clone());
        scope.spawn(move || {
            let mut interrupted = false;
            for signal in signals.forever() {
                if signal == SIGINT && interrupted {
                    let _ = emulate_default_handler(signal);
                }
                interrupted |= signal == SIGINT;
                let _ = done.send(Happening::Drain);
            }
        });
        handle
    });
    Watching { handle, _pulse: pulse, _sending: sending }
}

/// Does something again and again until what is returned is dropped; what fails is told.
fn every<'s>(
    time: Duration,
    scope: &'s Scope<'s, '_>,
    done: &Sender<Happening>,
    act: impl Fn() -> Result<(), Error> + Send + 's,
) -> Sender<()> {
    let (stop, stopped) = channel::<()>();
    let done = done.clone();
    scope.spawn(move || {
        while stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = act() {
                let _ = done.send(Happening::Broken(error));
            }
        }
    });
    stop
}

/// Ends the process soon because the job cannot go on, unless it does so itself, as it does unless
/// a thread hangs: in a file system, say. Nothing is done for who has nothing to tell, since
/// another rank of this process has.
pub fn end_late(error: Error, report: Unpublished, audience: Arc<dyn Audience>) {
    if error.is_silent() {
        return;
    }
    thread::spawn(move || {
        thread::sleep(LAST_WORKS);
        audience.print_message(&error.message);
        report.give_up();
        process::exit(i32::from(error.exit_code));
    });
}

/// Ends the process soon, even if a long search is still under way: what is finished is kept, and
/// batch systems kill what does not end. The rank that opened the checkpoint, in this directory,
/// tells the user.
pub fn end_soon(kept_in: Option<&Path>, audience: &dyn Audience) {
    if let Some(directory) = kept_in {
        audience.print_message(&format!(
            "ended early, as a signal told; what is finished is kept in {}: start the same command again, with -resume",
            directory.display()
        ));
    }
    thread::spawn(|| {
        thread::sleep(FAREWELL);
        process::exit(i32::from(exit::DRAINED));
    });
}
