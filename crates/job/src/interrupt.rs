//! Handles signals that end a run. Jobs and other commands remove their unfinished files first.
//! Jobs with a checkpoint end with an exit code of their own.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use fleetblast_mpi::is_first_process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::{self, emulate_default_handler};

use crate::cleanup::{CleanupGuard, register_cleanup};
use crate::error::{Error, exit};

/// Signals by which users and batch systems end a program.
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
/// Signals that end a program which does not expect them. Batch systems send some as a warning.
const UNEXPECTED: [i32; 3] = [SIGQUIT, SIGUSR1, SIGUSR2];

/// Returns the signals that end a run. It omits those that the process was started to ignore, as
/// with `nohup`.
pub fn ending_signals() -> impl Iterator<Item = i32> {
    without_ignored(ENDING)
}

fn without_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    let ignored = fs::read_to_string("/proc/self/status").map_or(0, |text| ignored_signals(&text));
    signals.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// Catches the signal for the largest allowed file size (`ulimit -f`), which would end the process.
/// A write beyond that size then returns an error.
///
/// # Errors
/// The system refuses to install the handler.
pub fn catch_size_limit() -> io::Result<()> {
    // SAFETY: the action does nothing, which a signal handler may do.
    unsafe { low_level::register(SIGXFSZ, || {}) }?;
    Ok(())
}

/// Restores the default action of the signals that a [`SignalWatch`] catches, so that they end the
/// process at once. It is for a run that has done its work and only waits. Dropping the watch
/// instead would leave the signals without effect.
///
/// # Errors
/// The system refuses to change an action.
pub fn restore_default_signals() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    for signal in ending_signals().chain(without_ignored(UNEXPECTED)) {
        flag::register_conditional_default(signal, Arc::clone(&always))?;
    }
    Ok(())
}

/// Signals that drain a job with a checkpoint: those that end a program, and SIGUSR1. Launchers of
/// MPI pass SIGUSR1 on to all ranks without ending them soon after.
///
/// The job catches the signals from its start. Until [`receive`](Self::receive) is called, a signal
/// ends the process at once, with the exit code of a drained job. In that time the job opens files,
/// waits for queries and starts ranks, so it has no work to finish. A checkpoint survives an end at
/// any moment.
pub struct DrainSignals {
    signals: Signals,
    early: Arc<EarlySignalHandler>,
}

/// Handler of signals before the job can be drained: a signal ends the process.
pub struct EarlySignalHandler {
    /// Effect of a signal: one of [`ENDS`], [`WAITS`], [`DRAINS`], [`HAS_ENDED`].
    action: AtomicU8,
    /// Whether a signal has arrived.
    has_come: AtomicBool,
    /// The file to remove before the process ends.
    unfinished: OnceLock<CString>,
    /// The message to print; empty where another rank prints it.
    message: &'static str,
}

/// Effect of a signal: it ends the process.
const ENDS: u8 = 0;
/// Effect of a signal: it ends the process later, when the file that is being created exists and
/// its path is known.
const WAITS: u8 = 1;
/// Effect of a signal: it drains the job.
const DRAINS: u8 = 2;
/// Effect of a signal: none, because a thread is already ending the process.
const HAS_ENDED: u8 = 3;

impl DrainSignals {
    /// Catches the signals if the job has a checkpoint. Otherwise returns `None`, and the signals
    /// end the job as usual.
    ///
    /// # Errors
    /// The system cannot install a handler.
    pub fn catch_for(has_checkpoint: bool) -> Result<Option<Self>, Error> {
        let caught = has_checkpoint.then(Self::try_catch).transpose();
        caught.map_err(|error| Error::refused("cannot wait for signals", &error))
    }

    fn try_catch() -> io::Result<Self> {
        let message = if is_first_process() { ENDED_BEFORE_SEARCH } else { "" };
        let early = Arc::new(EarlySignalHandler {
            action: AtomicU8::new(ENDS),
            has_come: AtomicBool::new(false),
            unfinished: OnceLock::new(),
            message,
        });
        let draining = || ending_signals().chain([SIGUSR1]);
        for signal in draining() {
            let early = Arc::clone(&early);
            // SAFETY: the action uses atomic values and calls the kernel, which a signal handler
            // may do.
            unsafe { low_level::register(signal, move || early.end_if_due()) }?;
        }
        let signals = Signals::new(draining())?;
        Ok(DrainSignals { signals, early })
    }

    /// Returns the handler of signals that applies until [`receive`](Self::receive) is called.
    pub fn early_end(&self) -> Arc<EarlySignalHandler> {
        Arc::clone(&self.early)
    }

