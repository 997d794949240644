//! A search with a checkpoint, killed at any time by any signal, is resumed to the same bytes.
//!
//! `FAULTS=200` sets the number of killed runs (a few by default), and `FAULT_SEED` chooses other
//! moments.

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::not_tested;
use crate::family::mutated;
use crate::volumes::{FOUR, protein, write};
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const STRATEGIES: [&str; 3] = ["merge", "individual", "collective"];
/// Number of killed runs in an ordinary test, over all strategies.
const KILLS: usize = 6;
/// Number of killed runs after which a job is resumed to its end.
const KILLS_PER_JOB: usize = 4;
/// Size in bytes of a checkpoint that has results to resume from.
const SOME_RECORDS: u64 = 6_000;
/// Number of queries: they give some megabytes of records, and take long enough to be interrupted.
const QUERIES: usize = 800;
/// Exit code of a search that ended early in order.
const DRAINED: i32 = 75;
/// Exit code of a search whose output cannot be written.
const OUTPUT: i32 = 6;

/// The database, the queries, and the report of a search without ranks.
struct Inputs {
    dir: TempDir,
    report: Vec<u8>,
    /// Time that a job with ranks takes.
    duration: Duration,
}

/// A job in a separate directory.
struct Job<'a> {
    inputs: &'a Inputs,
    dir: TempDir,
    checkpoint: PathBuf,
}

fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(Inputs::new)
}

impl Inputs {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut random = Rng::with_seed(77);
        let parents: Vec<_> = (0..6).map(|_| protein(&mut random, 160)).collect();
        let mut related = |share: u64| {
            let parent = &parents[random.usize(..6)];
            mutated(&mut random, parent, share)
        };
        let entries: Vec<_> = (0..10).map(|i| (format!("s{i} of a family"), related(40))).collect();
        let mut queries = String::new();
        for number in 0..QUERIES {
            let share = if number % 8 == 0 { 30 } else { 100 };
            let letters = related(share);
            queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&letters));
        }
        write(dir.path(), "db", &FOUR, &entries);
        fs::write(dir.path().join("q.fa"), queries).expect("queries");
        let mut inputs = Inputs { dir, report: Vec::new(), duration: Duration::ZERO };
        let output = inputs.command(&[]).stdout(Stdio::piped()).output().expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        inputs.report = output.stdout;
        assert!(inputs.report.len() > 150_000, "{} bytes", inputs.report.len());
        let start = Instant::now();
        let job = Job::new(&inputs);
        job.finish("merge", &["-ranks", "4"]);
        let duration = start.elapsed();
        drop(job);
        inputs.duration = duration;
        inputs
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command
            .args(["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1"])
            // Composition-based statistics would take most of the time.
            .args(["-comp_based_stats", "0"])
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("BLASTDB")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    }
}

impl<'a> Job<'a> {
    fn new(inputs: &'a Inputs) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let checkpoint = dir.path().join("kept");
        Job { inputs, dir, checkpoint }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("report")
    }

    fn command(&self, strategy: &str, arguments: &[&str]) -> Command {
        let mut command = self.inputs.command(&["-output", strategy, "-resume"]);
        command.arg("-checkpoint").arg(&self.checkpoint).arg("-out").arg(self.out());
        command.args(arguments);
        command
    }

    fn start(&self, strategy: &str) -> Child {
        // All ranks search a part of each block, and keep its results.
        let shape = ["-ranks", "4", "-replicas", "1", "-partitions", "4"];
        self.command(strategy, &shape).spawn().expect("the program runs")
    }

    /// Kills a run by SIGKILL after this time; returns false if the run has ended before.
    fn kill_after(&self, strategy: &str, time: Duration) -> bool {
        let mut child = self.start(strategy);
        thread::sleep(time);
        child.kill().expect("it is a child");
        let (status, message) = wait_for_end(child);
        assert!(status.signal() == Some(9) || status.success(), "{status}: {message}");
        status.signal().is_some()
    }

    /// Kills a run as soon as some blocks are in the checkpoint.
    fn kill_amid(&self, strategy: &str) {
        self.kill_once_kept(strategy, SOME_RECORDS);
    }

    /// Kills a run as soon as the checkpoint has this number of bytes.
    fn kill_once_kept(&self, strategy: &str, bytes: u64) {
        let mut child = self.start(strategy);
        self.await_records(&mut child, bytes);
        child.kill().expect("it is a child");
        let (status, message) = wait_for_end(child);
        assert_eq!(status.signal(), Some(9), "{status}: {message}");
        assert!(!self.out().exists(), "an unfinished report has the name of a finished one");
    }

