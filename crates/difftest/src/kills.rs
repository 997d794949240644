//! `difftest kills`: kills searches on ranks repeatedly, and resumes them until they complete.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::{Recipe, make_database};
use crate::fleet::{CHECKPOINT, ParallelMode, Shape};
use crate::process::{MINUTE, Tool, Tools, exit_code, shell};
use crate::program::{KilledSearch, Program};
use crate::resume::has_bytes;
use crate::rng::Draw;
use crate::victims::{kill_all, ranks_of};
use crate::workspace::{self, Source, Workspace};
use fastrand::Rng;

/// Number of queries of the search, each with a report of some length.
const QUERIES: usize = 100;
/// Number of kills after which a job may complete.
const KILLS_PER_JOB: usize = 4;
/// Time limit of a run, in addition to ten times its usual duration.
const PATIENCE: Duration = MINUTE;
/// Time limit of the first run, whose duration is unknown.
const FIRST: Duration = MINUTE.saturating_mul(10);
/// Time limit for a launcher to end after all its ranks have ended.
const LAUNCHER: Duration = Duration::from_secs(20);
/// Name of the file with the last run's standard error.
const MESSAGES: &str = "messages";
/// Name of the file or directory of the report.
const REPORT: &str = "report";

/// Options of `difftest kills`.
#[derive(Debug)]
pub struct KillOptions {
    /// Whether to search only a part of the database's sequences.
    pub quick: bool,
    /// Number of kills.
    pub count: usize,
    /// Seed of the random shapes, times and choices of killed ranks.
    pub seed: u64,
    /// Whether the ranks are in one process or are processes.
    pub parallel_mode: ParallelMode,
    /// The tested programs, each with FleetBLAST's and BLAST+'s executable.
    pub programs: Vec<(&'static Program, Tools)>,
}

/// A search that the tester kills and resumes, and the results so far.
struct Trial<'a> {
    program: &'static Program,
    tools: &'a Tools,
    parallel_mode: ParallelMode,
    dir: PathBuf,
    /// Arguments that all runs of the search share.
    args: Vec<String>,
    /// BLAST+'s report.
    expected: Vec<u8>,
    /// Approximate duration of a run, known after the first one.
    duration: Option<Duration>,
    rng: Rng,
    /// Longest time from a kill to the end of all ranks and the launcher.
    longest: Duration,
    /// Number of launchers that did not end after all their ranks had ended.
    hung: usize,
    /// Whether the report of the job consists of records.
    records: bool,
}

/// Kills searches of each program as often as asked. Returns true; a fault of FleetBLAST is an
/// error.
///
/// # Errors
/// If inputs cannot be made, a program cannot be started, or a search does not end with BLAST+'s
/// report.
pub fn run(workspace: &Workspace, source: &Source, options: &KillOptions) -> Result<bool> {
    workspace::report_source(source);
    for (program, tools) in &options.programs {
        let dir = workspace.target.join("difftest-kills").join(program.name);
        fs::create_dir_all(dir.join("db")).map_err(io_error("create", &dir))?;
        let job = (program.kills)(source)?;
        let args = prepare(&dir, job, options.quick)?;
        let oracle = tools.oracle.run(&args, &dir, None, 10 * MINUTE)?;
        if oracle.code != 0 {
            return Err(failed(&String::from_utf8_lossy(&oracle.stderr)));
        }
        let (rng, parallel_mode, expected) =
            (Rng::with_seed(options.seed), options.parallel_mode, oracle.stdout);
        let mut trial = Trial {
            program,
            tools,
            parallel_mode,
            dir,
            args,
            expected,
            duration: None,
            rng,
            longest: Duration::ZERO,
            hung: 0,
            records: false,
        };
        trial.kill(options)?;
    }
    Ok(true)
}