    /// Returns the source of signals. It includes signals that arrived just before this call. From
    /// now on the signals have no other effect.
    pub fn receive(self) -> Signals {
        self.early.leave_end(DRAINS);
        self.signals
    }
}

impl EarlySignalHandler {
    /// Creates a file with `make`. If a signal ends the process before
    /// [`receive`](DrainSignals::receive) is called, the file is removed. A signal during the
    /// creation ends the process after it, when the path of the file is known.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn create_watched_file<T, E>(
        &self,
        make: impl FnOnce() -> Result<(T, PathBuf), E>,
    ) -> Result<(T, PathBuf), E> {
        self.leave_end(WAITS);
        let made = make();
        if let Ok((_, path)) = &made
            && let Ok(path) = CString::new(path.as_os_str().as_bytes())
        {
            // Each handler watches over one file only.
            let _ = self.unfinished.set(path);
        }
        // Either the handler reads this value, or the next line reads what the handler has stored.
        self.action.store(ENDS, Ordering::SeqCst);
        if self.has_come.load(Ordering::SeqCst) {
            self.end_if_due();
        }
        made
    }

    /// Changes the effect of signals from [`ENDS`] to `action`. Does not return if another thread
    /// is ending the process: a file that is created now would be left behind.
    fn leave_end(&self, action: u8) {
        let left = self.action.compare_exchange(ENDS, action, Ordering::SeqCst, Ordering::SeqCst);
        while left == Err(HAS_ENDED) {
            thread::park();
        }
    }

    /// Records that a signal has come, and ends the process if the effect is [`ENDS`]. Signal
    /// handlers call it.
    fn end_if_due(&self) {
        self.has_come.store(true, Ordering::SeqCst);
        let due = self.action.compare_exchange(ENDS, HAS_ENDED, Ordering::SeqCst, Ordering::SeqCst);
        if due.is_err() {
            return;
        }
        if let Some(path) = self.unfinished.get() {
            // SAFETY: the path ends with a zero byte.
            unsafe { libc::unlink(path.as_ptr()) };
        }
        let message = self.message.as_bytes();
        // SAFETY: the bytes are valid for their length.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
        low_level::exit(i32::from(exit::DRAINED));
    }
}

/// Message of a job that a signal ends before it can be drained.
const ENDED_BEFORE_SEARCH: &str =
    "ended early by a signal, before it searched: start the same command again, with -resume\n";

/// The unfinished file of each [`SignalWatch`]. A signal ends the process only after all of these
/// files are removed, whichever watch receives it first.
static WATCHED_FILES: Mutex<Vec<Weak<Mutex<Option<PathBuf>>>>> = Mutex::new(Vec::new());

/// Unfinished files that belong to no [`SignalWatch`]. A signal removes them, too.
static UNFINISHED_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Locks the list of unfinished files that belong to no [`SignalWatch`]. No watched signal ends the
/// process while the lock is held.
pub fn unfinished_files() -> MutexGuard<'static, Vec<PathBuf>> {
    lock(&UNFINISHED_FILES)
}

/// Thread that waits for signals. It removes an unfinished file or directory before a signal ends
/// the process.
pub struct SignalWatch {
    unfinished: Arc<Mutex<Option<PathBuf>>>,
    signals: Handle,
    thread: Option<JoinHandle<()>>,
    /// Removes the unfinished files if the process ends early without a signal, as for lack of
    /// memory.
    _last: CleanupGuard,
}

impl SignalWatch {
    /// Starts to watch for signals. A signal still ends the process as by default, so that a shell
    /// shows 130 for SIGINT and 143 for SIGTERM.
    ///
    /// # Errors
    /// A thread that the system does not start.
    pub fn start() -> Result<SignalWatch, Error> {
        Self::try_start().map_err(|error| Error::refused("cannot wait for signals", &error))
    }

    fn try_start() -> io::Result<SignalWatch> {
        let mut signals = Signals::new(ending_signals().chain(without_ignored(UNEXPECTED)))?;
        let unfinished = Arc::new(Mutex::new(None));
        let mut watched = lock(&WATCHED_FILES);
        watched.retain(|file| file.strong_count() > 0);
        watched.push(Arc::downgrade(&unfinished));
        drop(watched);
        let last = register_removal(&unfinished);
        let handle = signals.handle();
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            signals.forever().for_each(end_by);
        })?;
        Ok(SignalWatch { unfinished, signals: handle, thread: Some(thread), _last: last })
    }

    /// Locks the path of the file or directory that a signal removes; `None` if there is none. No
    /// signal ends the process while the lock is held.
    pub fn lock_unfinished(&self) -> MutexGuard<'_, Option<PathBuf>> {
        lock(&self.unfinished)
    }
}

