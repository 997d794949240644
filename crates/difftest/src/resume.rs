//! Interrupts the search of a case as soon as its checkpoint has data, and resumes it on other
//! ranks. Cases alternate between SIGKILL and a signal to end early. The report must be that of an
//! uninterrupted search.

use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cases::Case;
use crate::error::{Error, Result, io_error};
use crate::fleet::{ParallelMode, Shape, is_sam, join_records};
use crate::process::{MINUTE, Outcome, Tool, exit_code};
use crate::victims::{kill_all, ranks_of};

/// Time limit of a run.
const LIMIT: Duration = MINUTE.saturating_mul(5);
/// Exit code of a search that a signal drained.
const DRAINED: i32 = 75;

/// The result of a case that was interrupted and resumed.
#[derive(Debug)]
pub struct ResumedRun {
    /// The result of the last run, with the report as standard output.
    pub outcome: Outcome,
    /// Whether the search was interrupted before it completed.
    pub interrupted: bool,
    /// Description of a fault of the interruption or the resume, if there is one.
    pub fault: Option<String>,
}

/// Whether a case can be interrupted and resumed. It can if its query file can be read again and
/// its report can be redirected.
pub fn can_be_resumed(case: &Case, expected: &Outcome) -> bool {
    let says = |option: &str| case.args.iter().any(|arg| arg == option);
    expected.code == 0 && case.stdin.is_none() && says("-query") && !says("-out") && !says("-")
}

/// The programs and directories for searches that are interrupted and resumed.
pub struct ResumeRunner<'a> {
    /// FleetBLAST.
    pub tested: &'a Tool,
    /// How FleetBLAST's searches are distributed.
    pub parallel_mode: ParallelMode,
    /// The directory of the fixtures.
    pub cwd: &'a Path,
    /// Whether ranks search the program's queries in order.
    pub in_order: bool,
    /// Directory of the report and the checkpoint of one search at a time.
    pub dir: PathBuf,
    /// Whether the report consists of records, which are also the checkpoint.
    pub records: Cell<bool>,
}

impl ResumeRunner<'_> {
    /// Runs a case, which it interrupts and resumes. `number` selects the ranks and the kind of
    /// interruption.
    ///
    /// # Errors
    /// If the directory cannot be used or the program cannot be started.
    pub fn run(&self, case: &Case, number: usize) -> Result<ResumedRun> {
        self.clear()?;
        fs::create_dir_all(&self.dir).map_err(io_error("create", &self.dir))?;
        let resumed = self.interrupt(case, number)?;
        self.clear()?;
        Ok(resumed)
    }

    fn clear(&self) -> Result<()> {
        if !self.dir.exists() {
            return Ok(());
        }
        fs::remove_dir_all(&self.dir).map_err(io_error("remove", &self.dir))
    }

    fn interrupt(&self, case: &Case, number: usize) -> Result<ResumedRun> {
        self.records.set(number % 5 == 4 && !is_sam(&case.args));
        let mut child = self.start(case, number)?;
        let through = self.await_kept(&mut child)?;
        let drained = number.is_multiple_of(2);
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        match pid {
            _ if through => {}
            Some(pid) if drained => {
                // Open MPI's mpirun passes this signal on to the ranks. A process that has just
                // ended does not receive it.
                let _ = kill_process(pid, Signal::USR1);
            }
            _ => kill_all(&child, &ranks_of(child.id(), &self.tested.program)),
        }
        let first = self.wait_for_end(&mut child)?;
        let interrupted = !through && first.code != 0;
        let mut fault = None;
        if interrupted
            && drained
            && self.parallel_mode == ParallelMode::Ranks
            && first.code != DRAINED
        {
            fault = Some(format!("asked to end, it ended with {}, not {DRAINED}", first.code));
        }
        if interrupted && drained && !self.records.get() && has_bytes(&self.report()) {
            fault = Some("a report that is not whole has its name".to_owned());
        }
        let outcome = if first.code == 0 {
            first
        } else {
            let mut child = self.start(case, number + 1)?;
            self.wait_for_end(&mut child)?
        };
        let records = self.report().is_dir();
        let outcome = match records {
            true => join_records(self.tested, outcome, &self.report(), self.cwd)?,
            false => outcome,
        };
        if outcome.code == 0 && self.kept().exists() && !records {
            fault = Some("the checkpoint is still there".to_owned());
        }
        Ok(ResumedRun { outcome, interrupted, fault })
    }

    fn report(&self) -> PathBuf {
        self.dir.join("report")
    }

    fn kept(&self) -> PathBuf {
        if self.records.get() { self.report() } else { self.dir.join("kept") }
    }

    fn messages(&self) -> PathBuf {
        self.dir.join("messages")
    }

    fn start(&self, case: &Case, number: usize) -> Result<Child> {
        let shape = Shape::numbered(number, self.in_order).with_records(self.records.get());
        let (tool, mut args) = shape.command(self.tested, self.parallel_mode, &case.args);
        let paths = [("-checkpoint", self.kept()), ("-out", self.report())];
        for (option, path) in paths {
            args.extend([option.to_owned(), path.display().to_string()]);
        }
        args.push("-resume".to_owned());
        let path = self.messages();
        let messages = File::create(&path).map_err(io_error("create", &path))?;
        let mut command = tool.command(&args, self.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages).process_group(0);
        command.spawn().map_err(|error| failed(&error.to_string()))
    }

    /// Waits until the checkpoint has data, or until the search ends. Returns true if the search
    /// ended first.
    fn await_kept(&self, child: &mut Child) -> Result<bool> {
        let started = Instant::now();
        while started.elapsed() < LIMIT {
            if child.try_wait().map_err(|error| failed(&error.to_string()))?.is_some() {
                return Ok(true);
            }
            if has_spool(&self.kept()) {
                return Ok(false);
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(false)
    }

    /// Waits for the end of a run. Returns its result, with the report as standard output if there
    /// is one.
    fn wait_for_end(&self, child: &mut Child) -> Result<Outcome> {
        let started = Instant::now();
        let (code, timed_out) = loop {
            if let Some(status) = child.try_wait().map_err(|error| failed(&error.to_string()))? {
                break (exit_code(status), false);
            }
            if started.elapsed() > LIMIT {
                kill_all(child, &[]);
                let status = child.wait().map_err(|error| failed(&error.to_string()))?;
                break (exit_code(status), true);
            }
            thread::sleep(Duration::from_millis(1));
        };
        // A failed search has no report; its exit code shows the failure.
        let stdout = fs::read(self.report()).unwrap_or_default();
        let stderr = fs::read(self.messages()).unwrap_or_default();
        // This is wall time, because only the first wait for the child could get its CPU time.
        Ok(Outcome { stdout, stderr, code, cpu: started.elapsed().as_secs_f64(), timed_out })
    }
}

/// Whether the file exists and is not empty. A failed search may leave an empty one.
pub fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.len() > 0)
}

/// Whether a checkpoint directory has bytes of any result.
fn has_spool(dir: &Path) -> bool {
    // The directory may not exist yet, or not any more.
    let Ok(entries) = fs::read_dir(dir) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_spool(&path);
        }
        path.extension().is_some_and(|extension| extension == "zst") && has_bytes(&path)
    })
}

fn failed(reason: &str) -> Error {
    Error::Tool { program: "table --resume".to_owned(), reason: reason.to_owned() }
}
