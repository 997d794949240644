//! Signals in the first moments of a job with a checkpoint. They end the job with an exit code of
//! its own. At most the checkpoint is left, from which the job is resumed.
//!
//! With `FLEETBLAST_SAMPLE=all` the tests try all moments, otherwise a third of them.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use fleetblast_oracle::{sample, seed};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::common::complaint;
use crate::family::{family, queries};
#[cfg(feature = "mpi")]
use crate::patience::wait_for_value;
#[cfg(feature = "mpi")]
use crate::patience::wait_until;
use crate::volumes::{FOUR, write};
use fastrand::Rng;

/// Exit code of a job that ended early in order.
const DRAINED: i32 = 75;
/// Number of moments for a job in one process. A job of several processes has a third of them.
const MOMENTS: usize = 30;
/// An ordinary test run tries one of every `SHARE` moments.
const SHARE: usize = 3;
/// The last moment at which a signal is sent, in milliseconds after the start of the job.
const LATEST: u64 = 200;
const SIGNALS: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::USR1];

/// A directory with a database, queries and a named pipe to which nobody writes, and the right
/// report.
struct Inputs {
    directory: TempDir,
    report: Vec<u8>,
}

impl Inputs {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        write(directory.path(), "db", &FOUR, &family(1, 300));
        fs::write(directory.path().join("q.fa"), queries(2, 40).concat()).expect("queries");
        let made = Command::new("mkfifo").arg(directory.path().join("pipe")).status();
        assert!(made.expect("mkfifo").success());
        let mut inputs = Inputs { directory, report: Vec::new() };
        let search = inputs.prepare(program(), &["-query", "q.fa"]).output().expect("a report");
        assert!(search.status.success(), "{}", complaint(&search));
        inputs.report = search.stdout;
        inputs
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn prepare(&self, mut command: Command, words: &[&str]) -> Command {
        let search = ["blastp", "-db", "db", "-num_threads", "1", "-outfmt", "6"];
        command.args(search).args(words).current_dir(self.path()).env_remove("BLASTDB");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn job(&self, command: Command, query: &[&str], ranks: &[&str]) -> Command {
        let kept = ["-checkpoint", "kept", "-resume", "-out", "report"];
        self.prepare(command, &[query, ranks, &kept].concat())
    }

    /// Checks that a job that ended early has left no files but its checkpoint.
    fn assert_clean(&self, tried: &str) {
        let usual = ["db.pin", "db.phr", "db.psq", "q.fa", "pipe", "kept"];
        let names = fs::read_dir(self.path()).expect("a directory");
        let names =
            names.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned());
        let left: Vec<_> = names.filter(|name| !usual.contains(&&**name)).collect();
        assert!(left.is_empty(), "{left:?} is left, {tried}");
    }

    fn remove(&self) {
        let _ = fs::remove_dir_all(self.path().join("kept"));
        let _ = fs::remove_file(self.path().join("report"));
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fleetblast"))
}

/// Returns the signals that the line `kind` of `/proc/PID/status` lists, one for each bit.
fn signals(process: u32, kind: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(kind));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Returns whether a process has a handler for a signal.
fn catches(process: u32, signal: Signal) -> bool {
    signals(process, "SigCgt:") >> (signal.as_raw() - 1) & 1 == 1
}

/// Returns the signals that the caller of the tests does not ignore.
fn heeded_signals() -> Vec<Signal> {
    let ignored = signals(std::process::id(), "SigIgn:");
    let is_heeded = |signal: &Signal| ignored >> (signal.as_raw() - 1) & 1 == 0;
    SIGNALS.into_iter().filter(is_heeded).collect()
}

fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.cast_signed()).expect("a process");
    // The process may have ended already.
    let _ = kill_process(process, signal);
}

/// Waits for the end of a job, whose standard input is closed.
fn wait_for_end(child: Child) -> Output {
    child.wait_with_output().expect("an end")
}