/// Makes the database and the queries. Returns the arguments of the search.
fn prepare(dir: &Path, job: KilledSearch, quick: bool) -> Result<Vec<String>> {
    let step = if quick { job.quick_step } else { 1 };
    let database: Vec<Record> = job.database.into_iter().step_by(step).collect();
    let recipe = Recipe::new("db", fasta::to_bytes(&database), &[]);
    make_database(dir, &Recipe { molecule: job.molecule, ..recipe })?;
    let queries: Vec<Record> = job.queries.into_iter().cycle().take(QUERIES).collect();
    write(&dir.join("queries.fa"), fasta::to_bytes(&queries))?;
    let fixed = ["-query", "queries.fa", "-db", "db/db"];
    Ok(fixed.iter().chain(job.args).map(|arg| arg.to_string()).collect())
}

impl Trial<'_> {
    /// Kills searches as often as asked, and prints the results.
    fn kill(&mut self, options: &KillOptions) -> Result<()> {
        self.clear()?;
        let started = Instant::now();
        self.finish()?;
        self.duration = Some(started.elapsed());
        let (mut kills, mut of_all, mut jobs) = (0, 0, 0);
        while kills < options.count {
            let (one, all) = self.job(options.count - kills)?;
            (kills, of_all, jobs) = (kills + one + all, of_all + all, jobs + 1);
            if jobs > 4 * options.count {
                return Err(failed("the search is through before it is killed"));
            }
        }
        println!(
            "difftest kills {}: {kills} kills ({of_all} of all ranks) in {jobs} jobs (seed {}), each resumed to BLAST+'s \
             {} bytes; longest time from a kill to the end of the job {:.1} s; launchers that hung {}",
            self.program.name,
            options.seed,
            self.expected.len(),
            self.longest.as_secs_f64(),
            self.hung
        );
        Ok(())
    }

    /// Runs one search until it completes. Returns how often one rank was killed, and how often all
    /// were.
    fn job(&mut self, most: usize) -> Result<(usize, usize)> {
        self.clear()?;
        self.records = self.rng.chance(0.3);
        let (mut one, mut all) = (0, 0);
        while one + all < KILLS_PER_JOB.min(most) {
            let (mut child, args) = self.start()?;
            // A resumed run takes less time than the first.
            let share =
                self.duration.unwrap_or_default().as_millis() as usize / (1 + (one + all) / 2);
            thread::sleep(Duration::from_millis(self.rng.usize(..share.max(2)) as u64));
            let victims = ranks_of(child.id(), self.tested_program());
            let whole = self.rng.chance(0.25) || victims.is_empty();
            let killed = Instant::now();
            let what = if whole {
                kill_all(&child, &victims);
                format!("the end of all of {victims:?}")
            } else {
                let victim = *self.rng.pick(&victims);
                // The process may just have ended.
                let _ = kill_process(victim, Signal::KILL);
                format!("the end of {victim:?} of {victims:?}")
            };
            let code = self.wait_for_end(&mut child, &args, &what)?;
            self.longest = self.longest.max(killed.elapsed());
            if code == 0 {
                return self.check(&args).map(|()| (one, all));
            }
            *(if whole { &mut all } else { &mut one }) += 1;
            // The kill may have come when the report was complete. A report with its final name is
            // complete, even if the checkpoint still exists.
            if !self.records && has_bytes(&self.dir.join(REPORT)) {
                return self.compare(&args).map(|()| (one, all));
            }
        }
        self.finish().map(|()| (one, all))
    }

    /// Returns the time limit of a run.
    fn patience(&self) -> Duration {
        self.duration.map_or(FIRST, |duration| PATIENCE + 10 * duration)
    }

    /// Starts or resumes the search in a random shape, in a process group of its own. Returns the
    /// process and its arguments.
    fn start(&mut self) -> Result<(Child, Vec<String>)> {
        // A report as records is also the checkpoint.
        let kept = if self.records { REPORT } else { CHECKPOINT };
        let own = ["-out", REPORT, "-resume", "-checkpoint", kept].map(String::from);
        let shape = Shape::random(&mut self.rng, self.program.is_in_order).without("checkpoint");
        let shape = shape.with_records(self.records);
        let fixed: Vec<String> = self.args.iter().cloned().chain(own).collect();
        let (tool, args) = shape.command(&self.tools.tested, self.parallel_mode, &fixed);
        let mut command = tool.command(&args, &self.dir);
        let path = self.dir.join(MESSAGES);
        let messages = File::create(&path).map_err(io_error("create", &path))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages).process_group(0);
        let child = command.spawn().map_err(|error| failed(&error.to_string()))?;
        Ok((child, args))
    }

    /// Runs or resumes the search to its end, and checks its report and files.
    fn finish(&mut self) -> Result<()> {
        let (mut child, args) = self.start()?;
        match self.wait_for_end(&mut child, &args, "its start")? {
            0 => self.check(&args),
            code => Err(self.wrong(&args, &format!("exit code {code}"))),
        }
    }

    /// Returns the exit code of a run. It is an error if the run does not end soon after the event
    /// `what`.
    fn wait_for_end(&mut self, child: &mut Child, args: &[String], what: &str) -> Result<i32> {
        let limit = self.patience();
        let started = Instant::now();
        let mut with_ranks = started;
        while started.elapsed() < limit {
            let status = child.try_wait().map_err(|error| failed(&error.to_string()))?;
            if let Some(status) = status {
                return Ok(exit_code(status));
            }
            thread::sleep(Duration::from_millis(20));
            // Open MPI's mpirun sometimes waits forever for a rank that was killed at its start.
            if !ranks_of(child.id(), self.tested_program()).is_empty() {
                with_ranks = Instant::now();
            } else if with_ranks.elapsed() > LAUNCHER {
                kill_all(child, &[]);
                let status = child.wait().map_err(|error| failed(&error.to_string()))?;
                self.hung += 1;
                return Ok(exit_code(status));
            }
        }
        let left = ranks_of(child.id(), self.tested_program());
        let text = format!(
            "did not end within {:.0} s of {what}; ranks left: {left:?}, {}",
            limit.as_secs_f64(),
            if self.dir.join(REPORT).exists() { "the report is there" } else { "no report" }
        );
        kill_all(child, &left);
        Err(self.wrong(args, &text))
    }

    /// Checks that the report equals BLAST+'s.
    fn compare(&self, args: &[String]) -> Result<()> {
        let path = self.dir.join(REPORT);
        let report = match self.records {
            true => {
                let cat = Tool { prefix: vec!["cat".to_owned()], ..self.tools.tested.clone() };
                cat.run(&[REPORT.to_owned()], &self.dir, None, MINUTE)?.stdout
            }
            false => fs::read(&path).map_err(io_error("read", &path))?,
        };
        match report == self.expected {
            true => Ok(()),
            false => Err(self.wrong(args, "other bytes than BLAST+")),
        }
    }

    /// Checks that the report equals BLAST+'s, and that the search left no other file.
    fn check(&self, args: &[String]) -> Result<()> {
        self.compare(args)?;
        match self.left()?.as_slice() {
            [_] => Ok(()),
            left => Err(self.wrong(args, &format!("left behind: {left:?}"))),
        }
    }

    fn tested_program(&self) -> &Path {
        &self.tools.tested.program
    }

    /// Returns the files that the search left: its report, its checkpoint, and unfinished files.
    fn left(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.dir).map_err(io_error("read", &self.dir))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_left = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name == REPORT || name == CHECKPOINT || name.ends_with(".part")
        };
        Ok(paths.filter(is_left).collect())
    }

    fn clear(&self) -> Result<()> {
        for path in self.left()? {
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(io_error("remove", &path))?;
        }
        Ok(())
    }

    fn wrong(&self, args: &[String], what: &str) -> Error {
        let messages = fs::read(self.dir.join(MESSAGES)).unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        failed(&format!("{what}: in {}: {}\n{messages}", self.dir.display(), shell(args)))
    }
}

fn failed(reason: &str) -> Error {
    Error::Tool { program: "kills".to_owned(), reason: reason.to_owned() }
}
