//! Signals that end a run: what is unfinished is removed first. What that is only those know who write it: jobs, and other
//! commands that make files. Jobs with a checkpoint have an exit code of their own for it.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use fleetblast_mpi::speaks_for_all;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::{self, emulate_default_handler};

use crate::error::{Error, exit};
use crate::last_works::{LastWork, before_the_end};

/// Signals by which users and batch systems end a program.
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
/// Signals that end a program which does not expect them. Batch systems send some as a warning.
const UNEXPECTED: [i32; 3] = [SIGQUIT, SIGUSR1, SIGUSR2];

/// The signals that end a run, without those that the caller had the process ignore, as `nohup` does: these stay ignored.
pub fn ending() -> impl Iterator<Item = i32> {
    without_ignored(ENDING)
}

fn without_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    let ignored = fs::read_to_string("/proc/self/status").map_or(0, |text| ignored(&text));
    signals.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// Makes a file that reaches the largest size allowed (`ulimit -f`) an error of writing, in the
/// whole process, where it would be a signal that ends it.
///
/// # Errors
/// The system refuses.
pub fn catch_size_limit() -> io::Result<()> {
    // SAFETY: the action does nothing, which a signal handler may do.
    unsafe { low_level::register(SIGXFSZ, || {}) }?;
    Ok(())
}

/// Restores the default action of the signals that a [`Watch`] catches, which is to end the process:
/// for a run that has done its work and only waits. Dropping the watch leaves them without effect.
///
/// # Errors
/// The system refuses.
pub fn restore_default_signals() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    for signal in ending().chain(without_ignored(UNEXPECTED)) {
        flag::register_conditional_default(signal, Arc::clone(&always))?;
    }
    Ok(())
}

/// Signals that drain a job with a checkpoint: those that end a program, and SIGUSR1, which the
/// launchers of MPI pass on to all ranks without ending them soon after.
///
/// They are caught from the first moment of the job on. Until [`receive`](Self::receive) is called
/// they end the process at once, with the exit code of a drained job: while files are opened,
/// queries awaited and other ranks started there is nothing to finish, and a checkpoint survives an
/// end at any moment.
pub struct DrainSignals {
    signals: Signals,
    early: Arc<EarlyEnd>,
}

/// What a signal does before the job can be drained.
pub struct EarlyEnd {
    /// A signal ends the job: it cannot be drained yet, and no file is being made.
    is_due: AtomicBool,
    /// A signal has come.
    has_come: AtomicBool,
    /// The file to remove.
    unfinished: OnceLock<CString>,
    /// What is said; nothing where another rank does.
    message: &'static str,
}

impl DrainSignals {
    /// Catches the signals for a job that has a checkpoint; other jobs end by them.
    ///
    /// # Errors
    /// The system refuses.
    pub fn catch_for(has_checkpoint: bool) -> Result<Option<Self>, Error> {
        let caught = has_checkpoint.then(Self::try_catch).transpose();
        caught.map_err(|error| Error::refused("cannot wait for signals", &error))
    }

    fn try_catch() -> io::Result<Self> {
        let message = if speaks_for_all() { ENDED_EARLY } else { "" };
        let early = Arc::new(EarlyEnd {
            is_due: AtomicBool::new(true),
            has_come: AtomicBool::new(false),
            unfinished: OnceLock::new(),
            message,
        });
        let draining = || ending().chain([SIGUSR1]);
        for signal in draining() {
            let early = Arc::clone(&early);
            // SAFETY: the action reads values that do not change and calls the kernel, which a
            // signal handler may do.
            unsafe { low_level::register(signal, move || early.end_if_due()) }?;
        }
        let signals = Signals::new(draining())?;
        Ok(DrainSignals { signals, early })
    }

    /// What a signal does until somebody receives signals.
    pub fn early_end(&self) -> Arc<EarlyEnd> {
        Arc::clone(&self.early)
    }

    /// From now on signals do nothing but come out here, also those that came just before.
    pub fn receive(self) -> Signals {
        self.early.is_due.store(false, Ordering::SeqCst);
        self.signals
    }
}