impl Drop for SignalWatch {
    /// Ends the thread. The signals have no effect after that: the run is about to end.
    fn drop(&mut self) {
        self.signals.close();
        if let Some(thread) = self.thread.take() {
            // Nobody needs the result, not even a panic.
            let _ = thread.join();
        }
    }
}

/// Removes all unfinished files and ends the process by the signal. The locks stay held: no
/// unfinished file gets its final name from here on, and no other watch ends the process earlier.
fn end_by(signal: i32) {
    let watched = lock(&WATCHED_FILES);
    let files: Vec<_> = watched.iter().filter_map(Weak::upgrade).collect();
    let watched: Vec<_> = files.iter().map(|file| lock(file)).collect();
    watched.iter().filter_map(|path| path.as_deref()).for_each(remove);
    let files = unfinished_files();
    files.iter().for_each(|path| remove(path));
    let _ = emulate_default_handler(signal);
}

/// Registers a cleanup that removes the unfinished files if the process ends early, as for lack of
/// memory.
fn register_removal(unfinished: &Arc<Mutex<Option<PathBuf>>>) -> CleanupGuard {
    let unfinished = Arc::downgrade(unfinished);
    register_cleanup(move || {
        let Some(unfinished) = unfinished.upgrade() else { return };
        // A thread that holds this lock allocates only for paths of hundreds of bytes. If memory
        // runs out there, the file stays until the next run removes it.
        if let Ok(path) = unfinished.try_lock()
            && let Some(path) = &*path
        {
            remove(path);
        }
        if let Ok(files) = UNFINISHED_FILES.try_lock() {
            files.iter().for_each(|path| remove(path));
        }
    })
}

fn remove(path: &Path) {
    // Best effort: nobody can be informed any more.
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

/// Locks a mutex. It ignores poisoning: no thread panics while it holds the lock, and a path is
/// valid in any case.
fn lock<T>(paths: &Mutex<T>) -> MutexGuard<'_, T> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the ignored signals as bits, from the text of `/proc/self/status`. Bit 0 is signal 1.
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    /// Environment variable with the path of the file, for the child process that a signal ends.
    const FILE: &str = "INTERRUPT_FILE";

    #[test]
    fn a_signal_while_a_file_is_made_leaves_none() {
        let Some(path) = env::var_os(FILE).map(PathBuf::from) else {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("part");
            let mut again = Command::new(env::current_exe().unwrap());
            let name = "interrupt::tests::a_signal_while_a_file_is_made_leaves_none";
            let ended = again.args(["--exact", name]).env(FILE, &path).output().unwrap();
            let status = ended.status;
            assert_eq!((status.code(), status.signal()), (Some(exit::DRAINED.into()), None));
            assert!(!path.exists());
            return;
        };
        let signals = DrainSignals::catch_for(true).unwrap().unwrap();
        let make = || {
            fs::write(&path, "unfinished")?;
            low_level::raise(SIGTERM)?;
            Ok::<_, io::Error>(((), path.clone()))
        };
        signals.early_end().create_watched_file(make).unwrap();
        unreachable!("the signal has ended it");
    }

    #[test]
    fn a_signal_ends_the_process_after_all_watches_have_removed_their_files() {
        let Some(path) = env::var_os(FILE).map(PathBuf::from) else {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("part");
            let mut again = Command::new(env::current_exe().unwrap());
            let name = "interrupt::tests::\
                        a_signal_ends_the_process_after_all_watches_have_removed_their_files";
            let ended = again.args(["--exact", name]).env(FILE, &path).output().unwrap();
            let output = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.signal(), Some(SIGTERM), "{output}");
            assert!(!path.exists());
            return;
        };
        let (slow, _fast) = (SignalWatch::start().unwrap(), SignalWatch::start().unwrap());
        let mut unfinished = slow.lock_unfinished();
        fs::write(&path, "unfinished").unwrap();
        low_level::raise(SIGTERM).unwrap();
        // The other watch has received the signal long before this file can be removed.
        thread::sleep(Duration::from_millis(300));
        *unfinished = Some(path);
        drop(unfinished);
        thread::sleep(Duration::from_secs(60));
        unreachable!("the signal has ended it");
    }

    #[test]
    fn ignored_signals_are_bits() {
        let bits =
            ignored_signals("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0\n");
        assert_eq!(bits, 1 << (SIGHUP - 1) | 1 << 12);
        assert_eq!((ignored_signals(""), ignored_signals("SigIgn:\tx\n")), (0, 0));
    }
}
