//! The release of the BLAST+ that is installed, for `-compat auto`.

mod cache;

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_stats::program::BlastProgram;
use fleetblast_stats::release::Release;

use self::cache::VersionCache;

/// Environment variable with the release of programs without `-compat`.
pub const VARIABLE: &str = "FLEETBLAST_COMPAT";

/// Programs by which BLAST+ is recognized.
const PROGRAMS: [&str; 3] =
    [BlastProgram::Blastp.name(), BlastProgram::Blastn.name(), "makeblastdb"];

/// Time that a program has to print its version.
const LIMIT: Duration = Duration::from_secs(10);

/// Number of bytes that are kept of what a program prints.
const MOST: u64 = 1 << 16;

/// How the second line of `-version` of a program of BLAST+ begins, before the number.
const PACKAGE: &str = "Package: blast ";

/// A program of BLAST+.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledBlast {
    /// Path of the program.
    pub program: PathBuf,
    /// Version of the program, such as `2.16.0`.
    pub version: String,
}

/// A program with a name of BLAST+ that does not state its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableBlast {
    /// Path of the program.
    pub program: PathBuf,
    /// Its failure when it was run.
    pub problem: String,
}

/// The BLAST+ that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installation {
    /// No BLAST+ is installed.
    None,
    /// The first program of BLAST+ that states its version.
    Found(InstalledBlast),
    /// No program of BLAST+ states its version; this is the first one that failed.
    Unusable(UnusableBlast),
}

/// Finds the first BLAST+ in the directory of `called`, the path by which this program was run, and
/// in the directories of `path`, a list like `PATH`. Versions that were found before are in a cache
/// of the user.
pub fn find(called: &OsStr, path: &OsStr) -> Installation {
    let beside = Path::new(called).parent().filter(|directory| !directory.as_os_str().is_empty());
    let directories = beside.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(path));
    let programs = directories
        .flat_map(|directory| PROGRAMS.map(|name| directory.join(name)))
        .filter(|program| is_executable(program) && !is_this_program(program));
    let cache = VersionCache::of_user();
    let mut first_failure = None;
    for program in programs {
        let mut failure = None;
        let mut ask = |program: &Path| {
            let asked = blast_version(program);
            asked.unwrap_or_else(|problem| {
                failure = Some(problem);
                None
            })
        };
        let version = match &cache {
            Some(cache) => cache.version_of(&program, ask),
            None => ask(&program),
        };
        match (version, failure) {
            (Some(version), _) => return Installation::Found(InstalledBlast { program, version }),
            (None, Some(problem)) if first_failure.is_none() => {
                first_failure = Some(UnusableBlast { program, problem });
            }
            (None, _) => {}
        }
    }
    first_failure.map_or(Installation::None, Installation::Unusable)
}

/// Whether a path is a file that may be run.
fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether a path is a link to this program.
fn is_this_program(path: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let own = std::env::current_exe().ok().and_then(real);
    own.is_some() && own == real(path.to_path_buf())
}

/// Returns the version of a program of BLAST+; `None` for another program. FleetBLAST has another
/// second line.
///
/// # Errors
/// The failure of the program.
fn blast_version(program: &Path) -> Result<Option<String>, String> {
    let (said, status) = run_version(program)?;
    let package = said.lines().nth(1).and_then(|line| line.trim().strip_prefix(PACKAGE));
    let version = package.and_then(|package| package.split(',').next());
    match version {
        None if !status.success() => Err(format!("it ended with {status}")),
        version => Ok(version.map(str::to_owned)),
    }
}

/// Runs a program with `-version`, and kills it if it does not end. Returns the start of what it
/// printed.
///
/// # Errors
/// The program did not start, or not end in time.
fn run_version(program: &Path) -> Result<(String, ExitStatus), String> {
    let failure = |error: io::Error| format!("it cannot be run: {error}");
    let mut child = Command::new(program)
        .arg("-version")
        // Another FleetBLAST must not look for this one in turn.
        .env(VARIABLE, Release::ALL[0].version)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failure)?;
    let read = read_start(&mut child);
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            Ok(Some(status)) => break status,
            other => {
                let _ = child.kill().and_then(|()| child.wait());
                other.map_err(failure)?;
                return Err(too_slow());
            }
        }
    };
    // A program that it has left behind may keep its output open.
    let rest = deadline.saturating_duration_since(Instant::now());
    let said = read.map_err(failure)?.recv_timeout(rest).map_err(|_| too_slow())?;
    Ok((String::from_utf8_lossy(&said).into_owned(), status))
}

