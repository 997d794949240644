//! Ranks that are stopped in a job with I/O ranks. The job ends with the name of the silent rank,
//! or goes on as if nothing had happened if the rank soon does. Ranks that only wait for a pipe are
//! not silent, however long they wait.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::family::{family, queries};
use crate::launched::{launched, rank_of};
use crate::metadata_ranks::{BLASTP, fleetblast, must, proteins};
use crate::patience::{wait_for_value, wait_until};
use crate::volumes::{FOUR, write};

/// Time for which a rank may be silent.
const LIMIT: Duration = Duration::from_secs(20);
/// Time in which a job begins to wait, and all ranks send heartbeats. Nothing outside the job shows
/// these, so there is no event to wait for.
const SETTLED: Duration = Duration::from_secs(4);
/// Number of queries: more than a pipe and the read-ahead of the search can hold.
const QUERIES: usize = 1500;
/// Number of subjects: few, so that a job that waits for queries has not searched for long.
const SUBJECTS: usize = 6;
/// Number of queries whose report is larger than a pipe can hold.
const REPORTED: usize = 40;

/// A job of several processes that waits for a pipe.
struct WaitingJob {
    dir: tempfile::TempDir,
    ranks: u32,
    child: Child,
}

impl WaitingJob {
    /// Starts a search whose last `io_ranks` ranks make the report. It waits for more queries from
    /// `q.pipe`.
    fn for_queries(ranks: u32, io_ranks: &str) -> (Self, File) {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path(), "db", &FOUR, &family(1, SUBJECTS));
        make_pipe(&dir.path().join("q.pipe"));
        let program = [BLASTP[0], "-db", "db", "-query", "q.pipe", "-outfmt", "6"];
        let job = WaitingJob::start(dir, ranks, &program, &["-out", "r", "-io_ranks", io_ranks]);
        let pipe = File::options().write(true).open(job.dir.path().join("q.pipe"));
        let mut pipe = pipe.expect("a pipe that is read");
        // When the search has read these queries, it is under way.
        let text = queries(5, QUERIES).concat();
        fs::write(job.dir.path().join("q.fa"), &text).expect("queries");
        pipe.write_all(text.as_bytes()).expect("queries that are read");
        sleep(SETTLED);
        (job, pipe)
    }

    /// Starts a job whose report goes to a pipe that nobody reads any more.
    fn for_reader(dir: tempfile::TempDir, ranks: u32, program: &[&str]) -> (Self, File) {
        make_pipe(&dir.path().join("r.pipe"));
        let job = WaitingJob::start(dir, ranks, program, &["-out", "r.pipe"]);
        let pipe = File::open(job.dir.path().join("r.pipe"));
        let mut pipe = pipe.expect("a pipe that is written to");
        pipe.read_exact(&mut [0]).expect("the beginning of a report");
        sleep(SETTLED);
        (job, pipe)
    }

    /// Starts a job whose only searching rank opens its queries: they come from a pipe without any
    /// bytes.
    fn for_first_query(ranks: u32, io_ranks: &str) -> (Self, File) {
        let dir = proteins(5);
        make_pipe(&dir.path().join("q.pipe"));
        let program = [BLASTP[0], "-db", "db", "-query", "q.pipe", "-outfmt", "6"];
        let job = WaitingJob::start(dir, ranks, &program, &["-out", "r", "-io_ranks", io_ranks]);
        let pipe = File::options().write(true).open(job.dir.path().join("q.pipe"));
        sleep(SETTLED);
        (job, pipe.expect("a pipe that is read"))
    }

    fn start(dir: tempfile::TempDir, ranks: u32, program: &[&str], options: &[&str]) -> Self {
        let mut command = launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), ranks);
        let said = File::create(dir.path().join("said")).expect("a file");
        command.args(program).args(options).current_dir(dir.path()).env("BATCH_SIZE", "400");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let child = command.spawn().expect("a launcher");
        WaitingJob { dir, ranks, child }
    }

    fn process(&self, rank: u32) -> Pid {
        let place = wait_for_value("a rank", || rank_of(self.dir.path(), &rank.to_string()));
        Pid::from_raw(place).expect("a process")
    }

    fn signal(&self, rank: u32, signal: Signal) {
        kill_process(self.process(rank), signal).expect("a process that runs");
    }

    fn stderr_text(&self) -> String {
        fs::read_to_string(self.dir.path().join("said")).expect("what it said")
    }

    /// Asserts that the job ends well with the report of one process.
    fn ends_with_report(mut self) {
        let ended = wait_for_value("the end", || self.child.try_wait().expect("a launcher"));
        let said = self.stderr_text();
        assert!(ended.success() && !said.contains("silent"), "{said}");
        let dir = self.dir.path();
        let alone = ["-db", "db", "-query", "q.fa", "-outfmt", "6", "-out", "alone"];
        must(fleetblast(dir, &[&BLASTP[..1], &alone].concat()));
        let read = |report: &str| fs::read(dir.join(report)).expect("a report");
        assert!(read("r") == read("alone"), "{said}");
    }

    /// Stops a rank. Checks that this ends the job and all processes, and that the message names
    /// the rank.
    fn ends_when_stopped(mut self, rank: u32, who: &str) {
        self.signal(rank, Signal::STOP);
        let stopped = Instant::now();
        let ended = wait_for_value("the end", || self.child.try_wait().expect("a launcher"));
        let took = stopped.elapsed();
        let said = self.stderr_text();
        assert!(!ended.success(), "{said}");
        assert!(took > LIMIT.mul_f64(0.8) && took < LIMIT * 2, "{took:?}: {said}");
        // A worker may name its master, too, and end the job before others can say more.
        let is_named = |who: &str| said.contains(&format!("{who} was silent for "));
        let is_master = rank == 0 && is_named("the group's master");
        assert!(is_named(who) || is_master, "{who} is not in {said}");
        let named = said.matches(&format!(" s (rank {rank} on host ")).count();
        assert!(said.matches("was silent for ").count() == named && named > 0, "{said}");
        assert!(!self.dir.path().join("r").exists(), "{said}");
        let is_over = |rank: u32| rank_of(self.dir.path(), &rank.to_string()).is_none();
        wait_until("the end of all processes", || (0..self.ranks).all(is_over));
    }
}