#[test]
fn at_random_moments() {
    let (inputs, seed) = (Inputs::new(), seed());
    let signals = heeded_signals();
    assert!(!signals.is_empty(), "whoever started this test has it ignore all signals");
    for number in sample(SHARE, 0..MOMENTS) {
        let mut random = Rng::with_seed(1 + seed * 1_000_003 + number as u64);
        let signal = signals[random.usize(..signals.len())];
        let moment = Duration::from_micros(random.u64(..LATEST * 1000));
        let ranks = random.u8(1..=3).to_string();
        let job = || inputs.job(program(), &["-query", "q.fa"], &["-ranks", &ranks]);
        let child = job().spawn().expect("a start");
        sleep(moment);
        let is_caught = catches(child.id(), signal);
        send(child.id(), signal);
        let output = wait_for_end(child);
        let message = complaint(&output);
        let tried = format!("moment {number}: {signal:?} after {moment:?}: {message}");
        match output.status.code() {
            Some(0) => {}
            Some(DRAINED) => {
                assert!(message.contains("-resume"), "{tried}");
                inputs.assert_clean(&tried);
            }
            // The signal came before the program had started.
            None if !is_caught && output.status.signal() == Some(signal.as_raw()) => {}
            _ => panic!("{:?}, {tried}", output.status),
        }
        let resumed = job().output().expect("an end");
        assert!(resumed.status.success(), "{tried}, resumed: {}", complaint(&resumed));
        let report = fs::read(inputs.path().join("report")).expect("a report");
        assert!(report == inputs.report, "another report, {tried}");
        inputs.remove();
    }
}

#[test]
fn queries_that_cannot_be_read_again_are_refused_at_once() {
    let inputs = Inputs::new();
    for query in [&["-query", "pipe"][..], &[]] {
        let mut child = inputs.job(program(), query, &["-ranks", "2"]).spawn().expect("a start");
        // The program reads nothing, although its standard input is still open.
        let writer = child.stdin.take();
        let output = wait_for_end(child);
        drop(writer);
        let message = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{query:?}: {message}");
        assert!(message.contains("needs a regular file for -query"), "{message}");
    }
}

#[cfg(feature = "mpi")]
#[test]
fn on_processes() {
    use crate::launched::launched;
    let (inputs, seed) = (Inputs::new(), seed());
    let launcher = || launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 2);
    let signals: Vec<_> =
        heeded_signals().into_iter().filter(|signal| *signal != Signal::INT).collect();
    for number in sample(SHARE, 0..MOMENTS / 3) {
        let mut random = Rng::with_seed(1 + seed * 1_000_003 + 500 + number as u64);
        let signal = signals[random.usize(..signals.len())];
        let moment = Duration::from_micros(random.u64(..LATEST * 1000));
        let mut child = inputs.job(launcher(), &["-query", "q.fa"], &[]).spawn().expect("a start");
        let writer = child.stdin.take();
        let rank = wait_for_value("a rank", || {
            let ranks = ranks(child.id());
            ranks.get(number % 2).copied().filter(|_| ranks.len() == 2)
        });
        wait_until("signals are caught", || catches(rank, signal));
        sleep(moment);
        send(rank, signal);
        let launcher_hangs = hangs_without_ranks(&mut child);
        if launcher_hangs {
            child.kill().expect("a launcher");
        }
        let output = wait_for_end(child);
        drop(writer);
        let message = complaint(&output);
        let tried = format!("moment {number}: {signal:?} after {moment:?}: {message}");
        let code = output.status.code();
        let in_order = code == Some(DRAINED) || code == Some(0);
        assert!(in_order || launcher_hangs, "{code:?}, {tried}");
        let job = inputs.job(launcher(), &["-query", "q.fa"], &[]).output().expect("an end");
        assert!(job.status.success(), "{tried}, resumed: {}", complaint(&job));
        let report = fs::read(inputs.path().join("report")).expect("a report");
        assert!(report == inputs.report, "another report, {tried}");
        inputs.remove();
    }
}

/// Waits until a launcher ends. Returns true if it hangs although all ranks have ended long ago.
/// Open MPI 4.1 may wait for a lock of its own (in `PMIx_server_finalize`) when a rank ends early.
#[cfg(feature = "mpi")]
fn hangs_without_ranks(launcher: &mut Child) -> bool {
    let mut lonely = 0;
    wait_until("the launcher ends", || {
        sleep(Duration::from_millis(10));
        lonely =
            if ranks(launcher.id()).iter().all(|rank| is_over(*rank)) { lonely + 1 } else { 0 };
        launcher.try_wait().expect("a launcher").is_some() || lonely > 2000
    });
    lonely > 2000
}

/// Returns whether a process has ended, even if its parent has not noticed yet.
#[cfg(feature = "mpi")]
fn is_over(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    !status.contains("State:") || status.contains("State:\tZ")
}

/// Returns the processes of the program under test that a launcher started.
#[cfg(feature = "mpi")]
fn ranks(launcher: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
    let numbers = children.unwrap_or_default();
    let numbers = numbers.split_whitespace().filter_map(|number| number.parse().ok());
    let is_rank = |process: &u32| {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        name.trim() == "fleetblast"
    };
    numbers.filter(is_rank).collect()
}