impl EarlyEnd {
    /// Makes a file, which is removed if a signal ends the process before anybody receives signals.
    /// A signal that comes meanwhile ends the process afterwards, when the file's path is known.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn watch_over<T, E>(
        &self,
        make: impl FnOnce() -> Result<(T, PathBuf), E>,
    ) -> Result<(T, PathBuf), E> {
        self.is_due.store(false, Ordering::SeqCst);
        let made = make();
        if let Ok((_, path)) = &made
            && let Ok(path) = CString::new(path.as_os_str().as_bytes())
        {
            // The first one stays; there is one.
            let _ = self.unfinished.set(path);
        }
        // The handler sees this, or else what it has stored before is seen here.
        self.is_due.store(true, Ordering::SeqCst);
        if self.has_come.load(Ordering::SeqCst) {
            self.end_if_due();
        }
        made
    }

    /// Ends the process, unless the job can be drained. Runs as the action of a signal.
    fn end_if_due(&self) {
        self.has_come.store(true, Ordering::SeqCst);
        if !self.is_due.load(Ordering::SeqCst) {
            return;
        }
        if let Some(path) = self.unfinished.get() {
            // SAFETY: the path ends with a zero byte.
            unsafe { libc::unlink(path.as_ptr()) };
        }
        let message = self.message.as_bytes();
        // SAFETY: the bytes are there.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
        low_level::exit(i32::from(exit::DRAINED));
    }
}

/// What a job says that a signal ends before it can be drained.
const ENDED_EARLY: &str =
    "ended early by a signal, before it searched: start the same command again, with -resume\n";

/// Files that are not whole yet besides the one that a [`Watch`] knows. Its signals remove them,
/// too.
static UNFINISHED_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The unfinished files besides the report. As long as the lock is held, no watched signal ends the
/// process.
pub fn unfinished_files() -> MutexGuard<'static, Vec<PathBuf>> {
    lock(&UNFINISHED_FILES)
}

/// Waits for signals in a thread of its own, and knows the file or directory to remove when one comes.
pub struct Watch {
    unfinished: Arc<Mutex<Option<PathBuf>>>,
    signals: Handle,
    thread: Option<JoinHandle<()>>,
    /// The same if there is no more memory.
    _last: LastWork,
}

impl Watch {
    /// Starts to watch. The process still ends by the signal itself, so that a shell sees 130 for
    /// SIGINT and 143 for SIGTERM.
    ///
    /// # Errors
    /// The system starts no thread for it.
    pub fn start() -> Result<Watch, Error> {
        Self::try_start().map_err(|error| Error::refused("cannot wait for signals", &error))
    }

    fn try_start() -> io::Result<Watch> {
        let mut signals = Signals::new(ending().chain(without_ignored(UNEXPECTED)))?;
        let unfinished = Arc::new(Mutex::new(None));
        let shared = unfinished.clone();
        let last = remove_before_the_end(&unfinished);
        let handle = signals.handle();
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let path = lock(&shared);
                if let Some(path) = &*path {
                    remove(path);
                }
                let files = unfinished_files();
                files.iter().for_each(|path| remove(path));
                // Holding the locks: from here on nothing unfinished gets a name.
                let _ = emulate_default_handler(signal);
            }
        })?;
        Ok(Watch { unfinished, signals: handle, thread: Some(thread), _last: last })
    }

    /// The file or directory to remove. As long as the lock is held, no signal ends the process.
    pub fn unfinished(&self) -> MutexGuard<'_, Option<PathBuf>> {
        lock(&self.unfinished)
    }
}

impl Drop for Watch {
    /// Ends the thread, after which the signals have no effect: a run stops watching when it is about to end.
    fn drop(&mut self) {
        self.signals.close();
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell, not even a panic.
            let _ = thread.join();
        }
    }
}

/// Has the file removed if the process ends for want of memory.
fn remove_before_the_end(unfinished: &Arc<Mutex<Option<PathBuf>>>) -> LastWork {
    let unfinished = Arc::downgrade(unfinished);
    before_the_end(move || {
        let Some(unfinished) = unfinished.upgrade() else { return };
        // Who holds the lock asks for no memory, short of paths of hundreds of bytes: the next run removes the file then.
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
    // Best effort: nobody is there any more who could be told.
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

/// Nothing panics while it holds the lock, and a path is valid in any case.
fn lock<T>(paths: &Mutex<T>) -> MutexGuard<'_, T> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ignored signals as bits, from the text of `/proc/self/status`.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// Names the file for the process that ends by a signal.
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
        signals.early_end().watch_over(make).unwrap();
        unreachable!("the signal has ended it");
    }

    #[test]
    fn ignored_signals_are_bits() {
        let bits = ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0\n");
        assert_eq!(bits, 1 << (SIGHUP - 1) | 1 << 12);
        assert_eq!((ignored(""), ignored("SigIgn:\tx\n")), (0, 0));
    }
}