impl Drop for WaitingJob {
    /// Kills the job, so that a failed test leaves no processes behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let ranks = (0..self.ranks).filter_map(|rank| rank_of(self.dir.path(), &rank.to_string()));
        for rank in ranks.filter_map(Pid::from_raw) {
            let _ = kill_process(rank, Signal::KILL);
        }
    }
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// Checks that a stopped rank ends a search that waits for more queries.
fn search_ends(ranks: u32, io_ranks: &str, stopped: u32, who: &str) {
    let (job, _pipe) = WaitingJob::for_queries(ranks, io_ranks);
    job.ends_when_stopped(stopped, who);
}

/// Checks that a stopped rank ends a job whose report waits for its reader. The search is over
/// unless the machine is busy.
fn report_ends(stopped: u32, who: &str) {
    let words = ["-io_ranks", "2"];
    let program = [&BLASTP[..], &words].concat();
    let (job, _pipe) = WaitingJob::for_reader(proteins(REPORTED), 4, &program);
    job.ends_when_stopped(stopped, who);
}

fn expansion_ends(stopped: u32) {
    let dir = proteins(REPORTED);
    must(fleetblast(dir.path(), &[&BLASTP[..], &["-metadata_out", "m"]].concat()));
    let (job, _pipe) = WaitingJob::for_reader(dir, 3, &["expand", "m", "-db", "db"]);
    job.ends_when_stopped(stopped, "the I/O rank");
}

/// Checks that a stopped I/O rank ends a job. The only rank of the search has a thread that waits
/// for bytes, perhaps for ever.
fn opening_ends(ranks: u32, io_ranks: &str, stopped: u32) {
    let (job, _pipe) = WaitingJob::for_first_query(ranks, io_ranks);
    job.ends_when_stopped(stopped, "the I/O rank");
}

/// Checks that a job goes on if a rank is stopped for less than the limit.
fn goes_on(stopped: u32) {
    let (job, pipe) = WaitingJob::for_queries(4, "2");
    job.signal(stopped, Signal::STOP);
    sleep(LIMIT / 4);
    job.signal(stopped, Signal::CONT);
    drop(pipe);
    job.ends_with_report();
}

/// The first rank of the search does not count as silent while it opens the pipe of its trace,
/// however late somebody reads that.
#[test]
fn a_rank_that_waits_for_the_reader_of_its_trace_is_not_silent() {
    let dir = proteins(5);
    make_pipe(&dir.path().join("trace.pipe"));
    let program = [BLASTP[0], "-db", "db", "-query", "q.fa", "-outfmt", "6"];
    let options = ["-out", "r", "-io_ranks", "2", "-trace", "trace.pipe"];
    let mut job = WaitingJob::start(dir, 4, &program, &options);
    let dir = job.dir.path().to_owned();
    // The trace is written after the report.
    wait_until("the report", || dir.join("r").exists());
    sleep(LIMIT + LIMIT / 4);
    assert!(job.child.try_wait().expect("a launcher").is_none(), "{}", job.stderr_text());
    let trace = fs::read_to_string(dir.join("trace.pipe")).expect("a trace");
    assert!(trace.contains("traceEvents"), "{trace}");
    job.ends_with_report();
}

/// The cases run at the same time, since each waits for the limit.
#[test]
fn a_stopped_rank_ends_the_job_unless_it_soon_goes_on() {
    let cases: [fn(); 12] = [
        || search_ends(4, "2", 3, "the I/O rank"),
        || search_ends(3, "1", 2, "the I/O rank"),
        || search_ends(4, "2", 0, "the first rank of the search"),
        || search_ends(4, "2", 1, "the worker"),
        || report_ends(2, "the I/O rank"),
        || report_ends(1, ""),
        || expansion_ends(0),
        || expansion_ends(1),
        || opening_ends(2, "1", 1),
        || opening_ends(3, "2", 2),
        || goes_on(2),
        || goes_on(3),
    ];
    let threads: Vec<_> = cases.into_iter().map(thread::spawn).collect();
    let ended: Vec<_> = threads.into_iter().map(|thread| thread.join().is_ok()).collect();
    assert!(ended.iter().all(|&is_well| is_well), "{ended:?}");
}