/// Returns the problem of a program that does not end in time.
fn too_slow() -> String {
    format!("it did not end within {} seconds", LIMIT.as_secs())
}

/// Reads the standard output of a program until its end, so that it is never blocked. The receiver
/// gets the start of the output.
fn read_start(child: &mut Child) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    let output = child.stdout.take();
    thread::Builder::new().spawn(move || {
        let Some(mut output) = output else { return };
        let mut start = Vec::new();
        // After an error the bytes before it are used.
        let _ = output.by_ref().take(MOST).read_to_end(&mut start);
        let _ = sender.send(start);
        let _ = io::copy(&mut output, &mut io::sink());
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn install(directory: &Path, name: &str, package: &str) {
        let script = format!("echo {name}: 2.16.0+\necho ' Package: {package}'\n");
        install_script(directory, name, &script);
    }

    fn install_script(directory: &Path, name: &str, script: &str) {
        let script = format!("#!/bin/sh\n{script}");
        let path = directory.join(name);
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    #[test]
    fn the_first_blast_counts_and_no_fleetblast() {
        let dir = tempfile::tempdir().expect("a directory");
        let sub = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).expect("a directory");
            path
        };
        let (links, fleet, blast, newer) = (sub("links"), sub("fleet"), sub("blast"), sub("newer"));
        symlink(std::env::current_exe().expect("this program"), links.join("blastp"))
            .expect("a link");
        install(&fleet, "blastp", "FleetBLAST 9, reports equal blast 2.12.0");
        install(&blast, "makeblastdb", "blast 2.16.0, build Jan 1 2025");
        install(&newer, "blastp", "blast 9.9.0, build Jan 1 2099");
        let find = |called: &str, directories: &[&Path]| {
            let path = std::env::join_paths(directories).expect("directories");
            match super::find(OsStr::new(called), &path) {
                Installation::Found(found) => Some(found.version),
                Installation::None => None,
                unusable @ Installation::Unusable(_) => panic!("{unusable:?}"),
            }
        };
        let some = |version: &str| Some(version.to_owned());
        assert_eq!(find("blastp", &[&links, &fleet, &blast, &newer]), some("2.16.0"));
        assert_eq!(find("blastp", &[&newer, &blast]), some("9.9.0"));
        assert_eq!(find("blastp", &[&links]), None);
        let beside = blast.join("blastp");
        assert_eq!(find(beside.to_str().expect("text"), &[&newer]), some("2.16.0"));
    }
    #[test]
    fn a_blast_that_fails_is_no_missing_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let find = || super::find(OsStr::new("blastp"), dir.path().as_os_str());
        let path = dir.path().join("blastp");
        fs::write(&path, "no program").expect("a file");
        assert_eq!(find(), Installation::None);
        let permissions = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, permissions).expect("permissions");
        let problem = |found: Installation| match found {
            Installation::Unusable(UnusableBlast { program, problem }) if program == path => {
                problem
            }
            other => panic!("{other:?}"),
        };
        assert!(problem(find()).starts_with("it cannot be run: "));
        install_script(dir.path(), "blastp", "echo no library >&2\nexit 127\n");
        assert_eq!(problem(find()), "it ended with exit status: 127");
        // Another program of that name.
        install_script(dir.path(), "blastp", "echo some words\n");
        assert_eq!(find(), Installation::None);
        // More than a pipe holds.
        let version = "echo blastp: 2.16.0+\necho ' Package: blast 2.16.0, build Jan 1 2025'\n";
        install_script(dir.path(), "blastp", &format!("{version}seq 100000\n"));
        assert!(matches!(find(), Installation::Found(found) if found.version == "2.16.0"));
    }
}