    /// Waits until the checkpoint has this number of bytes while the run goes on.
    fn await_records(&self, child: &mut Child, bytes: u64) {
        let start = Instant::now();
        while self.spools().iter().map(|path| size(path)).sum::<u64>() < bytes {
            assert!(child.try_wait().expect("a child").is_none(), "it ended before");
            assert!(start.elapsed() < Duration::from_secs(120), "nothing is kept");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs the job to its end, and checks the report; returns the messages.
    fn finish(&self, strategy: &str, arguments: &[&str]) -> String {
        let child = self.command(strategy, arguments).spawn().expect("the program runs");
        let (status, message) = wait_for_end(child);
        assert!(status.success(), "{strategy} {arguments:?}: {status}: {message}");
        let report = fs::read(self.out()).expect("the report");
        assert!(report == self.inputs.report, "{strategy} {arguments:?}: other bytes");
        let left: Vec<_> = fs::read_dir(self.dir.path()).expect("the directory").collect();
        assert_eq!(left.len(), 1, "{strategy} {arguments:?}: {left:?}");
        message
    }

    /// Checks that a run ends with this exit code and a message with these words.
    fn assert_refused(&self, arguments: &[&str], code: i32, words: &[&str]) {
        let child = self.command("merge", arguments).spawn().expect("the program runs");
        let (status, message) = wait_for_end(child);
        assert_eq!(status.code(), Some(code), "{arguments:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{arguments:?}: no '{word}' in: {message}");
        }
    }

    /// Returns the spool files of all runs; those of the last run come last.
    fn spools(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut directories = vec![self.checkpoint.clone()];
        while let Some(directory) = directories.pop() {
            // The directory may not exist yet, or not any more.
            let Ok(entries) = fs::read_dir(directory) else { continue };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|extension| extension == "zst") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn largest_spool(&self) -> PathBuf {
        self.spools().into_iter().max_by_key(|path| size(path)).expect("something is kept")
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

fn wait_for_end(child: Child) -> (ExitStatus, String) {
    let output = child.wait_with_output().expect("a child");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!message.contains("panicked"), "{message}");
    (output.status, message)
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process");
    kill_process(pid, signal).expect("it is a child");
}

/// Returns false for a signal that the caller of the tests made them ignore. Shells do so with
/// SIGINT for background jobs, and children inherit it.
fn is_heeded(signal: &Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a file of Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("signals");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a number");
    ignored >> (signal.as_raw() - 1) & 1 == 0
}

fn number_from_environment(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn killed_at_random_times() {
    let (wanted, seed) =
        (number_from_environment("FAULTS", KILLS), number_from_environment("FAULT_SEED", 1));
    println!("FAULT_SEED={seed}");
    let mut random = Rng::with_seed(seed as u64);
    let inputs = inputs();
    let millis = inputs.duration.as_millis() as u64;
    let (mut kills, mut jobs) = (0, 0);
    while kills < wanted {
        let strategy = STRATEGIES[jobs % STRATEGIES.len()];
        let job = Job::new(inputs);
        let mut killed = 0;
        while killed < KILLS_PER_JOB && kills + killed < wanted {
            // A resumed run takes less time.
            let share = millis / (1 + killed as u64 / 2);
            if !job.kill_after(strategy, Duration::from_millis(random.u64(..share.max(2)))) {
                break;
            }
            killed += 1;
        }
        kills += killed;
        jobs += 1;
        let ranks = random.u8(1..=5).to_string();
        job.finish(STRATEGIES[random.usize(..3)], &["-ranks", &ranks]);
        assert!(jobs <= 4 * wanted, "runs are through before they are killed");
    }
    println!("{kills} kills in {jobs} jobs");
}

#[test]
fn finished_blocks_are_not_searched_again() {
    let job = Job::new(inputs());
    // SIGTERM, unlike SIGKILL, lets the program complete records that it is writing. With `merge` a
    // record is a whole block; with the other strategies the first records are shares of blocks.
    let mut child = job.start("merge");
    job.await_records(&mut child, SOME_RECORDS);
    send(&child, Signal::TERM);
    assert_eq!(wait_for_end(child).0.code(), Some(DRAINED));
    let message = job.finish("merge", &["-ranks", "4"]);
    let count = message.split(": ").nth(1).and_then(|rest| rest.split(' ').next());
    let count: usize = count.and_then(|count| count.parse().ok()).expect(&message);
    assert!(count > 0 && message.contains("blocks of queries are finished"), "{message}");
}

#[test]
fn a_torn_tail_is_redone() {
    let job = Job::new(inputs());
    job.kill_amid("merge");
    let path = job.largest_spool();
    let file = fs::File::options().write(true).open(&path).expect("a spool");
    file.set_len(size(&path) - 7).expect("shorter");
    job.finish("merge", &["-ranks", "3"]);
}

#[test]
fn a_damaged_record_is_found_and_redone() {
    let job = Job::new(inputs());
    // Damage at the end of a file counts as torn, so more records must follow.
    job.kill_once_kept("individual", 100_000);
    let path = job.largest_spool();
    let mut bytes = fs::read(&path).expect("a spool");
    bytes[150] ^= 4;
    fs::write(&path, bytes).expect("a spool");
    let message = job.finish("individual", &["-ranks", "4"]);
    assert!(message.contains("damaged"), "{message}");
    assert!(message.contains(path.file_name().and_then(|name| name.to_str()).expect("a name")));
}

#[test]
fn a_signal_ends_it_in_order() {
    let signals: Vec<Signal> =
        [Signal::TERM, Signal::INT, Signal::USR1].into_iter().filter(is_heeded).collect();
    assert!(!signals.is_empty(), "whoever started this test has it ignore all signals");
    for (strategy, signal) in STRATEGIES.into_iter().zip(signals.into_iter().cycle()) {
        let job = Job::new(inputs());
        let mut child = job.start(strategy);
        job.await_records(&mut child, SOME_RECORDS);
        let start = Instant::now();
        send(&child, signal);
        let (status, message) = wait_for_end(child);
        assert_eq!(status.code(), Some(DRAINED), "{message}");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert!(message.contains("-resume") && message.contains("kept"), "{message}");
        let names: Vec<_> = fs::read_dir(job.dir.path()).expect("the directory").collect();
        assert_eq!(names.len(), 1, "only the checkpoint is left: {names:?}");
        job.finish(strategy, &["-ranks", "2"]);
    }
}

#[test]
fn without_ranks_and_to_standard_output() {
    let inputs = inputs();
    let job = Job::new(inputs);
    job.kill_amid("merge");
    let mut command = inputs.command(&["-resume", "-checkpoint"]);
    let output = command.arg(&job.checkpoint).stdout(Stdio::piped()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == inputs.report);
    assert!(!job.checkpoint.exists());
}

#[test]
fn another_job_is_refused() {
    let job = Job::new(inputs());
    job.kill_amid("merge");
    job.assert_refused(&["-evalue", "1"], 1, &["another job", "-evalue"]);
    job.assert_refused(&["-outfmt", "6"], 1, &["another job", "-outfmt"]);
    let other = job.dir.path().join("other.fa");
    fs::write(&other, ">q\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n").expect("queries");
    // The program would refuse a second option with the same name, so this is a separate command.
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command
        .args(["blastp", "-db", "db", "-comp_based_stats", "0", "-resume", "-query"])
        .arg(&other);
    command.arg("-checkpoint").arg(&job.checkpoint).arg("-out").arg(job.out());
    let output = command.current_dir(job.inputs.dir.path()).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("another job") && message.contains("the query"), "{message}");
    // Without -resume the checkpoint is not touched.
    let mut command = job.inputs.command(&["-checkpoint"]);
    let output = command.arg(&job.checkpoint).arg("-out").arg(job.out()).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("resume it"), "{message}");
    fs::remove_file(&other).expect("queries");
    job.finish("merge", &["-ranks", "4"]);
}

#[test]
fn queries_must_be_there_again() {
    let job = Job::new(inputs());
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(["blastp", "-db", "db", "-checkpoint"]).arg(&job.checkpoint);
    let queries = fs::File::open(job.inputs.dir.path().join("q.fa")).expect("queries");
    let output =
        command.current_dir(job.inputs.dir.path()).stdin(queries).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("regular file for -query"), "{message}");
    assert!(!job.checkpoint.exists());
}

/// This test has to mount a file system.
#[test]
fn a_full_disk_loses_nothing() {
    let job = Job::new(inputs());
    let small = job.dir.path().join("small");
    fs::create_dir(&small).expect("a directory");
    let mount = |options: &str| {
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&small).output()
    };
    if !mount("size=40k").is_ok_and(|output| output.status.success()) {
        not_tested("a full disk, as no file system can be mounted here");
        return;
    }
    let _mounted = Mounted(&small);
    let job = Job { checkpoint: small.join("kept"), ..job };
    job.assert_refused(&["-ranks", "4"], OUTPUT, &["No space left", "writer-", "(rank ", "resume"]);
    assert!(mount("remount,size=50m").is_ok_and(|output| output.status.success()));
    let child = job.start("merge");
    let (status, message) = wait_for_end(child);
    assert!(status.success() && message.contains("finished already"), "{message}");
    assert!(fs::read(job.out()).expect("the report") == job.inputs.report);
}

/// A mounted file system, which is unmounted when this is dropped.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status();
        assert!(thread::panicking() || unmounted.is_ok_and(|status| status.success()));
    }
}
