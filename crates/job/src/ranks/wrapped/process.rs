//! Runs the program on one block. Its queries and output are files in memory, without a name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::error::Error;
use crate::halt::Halt;
use crate::plan::{PLACEHOLDERS, WrappedJobPlan};

/// Path of standard input. A program that opens it reads from the start each time.
const INPUT: &str = "/dev/fd/0";
/// Longest time between two checks whether the program has ended.
const NAP: Duration = Duration::from_millis(2);
/// Number of bytes of standard error that an error message shows.
const LAST_WORDS: usize = 400;

/// The output of a run.
pub struct RunOutput {
    /// Bytes that the program wrote: to the output file if its command names one, otherwise to
    /// standard output.
    pub output: Vec<u8>,
    /// Bytes that the program wrote to standard error.
    pub error_output: Vec<u8>,
}

/// Reason why a run has no output.
pub enum RunFailure {
    /// The job has ended.
    Halted,
    /// The program cannot be started.
    CannotStart(Error),
    /// The program ended with another exit code than 0, or exceeded the time limit. The text
    /// describes this, and has the last bytes of standard error.
    Failed(String),
}

/// Runs the program on these queries, and ends it if `halt` is set.
///
/// # Errors
/// See [`RunFailure`].
pub fn run(plan: &WrappedJobPlan, queries: &[u8], halt: &Halt) -> Result<RunOutput, RunFailure> {
    let never = |error: io::Error| {
        RunFailure::CannotStart(Error::refused("files in memory for the program", &error))
    };
    let input = memory_file(MemfdFlags::CLOEXEC, queries).map_err(never)?;
    let error_output = memory_file(MemfdFlags::CLOEXEC, &[]).map_err(never)?;
    let writes = plan.command.iter().any(|word| has_placeholder(word, PLACEHOLDERS[1]));
    // The program opens the output by its number, so the program must inherit the open file.
    let flags = if writes { MemfdFlags::empty() } else { MemfdFlags::CLOEXEC };
    let output = memory_file(flags, &[]).map_err(never)?;
    let numbered = format!("/dev/fd/{}", output.as_raw_fd());
    let put = |word: &OsString| {
        let places = [
            (PLACEHOLDERS[0], INPUT.as_bytes()),
            (PLACEHOLDERS[1], numbered.as_bytes()),
            (PLACEHOLDERS[2], plan.database.as_bytes()),
        ];
        places
            .iter()
            .fold(word.clone(), |word, (place, value)| replace_placeholder(&word, place, value))
    };
    let words: Vec<OsString> = plan.command.iter().map(put).collect();
    let (program, arguments) = words.split_first().ok_or_else(|| {
        RunFailure::CannotStart(Error::query_options("there is no program to be run"))
    })?;
    let mut command = Command::new(program);
    command.args(arguments);
    let copy = |file: &File| file.try_clone().map(Stdio::from).map_err(never);
    command.stdin(copy(&input)?).stderr(copy(&error_output)?);
    command.stdout(if writes { Stdio::null() } else { copy(&output)? });
    end_with_parent(&mut command);
    let child = command.spawn().map_err(|error| {
        RunFailure::CannotStart(Error::query_options(format_args!(
            "{}: {error}",
            program.to_string_lossy()
        )))
    })?;
    let ended = await_end(child, plan.time_limit, halt);
    let error_output = contents(error_output).map_err(never)?;
    match ended.map_err(never)? {
        ProcessEnd::Halted => Err(RunFailure::Halted),
        ProcessEnd::TimedOut => Err(RunFailure::Failed(with_last_words(
            format!("took longer than {} s", plan.time_limit.as_secs()),
            &error_output,
        ))),
        ProcessEnd::Exited(status) if status.success() => {
            Ok(RunOutput { output: contents(output).map_err(never)?, error_output })
        }
        ProcessEnd::Exited(status) => {
            Err(RunFailure::Failed(with_last_words(cause(status), &error_output)))
        }
    }
}

/// The end of a process.
enum ProcessEnd {
    Exited(ExitStatus),
    TimedOut,
    Halted,
}

fn await_end(mut child: Child, limit: Duration, halt: &Halt) -> io::Result<ProcessEnd> {
    let (start, mut nap) = (Instant::now(), Duration::from_micros(100));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ProcessEnd::Exited(status));
        }
        let early = match (halt.is_set(), start.elapsed() > limit) {
            (true, _) => ProcessEnd::Halted,
            (false, true) => ProcessEnd::TimedOut,
            (false, false) => {
                thread::sleep(nap);
                nap = (2 * nap).min(NAP);
                continue;
            }
        };
        child.kill()?;
        child.wait()?;
        return Ok(early);
    }
}

/// Ends the program when the thread that started it ends. This also happens if the process of that
/// thread is killed.
fn end_with_parent(command: &mut Command) {
    let bind = || set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from);
    // SAFETY: between fork and exec the closure makes one system call, which sets a number of the
    // new process. It allocates no memory and takes no lock.
    unsafe { command.pre_exec(bind) };
}

/// Creates a file in memory with these bytes, to be read from its start.
fn memory_file(flags: MemfdFlags, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("fleetblast-wrap", flags)?);
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn contents(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(file.metadata()?.len() as usize);
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cause(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn with_last_words(what: String, error_output: &[u8]) -> String {
    let error_output = error_output.trim_ascii();
    let last = &error_output[error_output.len().saturating_sub(LAST_WORDS)..];
    match last.is_empty() {
        true => what,
        false => format!("{what}; it said: {}", String::from_utf8_lossy(last)),
    }
}

/// Returns whether a word contains a placeholder.
pub fn has_placeholder(word: &OsStr, place: &str) -> bool {
    memchr::memmem::find(word.as_bytes(), place.as_bytes()).is_some()
}

fn replace_placeholder(word: &OsStr, place: &str, value: &[u8]) -> OsString {
    let (mut made, mut rest) = (Vec::new(), word.as_bytes());
    while let Some(at) = memchr::memmem::find(rest, place.as_bytes()) {
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(value);
        rest = &rest[at + place.len()..];
    }
    made.extend_from_slice(rest);
    OsString::from_vec(made)
}
