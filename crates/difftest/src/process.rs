//! Runs FleetBLAST or BLAST+ and captures its output.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::{CommandExt, ExitStatusExt};

use fleetblast_oracle::{Oracle, identify};
use wait4::Wait4;

use crate::error::{Error, Result, io_error};

/// Environment variables that allow Open MPI's launcher to start more ranks than there are cores,
/// as any user. Other launchers ignore them.
const OPEN_MPI: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
];

/// A program that accepts the options of one of BLAST+'s programs.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Path or name of the executable.
    pub program: PathBuf,
    /// Arguments before those of the search (`blastp` for FleetBLAST).
    pub prefix: Vec<String>,
    /// Additional environment variables, `NAME=value`.
    pub environment: Vec<String>,
}

/// The two programs that the tester compares.
#[derive(Debug, Clone)]
pub struct Tools {
    /// FleetBLAST.
    pub tested: Tool,
    /// BLAST+.
    pub oracle: Tool,
}

impl Tool {
    /// Finds a program of BLAST+ in `PATH`, or checks `given`: the program, or a directory with it,
    /// of this version.
    ///
    /// # Errors
    /// If `PATH` has none, or `given` is another program.
    pub fn oracle(name: &str, given: Option<&Path>, version: &str) -> Result<Self> {
        let program = match given {
            Some(given) => {
                let given = if given.is_dir() { given.join(name) } else { given.to_path_buf() };
                identify(&given, version).map_err(|wrong| Error::Usage(wrong.to_string()))?;
                given
            }
            None => Oracle::find()?.program(name),
        };
        Ok(Self::plain(program))
    }

    /// Creates a tool that takes the arguments as they are.
    pub fn plain(program: PathBuf) -> Self {
        Tool { program, prefix: Vec::new(), environment: Vec::new() }
    }

    /// Creates a tool that runs FleetBLAST's subcommand `command`.
    pub fn fleetblast_as(program: PathBuf, command: &str) -> Self {
        Tool { program, prefix: vec![command.into()], environment: Vec::new() }
    }

    /// Returns the same tool with these additional environment variables.
    pub fn with_environment(&self, environment: &[String]) -> Self {
        Tool { environment: [&self.environment, environment].concat(), ..self.clone() }
    }

    /// Creates a command that runs the tool with the settings of both programs. These are: no user
    /// configuration, no search path for databases, no usage report over the network, English
    /// messages, the release that is tested by default.
    pub fn command(&self, args: &[String], cwd: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.prefix).args(args).current_dir(cwd);
        // SAM files contain the command line. It must not contain the program's directory, because
        // FleetBLAST runs under another name.
        if let (true, Some(name)) = (self.prefix.is_empty(), self.program.file_name()) {
            command.arg0(name);
        }
        for name in ["BLASTDB", "BLASTMAT", "BATCH_SIZE", "CHUNK_SIZE", "BL2SEQ_LEGACY"] {
            command.env_remove(name);
        }
        command.env("NCBI_DONT_USE_LOCAL_CONFIG", "1");
        command.env("BLAST_USAGE_REPORT", "false");
        command.env("LC_ALL", "C");
        command.env("FLEETBLAST_COMPAT", fleetblast_oracle::VERSION);
        command.envs(OPEN_MPI);
        command.envs(self.environment.iter().filter_map(|setting| setting.split_once('=')));
        command
    }

    /// Returns the output of `-version` in one line. It identifies the version in reports and cache
    /// keys.
    pub fn version(&self) -> Result<String> {
        let outcome = self.run(&["-version".to_string()], Path::new("."), None, MINUTE)?;
        Ok(String::from_utf8_lossy(&outcome.stdout).trim_end().replace('\n', ";"))
    }

    /// Runs the tool, which must succeed.
    ///
    /// # Errors
    /// If the program cannot be started or fails.
    pub fn must_run(&self, args: &[String], cwd: &Path) -> Result<()> {
        let outcome = self.run(args, cwd, None, 20 * MINUTE)?;
        match outcome.code {
            0 => Ok(()),
            _ => {
                let message =
                    format!("{}: {}", shell(args), String::from_utf8_lossy(&outcome.stderr).trim());
                Err(self.failure(&message))
            }
        }
    }

    /// Runs the tool to its end, or kills it after `limit`. `stdin` names the file for standard
    /// input.
    pub fn run(
        &self,
        args: &[String],
        cwd: &Path,
        stdin: Option<&Path>,
        limit: Duration,
    ) -> Result<Outcome> {
        let mut command = self.command(args, cwd);
        let input = match stdin {
            Some(path) => Stdio::from(std::fs::File::open(path).map_err(io_error("open", path))?),
            None => Stdio::null(),
        };
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| self.failure(&e.to_string()))?;
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(500);
        let (end, timed_out) = loop {
            if let Some(end) = child.try_wait4().map_err(|e| self.failure(&e.to_string()))? {
                break (end, false);
            }
            if Instant::now() >= deadline {
                // The child may have ended since the last call. In either case it has ended after
                // this one.
                child.kill().map_err(|e| self.failure(&e.to_string()))?;
                break (child.wait4().map_err(|e| self.failure(&e.to_string()))?, true);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        };
        let gone = |_| self.failure("a thread reading its output panicked");
        Ok(Outcome {
            stdout: stdout.join().map_err(gone)?,
            stderr: stderr.join().map_err(gone)?,
            code: exit_code(end.status),
            cpu: (end.rusage.utime + end.rusage.stime).as_secs_f64(),
            timed_out,
        })
    }

    fn failure(&self, reason: &str) -> Error {
        Error::Tool { program: self.program.display().to_string(), reason: reason.to_string() }
    }
}

/// Usual time limit for commands that should take a second.
pub const MINUTE: Duration = Duration::from_secs(60);

/// The results of a finished program.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Bytes of standard output.
    pub stdout: Vec<u8>,
    /// Bytes of standard error.
    pub stderr: Vec<u8>,
    /// Exit code, or minus the number of the signal that ended the program.
    pub code: i32,
    /// CPU seconds of all threads, user and system.
    pub cpu: f64,
    /// Whether the program was killed because it took too long.
    pub timed_out: bool,
}

/// Returns the exit code, or minus the number of the signal that ended the program.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // If the pipe breaks, the bytes read so far remain, and the comparison shows the loss.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Runs a program of BLAST+, such as makeblastdb. It is an error if the program fails.
pub fn must_run(program: &str, args: &[String], cwd: &Path) -> Result<()> {
    Tool::plain(Oracle::find()?.program(program)).must_run(args, cwd)
}

/// Formats arguments as words of a shell command.
pub fn shell(args: &[String]) -> String {
    let quoted = args.iter().map(|a| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
        if !a.is_empty() && a.chars().all(plain) {
            a.clone()
        } else {
            format!("'{}'", a.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Outcome {
        let args = ["-c".to_string(), script.to_string()];
        Tool::plain("sh".into()).run(&args, Path::new("."), None, limit).unwrap()
    }

    #[test]
    fn both_streams_and_the_code_are_caught() {
        let outcome = sh("echo out; echo err >&2; exit 3", MINUTE);
        assert_eq!((outcome.stdout, outcome.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
        assert_eq!((outcome.code, outcome.timed_out), (3, false));
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        let outcome = sh("exec sleep 60", Duration::from_millis(50));
        assert_eq!((outcome.code, outcome.timed_out), (-9, true));
    }

    #[test]
    fn arguments_are_quoted_for_the_shell() {
        assert_eq!(
            shell(&["-outfmt".into(), "6 qseqid".into(), "".into()]),
            "-outfmt '6 qseqid' ''"
        );
    }
}
